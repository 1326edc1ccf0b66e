//! The folder of the state: the lock, the files by digest, and the one document.
//!
//! Refuses a folder that others can write into. INVARIANT: `files` is made only after a first state is on the disk, so
//! that where there are files and no state, the state was lost.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use pinhole_manifest::Digest;

use super::disk::{self, Disk};
use super::document::State;

/// Largest state document, in bytes.
const STATE_MAX: u64 = 16 << 20;
/// Length of the line with the document's digest, in bytes.
const SEAL: usize = 72;

/// Why what this host trusts cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Somebody else is changing it.
    #[error("another process is at the registries in `{}`; let it end, then try again", .0.display())]
    Busy(PathBuf),
    /// It is not as it was written.
    #[error(
        "`{}` is damaged or gone, and with it what says which versions were seen; restore it, or remove the folder \
         `{}` and trust each registry anew", .path.display(), .folder.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The folder that it is in.
        folder: PathBuf,
    },
    /// Others than its owner can write into it.
    #[error("others can get at `{path}`; look who has, then `chmod 700 {path}`", path = .0.display())]
    Open(PathBuf),
    /// The disk says no.
    #[error("`{}` cannot be used; look at the disk and at its rights", .path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

/// Whoever has it may change the state.
#[derive(Debug)]
pub(in crate::client) struct Lock {
    _file: File,
}

/// The folder of the state.
#[derive(Debug, Clone)]
pub(in crate::client) struct Store {
    folder: PathBuf,
    disk: Disk,
}

impl Store {
    pub(in crate::client) fn at(folder: PathBuf) -> Self {
        Self { folder, disk: Disk::default() }
    }

    /// One whose disk dies after so many steps.
    #[cfg(test)]
    pub(in crate::client) fn dying(folder: PathBuf, steps: usize) -> Self {
        let dies = Some(std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(steps)));
        Self { folder, disk: Disk { dies } }
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// Where the file of that digest is.
    pub(in crate::client) fn path(&self, digest: &Digest) -> PathBuf {
        self.files().join(digest.hex())
    }

    /// The right to change the state, as long as it is kept. Waits for nobody.
    pub(in crate::client) fn lock(&self) -> Result<Lock, StateError> {
        let make = || {
            self.folder.parent().map_or(Ok(()), disk::make_folders)?;
            self.disk.make_folder(&self.folder)
        };
        make().map_err(|source| failed(&self.folder, source))?;
        is_private(&self.folder)?;
        let path = self.folder.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|source| failed(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StateError::Busy(self.folder.clone())),
            Err(TryLockError::Error(source)) => Err(failed(&path, source)),
        }
    }

    /// The state; an empty one where none was ever made.
    pub(in crate::client) fn read(&self) -> Result<State, StateError> {
        let path = self.state();
        match disk::read(&path, STATE_MAX) {
            Ok(bytes) => {
                is_private(&self.folder)?;
                parse(&bytes).ok_or_else(|| self.damaged(path))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match self.files().try_exists() {
                Ok(false) => Ok(State::default()),
                Ok(true) => Err(self.damaged(path)),
                Err(source) => Err(failed(&path, source)),
            },
            Err(error) if is_damage(&error) => Err(self.damaged(path)),
            Err(source) => Err(failed(&path, source)),
        }
    }

    /// Makes this the state, in one step.
    pub(in crate::client) fn commit(&self, _lock: &Lock, state: &State) -> Result<(), StateError> {
        let path = self.state();
        let fault = |error: serde_json::Error| failed(&path, io::Error::other(error));
        let body = serde_json::to_vec(state).map_err(fault)?;
        let mut bytes = format!("{}\n", Digest::of(&body)).into_bytes();
        bytes.extend(body);
        // A file that a killed process has put there may have its name in memory only.
        let files = self.files();
        if files.is_dir() {
            disk::sync_folder(&files).map_err(|source| failed(&files, source))?;
        }
        self.disk.write(&path, &bytes).map_err(|source| failed(&path, source))
    }

    /// Keeps a file under its digest. It stays only if a state that is committed later names it.
    pub(in crate::client) fn put(&self, lock: &Lock, bytes: &[u8]) -> Result<Digest, StateError> {
        let digest = Digest::of(bytes);
        let at_most = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.find(&digest, at_most).is_some() {
            return Ok(digest);
        }
        let files = self.files();
        if !files.is_dir() {
            if !self.state().is_file() {
                self.commit(lock, &State::default())?;
            }
            self.disk.make_folder(&files).map_err(|source| failed(&files, source))?;
        }
        let path = self.path(&digest);
        self.disk.write(&path, bytes).map_err(|source| failed(&path, source))?;
        Ok(digest)
    }

    /// The bytes of that digest, if they are there and whole.
    pub(in crate::client) fn find(&self, digest: &Digest, at_most: u64) -> Option<Vec<u8>> {
        disk::read(&self.path(digest), at_most).ok().filter(|bytes| Digest::of(bytes) == *digest)
    }

    /// The bytes of that digest, which the state names.
    pub(in crate::client) fn get(&self, digest: &Digest, at_most: u64) -> Result<Vec<u8>, StateError> {
        let path = self.path(digest);
        match disk::read(&path, at_most) {
            Ok(bytes) if Digest::of(&bytes) == *digest => Ok(bytes),
            Ok(_) => Err(self.damaged(path)),
            Err(error) if is_damage(&error) => Err(self.damaged(path)),
            Err(source) => Err(failed(&path, source)),
        }
    }

    /// Removes files that the state does not name. What cannot be removed stays until the next time.
    pub(in crate::client) fn sweep(&self, _lock: &Lock, state: &State) {
        let named: BTreeSet<String> = state.files().map(|digest| digest.hex()).collect();
        let Ok(entries) = self.files().read_dir() else { return };
        for entry in entries.flatten() {
            let kept = entry.file_name().to_str().is_some_and(|name| named.contains(name));
            if !kept && self.disk.remove(&entry.path()).is_err() {
                return;
            }
        }
    }

    /// What is said of a file whose bytes are right and whose meaning is not.
    pub(in crate::client) fn damaged_file(&self, digest: &Digest) -> StateError {
        self.damaged(self.path(digest))
    }

    fn damaged(&self, path: PathBuf) -> StateError {
        StateError::Damaged { path, folder: self.folder.clone() }
    }
}

fn parse(bytes: &[u8]) -> Option<State> {
    let (seal, body) = bytes.split_at_checked(SEAL)?;
    let seal = std::str::from_utf8(seal).ok()?.strip_suffix('\n')?;
    let digest = Digest::parse(seal).ok()?;
    (Digest::of(body) == digest).then(|| serde_json::from_slice(body).ok()).flatten()
}

fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::FileTooLarge)
}

fn failed(path: &Path, source: io::Error) -> StateError {
    StateError::Disk { path: path.to_path_buf(), source }
}

/// Only Unix says who else can write into a folder.
#[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "elsewhere nobody can say"))]
fn is_private(folder: &Path) -> Result<(), StateError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = std::fs::metadata(folder).map_err(|source| failed(folder, source))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(StateError::Open(folder.to_path_buf()));
        }
    }
    Ok(())
}
