//! Running other programs, and installing those that are missing.

use crate::steps::{Outcome, Trouble, failed};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest time for a question to a tool that needs no network.
const QUESTION: Duration = Duration::from_secs(30);
/// Longest time for packages of the distribution.
const INSTALLATION: Duration = Duration::from_mins(15);

/// Set by a user, or by the cargo that runs this program for its own sake:
/// what would change the flags behind our back, or load the wrong libraries
/// into another toolchain.
const MEDDLING: [&str; 6] = [
    "CARGO",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "LD_LIBRARY_PATH",
    "RUSTFLAGS",
];

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Where cargo puts what it makes.
pub(crate) fn target_dir() -> PathBuf {
    let chosen = env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    root().join(chosen)
}

/// The program, once [`build_kgard`] has made it.
pub(crate) fn kgard() -> PathBuf {
    target_dir().join(format!("debug/kgard{}", env::consts::EXE_SUFFIX))
}

/// A command in the root of the repository, with nothing to read.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that runs this program, with arguments separated by spaces.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut command = command(env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(arguments.split_whitespace());
    command
}

/// Builds the program with its tests. Any other choice of packages, features or
/// targets would have cargo build it, and much below it, once more.
pub(crate) fn build_kgard() -> Outcome {
    run(cargo("test --workspace --all-features --no-run --test cli"))
}

/// The compiler that belongs to [`cargo`].
pub(crate) fn rustc() -> Command {
    command(env::var_os("RUSTC").unwrap_or("rustc".into()))
}

/// The same command in an environment that adds no flags.
pub(crate) fn undisturbed(mut command: Command) -> Command {
    for name in MEDDLING {
        command.env_remove(name);
    }
    command
}

/// Runs a command whose output is the user's, and fails if it does.
pub(crate) fn run(mut command: Command) -> Outcome {
    announce(&command);
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    succeeded(&command, status)
}

/// [`run`] with a limit to its time.
pub(crate) fn run_within(command: Command, limit: Duration) -> Outcome {
    announce(&command);
    let (command, status) = wait(command, limit)?;
    succeeded(&command, status)
}

/// Runs a command that has to end with this exit code in the given time.
pub(crate) fn expect_code(command: Command, code: i32, limit: Duration) -> Outcome {
    announce(&command);
    let (command, status) = wait(command, limit)?;
    if status.code() == Some(code) {
        Ok(())
    } else {
        Err(failed(format!("`{}`: {status}, expected exit code {code}", line(&command))))
    }
}

/// Runs a command that has to fail, for a reason that its messages contain.
pub(crate) fn expect_failure(mut command: Command, reason: &str) -> Outcome {
    announce(&command);
    let output = command.output().map_err(|error| not_started(&command, &error))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Err(failed(format!("`{}` should have failed", line(&command))));
    }
    if !messages.contains(reason) {
        println!("{messages}");
        return Err(failed(format!("`{}` failed, but not with \"{reason}\"", line(&command))));
    }
    println!("failed as it should: {reason}");
    Ok(())
}

/// What a command prints; nothing if it fails.
pub(crate) fn answer(mut command: Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Whether a program is there.
pub(crate) fn exists(program: &str) -> bool {
    has_version(command(program))
}

/// Whether a program says its version.
pub(crate) fn has_version(mut program: Command) -> bool {
    program.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    wait(program, QUESTION).is_ok_and(|(_, status)| status.success())
}

/// Where a program is, by the search path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// Installs packages of a Debian-like distribution, if this user may.
pub(crate) fn install(packages: &str) -> Outcome {
    let by_hand =
        || Trouble::Skipped(format!("install {packages} (Debian's names), and try again"));
    if !exists("apt-get") {
        return Err(by_hand());
    }
    let user = answer(with_arguments("id", "-u"));
    let prefix = if user.as_deref() == Some("0") {
        ""
    } else if answer(with_arguments("sudo", "-n true")).is_some() {
        "sudo -n "
    } else {
        return Err(by_hand());
    };
    let apt = |arguments: &str| {
        // Nothing that the user has installed may go in exchange.
        let line = format!("{prefix}env DEBIAN_FRONTEND=noninteractive apt-get -q {arguments}");
        let (program, arguments) = line.split_once(' ').unwrap_or((&line, ""));
        run_within(with_arguments(program, arguments), INSTALLATION)
    };
    // The lists may be old without being useless.
    let _ = apt("update");
    apt(&format!("install -y --no-remove --no-install-recommends {packages}"))
        .map_err(|_| by_hand())
}

/// A program and its arguments, separated by spaces.
pub(crate) fn with_arguments(program: impl AsRef<OsStr>, arguments: &str) -> Command {
    let mut command = command(program);
    command.args(arguments.split_whitespace());
    command
}

/// Waits for a command, but ends it when its time is up.
fn wait(mut command: Command, limit: Duration) -> Result<(Command, ExitStatus), Trouble> {
    let mut child = command.spawn().map_err(|error| not_started(&command, &error))?;
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Ok((command, status));
        }
        if start.elapsed() > limit {
            // It may have ended in between.
            let _ = child.kill();
            let _ = child.wait();
            let seconds = limit.as_secs();
            return Err(failed(format!("`{}` took over {seconds} s", line(&command))));
        }
        sleep(Duration::from_millis(10));
    }
}

fn succeeded(command: &Command, status: ExitStatus) -> Outcome {
    if status.success() { Ok(()) } else { Err(failed(format!("`{}`: {status}", line(command)))) }
}

fn not_started(command: &Command, error: &std::io::Error) -> Trouble {
    failed(format!("`{}`: {error}", line(command)))
}

fn announce(command: &Command) {
    println!("$ {}", line(command));
}

/// The command as one would type it, without the folder of the program.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
