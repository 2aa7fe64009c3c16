//! What the user is told, on standard error.
//!
//! If nobody can read it there, that is no reason to fail. Colours are for
//! terminals only, and for nobody who has set `NO_COLOR`.

use anstyle::{AnsiColor, Style};
use indicatif::ProgressDrawTarget;
use std::io::Write;
use std::sync::OnceLock;

/// How much the user wants to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loudness {
    /// What failed, and nothing else.
    Quiet,
    #[default]
    Normal,
    /// How results came about, as well.
    Verbose,
}

/// Chosen once, by the command line.
static LOUDNESS: OnceLock<Loudness> = OnceLock::new();

/// Chooses how much the user is told.
pub(crate) fn set_loudness(loudness: Loudness) {
    let _ = LOUDNESS.set(loudness);
}

fn loudness() -> Loudness {
    LOUDNESS.get().copied().unwrap_or_default()
}

/// Tells what was done.
pub(crate) fn message(text: &str) {
    if loudness() >= Loudness::Normal {
        print(text);
    }
}

/// Tells how it was done, to those who want to know.
pub(crate) fn detail(text: &str) {
    if loudness() >= Loudness::Verbose {
        print(text);
    }
}

/// Tells of something that may surprise.
pub(crate) fn note(text: &str) {
    unless_quiet("note:", text);
}

/// Tells of something that went wrong, and was made up for.
pub(crate) fn warn(text: &str) {
    unless_quiet("warning:", text);
}

fn unless_quiet(mark: &str, text: &str) {
    if loudness() >= Loudness::Normal {
        marked(mark, AnsiColor::Yellow.on_default().bold(), text);
    }
}

/// Tells what went wrong; `mark` is a word for it.
pub(crate) fn complain(mark: &str, text: &str) {
    marked(mark, AnsiColor::Red.on_default().bold(), text);
}

/// Gives a result whose place on standard output is taken.
pub(crate) fn instead_of_stdout(text: &str) {
    print(text.trim_end());
}

/// Where bars of progress are drawn: nowhere but on a terminal.
pub(crate) fn progress_target() -> ProgressDrawTarget {
    if loudness() == Loudness::Quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    }
}

fn marked(mark: &str, style: Style, text: &str) {
    print(&format!("{style}{mark}{style:#} {text}"));
}

fn print(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
