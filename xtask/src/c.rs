//! The C library: its header, and programs in C and C++ that use it.

use crate::bare::{Compiler, Route};
use crate::boards::{CORTEX_M4F, PATIENCE};
use crate::emulator::Emulator;
use crate::steps::{Outcome, Trouble, failed};
use crate::tools::{
    answer, build_kgard, cargo, exists, install, kgard, root, run, run_within, target_dir,
    undisturbed, with_arguments,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const WORKSPACE: &str = "capi";
const PACKAGE: &str = "kgard-capi";
/// Where the half plan is, below the other one.
const HALF: &str = "half";
/// The compiler for microcontrollers, and the package of Debian that has it.
const CROSS: &str = "arm-none-eabi-gcc";
const CROSS_PACKAGE: &str = "gcc-arm-none-eabi";
/// What no example may give rise to.
const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Werror";
/// Sums and products as they are written, so that all machines print the same.
const SAME_EVERYWHERE: &str = "-ffp-contract=off";

/// The header is what its source says. The examples compile, link with both libraries, and run;
/// with the sanitizer and under valgrind, where there are any.
pub(crate) fn on_this_machine() -> Outcome {
    for program in ["gcc", "g++"] {
        if !exists(program) {
            install("gcc g++ libc6-dev")?;
        }
    }
    run(in_workspace("run -p kgard-header -- --check"))?;
    run(in_workspace("build -p kgard-capi"))?;
    let prefix = folder().join("prefix");
    lay_out(&prefix, "debug")?;
    write_plan()?;

    let shared = flags(&prefix, false);
    let fixed = flags(&prefix, true);
    let c = format!("-std=c99 -O1 {SAME_EVERYWHERE}");
    compile("gcc", &c, &["pictures.c"], &shared, "pictures")?;
    compile("g++", "-std=c++11 -O1", &["clean.cpp"], &shared, "clean-cpp")?;
    compile("gcc", &c, &["clean.c", "console.c"], &fixed, "clean")?;
    for program in ["pictures", "clean-cpp", "clean"] {
        run_within(example(program), PATIENCE)?;
    }
    let sanitizer = format!("{c} -g -fsanitize=address,undefined -fno-sanitize-recover=all");
    compile("gcc", &sanitizer, &["clean.c", "console.c"], &fixed, "clean-sanitized")?;
    compile("gcc", &sanitizer, &["pictures.c"], &shared, "pictures-sanitized")?;
    for program in ["clean-sanitized", "pictures-sanitized"] {
        run_within(example(program), PATIENCE)?;
    }
    if exists("valgrind") {
        for program in ["clean", "clean-cpp"] {
            let mut valgrind =
                with_arguments("valgrind", "-q --error-exitcode=9 --leak-check=full");
            valgrind.arg(folder().join(program)).env("LD_LIBRARY_PATH", prefix.join("lib"));
            run_within(valgrind, PATIENCE)?;
        }
    } else {
        println!("no valgrind: the sanitizer alone has looked");
    }
    Ok(())
}

/// The static library is linked by a C compiler into an image for a Cortex-M4F without anything
/// that could panic; it prints what the same program prints here.
pub(crate) fn on_a_cortex_m4() -> Outcome {
    let here = answer(example("clean")).ok_or_else(|| {
        Trouble::Skipped("the C library has to work on this machine first".into())
    })?;
    if !exists(CROSS) {
        install(CROSS_PACKAGE)?;
    }
    let emulator = Emulator::get(CORTEX_M4F.emulator)?;
    let compiler = Compiler::get(Route::Any, CORTEX_M4F.target)?;
    let mut library = compiler.build_static(WORKSPACE, PACKAGE, "device")?;
    library.args(["--no-default-features", "--features", "prove-no-panic"]);
    run(library)?;

    let library = compiler.folder(WORKSPACE, "device").join("libkgard.a");
    let map = root().join("capi/examples/device/memory.ld");
    let options = format!(
        "-std=c11 -Os -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding \
         -ffunction-sections -fdata-sections {SAME_EVERYWHERE} -DKGARD_DEVICE"
    );
    // With half the plan there, and the whole one here.
    let mut link = vec![format!("-I{}", root().join("capi/include").display())];
    link.push(library.display().to_string());
    link.extend(["-nostdlib", "-Wl,--gc-sections", "-Wl,-z,noexecstack"].map(String::from));
    link.extend(["-T".into(), map.display().to_string()]);
    compile(CROSS, &options, &["clean.c", "device/start.c"], &link, "clean.elf")?;
    // The figures, where there is the program that has them.
    let mut size = with_arguments("arm-none-eabi-size", "");
    size.arg(folder().join("clean.elf"));
    let _ = run(size);

    let output = folder().join("clean.txt");
    let io = |error: std::io::Error| failed(format!("{}: {error}", output.display()));
    let mut board = CORTEX_M4F.command(&emulator);
    board.arg("-kernel").arg(folder().join("clean.elf"));
    board.stderr(fs::File::create(&output).map_err(io)?);
    run_within(board, PATIENCE)?;
    let there = fs::read_to_string(&output).map_err(io)?;
    // The emulator may have said something, too.
    let said: Vec<&str> = there.lines().filter(|line| !line.starts_with("qemu-system")).collect();
    if said != here.lines().collect::<Vec<_>>() {
        return Err(failed(format!("the device says\n{there}\nand this machine\n{here}")));
    }
    println!("the same on both:\n{here}");
    Ok(())
}

/// Builds the libraries for speed, and puts them, the header and the pkg-config file into a folder.
pub(crate) fn install_release(prefix: &str) -> Outcome {
    run(in_workspace("build -p kgard-capi --release"))?;
    let prefix =
        std::path::absolute(prefix).map_err(|error| failed(format!("{prefix}: {error}")))?;
    lay_out(&prefix, "release")
}

/// Where programs and what they take are made.
fn folder() -> PathBuf {
    target_dir().join(WORKSPACE).join("c")
}

fn in_workspace(arguments: &str) -> Command {
    let (subcommand, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let mut command = undisturbed(cargo(subcommand));
    command.args(["--manifest-path", "capi/Cargo.toml", "--target-dir"]);
    command.arg(target_dir().join(WORKSPACE)).args(rest.split_whitespace());
    command
}

/// Header, libraries and the file for pkg-config, as they are installed.
fn lay_out(prefix: &Path, profile: &str) -> Outcome {
    let io = |error: std::io::Error| failed(format!("{}: {error}", prefix.display()));
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let pkgconfig = lib.join("pkgconfig");
    for folder in [&include, &pkgconfig] {
        fs::create_dir_all(folder).map_err(io)?;
    }
    fs::copy(root().join("capi/include/kgard.h"), include.join("kgard.h")).map_err(io)?;
    let built = target_dir().join(WORKSPACE).join(profile);
    let names = ["libkgard.a", "libkgard.so", "libkgard.dylib", "kgard.dll", "kgard.lib"];
    for name in names.iter().filter(|name| built.join(name).exists()) {
        fs::copy(built.join(name), lib.join(name)).map_err(io)?;
    }
    let template = fs::read_to_string(root().join("capi/kgard.pc.in")).map_err(io)?;
    let text = template
        .replace("@PREFIX@", &prefix.display().to_string())
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    fs::write(pkgconfig.join("kgard.pc"), text).map_err(io)?;
    println!("{}: header, libraries, pkg-config file", prefix.display());
    Ok(())
}

/// What it takes to compile with the library, by pkg-config where it is at hand.
fn flags(prefix: &Path, fixed: bool) -> Vec<String> {
    let lib = prefix.join("lib");
    let mut question = with_arguments("pkg-config", "--cflags --libs");
    question.args(fixed.then_some("--static")).arg("kgard");
    question.env("PKG_CONFIG_PATH", lib.join("pkgconfig"));
    let by_hand = || {
        let (include, lib) = (prefix.join("include"), lib.display());
        format!("-I{} -L{lib} -lkgard -lm -lpthread -ldl", include.display())
    };
    let found = answer(question).unwrap_or_else(by_hand);
    let mut flags: Vec<String> = found.split_whitespace().map(String::from).collect();
    if fixed {
        // That file itself, or the linker would take the other one.
        let archive = lib.join("libkgard.a").display().to_string();
        for flag in flags.iter_mut().filter(|flag| *flag == "-lkgard") {
            flag.clone_from(&archive);
        }
    }
    flags.push("-lm".into());
    flags
}

/// A plan in C for the examples, of 64 points; and half of it.
fn write_plan() -> Outcome {
    build_kgard()?;
    let io = |error: std::io::Error| failed(format!("{}: {error}", folder().display()));
    fs::create_dir_all(folder()).map_err(io)?;
    let grid: Vec<String> = (0..64).map(|i| (f64::from(i) / 64.0).to_string()).collect();
    fs::write(folder().join("grid.csv"), format!("x\n{}\n", grid.join("\n"))).map_err(io)?;
    let half = folder().join(HALF);
    fs::create_dir_all(&half).map_err(io)?;
    for (place, more) in [(folder(), ""), (half, "--half")] {
        let line = "--sigma 0.25 --lambda 0.125 --regularizer rkhs -o plan.h";
        let mut plan = with_arguments(kgard(), &format!("plan {more} {line}"));
        plan.arg(folder().join("grid.csv")).current_dir(place);
        run(plan)?;
    }
    Ok(())
}

/// Compiles and links an example.
fn compile(
    compiler: &str,
    options: &str,
    sources: &[&str],
    flags: &[String],
    program: &str,
) -> Outcome {
    let mut compile = undisturbed(with_arguments(compiler, &format!("{WARNINGS} {options}")));
    compile.args(sources.iter().map(|name| root().join("capi/examples").join(name)));
    let plan = if compiler == CROSS { folder().join(HALF) } else { folder() };
    compile.arg("-I").arg(plan).args(flags).arg("-o").arg(folder().join(program));
    run(compile)
}

fn example(program: &str) -> Command {
    let mut command = undisturbed(with_arguments(folder().join(program), ""));
    command.env("LD_LIBRARY_PATH", folder().join("prefix/lib"));
    command
}
