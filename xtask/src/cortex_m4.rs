//! The firmware on a Cortex-M4F, which is QEMU's.

use crate::emulator::Emulator;
use crate::steps::{Outcome, Trouble};
use crate::sysroot::{compiled, distribution_version, host, of_toolchain};
use crate::tools::{
    cargo, command, exists, expect_code, install, run, run_within, target_dir, undisturbed,
    with_arguments,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TARGET: &str = "thumbv7em-none-eabihf";

/// The programs, and how each has to end.
const PROGRAMS: [(&str, i32); 6] = [
    ("planned-rkhs", 0),
    ("planned-l2", 0),
    ("stored-rkhs", 0),
    ("stored-l2", 0),
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

/// Builds the firmware, and runs it.
pub(crate) fn run_all(route: Route) -> Outcome {
    let emulator = Emulator::get()?;
    let (mut build, target_dir) =
        if route == Route::Any && has_target()? { ordinary() } else { distribution()? };
    build.args("build --release --manifest-path firmware/Cargo.toml -p kgard-cortex-m4".split(' '));
    build.args(["--target", TARGET]).arg("--target-dir").arg(&target_dir);
    run(build)?;
    for (program, code) in PROGRAMS {
        let mut board = emulator.command(MACHINE);
        board.arg("-kernel").arg(target_dir.join(TARGET).join("release").join(program));
        // It writes to stderr what the firmware says, which is a result here.
        board.stderr(std::io::stdout());
        expect_code(board, code, PATIENCE)?;
    }
    Ok(())
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

/// The cargo at hand, and a target directory.
fn ordinary() -> (Command, PathBuf) {
    (undisturbed(cargo("")), target_dir().join("firmware"))
}

/// Debian's cargo, set up to use a private sysroot, and a target directory.
fn distribution() -> Result<(Command, PathBuf), Trouble> {
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
    Ok((cargo, target_dir().join("firmware/distribution")))
}
