//! One file per subcommand.

mod clean;
mod completions;
mod defects;
mod devices;
mod fit;
mod man;
mod plan;
mod predict;
mod reproduce;

pub(crate) use clean::CleanArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use defects::DefectsArgs;
pub(crate) use devices::DevicesArgs;
pub(crate) use man::ManArgs;
pub(crate) use reproduce::ReproduceArgs;

use crate::args::Command;
use crate::error::Result;
use crate::{corrupt, denoise, metrics, serve};

/// Runs the subcommand.
pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Fit(args) => fit::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Clean(args) => clean::run(args),
        Command::Denoise(args) => denoise::run(args),
        Command::Defects(args) => defects::run(args),
        Command::Corrupt(args) => corrupt::run(args),
        Command::Metrics(args) => metrics::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}
