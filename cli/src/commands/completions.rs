//! `kgard completions`: what a shell needs to complete our command lines.

use crate::args::Cli;
use crate::error::Result;
use crate::output::to_stdout;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  kgard completions bash > kgard.bash
  kgard completions zsh > _kgard
  kgard completions fish > kgard.fish

Put the file where your shell looks for completions: for bash that is
~/.local/share/bash-completion/completions, for fish ~/.config/fish/completions,
for zsh a folder of $fpath.";

/// `kgard completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command.
pub(super) fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kgard", &mut script);
    to_stdout(&script)
}
