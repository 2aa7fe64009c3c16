//! How the program fails: by one line that says what is wrong and what to do.

use crate::messages::complain;
use std::process::ExitCode;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Error {
    /// The command line asks for something that makes no sense: exit code 2.
    Usage(String),
    /// Anything else: exit code 1.
    Failed(String),
    /// The reader of standard output has closed it: exit code 141, without a
    /// message, as of programs that the signal for this (SIGPIPE) ends.
    PipeClosed,
}

/// What the program's functions return.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A command line that makes no sense.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    /// A failure.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }

    /// Prints the message; gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Self::Usage(text) => (text, 2),
            Self::Failed(text) => (text, 1),
            Self::PipeClosed => return ExitCode::from(141),
        };
        complain("error:", text);
        ExitCode::from(code)
    }
}

/// What the library refuses, it explains.
impl From<kgard::Error> for Error {
    fn from(error: kgard::Error) -> Self {
        Self::failed(error.to_string())
    }
}
