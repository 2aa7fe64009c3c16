//! The firmware on a Cortex-M4F, which is QEMU's.

use crate::emulator::Emulator;
use crate::steps::{Outcome, Trouble};
use crate::sysroot::{compiled, distribution_version, host, of_toolchain};
use crate::tools::{
    cargo, command, exists, expect_code, expect_failure, install, run, run_within, target_dir,
    undisturbed, with_arguments,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TARGET: &str = "thumbv7em-none-eabihf";

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
const PATIENCE: Duration = Duration::from_mins(1);
/// For rustup to fetch the target, or to find that it cannot.
const DOWNLOAD: Duration = Duration::from_mins(2);

/// Packages of Debian with a compiler that can build its own libraries.
const COMPILER_PACKAGES: &str = "rustc-web cargo-web rust-web-src";

/// The board, without devices that would wait for someone. The instructions
/// are counted: see `clock` in the firmware.
const MACHINE: &str = "-machine mps2-an386 -nodefaults -display none -monitor none \
                       -serial none -semihosting-config enable=on,target=native -icount shift=10";

/// Which compiler to take.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Route {
    /// The one at hand if it has the target, or rustup can add it; otherwise
    /// Debian's.
    Any,
    /// Debian's.
    Distribution,
}

/// How the programs are compiled: for speed and for size, and the folder of each.
const PROFILES: [&str; 2] = ["release", "small"];
/// What a program that could panic does not find when it is linked.
const NO_PANIC: &str = "kgard_code_that_can_panic";

/// Builds the firmware, and runs it.
pub(crate) fn run_all(route: Route) -> Outcome {
    let emulator = Emulator::get()?;
    let compiler = Compiler::get(route)?;
    for profile in PROFILES {
        run(compiler.build("kgard-cortex-m4", profile)?)?;
        for (program, code) in PROGRAMS {
            let mut board = emulator.command(MACHINE);
            board.arg("-kernel").arg(compiler.target_dir.join(TARGET).join(profile).join(program));
            // It writes to stderr what the firmware says, which is a result here.
            board.stderr(std::io::stdout());
            expect_code(board, code, PATIENCE)?;
        }
    }
    // These are not run: that they link says that they fit and cannot panic.
    run(compiler.build("kgard-budget", "small")?)?;
    let mut sneaking = compiler.build("kgard-budget", "small")?;
    sneaking.args(["--features", "sneak-panic"]);
    expect_failure(sneaking, NO_PANIC)
}

/// A compiler for the target, and where it puts what it makes.
struct Compiler {
    route: Route,
    target_dir: PathBuf,
}

impl Compiler {
    fn get(route: Route) -> Result<Self, Trouble> {
        let route =
            if route == Route::Any && has_target()? { Route::Any } else { Route::Distribution };
        let folder = if route == Route::Any { "firmware" } else { "firmware/distribution" };
        Ok(Self { route, target_dir: target_dir().join(folder) })
    }

    /// The command that builds a package.
    fn build(&self, package: &str, profile: &str) -> Result<Command, Trouble> {
        let mut build = if self.route == Route::Any { ordinary() } else { distribution()? };
        build.args(["build", "--manifest-path", "firmware/Cargo.toml", "--target", TARGET]);
        build.args(["-p", package, "--profile", profile]).arg("--target-dir").arg(&self.target_dir);
        Ok(build)
    }
}

/// Whether the compiler at hand has the target, if need be after adding it.
fn has_target() -> Result<bool, Trouble> {
    let folder = of_toolchain()?.join("lib/rustlib").join(TARGET);
    if !folder.exists() && exists("rustup") {
        // Not being able to is no failure: there is another way.
        let _ = run_within(with_arguments("rustup", &format!("target add {TARGET}")), DOWNLOAD);
    }
    Ok(folder.exists())
}

/// The cargo at hand.
fn ordinary() -> Command {
    undisturbed(cargo(""))
}

/// Debian's cargo, set up to use a private sysroot.
fn distribution() -> Result<Command, Trouble> {
    if distribution_version().is_none() {
        install(COMPILER_PACKAGES)?;
    }
    let version = distribution_version()
        .ok_or_else(|| Trouble::Skipped(format!("`rustup target add {TARGET}`, and try again")))?;
    let sysroot = compiled(TARGET, &version)?;
    let mut cargo = undisturbed(command("/usr/bin/cargo"));
    cargo.env("RUSTC", "/usr/bin/rustc");
    // The encoded form, so that there may be a space in the path.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot={}", sysroot.display()));
    // Debian's compiler has no linker for the target, the one at hand may.
    let tools = of_toolchain()?.join("lib/rustlib").join(host()?).join("bin");
    let linker = tools.join("rust-lld");
    let linker = if linker.exists() { linker.as_path() } else { Path::new("ld.lld") };
    cargo.env("CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER", linker);
    Ok(cargo)
}
