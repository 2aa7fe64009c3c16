//! Many pictures; one that fails does not keep the others from being done.

use super::args::DenoiseArgs;
use super::engine::Engine;
use super::files::Files;
use super::job::Job;
use super::lanes::in_order;
use super::marks::Marks;
use super::progress::{Bars, pixels};
use super::report::Report;
use super::tell;
use crate::error::{Error, Result};
use crate::messages::complain;
use crate::metrics::json;
use crate::number::counted;
use crate::output::to_stdout;
use serde::Serialize;

/// The JSON object of a batch, or of a file with several pictures.
#[derive(Serialize)]
pub(super) struct Batch {
    pub(super) pictures: Vec<Report>,
    pub(super) failed: Vec<Failure>,
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
    let marks = Marks::read(args)?;
    for folder in args.folders() {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::failed(format!("{}: cannot be made a folder: {error}", folder.display()))
        })?;
    }
    let device = args.open_device(all.iter().map(|files| pixels(&files.input)).sum())?;
    let plans = args.plans();
    let engine = Engine::new(&plans, device.as_ref());
    let mut bars = Bars::new(all.iter().map(|files| files.input.as_path()));
    let mut batch = Batch { pictures: Vec::new(), failed: Vec::new() };
    let total = all.len();
    let work = |files: &Files| Job::new(args, files, &marks).run(&engine);
    in_order(engine.lanes(), &all, work, |results| {
        for files in &all {
            bars.start(&files.input);
            match results.next() {
                Some(Ok(reports)) => {
                    bars.suspend(|| reports.iter().for_each(|report| tell(report, args)));
                    batch.pictures.extend(reports);
                }
                Some(Err(Error::Usage(error) | Error::Failed(error))) => {
                    bars.suspend(|| complain("failed:", &error));
                    let input = files.input.display().to_string();
                    batch.failed.push(Failure { input, error });
                }
                Some(Err(Error::PipeClosed)) => return Err(Error::PipeClosed),
                None => break,
            }
            bars.finish_one();
        }
        Ok(())
    })?;
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
