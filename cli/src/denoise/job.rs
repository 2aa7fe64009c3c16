//! One picture: read, denoised, written.

use super::args::DenoiseArgs;
use super::map;
use super::report::{Quality, Report};
use crate::error::{Error, Result};
use crate::input::{Source, not_both_stdin};
use crate::metrics::Score;
use crate::output::{Staged, is_stdout};
use crate::pictures::{
    Format, Picture, check_finite, check_overwrite, check_same_kind, destination, refused,
    same_file,
};
use kgard::interop::image::{peak, planes, with_planes};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is to be done with one picture.
#[derive(Debug)]
pub(super) struct Job<'a> {
    args: &'a DenoiseArgs,
    pub(super) input: &'a Path,
    output: PathBuf,
    outliers: Option<PathBuf>,
    /// Nothing: that of the input.
    format: Option<Format>,
    /// Why it cannot be done, if that is known already.
    hopeless: Option<&'static str>,
}

impl<'a> Job<'a> {
    /// The job of a command line with one input.
    pub(super) fn single(args: &'a DenoiseArgs) -> Result<Self> {
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
            args,
            input,
            output: args.output.clone(),
            outliers: args.outliers.clone(),
            format,
            hopeless: None,
        })
    }

    /// Those of a batch.
    pub(super) fn batch(args: &'a DenoiseArgs) -> Result<Vec<Self>> {
        for folder in [Some(&args.output), args.outliers.as_ref()].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|error| {
                Error::failed(format!("{}: cannot be made a folder: {error}", folder.display()))
            })?;
        }
        let mut taken = HashSet::new();
        let job = |input: &'a PathBuf| {
            let name = Path::new(input.file_name().unwrap_or(OsStr::new("")));
            let output = args.output.join(match args.format {
                Some(format) => name.with_extension(format.extension()),
                None => name.to_owned(),
            });
            let outliers =
                args.outliers.as_ref().map(|folder| folder.join(name.with_extension("png")));
            // Two maps can have one name where the pictures do not: a.png, a.tif.
            let outputs = [Some(output.clone()), outliers.clone()];
            let free = outputs.into_iter().flatten().all(|path| taken.insert(path));
            let hopeless = (!free)
                .then_some("another picture of this name goes to the same folder: rename it");
            Job { args, input, output, outliers, format: args.format, hopeless }
        };
        Ok(args.inputs.iter().map(job).collect())
    }

    /// Does it.
    pub(super) fn run(&self) -> Result<Report> {
        let start = Instant::now();
        let Self { args, input, .. } = *self;
        let source = Source::new(input);
        let name = source.to_string();
        if let Some(reason) = self.hopeless {
            return Err(Error::failed(format!("{name}: {reason}")));
        }
        self.check_files()?;
        let picture = Picture::read(source)?;
        let image = &picture.image;
        let reference = self.reference(image, &name)?;
        let peak = peak(image);

        let settings = args.settings();
        let channels = planes(image)?;
        check_finite(&name, image, &channels)?;
        let outcome = args
            .method
            .run(&settings, &channels, peak)
            .map_err(|error| refused(&name, image, error))?;
        drop(channels);
        let clean = with_planes(image, &outcome.channels)?;
        let quality = reference
            .map(|reference| {
                let before = Score::new(&reference, image)?;
                Ok(Quality::new(before, Score::new(&reference, &clean)?))
            })
            .transpose()
            .map_err(|error| refused(&name, image, error))?;

        let mut staged = Staged::default();
        let target = destination(&self.output);
        let format = self.format.unwrap_or(picture.format);
        staged.add(&self.output, picture.encode(&clean, format, &target)?)?;
        if let Some(path) = &self.outliers {
            let map = map::picture(&outcome.outliers, peak)
                .ok_or_else(|| Error::failed(format!("{name}: is too large for a map")))?;
            staged.add(path, map::encode(&map, path)?)?;
        }
        staged.commit()?;
        Ok(Report::new(args.method, &settings, image, &outcome, quality)
            .between(name, target)
            .after(start.elapsed()))
    }

    /// Refuses outputs that would destroy something.
    fn check_files(&self) -> Result<()> {
        let Self { args, input, output, outliers, .. } = self;
        check_overwrite(input, output, args.overwrite)?;
        for read in [Some(*input), args.reference.as_deref()].into_iter().flatten() {
            for written in [Some(output), outliers.as_ref()].into_iter().flatten() {
                let allowed = args.overwrite && read == *input && written == output;
                check_overwrite(read, written, allowed)?;
            }
        }
        if let Some(map) = outliers
            && (map == output || same_file(map, output))
        {
            return Err(Error::usage(format!(
                "{}: the picture and the map cannot be one file",
                map.display()
            )));
        }
        Ok(())
    }

    /// The true picture, if there is one.
    fn reference(
        &self,
        image: &image::DynamicImage,
        name: &str,
    ) -> Result<Option<image::DynamicImage>> {
        let Some(path) = &self.args.reference else { return Ok(None) };
        let reference = Picture::read(Source::new(path))?.image;
        check_same_kind(name, image, &reference)?;
        Ok(Some(reference))
    }
}
