//! Which files are read and written for a picture, and whether they may be.

use super::args::DenoiseArgs;
use super::inputs::expand;
use crate::error::{Error, Result};
use crate::input::{Source, not_both_stdin};
use crate::output::is_stdout;
use crate::pictures::{Format, check_overwrite, same_file};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The files of one picture.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    pub(super) outliers: Option<PathBuf>,
    pub(super) compare: Option<PathBuf>,
    /// Of the output. Nothing: that of the input.
    pub(super) format: Option<Format>,
    /// Why it cannot be done, if that is known already.
    hopeless: Option<&'static str>,
}

impl Files {
    /// Those of a command line with one input.
    pub(super) fn single(args: &DenoiseArgs) -> Result<Self> {
        let [input] = args.inputs.as_slice() else {
            return Err(Error::usage("one picture at a time"));
        };
        if let Some(reference) = &args.reference {
            not_both_stdin(Source::new(input), Source::new(reference))?;
        }
        let format = match args.format {
            None if !is_stdout(&args.output) => Some(Format::of("-o", &args.output)?),
            format => format,
        };
        Ok(Self {
            input: input.clone(),
            output: args.output.clone(),
            outliers: args.outliers.clone(),
            compare: args.compare.clone(),
            format,
            hopeless: None,
        })
    }

    /// Those of a batch.
    pub(super) fn batch(args: &DenoiseArgs) -> Result<Vec<Self>> {
        let inputs = expand(&args.inputs)?;
        let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let read: HashSet<PathBuf> = inputs.iter().map(|input| place(input)).collect();
        let mut taken = HashSet::new();
        let files = |input: PathBuf| {
            let name = PathBuf::from(input.file_name().unwrap_or(OsStr::new("")));
            let output = args.output.join(match args.format {
                Some(format) => name.with_extension(format.extension()),
                None => name.clone(),
            });
            let beside = |folder: &Option<PathBuf>| {
                folder.as_ref().map(|folder| folder.join(name.with_extension("png")))
            };
            let mut files = Self {
                outliers: beside(&args.outliers),
                compare: beside(&args.compare),
                format: args.format,
                hopeless: None,
                input,
                output,
            };
            let own = place(&files.input);
            // Two maps can have one name where the pictures do not: a.png, a.tif.
            if !files.written().all(|path| taken.insert(path.to_owned())) {
                files.hopeless =
                    Some("another picture of this name goes to the same folder: rename it");
            } else if files.written().map(place).any(|path| path != own && read.contains(&path)) {
                files.hopeless = Some(
                    "would be written over another picture of the batch: choose another folder",
                );
            }
            files
        };
        Ok(inputs.into_iter().map(files).collect())
    }

    /// What is written.
    pub(super) fn written(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.output), self.outliers.as_ref(), self.compare.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }

    /// Refuses outputs that would destroy something.
    pub(super) fn check(&self, args: &DenoiseArgs) -> Result<()> {
        if let Some(reason) = self.hopeless {
            return Err(Error::failed(format!("{}: {reason}", Source::new(&self.input))));
        }
        let besides = [&args.reference, &args.bad, &args.keep].into_iter().flatten();
        for read in besides.chain([&self.input]) {
            for written in self.written() {
                let allowed = args.overwrite && read == &self.input && written == self.output;
                check_overwrite(read, written, allowed)?;
            }
        }
        let written: Vec<&Path> = self.written().collect();
        for (i, a) in written.iter().enumerate() {
            if let Some(b) = written[..i].iter().find(|b| *b == a || same_file(a, b)) {
                return Err(Error::usage(format!(
                    "{}: two results cannot be one file: choose another name",
                    b.display()
                )));
            }
        }
        Ok(())
    }
}
