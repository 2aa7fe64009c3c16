//! Proofs that the library does without std, and without an allocator.
//!
//! That a crate says `#![no_std]` proves nothing on a machine that has std: a
//! dependency may bring it in. So the libraries are taken away.

use crate::steps::{Outcome, Trouble};
use crate::sysroot::{host, restricted};
use crate::tools::{
    cargo, expect_failure, run, run_within, target_dir, undisturbed, with_arguments,
};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = "kgard-freestanding";

/// Builds the library where there is only `core`, and where there is `alloc`
/// too; and makes sure that one level more does not build there.
pub(crate) fn restricted_sysroots() -> Outcome {
    let host = host()?;
    let core = restricted("core", &["core", "compiler_builtins"])?;
    let alloc = restricted("alloc", &["core", "compiler_builtins", "alloc"])?;
    let build = |sysroot: &Path, features: &str| -> Command {
        let mut command = undisturbed(cargo("build -p kgard --lib --no-default-features"));
        command.args(["--features", features, "--target", &host]);
        command.arg("--target-dir").arg(sysroot.with_extension("build"));
        // The encoded form, so that there may be a space in the path.
        command.env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot={}", sysroot.display()));
        command
    };
    run(build(&core, "libm"))?;
    run(build(&alloc, "libm,alloc"))?;
    expect_failure(build(&core, "libm,alloc"), "can't find crate for `alloc`")?;
    expect_failure(build(&alloc, "std"), "can't find crate for `std`")
}

/// Builds and runs the program without std, allocator and libc; and makes sure
/// that it does not link with any of them sneaked in.
pub(crate) fn freestanding() -> Outcome {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(Trouble::Skipped("the program is written for Linux on x86-64".into()));
    }
    let target_dir = target_dir().join("firmware");
    let build = |more: &str| -> Command {
        let line = "build --release --manifest-path firmware/Cargo.toml";
        let mut command = undisturbed(cargo(&format!("{line} -p {PROGRAM} {more}")));
        command.arg("--target-dir").arg(&target_dir);
        command
    };
    run(build(""))?;
    let program = target_dir.join("release").join(PROGRAM);
    run_within(with_arguments(&program, ""), Duration::from_mins(1))?;
    expect_failure(build("--features sneak-alloc"), "no global memory allocator found")?;
    expect_failure(build("--features sneak-std"), "first defined in crate `std`")
}
