//! The checks that take nothing but the ordinary toolchain.

use crate::steps::{Outcome, Trouble};
use crate::tools::{answer, cargo, expect_failure, root, run, target_dir};

/// The packages of the other workspace that compile for this machine.
const FIRMWARE_HERE: &str = "-p kgard-firmware-common -p kgard-freestanding";

/// What the library says when it has no mathematical functions.
const NO_MATHEMATICS: &str = "enable the feature `std`, or `libm`";

/// The features of the library from the bottom up.
const LEVELS: [&str; 3] =
    ["--no-default-features --features libm", "--no-default-features --features libm,alloc", ""];

/// The program without GPUs. The library is named, and has features that the program
/// does not use, so that nearly all they depend on is what the other tests have built.
const LEAN: &str = "-p kgard -p kgard-cli --no-default-features --features kgard/libm,kgard/serde";

/// rustfmt, on every crate.
pub(crate) fn formatting() -> Outcome {
    component("fmt", "rustfmt")?;
    run(cargo("fmt --all -- --check"))?;
    // By name: `--all` would take in the library a second time.
    run(cargo(&format!(
        "fmt --manifest-path firmware/Cargo.toml {FIRMWARE_HERE} -p kgard-cortex-m4 -p kgard-budget -- --check"
    )))
}

/// Clippy, on everything that compiles for this machine.
pub(crate) fn lints() -> Outcome {
    component("clippy", "clippy")?;
    run(cargo("clippy --workspace --all-targets --all-features -- -D warnings"))?;
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let mut firmware = cargo("clippy --manifest-path firmware/Cargo.toml");
        firmware.arg("--target-dir").arg(target_dir().join("firmware"));
        firmware.args(FIRMWARE_HERE.split(' ')).args(["--", "-D", "warnings"]);
        run(firmware)?;
    }
    Ok(())
}

/// Every test; with an adapter none may be skipped for want of one. The examples
/// as programs have been through Clippy, and are run by a test: they are not linked.
pub(crate) fn tests(has_gpu: bool) -> Outcome {
    let mut tests = cargo("test --workspace --all-features --tests");
    if has_gpu {
        tests.env("KGARD_NEEDS_GPU", "1");
    }
    run(tests)?;
    run(cargo("test --workspace --all-features --doc"))
}

/// The library with each set of features: no warnings, and its own tests. The
/// program without GPUs.
pub(crate) fn feature_levels() -> Outcome {
    for features in LEVELS {
        run(cargo(&format!("clippy -p kgard --lib {features} -- -D warnings")))?;
        run(cargo(&format!("test -p kgard --lib {features}")))?;
    }
    run(cargo("clippy -p kgard-cli --no-default-features --all-targets -- -D warnings"))?;
    run(cargo(&format!("test {LEAN} --test cli -- no_gpu")))?;
    expect_failure(cargo("check -p kgard --lib --no-default-features"), NO_MATHEMATICS)
}

/// The documentation as docs.rs shows it, formulas included.
pub(crate) fn documentation() -> Outcome {
    let header = root().join("katex-header.html");
    let flags = ["-D", "warnings", "--html-in-header", &header.to_string_lossy()];
    let mut doc = cargo("doc --workspace --no-deps --all-features");
    // The encoded form, so that there may be a space in the path.
    doc.env("CARGO_ENCODED_RUSTDOCFLAGS", flags.join("\x1f"));
    run(doc)
}

/// Noisy pictures of many kinds, and the clean ones.
pub(crate) fn pictures(directory: &str) -> Outcome {
    let mut example = cargo("run --release -p kgard-cli --example pictures --");
    example.arg(directory);
    run(example)
}

/// The benchmarks of the library.
pub(crate) fn benchmarks() -> Outcome {
    run(cargo("bench -p kgard"))
}

/// The tuner on the problems in a folder.
pub(crate) fn regression(directory: &str) -> Outcome {
    let mut bench = cargo("bench -p kgard --bench regression --");
    bench.args(["--problems", directory]);
    run(bench)
}

/// Makes sure of a part of the toolchain that is not always installed.
fn component(subcommand: &str, name: &str) -> Outcome {
    if answer(cargo(&format!("{subcommand} --version"))).is_some() {
        return Ok(());
    }
    Err(Trouble::Skipped(format!("`rustup component add {name}`, and try again")))
}
