//! A registry in a local folder, as `registry init --local` makes one.
//!
//! Refuses to follow a symbolic link below the folder, and to read what is no plain file. INVARIANT: each step down is
//! taken from an opened folder, so that nothing exchanged in between leads out.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::fetch::{Fetch, FetchError, Fetching, RemotePath};

/// Gets files out of a folder that has `metadata` and `targets` in it.
#[derive(Debug, Clone)]
pub struct FolderFetch {
    folder: PathBuf,
}

/// Something else is where a file of the registry should be.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is no plain file of the registry's folder; a link is not followed", .0.display())]
struct NotPlain(PathBuf);

impl FolderFetch {
    /// Of this folder; it is looked at when the first file is asked for.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn read(&self, path: &RemotePath, at_most: u64) -> Result<Vec<u8>, FetchError> {
        let place = || self.folder.join(path.to_string());
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => FetchError::Absent,
            _ if is_link(&error) => FetchError::Failed(Box::new(NotPlain(place()))),
            _ => FetchError::Failed(Box::new(error)),
        };
        let file = open_below(&self.folder, path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(FetchError::Failed(Box::new(NotPlain(place()))));
        }
        let mut bytes = Vec::new();
        file.take(at_most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if u64::try_from(bytes.len()).is_ok_and(|size| size <= at_most) {
            Ok(bytes)
        } else {
            Err(FetchError::TooLarge)
        }
    }
}

impl Fetch for FolderFetch {
    fn fetch<'a>(&'a self, path: &'a RemotePath, at_most: u64) -> Fetching<'a> {
        let read = self.read(path, at_most);
        Box::pin(std::future::ready(read))
    }
}

#[cfg(unix)]
fn open_below(folder: &Path, path: &RemotePath) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let down = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = File::open(folder)?;
    let mut segments = std::iter::once(path.area().as_str()).chain(path.segments()).peekable();
    while let Some(segment) = segments.next() {
        // NONBLOCK: a pipe in a file's place is not waited for.
        let kind = if segments.peek().is_some() { OFlags::DIRECTORY } else { OFlags::NONBLOCK };
        at = openat(&at, segment, down | kind, Mode::empty())?.into();
    }
    Ok(at)
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR))
}

#[cfg(not(unix))]
fn open_below(folder: &Path, path: &RemotePath) -> io::Result<File> {
    let mut at = folder.to_path_buf();
    for segment in std::iter::once(path.area().as_str()).chain(path.segments()) {
        at.push(segment);
        if at.symlink_metadata()?.is_symlink() {
            return Err(ErrorKind::NotADirectory.into());
        }
    }
    File::open(at)
}

#[cfg(not(unix))]
fn is_link(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotADirectory
}
