//! Where data come from: a file or standard input.

use crate::error::{Error, Result};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// A file that is read; `-` is standard input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a>(&'a Path);

impl<'a> Source<'a> {
    /// The source that the command line calls `path`.
    pub(crate) fn new(path: &'a Path) -> Self {
        Self(path)
    }

    /// Whether it is standard input.
    pub(crate) fn is_stdin(self) -> bool {
        self.0.as_os_str() == "-"
    }

    /// Everything in it.
    pub(crate) fn read(self) -> Result<Vec<u8>> {
        let bytes = if self.is_stdin() {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(self.0)
        };
        bytes.map_err(|error| Error::failed(format!("{self}: cannot be read: {error}")))
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_stdin() {
            f.write_str("standard input")
        } else {
            write!(f, "{}", self.0.display())
        }
    }
}

/// Refuses two sources that would both read standard input.
pub(crate) fn not_both_stdin(a: Source<'_>, b: Source<'_>) -> Result<()> {
    if a.is_stdin() && b.is_stdin() {
        return Err(Error::usage(
            "standard input can be read only once: give a file name in place of one `-`",
        ));
    }
    Ok(())
}
