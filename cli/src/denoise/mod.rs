//! `kgard denoise`: pictures in, clean pictures out.

mod args;
mod batch;
mod compare;
mod dry_run;
mod files;
mod inputs;
mod job;
mod map;
mod method;
mod progress;
mod report;

pub(crate) use args::DenoiseArgs;
pub(crate) use job::{Cleaned, clean};
pub(crate) use method::rb_rvm_of;

use crate::error::{Error, Result};
use crate::messages::{detail, instead_of_stdout, message};
use crate::metrics::json;
use crate::output::{is_stdout, to_stdout};
use files::Files;
use job::Job;

/// Runs the command.
pub(crate) fn run(args: &DenoiseArgs) -> Result<()> {
    args.check()?;
    if args.dry_run {
        return dry_run::run(args);
    }
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::failed(format!("the threads cannot be started: {error}")))?;
    pool.install(|| if args.is_batch() { batch::run(args) } else { single(args) })
}

/// One picture.
fn single(args: &DenoiseArgs) -> Result<()> {
    let report = Job::new(args, Files::single(args)?).run()?;
    if !args.json {
        message(&report.line());
        detail(&report.details());
        return Ok(());
    }
    let text = json(&report)?;
    if is_stdout(&args.output) {
        // The picture is there already.
        instead_of_stdout(&text);
        return Ok(());
    }
    to_stdout(text.as_bytes())
}
