//! `kgard denoise`: pictures in, clean pictures out.

mod args;
mod job;
mod map;
mod method;
mod report;

pub(crate) use args::DenoiseArgs;
pub(crate) use method::rb_rvm_of;

use crate::error::{Error, Result};
use crate::metrics::json;
use crate::number::counted;
use crate::output::{is_stdout, message, to_stdout};
use indicatif::{ProgressBar, ProgressStyle};
use job::Job;
use report::Report;
use serde::Serialize;

/// Runs the command.
pub(crate) fn run(args: &DenoiseArgs) -> Result<()> {
    args.check()?;
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::failed(format!("the threads cannot be started: {error}")))?;
    pool.install(|| if args.is_batch() { batch(args) } else { single(args) })
}

/// One picture.
fn single(args: &DenoiseArgs) -> Result<()> {
    let report = Job::single(args)?.run()?;
    if !args.json {
        message(&report.line());
        return Ok(());
    }
    let text = json(&report)?;
    if is_stdout(&args.output) {
        // The picture is there already.
        message(text.trim_end());
        return Ok(());
    }
    to_stdout(text.as_bytes())
}

/// The JSON object of a batch.
#[derive(Serialize)]
struct Batch {
    pictures: Vec<Report>,
    failed: Vec<Failure>,
}

#[derive(Serialize)]
struct Failure {
    input: String,
    error: String,
}

/// Many pictures; one that fails does not keep the others from being done.
fn batch(args: &DenoiseArgs) -> Result<()> {
    let jobs = Job::batch(args)?;
    let total = jobs.len();
    // Shown on a terminal only.
    let progress = ProgressBar::new(total as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        progress.set_style(style);
    }
    let mut batch = Batch { pictures: Vec::new(), failed: Vec::new() };
    for job in jobs {
        let input = job.input.display().to_string();
        progress.set_message(input.clone());
        match job.run() {
            Ok(report) => {
                if !args.json {
                    progress.suspend(|| message(&report.line()));
                }
                batch.pictures.push(report);
            }
            Err(Error::Usage(error) | Error::Failed(error)) => {
                progress.suspend(|| message(&format!("failed: {error}")));
                batch.failed.push(Failure { input, error });
            }
            Err(Error::PipeClosed) => return Err(Error::PipeClosed),
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    if args.json {
        to_stdout(json(&batch)?.as_bytes())?;
    }
    if batch.failed.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = batch.failed.iter().map(|failure| failure.input.as_str()).collect();
    Err(Error::failed(format!(
        "{} of {} failed: {}",
        names.len(),
        counted(total, "picture"),
        names.join(", ")
    )))
}
