//! The firmware on a Cortex-M4F, which is QEMU's.

use crate::bare::{Compiler, Route};
use crate::emulator::{ARM, Emulator};
use crate::steps::Outcome;
use crate::tools::{expect_code, expect_failure, run};
use std::time::Duration;

pub(crate) const TARGET: &str = "thumbv7em-none-eabihf";

/// The programs, and how each has to end.
const PROGRAMS: [(&str, i32); 8] = [
    ("planned-rkhs", 0),
    ("planned-l2", 0),
    ("stored-rkhs", 0),
    ("stored-l2", 0),
    ("stream", 0),
    ("automatic", 0),
    ("agreement", 0),
    // On purpose: see its source.
    ("overflow", 102),
];

/// A program takes a second. What takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The board, without devices that would wait for someone. The instructions
/// are counted: see `clock` in the firmware.
pub(crate) const MACHINE: &str = "-machine mps2-an386 -nodefaults -display none -monitor none \
                       -serial none -semihosting-config enable=on,target=native -icount shift=10";

/// How the programs are compiled: for speed and for size, and the folder of each.
const PROFILES: [&str; 2] = ["release", "small"];
/// The workspace of the programs.
const FIRMWARE: &str = "firmware";
/// What a program that could panic does not find when it is linked.
const NO_PANIC: &str = "kgard_code_that_can_panic";

/// Builds the firmware, and runs it.
pub(crate) fn run_all(route: Route) -> Outcome {
    let emulator = Emulator::get(ARM)?;
    let compiler = Compiler::get(route, TARGET)?;
    for profile in PROFILES {
        run(compiler.build(FIRMWARE, "kgard-cortex-m4", profile)?)?;
        for (program, code) in PROGRAMS {
            let mut board = emulator.command(MACHINE);
            board.arg("-kernel").arg(compiler.folder(FIRMWARE, profile).join(program));
            // It writes to stderr what the firmware says, which is a result here.
            board.stderr(std::io::stdout());
            expect_code(board, code, PATIENCE)?;
        }
    }
    // These are not run: that they link says that they fit and cannot panic.
    run(compiler.build(FIRMWARE, "kgard-budget", "small")?)?;
    let mut sneaking = compiler.build(FIRMWARE, "kgard-budget", "small")?;
    sneaking.args(["--features", "sneak-panic"]);
    expect_failure(sneaking, NO_PANIC)
}
