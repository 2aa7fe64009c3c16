//! Many pictures; one that fails does not keep the others from being done.

use super::args::DenoiseArgs;
use super::files::Files;
use super::job::Job;
use super::progress::Bars;
use super::report::Report;
use crate::error::{Error, Result};
use crate::messages::{complain, detail, message};
use crate::metrics::json;
use crate::number::counted;
use crate::output::to_stdout;
use serde::Serialize;

/// The JSON object of a batch.
#[derive(Serialize)]
struct Batch {
    pictures: Vec<Report>,
    failed: Vec<Failure>,
}

/// A picture that was not done, and why.
#[derive(Serialize)]
pub(super) struct Failure {
    pub(super) input: String,
    pub(super) error: String,
}

/// Denoises all of them.
pub(super) fn run(args: &DenoiseArgs) -> Result<()> {
    let all = Files::batch(args)?;
    for folder in args.folders() {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::failed(format!("{}: cannot be made a folder: {error}", folder.display()))
        })?;
    }
    let total = all.len();
    let mut bars = Bars::new(all.iter().map(|files| files.input.as_path()));
    let mut batch = Batch { pictures: Vec::new(), failed: Vec::new() };
    for files in all {
        let input = files.input.display().to_string();
        bars.start(&files.input);
        match Job::new(args, files).run() {
            Ok(report) => {
                if !args.json {
                    bars.suspend(|| {
                        message(&report.line());
                        detail(&report.details());
                    });
                }
                batch.pictures.push(report);
            }
            Err(Error::Usage(error) | Error::Failed(error)) => {
                bars.suspend(|| complain("failed:", &error));
                batch.failed.push(Failure { input, error });
            }
            Err(Error::PipeClosed) => return Err(Error::PipeClosed),
        }
        bars.finish_one();
    }
    bars.clear();
    if args.json {
        to_stdout(json(&batch)?.as_bytes())?;
    }
    failed(&batch.failed, total)
}

/// An error if there are failures.
pub(super) fn failed(failures: &[Failure], total: usize) -> Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = failures.iter().map(|failure| failure.input.as_str()).collect();
    Err(Error::failed(format!(
        "{} of {} failed: {}",
        names.len(),
        counted(total, "picture"),
        names.join(", ")
    )))
}
