//! QEMU: the machine's own, or one that is unpacked into the target directory.

use crate::steps::{Outcome, Trouble, failed};
use crate::tools::{
    answer, exists, has_version, install, run_within, target_dir, undisturbed, with_arguments,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program, and the package of Debian that has it.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    program: &'static str,
    package: &'static str,
}

/// ARM.
pub(crate) const ARM: Machine = Machine { program: "qemu-system-arm", package: "qemu-system-arm" };

/// For the packages to arrive.
const DOWNLOAD: Duration = Duration::from_mins(5);
/// For one of them to be unpacked.
const UNPACKING: Duration = Duration::from_mins(1);

/// RISC-V.
pub(crate) const RISC_V: Machine =
    Machine { program: "qemu-system-riscv32", package: "qemu-system-misc" };

/// An emulator, and where it is.
pub(crate) struct Emulator {
    machine: Machine,
    /// The folder of ours in which it is, with its libraries; none if it is on the search path.
    unpacked: Option<PathBuf>,
}

impl Emulator {
    /// Finds it, or sees to it that there is one.
    pub(crate) fn get(machine: Machine) -> Result<Self, Trouble> {
        let Machine { program, package } = machine;
        let installed = Self { machine, unpacked: None };
        if exists(program) {
            return Ok(installed);
        }
        let folder = target_dir().join("tools").join(program);
        let unpacked = Self { machine, unpacked: Some(folder) };
        if unpacked.runs() {
            return Ok(unpacked);
        }
        let Err(trouble) = install(package) else { return Ok(installed) };
        // Other packages may be in its way, or the user not be allowed to.
        println!("not installed; it is unpacked instead, beside what cargo makes");
        match unpacked.unpack() {
            Ok(()) if unpacked.runs() => Ok(unpacked),
            _ => Err(trouble),
        }
    }

    /// The emulator with arguments separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let Some(folder) = &self.unpacked else {
            return undisturbed(with_arguments(self.machine.program, arguments));
        };
        let program = folder.join("usr/bin").join(self.machine.program);
        let mut command = undisturbed(with_arguments(program, arguments));
        let libraries = ["lib", "usr/lib"].map(|lib| subfolders(&folder.join(lib)));
        let libraries = libraries.into_iter().flatten();
        if let Ok(path) = std::env::join_paths(libraries) {
            command.env("LD_LIBRARY_PATH", path);
        }
        command
    }

    fn runs(&self) -> bool {
        has_version(self.command(""))
    }

    /// Fetches the packages that would have been installed, which anyone may, and
    /// unpacks them.
    fn unpack(&self) -> Outcome {
        let Some(folder) = &self.unpacked else { return Ok(()) };
        let io = |error: std::io::Error| failed(format!("{}: {error}", folder.display()));
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(io)?;
        }
        fs::create_dir_all(folder).map_err(io)?;
        let plan = format!("install --simulate --no-install-recommends {}", self.machine.package);
        let plan = answer(with_arguments("apt-get", &plan)).unwrap_or_default();
        let packages =
            plan.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
        let mut download = with_arguments("apt-get", "-q download");
        download.args(packages).current_dir(folder);
        run_within(download, DOWNLOAD)?;
        for file in fs::read_dir(folder).map_err(io)? {
            let package = file.map_err(io)?.path();
            if package.extension().is_some_and(|extension| extension == "deb") {
                let mut unpack = with_arguments("dpkg-deb", "--extract");
                unpack.arg(&package).arg(folder);
                run_within(unpack, UNPACKING)?;
                fs::remove_file(&package).map_err(io)?;
            }
        }
        Ok(())
    }
}

/// The folders in a folder; none if there is no such folder.
fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.path()).filter(|path| path.is_dir()).collect()
}
