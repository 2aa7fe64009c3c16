//! The firmware on microcontrollers, which are QEMU's.

use crate::bare::{Compiler, Route};
use crate::emulator::{ARM, Emulator, Machine, RISC_V};
use crate::steps::Outcome;
use crate::tools::{expect_code, expect_failure, run};
use std::time::Duration;

/// A microcontroller.
pub(crate) struct Board {
    pub(crate) target: &'static str,
    pub(crate) emulator: Machine,
    /// The board of the emulator.
    machine: &'static str,
    programs: &'static [(&'static str, i32)],
}

/// The programs that fit into little memory, and how each has to end.
const SMALL: [(&str, i32); 5] = [
    ("stored-rkhs", 0),
    ("stored-l2", 0),
    ("stream", 0),
    ("automatic", 0),
    // On purpose: see its source.
    ("overflow", 102),
];

/// All of them.
const ALL: [(&str, i32); 9] = [
    ("planned-rkhs", 0),
    ("planned-l2", 0),
    ("stored-rkhs", 0),
    ("stored-l2", 0),
    ("stream", 0),
    ("automatic", 0),
    ("half", 0),
    ("agreement", 0),
    ("overflow", 102),
];

/// With a floating-point unit.
pub(crate) const CORTEX_M4F: Board = Board {
    target: "thumbv7em-none-eabihf",
    emulator: ARM,
    machine: "-machine mps2-an386 -icount shift=10",
    programs: &ALL,
};

/// Without one. The emulator's board is a Cortex-M3, which knows the instructions of an M0+ and
/// others: the compiler does not use those.
pub(crate) const CORTEX_M0: Board = Board {
    target: "thumbv6m-none-eabi",
    emulator: ARM,
    machine: "-machine mps2-an385 -icount shift=10",
    programs: &SMALL,
};

/// Without one.
pub(crate) const RV32IMAC: Board = Board {
    target: "riscv32imac-unknown-none-elf",
    emulator: RISC_V,
    machine: "-machine sifive_e -bios none -icount shift=0,align=off,sleep=off",
    programs: &SMALL,
};

/// A program takes a second. What takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// No devices that would wait for someone. The instructions are counted: see `clock` in the
/// firmware.
const ALONE: &str = "-nodefaults -display none -monitor none -serial none \
                     -semihosting-config enable=on,target=native";

/// How the programs are compiled: for speed and for size, and the folder of each.
const PROFILES: [&str; 2] = ["release", "small"];
/// The workspace of the programs.
const FIRMWARE: &str = "firmware";
/// What a program that could panic does not find when it is linked.
const NO_PANIC: &str = "kgard_code_that_can_panic";

impl Board {
    /// The emulator with this board.
    pub(crate) fn command(&self, emulator: &Emulator) -> std::process::Command {
        emulator.command(&format!("{} {ALONE}", self.machine))
    }

    /// Builds the firmware, and runs it.
    pub(crate) fn run_all(&self, route: Route) -> Outcome {
        let emulator = Emulator::get(self.emulator)?;
        let compiler = Compiler::get(route, self.target)?;
        for profile in PROFILES {
            let mut build = compiler.build(FIRMWARE, "kgard-device", profile)?;
            build.args(self.programs.iter().flat_map(|(program, _)| ["--bin", program]));
            run(build)?;
            println!("{}, {profile}:", self.target);
            for (program, code) in self.programs {
                let mut board = self.command(&emulator);
                board.arg("-kernel").arg(compiler.folder(FIRMWARE, profile).join(program));
                // It writes to stderr what the firmware says, which is a result here.
                board.stderr(std::io::stdout());
                expect_code(board, *code, PATIENCE)?;
            }
        }
        Ok(())
    }
}

/// Programs that are not run: that they link says that they fit and cannot panic.
pub(crate) fn budget(route: Route) -> Outcome {
    let compiler = Compiler::get(route, CORTEX_M4F.target)?;
    run(compiler.build(FIRMWARE, "kgard-budget", "small")?)?;
    let mut sneaking = compiler.build(FIRMWARE, "kgard-budget", "small")?;
    sneaking.args(["--features", "sneak-panic"]);
    expect_failure(sneaking, NO_PANIC)
}
