//! `kgard man`: the manual pages, made of what `--help` says.

use crate::args::Cli;
use crate::error::{Error, Result};
use crate::messages::message;
use crate::number::counted;
use crate::output::{Staged, to_stdout};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  kgard man > kgard.1
  kgard man -o man1

The pages of a folder are found by `man` if it is called man1 and stands in one
that $MANPATH names, such as ~/.local/share/man.";

/// `kgard man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write a page for each command to this folder [default: print that of
    /// kgard]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &ManArgs) -> Result<()> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.output else { return to_stdout(&page(program)?) };
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::failed(format!("{}: cannot be made a folder: {error}", folder.display()))
    })?;
    let mut commands: Vec<Command> = program.get_subcommands().cloned().collect();
    commands.push(program);
    let count = counted(commands.len(), "page");
    let mut staged = Staged::default();
    for command in commands {
        let name = command.get_display_name().unwrap_or(command.get_name());
        staged.add(&folder.join(format!("{name}.1")), page(command)?)?;
    }
    staged.commit()?;
    message(&format!("{}: {count}", folder.display()));
    Ok(())
}

/// One page.
fn page(command: Command) -> Result<Vec<u8>> {
    let examples = command.get_after_help().map(ToString::to_string);
    let has_commands = command.has_subcommands();
    let man = Man::new(command).manual("kgard");
    let mut page = Vec::new();
    let mut render = || {
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if has_commands {
            man.render_subcommands_section(&mut page)?;
        }
        page.extend(examples.as_deref().map(laid_out).unwrap_or_default().into_bytes());
        man.render_version_section(&mut page)
    };
    render().map_err(|error| Error::failed(format!("the page cannot be written: {error}")))?;
    Ok(page)
}

/// The text after the options in `--help`: command lines are kept, paragraphs are filled.
fn laid_out(text: &str) -> String {
    let mut page = String::from(".SH EXAMPLES\n");
    let mut literal = false;
    for line in text.lines().skip(1) {
        let is_command = line.starts_with("  ");
        if is_command != literal {
            page.push_str(if is_command { ".nf\n" } else { ".fi\n" });
            literal = is_command;
        }
        match escaped(line) {
            line if line.is_empty() => page.push_str(".PP\n"),
            line => {
                let _ = writeln!(page, "{line}");
            }
        }
    }
    if literal {
        page.push_str(".fi\n");
    }
    page
}

/// Escapes roff control characters.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}
