//! Runs one step after another, and says in the end how each went.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Why a step did not succeed.
pub(crate) enum Trouble {
    /// Something is wrong with the project.
    Failed(String),
    /// This machine cannot do it; says what to do about that.
    Skipped(String),
}

/// How a step went.
pub(crate) type Outcome = Result<(), Trouble>;

/// A failure with these words.
pub(crate) fn failed(what: impl Into<String>) -> Trouble {
    Trouble::Failed(what.into())
}

/// The steps so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Outcome, Duration)>,
}

impl Steps {
    /// Runs a step. Later ones run even if it fails: one look at the summary
    /// shows everything that is wrong.
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Outcome) {
        println!("\n==== {name} ====");
        let start = Instant::now();
        let outcome = step();
        match &outcome {
            Ok(()) => {}
            Err(Trouble::Failed(why)) => println!("FAILED: {why}"),
            Err(Trouble::Skipped(why)) => println!("SKIPPED: {why}"),
        }
        self.done.push((name, outcome, start.elapsed()));
    }

    /// Prints how all went. Only a failure fails the whole.
    pub(crate) fn summary(self) -> ExitCode {
        println!("\n==== summary ====");
        for (name, outcome, time) in &self.done {
            let word = match outcome {
                Ok(()) => "ok",
                Err(Trouble::Failed(_)) => "FAILED",
                Err(Trouble::Skipped(_)) => "SKIPPED",
            };
            println!("{word:<8} {name:<30} {:>6.1} s", time.as_secs_f64());
        }
        let mut code = ExitCode::SUCCESS;
        for (name, outcome, _) in &self.done {
            match outcome {
                Ok(()) => {}
                Err(Trouble::Failed(why)) => {
                    println!("FAILED: {name}: {why}");
                    code = ExitCode::FAILURE;
                }
                Err(Trouble::Skipped(why)) => println!("SKIPPED: {name}: {why}"),
            }
        }
        code
    }
}
