//! `--dry-run`: what would be read and written, and what would fail.

use super::args::DenoiseArgs;
use super::batch::{Failure, failed};
use super::files::Files;
use super::marks::Marks;
use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::complain;
use crate::metrics::json;
use crate::output::{check_place, is_stdout, to_stdout};
use crate::pictures::{Picture, Stack, check_same_kind, destination};
use serde::Serialize;
use std::fmt::Write;

/// The JSON object.
#[derive(Serialize)]
struct Plan {
    pictures: Vec<Intended>,
    failed: Vec<Failure>,
}

/// What would be done with a picture.
#[derive(Serialize)]
struct Intended {
    reads: String,
    /// Size and kind; nothing of standard input, which can be read only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    writes: Vec<String>,
}

/// Looks at all files and touches none.
pub(super) fn run(args: &DenoiseArgs) -> Result<()> {
    // Says whether there is the device that was asked for.
    args.open_device(0)?;
    let batch = args.is_batch();
    let all = if batch { Files::batch(args)? } else { vec![Files::single(args)?] };
    let total = all.len();
    let mut plan = Plan { pictures: Vec::new(), failed: Vec::new() };
    let marks = Marks::read(args)?;
    for files in all {
        match look(args, &files, &marks, batch) {
            Ok(intended) => plan.pictures.push(intended),
            // One picture fails as it would without `--dry-run`.
            Err(error) if !batch => return Err(error),
            Err(Error::Usage(error) | Error::Failed(error)) => {
                complain("failed:", &error);
                plan.failed.push(Failure { input: files.input.display().to_string(), error });
            }
            Err(Error::PipeClosed) => return Err(Error::PipeClosed),
        }
    }
    let text = if args.json { json(&plan)? } else { plan.text() };
    to_stdout(text.as_bytes())?;
    failed(&plan.failed, total)
}

fn look(args: &DenoiseArgs, files: &Files, marks: &Marks<'_>, batch: bool) -> Result<Intended> {
    files.check(args)?;
    let source = Source::new(&files.input);
    let mut kind = None;
    if !source.is_stdin() {
        let mut stack = Stack::new(source.read()?.into(), &source.to_string())?;
        for page in 0..stack.pages() {
            let name = stack.name(page);
            let picture = stack.page(page)?;
            let image = &picture.image;
            marks.of(image, &name)?;
            if let Some(reference) = args.reference.as_deref().filter(|path| !is_stdout(path)) {
                let reference = Picture::read(Source::new(reference))?;
                check_same_kind(&name, image, &reference.image)?;
            }
            let (color, format) = (image.described(), picture.format.name());
            let (width, height) = (image.width(), image.height());
            let text = format!("{width} x {height} pixels, {color}, {format}");
            kind.get_or_insert(text);
        }
        if stack.pages() > 1 {
            kind = kind.map(|kind| format!("{kind}, {} pages", stack.pages()));
        }
    }
    for path in files.written().filter(|path| !is_stdout(path)) {
        // The folders of a batch are made if they are missing.
        check_place(path, !batch)?;
    }
    Ok(Intended {
        reads: source.to_string(),
        kind,
        writes: files.written().map(destination).collect(),
    })
}

impl Plan {
    fn text(&self) -> String {
        let mut text = String::new();
        for Intended { reads, kind, writes } in &self.pictures {
            let _ = write!(text, "would read {reads}");
            if let Some(kind) = kind {
                let _ = write!(text, " ({kind})");
            }
            let _ = writeln!(text, ", would write {}", writes.join(", "));
        }
        text
    }
}
