//! The pictures that the command line names: files, folders and patterns.

use crate::error::{Error, Result};
use crate::messages::note;
use crate::number::counted;
use crate::pictures::Format;
use glob::{MatchOptions, glob_with};
use std::path::{Path, PathBuf};

/// Skipped files that are named.
const NAMED: usize = 5;

/// Whether it can stand for more than one picture: a folder, or a pattern that
/// no shell has expanded.
pub(super) fn is_many(input: &Path) -> bool {
    input.is_dir() || is_pattern(input)
}

/// A file may have a name that looks like a pattern.
fn is_pattern(input: &Path) -> bool {
    let text = input.to_string_lossy();
    text.contains(['*', '?', '[']) && !input.exists()
}

/// All pictures, in the order of the command line, those of folders and
/// patterns by name.
pub(crate) fn expand(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut pictures = Vec::new();
    for input in inputs {
        if input.is_dir() {
            pictures.extend(pictures_in(input)?);
        } else if is_pattern(input) {
            pictures.extend(matches(input)?);
        } else {
            pictures.push(input.clone());
        }
    }
    Ok(pictures)
}

/// The files of a folder whose names are those of pictures.
fn pictures_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error: std::io::Error| {
        Error::failed(format!("{}: cannot be read: {error}", folder.display()))
    };
    let (mut pictures, mut skipped) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden || !path.is_file() {
            continue;
        }
        if Format::by_name(&path).is_some() { pictures.push(path) } else { skipped.push(path) }
    }
    if !skipped.is_empty() {
        skipped.sort();
        let names: Vec<_> =
            skipped.iter().filter_map(|path| path.file_name()).take(NAMED).collect();
        let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
        let more = if skipped.len() > NAMED { ", ..." } else { "" };
        note(&format!(
            "{}: skipped {} with other names than pictures have: {}{more}",
            folder.display(),
            counted(skipped.len(), "file"),
            names.join(", ")
        ));
    }
    if pictures.is_empty() {
        return Err(Error::failed(format!("{}: there is no picture in it", folder.display())));
    }
    pictures.sort();
    Ok(pictures)
}

/// The files that a pattern matches, whatever they are called.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    let shown = pattern.display();
    // As a shell does: what is hidden has to be named.
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let paths = glob_with(&pattern.to_string_lossy(), options)
        .map_err(|error| Error::usage(format!("{shown}: is not a pattern: {}", error.msg)))?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| Error::failed(format!("{shown}: {error}")))?;
        if path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Error::failed(format!("{shown}: no file is called like this")));
    }
    Ok(files)
}
