//! Checks that wear the project out: other processors, the oldest dependencies, many clients.

use crate::steps::{Outcome, failed};
use crate::tools::{cargo, command, exists, install, run, target_dir};
use std::fs;
use std::path::Path;

/// Runs programs of this machine on another processor of its kind.
const EMULATOR: &str = "qemu-x86_64";

/// The program on processors with fewer vector instructions.
pub(crate) fn instruction_sets() -> Outcome {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(crate::steps::Trouble::Skipped("this machine is no x86-64 with Linux".into()));
    }
    if !exists(EMULATOR) {
        install("qemu-user")?;
    }
    let mut test = cargo("test --workspace --all-features --test cli -- instruction_sets");
    test.env("KGARD_EMULATOR", EMULATOR);
    run(test)
}

/// The library with the oldest versions of its dependencies that Cargo.toml allows: the package
/// as crates.io would get it, and a lock file of its own.
pub(crate) fn oldest_dependencies() -> Outcome {
    let name = concat!("kgard-", env!("CARGO_PKG_VERSION"));
    let (packaged, folder) = (target_dir().join("package").join(name), target_dir().join("oldest"));
    if !packaged.join("Cargo.toml").is_file() {
        run(cargo("package -p kgard --allow-dirty --no-verify"))?;
        unpack(&target_dir().join("package"), name)?;
    }
    let io = |error: std::io::Error| failed(format!("{}: {error}", folder.display()));
    if folder.join(name).exists() {
        fs::remove_dir_all(folder.join(name)).map_err(io)?;
    }
    copy(&packaged, &folder.join(name)).map_err(io)?;
    let path = folder.join(name).join("Cargo.toml");
    let manifest = fs::read_to_string(&path).map_err(io)?;
    // Not a member of the workspace around it.
    fs::write(&path, without_tests(&manifest) + "\n[workspace]\n").map_err(io)?;
    fs::remove_file(folder.join(name).join("Cargo.lock")).map_err(io)?;
    let here = |arguments: &str| {
        let mut command = cargo(arguments);
        command.arg("--manifest-path").arg(&path);
        command
    };
    let mut lock = here("generate-lockfile -Z direct-minimal-versions");
    // The choice of versions is not on the stable channel yet.
    lock.env("RUSTC_BOOTSTRAP", "1");
    run(lock)?;
    let mut check = here("check --lib --all-features --locked");
    check.arg("--target-dir").arg(folder.join("target"));
    run(check)
}

/// A manifest without what only tests depend on, which may need newer versions.
fn without_tests(manifest: &str) -> String {
    let mut is_of_tests = false;
    let keep = |line: &&str| {
        if line.starts_with('[') {
            is_of_tests = line.starts_with("[dev-dependencies");
        }
        !is_of_tests
    };
    manifest.lines().filter(keep).flat_map(|line| [line, "\n"]).collect()
}

/// The package that cargo has written into a folder, as files.
fn unpack(folder: &Path, name: &str) -> Outcome {
    let mut tar = command("tar");
    tar.arg("-xzf").arg(folder.join(format!("{name}.crate"))).arg("-C").arg(folder);
    run(tar)
}

/// A folder and all in it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Ten thousand pictures from 64 clients through one server.
pub(crate) fn load() -> Outcome {
    let mut test = cargo("test --workspace --all-features --test cli -- --nocapture serve::load");
    test.env("KGARD_LOAD_PICTURES", "10000");
    run(test)
}
