//! The project's chores: `cargo xtask test` runs every check there is.

mod bare;
mod boards;
mod c;
mod checks;
mod emulator;
mod endurance;
mod gpu;
mod no_std;
mod steps;
mod sysroot;
mod tools;
mod train;
mod web;

use bare::Route;
use std::process::ExitCode;
use steps::{Outcome, Steps};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test             every check: formatting, lints, tests, features,
                   documentation, dependencies, the package, fuzzing, older
                   processors, no_std, a browser, microcontrollers in QEMU, and
                   the C library
  test --quick     formatting, lints and tests only
  test --fuzz      mutated input for each door of the library only
  test --oldest    the library with the oldest dependencies it allows
  test --load      10,000 pictures from 64 clients through one server
  test --web       the tests in a browser only
  test --c         the C library only: examples in C and C++, here and in QEMU
  install-c PREFIX the C library, its header and its pkg-config file, in
                   PREFIX/lib and PREFIX/include
  firmware         the programs without std only; prints their figures
  firmware --distribution
                   the same with Debian's compiler, even where rustup can
                   add the target
  doc              the documentation, in target/doc
  pictures DIR     noisy pictures as cameras, microscopes, telescopes and
                   screens make them, with the clean ones, from seeds
  gallery          docs/gallery.md: such pictures before and after
  train [--pictures DIR]
                   the classifier's weights in models/, from the pictures in
                   DIR or in target/pictures
  bench            the benchmarks
  bench line       long series, beside rivals that it installs with pip into
                   target/; puts the tables into BENCHMARKS.md
  bench regression --problems DIR
                   the tuner on regression problems, beside rivals";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut steps = Steps::default();
    match arguments[..] {
        ["test"] => {
            quick(&mut steps, gpu::adapter);
            steps.run("feature levels", checks::feature_levels);
            steps.run("documentation", checks::documentation);
            steps.run("dependencies", checks::dependencies);
            steps.run("advisories", checks::advisories);
            steps.run("package", checks::package);
            steps.run("oldest dependencies", endurance::oldest_dependencies);
            steps.run("fuzz", checks::fuzz);
            steps.run("instruction sets", endurance::instruction_sets);
            steps.run("no_std: restricted sysroots", no_std::restricted_sysroots);
            web(&mut steps);
            firmware(&mut steps, Route::Any);
            c_library(&mut steps);
        }
        ["test", "--quick"] => quick(&mut steps, gpu::installed_adapter),
        ["test", "--web"] => web(&mut steps),
        ["test", "--fuzz"] => steps.run("fuzz", checks::fuzz),
        ["test", "--c"] => c_library(&mut steps),
        ["install-c", prefix] => steps.run("C library", || c::install_release(prefix)),
        ["test", "--oldest"] => steps.run("oldest dependencies", endurance::oldest_dependencies),
        ["test", "--load"] => steps.run("load", endurance::load),
        ["firmware"] => firmware(&mut steps, Route::Any),
        ["firmware", "--distribution"] => firmware(&mut steps, Route::Distribution),
        ["doc"] => steps.run("documentation", checks::documentation),
        ["pictures", directory] => steps.run("pictures", || checks::pictures(directory)),
        ["gallery"] => steps.run("gallery", checks::gallery),
        ["train"] => steps.run("train", || train::train(None)),
        ["train", "--pictures", directory] => {
            steps.run("train", || train::train(Some(directory)));
        }
        ["bench"] => steps.run("benchmarks", checks::benchmarks),
        ["bench", "line"] => steps.run("line", checks::line),
        ["bench", "regression", "--problems", directory] => {
            steps.run("regression", || checks::regression(directory));
        }
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    steps.summary()
}

fn quick(steps: &mut Steps, adapter: fn() -> Outcome) {
    steps.run("formatting", checks::formatting);
    steps.run("lints", checks::lints);
    let mut has_gpu = false;
    // They are among the others; what can be skipped is only these.
    steps.run("GPU tests", || adapter().inspect(|()| has_gpu = true));
    steps.run("tests", || checks::tests(has_gpu));
}

fn web(steps: &mut Steps) {
    steps.run("browser", web::tests);
}

fn c_library(steps: &mut Steps) {
    steps.run("C library", c::on_this_machine);
    steps.run("C library in QEMU", c::on_a_cortex_m4);
}

fn firmware(steps: &mut Steps, route: Route) {
    steps.run("no_std: freestanding program", no_std::freestanding);
    steps.run("Cortex-M4F in QEMU", || boards::CORTEX_M4F.run_all(route));
    steps.run("Cortex-M0+ in QEMU", || boards::CORTEX_M0.run_all(route));
    steps.run("RISC-V in QEMU", || boards::RV32IMAC.run_all(route));
    steps.run("code that cannot panic", || boards::budget(route));
}
