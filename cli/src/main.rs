//! The program `kgard`: results on standard output, messages on standard
//! error, exit code 0 (done), 1 (failed), 2 (wrong usage) or 141 (the reader of
//! standard output closed it before everything was written).

mod args;
mod commands;
mod corrupt;
mod data;
mod denoise;
mod device;
mod error;
mod experiments;
mod input;
mod kernel;
mod line;
mod many;
mod memory;
mod messages;
mod method;
mod metrics;
mod model;
mod noise;
mod number;
mod output;
mod parameters;
mod penalty;
mod pictures;
mod plot;
mod prediction;
mod progress;
mod report;
mod serve;
mod table;
mod text;
mod tuning;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    messages::set_loudness(cli.loudness());
    match commands::run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
