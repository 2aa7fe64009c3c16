//! Where results go: standard output, or files that appear whole or not at
//! all.
//!
//! A file is written under another name in the same folder and renamed when it
//! is complete, so that a failure leaves neither half a file nor a damaged old
//! one. A program that is killed can leave a file `.kgard-*.tmp`; the next one that
//! writes to the folder deletes it. The file is locked while its writer lives.

use crate::error::{Error, Result};
use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Names of files that are not complete begin and end so.
const UNFINISHED: (&str, &str) = (".kgard-", ".tmp");
/// Age from which such a file can be one that was left: a younger one may be about
/// to be locked.
const LEFT: Duration = Duration::from_mins(1);
/// Links that lead from one to the next: what Linux follows.
const LINKS: usize = 40;

/// Whether the command line means standard output by this path.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes to standard output.
pub(crate) fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Error::PipeClosed),
        Err(error) => Err(Error::failed(format!("standard output: cannot be written: {error}"))),
    }
}

/// Outputs that are written, but not yet in their places.
#[derive(Default)]
pub(crate) struct Staged {
    files: Vec<(NamedTempFile, PathBuf)>,
    streams: Vec<(Option<PathBuf>, Vec<u8>)>,
}

impl Staged {
    /// Adds an output to `path`, or to standard output if it is `-`.
    pub(crate) fn add(&mut self, path: &Path, bytes: Vec<u8>) -> Result<()> {
        if is_stdout(path) {
            self.streams.push((None, bytes));
            return Ok(());
        }
        check_place(path, false)?;
        // A rename would put a file in the place of a link: follow it.
        let target = followed(path)?;
        match target.metadata() {
            // Nor in the place of a device or a named pipe.
            Ok(old) if !old.is_file() => self.streams.push((Some(target), bytes)),
            Ok(old) => {
                let file = stage(&target, &bytes).map_err(|error| cannot_write(path, &error))?;
                file.as_file()
                    .set_permissions(old.permissions())
                    .map_err(|error| cannot_write(path, &error))?;
                self.files.push((file, target));
            }
            Err(_) => {
                let file = stage(&target, &bytes).map_err(|error| cannot_write(path, &error))?;
                self.files.push((file, target));
            }
        }
        Ok(())
    }

    /// Puts all outputs in their places, the files first.
    pub(crate) fn commit(self) -> Result<()> {
        for (file, target) in self.files {
            file.persist(&target).map_err(|error| cannot_write(&target, &error.error))?;
        }
        for (target, bytes) in self.streams {
            match target {
                None => to_stdout(&bytes)?,
                Some(device) => std::fs::OpenOptions::new()
                    .write(true)
                    .open(&device)
                    .and_then(|mut device| device.write_all(&bytes))
                    .map_err(|error| cannot_write(&device, &error))?,
            }
        }
        Ok(())
    }
}

/// Refuses a place where no file can be; one whose folder is missing, if that
/// is asked for.
pub(crate) fn check_place(path: &Path, in_folder: bool) -> Result<()> {
    match path.metadata() {
        Ok(old) if old.is_dir() => {
            return Err(wrong(path, "is a folder: give the name of a file in it"));
        }
        Ok(old) if old.is_file() && old.permissions().readonly() => {
            return Err(wrong(path, "is read-only: choose another name"));
        }
        _ => {}
    }
    if in_folder && !folder_of(path).is_dir() {
        return Err(wrong(path, "cannot be written: there is no such folder"));
    }
    Ok(())
}

/// Where the file of this name is, or will be: at the end of links, even if there
/// is nothing yet.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match target.read_link() {
            // Relative to the folder of the link.
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(wrong(path, "is a link that leads nowhere: remove it"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a file beside `target`. It is deleted unless it is renamed later.
fn stage(target: &Path, bytes: &[u8]) -> std::io::Result<NamedTempFile> {
    sweep(folder_of(target));
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file, and not for the user only: the umask still applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder_of(target))?;
    // Not every file system has locks; without one nothing is deleted later.
    let _ = file.as_file().lock_shared();
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Deletes what programs that were killed have left in a folder, once.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.get_or_insert_default().insert(folder.to_owned()) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1) {
                let _ = remove_if_left(&entry.path());
            }
        }
    }
}

fn remove_if_left(path: &Path) -> std::io::Result<()> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let is_old = metadata.modified()?.elapsed().is_ok_and(|age| age > LEFT);
    // Its writer has a lock, and lets go of it when it ends in whatever way.
    if metadata.is_file() && is_old && file.try_lock().is_ok() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

fn wrong(path: &Path, what: &str) -> Error {
    Error::failed(format!("{}: {what}", path.display()))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    // Without the name of the temporary file, which nobody has asked for.
    let text = error.to_string();
    let cause = text.split(" at path ").next().unwrap_or_default();
    wrong(path, &format!("cannot be written: {cause}; check the name, the folder and the disk"))
}
