//! `kgard denoise`: pictures in, clean pictures out.

mod args;
mod batch;
mod compare;
mod dry_run;
mod engine;
mod files;
mod inputs;
mod job;
mod lanes;
mod lines;
mod map;
mod marks;
mod method;
mod mix;
mod progress;
mod report;
mod settings;

pub(crate) use args::DenoiseArgs;
pub(crate) use inputs::expand;
pub(crate) use job::{Cleaned, clean};
pub(crate) use method::rb_rvm_of;

use crate::error::{Error, Result};
use crate::messages::{detail, instead_of_stdout, message, warn};
use crate::metrics::json;
use crate::output::{is_stdout, to_stdout};
use batch::Batch;
use engine::Engine;
use files::Files;
use job::Job;
use marks::Marks;
use report::Report;

/// Runs the command.
pub(crate) fn run(args: &DenoiseArgs) -> Result<()> {
    args.check()?;
    if args.dry_run {
        return dry_run::run(args);
    }
    let threads = args.threads.map_or(0, usize::from);
    // For all threads of the program: a batch can have several of its own.
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Error::failed(format!("the threads cannot be started: {error}")))?;
    if args.is_batch() { batch::run(args) } else { single(args) }
}

/// One picture.
fn single(args: &DenoiseArgs) -> Result<()> {
    let files = Files::single(args)?;
    let marks = Marks::read(args)?;
    let job = Job::new(args, &files, &marks).with_progress();
    let input = job.read()?;
    let device = args.open_device(input.pixels())?;
    let plans = args.plans();
    let reports = job.finish(input, &Engine::new(&plans, device.as_ref()))?;
    for report in &reports {
        tell(report, args);
    }
    if !args.json {
        return Ok(());
    }
    let text = match reports.as_slice() {
        [report] => json(report)?,
        _ => json(&Batch { pictures: reports, failed: Vec::new() })?,
    };
    if is_stdout(&args.output) {
        // The picture is there already.
        instead_of_stdout(&text);
        return Ok(());
    }
    to_stdout(text.as_bytes())
}

/// Tells people about a picture that is done.
fn tell(report: &Report, args: &DenoiseArgs) {
    for text in report.warnings() {
        warn(&text);
    }
    if !args.json {
        message(&report.line());
        detail(&report.details());
    }
}
