//! Compilers for machines without an operating system.

use crate::steps::{Outcome, Trouble};
use crate::sysroot::{compiled, distribution_version, host, of_toolchain};
use crate::tools::{
    cargo, command, exists, install, run_within, target_dir, undisturbed, with_arguments,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// For rustup to fetch the target, or to find that it cannot.
const DOWNLOAD: Duration = Duration::from_mins(2);

/// Packages of Debian with a compiler that can build its own libraries.
const COMPILER_PACKAGES: &str = "rustc-web cargo-web rust-web-src";

/// Which compiler to take.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Route {
    /// The one at hand if it has the target, or rustup can add it; otherwise
    /// Debian's.
    Any,
    /// Debian's.
    Distribution,
}

/// A compiler for a target, and where it puts what it makes.
pub(crate) struct Compiler {
    route: Route,
    target: &'static str,
}

impl Compiler {
    pub(crate) fn get(route: Route, target: &'static str) -> Result<Self, Trouble> {
        let has_target = route == Route::Any && has_target(target)?;
        let route = if has_target { Route::Any } else { Route::Distribution };
        if route == Route::Distribution {
            has_distribution(target)?;
        }
        Ok(Self { route, target })
    }

    /// The command that builds a package of the workspace in a folder.
    pub(crate) fn build(
        &self,
        workspace: &str,
        package: &str,
        profile: &str,
    ) -> Result<Command, Trouble> {
        self.command("build", workspace, package, profile)
    }

    /// The command that builds its library as a static one.
    pub(crate) fn build_static(
        &self,
        workspace: &str,
        package: &str,
        profile: &str,
    ) -> Result<Command, Trouble> {
        let mut build = self.command("rustc", workspace, package, profile)?;
        build.args(["--crate-type", "staticlib"]);
        Ok(build)
    }

    fn command(
        &self,
        subcommand: &str,
        workspace: &str,
        package: &str,
        profile: &str,
    ) -> Result<Command, Trouble> {
        let mut build = match self.route {
            Route::Any => undisturbed(cargo("")),
            Route::Distribution => distribution(self.target)?,
        };
        build.arg(subcommand).arg("--manifest-path").arg(format!("{workspace}/Cargo.toml"));
        build.args(["--target", self.target, "-p", package, "--profile", profile]);
        build.arg("--target-dir").arg(self.target_dir(workspace));
        Ok(build)
    }

    /// Where what is built with a profile can be found.
    pub(crate) fn folder(&self, workspace: &str, profile: &str) -> PathBuf {
        self.target_dir(workspace).join(self.target).join(profile)
    }

    fn target_dir(&self, workspace: &str) -> PathBuf {
        let folder = target_dir().join(workspace);
        if self.route == Route::Any { folder } else { folder.join("distribution") }
    }
}

/// Whether the compiler at hand has the target, if need be after adding it.
fn has_target(target: &str) -> Result<bool, Trouble> {
    let folder = of_toolchain()?.join("lib/rustlib").join(target);
    if !folder.exists() && exists("rustup") {
        // Not being able to is no failure: there is another way.
        let _ = run_within(with_arguments("rustup", &format!("target add {target}")), DOWNLOAD);
    }
    Ok(folder.exists())
}

/// Makes sure of Debian's compiler.
fn has_distribution(target: &str) -> Outcome {
    if distribution_version().is_none() {
        install(COMPILER_PACKAGES)?;
    }
    match distribution_version() {
        Some(_) => Ok(()),
        None => Err(Trouble::Skipped(format!("`rustup target add {target}`, and try again"))),
    }
}

/// Debian's cargo, set up to use a private sysroot.
fn distribution(target: &str) -> Result<Command, Trouble> {
    let version = distribution_version().unwrap_or_default();
    let sysroot = compiled(target, &version)?;
    let mut cargo = undisturbed(command("/usr/bin/cargo"));
    cargo.env("RUSTC", "/usr/bin/rustc");
    // The encoded form, so that there may be a space in the path.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot={}", sysroot.display()));
    // Debian's compiler has no linker for the target, the one at hand may.
    let tools = of_toolchain()?.join("lib/rustlib").join(host()?).join("bin");
    let linker = tools.join("rust-lld");
    let linker = if linker.exists() { linker.as_path() } else { Path::new("ld.lld") };
    let variable = target.to_uppercase().replace('-', "_");
    cargo.env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
    Ok(cargo)
}
