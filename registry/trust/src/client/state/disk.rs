//! The few things that are done to the disk, each a step after which a kill must leave the state whole.
//!
//! INVARIANT: a file has its name only when all of it is on the disk.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;
#[cfg(test)]
use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicUsize, Ordering};

/// The disk; in tests one that dies at a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    /// The steps that are left.
    #[cfg(test)]
    pub(super) dies: Option<Arc<AtomicUsize>>,
}

impl Disk {
    /// Where a kill is acted in tests; nothing else is done at that step or later.
    #[cfg_attr(
        not(test),
        expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "a test's disk dies here")
    )]
    fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        if let Some(left) = &self.dies {
            let one_less = |left: usize| left.checked_sub(1);
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .map_err(|_none_left| io::Error::other("killed"))?;
        }
        Ok(())
    }

    /// Makes a folder that its owner alone can use; whether it was not there.
    pub(super) fn make_folder(&self, path: &Path) -> io::Result<bool> {
        self.step()?;
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(path) {
            Ok(()) => {
                sync_folder_of(path)?;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts a file there, in place of what was there. The caller holds the lock, so that nobody else has the draft.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let draft = path.with_file_name(DRAFT);
        self.remove(&draft)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft)?;
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let cleared = |error| {
            // A full disk is not to stay full of what is no good; where this fails too, the next write clears it.
            fs::remove_file(&draft).unwrap_or_default();
            error
        };
        file.write_all(first).map_err(cleared)?;
        self.step()?;
        file.write_all(second).map_err(cleared)?;
        self.step()?;
        file.sync_all()?;
        drop(file);
        self.step()?;
        fs::rename(&draft, path)?;
        self.step()?;
        sync_folder_of(path)
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The name of a file that is not whole yet.
pub(super) const DRAFT: &str = ".draft";

/// Reads a plain file of at most so many bytes; a larger one is [`ErrorKind::FileTooLarge`].
pub(in crate::client) fn read(path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is no plain file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(at_most)).unwrap_or(0));
    file.take(at_most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|size| size <= at_most) {
        Ok(bytes)
    } else {
        Err(ErrorKind::FileTooLarge.into())
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, how, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Makes a folder and those above it, for their owner alone, where they are missing.
pub(super) fn make_folders(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Puts the names in a folder on the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}
