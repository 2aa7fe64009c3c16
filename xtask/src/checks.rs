//! The checks that take nothing but the ordinary toolchain.

use crate::steps::{Outcome, Trouble, failed};
use crate::tools::{answer, cargo, expect_failure, root, run, target_dir, with_arguments};

/// The packages of the other workspace that compile for this machine.
const FIRMWARE_HERE: &str = "-p kgard-firmware-common -p kgard-freestanding";

/// What the library says when it has no mathematical functions.
const NO_MATHEMATICS: &str = "enable the feature `std`, or `libm`";

/// How to get cargo-deny.
const DENY: &str = "`cargo install --locked cargo-deny` (some minutes), and try again";

/// Seconds for each door; they run side by side on the cores.
const FUZZ_SECONDS: &str = "20";

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
        "fmt --manifest-path firmware/Cargo.toml {FIRMWARE_HERE} -p kgard-device -p kgard-budget -- --check"
    )))?;
    run(cargo("fmt --manifest-path capi/Cargo.toml -p kgard-capi -p kgard-header -- --check"))
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
    let mut c = cargo("clippy --manifest-path capi/Cargo.toml --workspace");
    c.arg("--target-dir").arg(target_dir().join("capi")).args(["--", "-D", "warnings"]);
    run(c)
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

/// What `deny.toml` says of licences, duplicates and sources, by cargo-deny; without
/// it the licences alone.
pub(crate) fn dependencies() -> Outcome {
    licences()?;
    if answer(cargo("deny --version")).is_none() {
        return Err(Trouble::Skipped(format!("licences only: {DENY}")));
    }
    run(cargo("deny --all-features check bans licenses sources"))
}

/// Known vulnerabilities of the dependencies.
pub(crate) fn advisories() -> Outcome {
    if answer(cargo("deny --version")).is_none() {
        return Err(Trouble::Skipped(DENY.into()));
    }
    if answer(cargo("deny --all-features fetch db")).is_none() {
        let text = "the database of vulnerabilities cannot be fetched from github.com";
        return Err(Trouble::Skipped(text.into()));
    }
    run(cargo("deny --all-features check advisories"))
}

/// The licences of all dependencies, without any tool.
fn licences() -> Outcome {
    let text = answer(cargo("metadata --format-version 1 --all-features --locked"))
        .ok_or_else(|| failed("`cargo metadata` failed"))?;
    let list = std::fs::read_to_string(root().join("deny.toml"))
        .map_err(|error| failed(format!("deny.toml: {error}")))?;
    let allowed: Vec<&str> = list
        .lines()
        .find_map(|line| line.strip_prefix("allow = ["))
        .ok_or_else(|| failed("deny.toml has no list of licences"))?
        .split('"')
        .collect();
    let mut count = 0;
    // Each package has one; its identifier stands before it.
    for (before, after) in text.match_indices("\"license\":").map(|(at, _)| text.split_at(at)) {
        let name = before.rsplit("\"name\":\"").next().and_then(|rest| rest.split('"').next());
        let name = name.unwrap_or_default();
        let licence = after["\"license\":".len()..].trim_start_matches('"').split('"').next();
        let licence = licence.unwrap_or_default();
        if !is_allowed(licence, &allowed) {
            return Err(failed(format!("{name}: the licence {licence:?} is not in deny.toml")));
        }
        count += 1;
    }
    if count == 0 {
        return Err(failed("`cargo metadata` tells no licences"));
    }
    println!("licences of {count} packages: allowed");
    Ok(())
}

/// Whether one of the alternatives of an expression consists of licences of the list.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" OR ").any(|alternative| {
        alternative.split(" AND ").all(|licence| {
            let licence = licence.split(" WITH ").next().unwrap_or_default().trim();
            allowed.contains(&licence)
        })
    })
}

/// The library as crates.io would get it: built from the package alone.
pub(crate) fn package() -> Outcome {
    run(cargo("package -p kgard --allow-dirty"))
}

/// Each door of the library under mutated input.
pub(crate) fn fuzz() -> Outcome {
    let mut tests = cargo("test -p kgard -p kgard-cli --all-features --test fuzz -- --nocapture");
    tests.env("KGARD_FUZZ_SECONDS", FUZZ_SECONDS);
    run(tests)
}

/// Noisy pictures of many kinds, and the clean ones.
pub(crate) fn pictures(directory: &str) -> Outcome {
    let mut example = cargo("run --release -p kgard-cli --example pictures --");
    example.arg(directory);
    run(example)
}

/// The gallery of the guide: docs/gallery.md, and its pictures.
pub(crate) fn gallery() -> Outcome {
    run(cargo("build --release -p kgard-cli"))?;
    let mut example = cargo("run --release -p kgard-cli --example gallery --");
    example.arg(target_dir().join("release/kgard")).arg("docs");
    run(example)
}

/// The benchmarks of the library.
pub(crate) fn benchmarks() -> Outcome {
    run(cargo("bench -p kgard"))
}

/// What `benches/line_rivals.py` imports.
const RIVALS: &str = "numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 celerite2==0.3.3";

/// Long series, beside rivals in an environment of their own.
pub(crate) fn line() -> Outcome {
    let environment = target_dir().join("line-rivals");
    let bin = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = bin.join(format!("python{}", std::env::consts::EXE_SUFFIX));
    if !python.is_file() {
        let mut make = with_arguments("python3", "-m venv");
        make.arg(&environment);
        run(make)
            .map_err(|_| Trouble::Skipped("install Python 3 with venv, and try again".into()))?;
    }
    run(with_arguments(&python, &format!("-m pip install --quiet {RIVALS}")))?;
    let mut bench = cargo("bench -p kgard --bench line -- --write --python");
    bench.arg(python);
    run(bench)
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

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn licences() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"];
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in ["", "null,", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1 OR GPL-3.0"] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }
}
