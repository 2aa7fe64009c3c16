//! Private sysroots: folders with a choice of the standard libraries.

use crate::steps::{Outcome, Trouble, failed};
use crate::tools::{answer, command, run, rustc, target_dir, undisturbed, with_arguments};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's compiler, and the source of its libraries.
const RUSTC: &str = "/usr/bin/rustc";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library";

/// The machine that the compiler runs on.
pub(crate) fn host() -> Result<String, Trouble> {
    let mut question = rustc();
    question.arg("-vV");
    let version = answer(question).ok_or_else(|| failed("`rustc -vV` does not answer"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| failed("`rustc -vV` names no host"))
}

/// Where the compiler's libraries and tools are.
pub(crate) fn of_toolchain() -> Result<PathBuf, Trouble> {
    let mut question = rustc();
    question.args(["--print", "sysroot"]);
    let folder = answer(question).ok_or_else(|| failed("rustc does not name its sysroot"))?;
    Ok(folder.into())
}

/// A sysroot with some of the toolchain's own libraries for this machine, so
/// that a crate that wants another one does not compile.
pub(crate) fn restricted(name: &str, libraries: &[&str]) -> Result<PathBuf, Trouble> {
    let inside = Path::new("lib/rustlib").join(host()?).join("lib");
    let sysroot = target_dir().join("no_std").join(name);
    let (from, to) = (of_toolchain()?.join(&inside), sysroot.join(&inside));
    // Made anew each time, because the toolchain may have changed.
    let copied = (|| {
        if sysroot.exists() {
            fs::remove_dir_all(&sysroot)?;
        }
        fs::create_dir_all(&to)?;
        for file in fs::read_dir(&from)? {
            let file = file?;
            let name = file.file_name();
            let library = name.to_string_lossy();
            let library = library.strip_prefix("lib").and_then(|name| name.split_once('-'));
            if library.is_some_and(|(library, _)| libraries.contains(&library)) {
                fs::copy(file.path(), to.join(name))?;
            }
        }
        Ok(())
    })();
    copied.map_err(|error: std::io::Error| failed(format!("restricted sysroot: {error}")))?;
    Ok(sysroot)
}

/// The version of Debian's compiler, if it can build libraries for a target
/// and is new enough for this project.
pub(crate) fn distribution_version() -> Option<String> {
    let version = answer(with_arguments(RUSTC, "--version"))?;
    let number = version.strip_prefix("rustc ")?.split(' ').next()?;
    let minor = |number: &str| number.split('.').nth(1)?.parse::<u32>().ok();
    let new_enough = minor(number)? >= minor(env!("CARGO_PKG_RUST_VERSION"))?;
    let complete = Path::new(SOURCE).join("core/src/lib.rs").exists();
    (new_enough && complete).then(|| number.to_owned())
}

/// A sysroot for `target`, compiled from Debian's source by Debian's compiler.
/// It takes a minute, and is kept.
pub(crate) fn compiled(target: &str, version: &str) -> Result<PathBuf, Trouble> {
    let folder = target_dir().join("firmware");
    let sysroot = folder.join(format!("sysroot-{target}-{version}"));
    if sysroot.exists() {
        return Ok(sysroot);
    }
    // Under another name until it is complete.
    let unfinished = folder.join("sysroot-unfinished");
    let libraries = unfinished.join("lib/rustlib").join(target).join("lib");
    let io = |error: std::io::Error| failed(format!("private sysroot: {error}"));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(io)?;
    }
    fs::create_dir_all(&libraries).map_err(io)?;
    compile_libraries(target, &unfinished, &libraries)?;
    fs::rename(&unfinished, &sysroot).map_err(io)?;
    Ok(sysroot)
}

fn compile_libraries(target: &str, sysroot: &Path, out: &Path) -> Outcome {
    let library = |name: &str, source: &str| -> Command {
        let mut rustc = undisturbed(command(RUSTC));
        // The libraries are written in a dialect of their own.
        rustc.env("RUSTC_BOOTSTRAP", "1");
        rustc.args(["--edition=2024", "--crate-type=rlib", "--crate-name", name]);
        rustc.args(["--target", target, "-Copt-level=3", "-Cstrip=debuginfo"]);
        rustc.args(["--cap-lints=allow", "-Zunstable-options", "-Zforce-unstable-if-unmarked"]);
        rustc.arg("--sysroot").arg(sysroot).arg("--out-dir").arg(out);
        rustc.arg(Path::new(SOURCE).join(source));
        rustc
    };
    let external = |name: &str, file: &str| format!("--extern={name}={}", out.join(file).display());

    run(library("core", "core/src/lib.rs"))?;

    // One object for each function, so that only what is called gets linked.
    let mut builtins =
        library("compiler_builtins", "compiler-builtins/compiler-builtins/src/lib.rs");
    builtins.arg("-Ccodegen-units=10000").arg(external("core", "libcore.rlib"));
    for feature in ["compiler-builtins", "mem", "unstable-intrinsics"] {
        builtins.arg(format!("--cfg=feature=\"{feature}\""));
    }
    // What its build script would find out.
    let found = ["intrinsics_enabled", "arch_enabled", "optimizations_enabled"];
    for name in found.into_iter().chain(["f16_enabled", "f128_enabled"]) {
        builtins.arg(format!("--cfg={name}"));
    }
    if target.starts_with("thumb") {
        builtins.arg("--cfg=thumb");
    }
    run(builtins)
}
