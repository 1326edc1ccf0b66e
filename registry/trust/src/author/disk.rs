//! The one hand that changes a maintainer's folder: whole files, synced, then named.
//!
//! INVARIANT: no name is ever that of half a file; each change is on the disk before the next begins, so that a kill between
//! any two leaves what the first ones made.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use super::layout::Layout;

/// What the name of a file begins with that is being written.
const DRAFT: &str = ".draft-";

/// Changes the disk. In tests it can be made to stop before any change.
#[derive(Debug, Default)]
pub(super) struct Disk {
    #[cfg(test)]
    pub(super) fuse: Option<std::sync::Arc<std::sync::atomic::AtomicUsize>>,
    #[cfg(test)]
    pub(super) exchanges: Exchanges,
}

/// Whether the disk can exchange two folders, as tests have it.
#[cfg(test)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exchanges {
    #[default]
    Can,
    Cannot,
}

impl Disk {
    /// Called before each change.
    #[cfg(test)]
    fn step(&self) -> io::Result<()> {
        use std::sync::atomic::Ordering;
        let Some(fuse) = &self.fuse else { return Ok(()) };
        let left = fuse.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() { Ok(()) } else { Err(io::Error::other("cut")) }
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "tests stop here")]
    fn step(&self) -> io::Result<()> {
        Ok(())
    }

    /// Makes a folder and those above it.
    pub(super) fn folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        self.step()?;
        fs::create_dir_all(path)?;
        sync_above(path)
    }

    /// Puts a file in its place, whatever was there.
    pub(super) fn put(&self, layout: &Layout, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step()?;
        let mut builder = tempfile::Builder::new();
        // What is published is for everybody's eyes, as far as the maintainer's umask lets it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // In the maintainer's folder, so that nothing half written ever stands where it is served.
        let mut draft = builder.prefix(DRAFT).tempfile_in(layout.folder())?;
        draft.write_all(bytes)?;
        // A kill runs no destructor: in tests the draft stays too.
        #[cfg(test)]
        draft.disable_cleanup(true);
        self.step()?;
        #[cfg(test)]
        draft.disable_cleanup(false);
        draft.as_file().sync_all()?;
        draft.persist(path)?;
        self.step()?;
        sync_above(path)
    }

    /// Gives a file a second name in another folder; a copy where the disk has no such thing.
    pub(super) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        if fs::hard_link(from, to).is_ok() {
            return Ok(());
        }
        fs::copy(from, to)?;
        File::open(to)?.sync_all()
    }

    /// Puts a folder in the place of another, at once; the other takes its place.
    pub(super) fn exchange(&self, layout: &Layout) -> io::Result<()> {
        let (next, metadata) = (layout.next(), layout.metadata());
        sync(&next)?;
        self.step()?;
        if !metadata.exists() {
            fs::rename(&next, &metadata)?;
        } else if !self.swapped(&next, &metadata)? {
            fs::rename(&metadata, layout.previous())?;
            self.step()?;
            fs::rename(&next, &metadata)?;
            self.step()?;
            fs::rename(layout.previous(), &next)?;
        }
        self.step()?;
        sync_above(&metadata)?;
        sync(layout.folder())
    }

    /// Whether the system exchanged the two.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests say that the disk cannot"))]
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn swapped(&self, one: &Path, other: &Path) -> io::Result<bool> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        #[cfg(test)]
        if self.exchanges == Exchanges::Cannot {
            return Ok(false);
        }
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn swapped(&self, _one: &Path, _other: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Removes a file or a folder with all that is in it; none is as good.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(metadata) => {
                self.step()?;
                if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
            }
        };
        removed?;
        sync_above(path)
    }

    /// Finishes or takes back what a killed publish has left. Only under the lock.
    pub(super) fn tidy(&self, layout: &Layout) -> io::Result<()> {
        if layout.previous().exists() {
            self.step()?;
            if layout.metadata().exists() {
                // The new one stands: only the old one was still to be moved away.
                fs::remove_dir_all(layout.previous())?;
            } else {
                fs::rename(layout.previous(), layout.metadata())?;
                sync_above(&layout.metadata())?;
            }
        }
        self.remove(&layout.next())?;
        for name in super::layout::names(layout.folder())? {
            if name.starts_with(DRAFT) {
                self.remove(&layout.folder().join(name))?;
            }
        }
        Ok(())
    }
}

fn sync_above(path: &Path) -> io::Result<()> {
    // What has no folder before its name is in this one.
    path.parent()
        .map_or(Ok(()), |above| sync(if above.as_os_str().is_empty() { Path::new(".") } else { above }))
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere folders cannot be opened, and the system writes them with their files.
#[cfg(not(unix))]
fn sync(_folder: &Path) -> io::Result<()> {
    Ok(())
}
