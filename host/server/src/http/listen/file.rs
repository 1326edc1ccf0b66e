//! A socket file: made with mode 0600 in a folder that no other may write, and removed at the end.
//!
//! Refuses to take the place of anything but a socket that nobody listens at. A file beside it, `NAME.lock`, is locked for as long
//! as the process lives, so that of two that begin at once one is refused; after a crash the lock is gone and the socket is
//! left, and the next one replaces it. unix(7).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::{Arrived, HERE, Listen};

/// Only its owner reads and writes.
const MODE: u32 = 0o600;
/// That others may write.
const OTHERS_WRITE: u32 = 0o022;
/// That what is in a folder is moved by its owner alone.
const STICKY: u32 = 0o1000;

/// A socket file that is listened at. It is removed when this is dropped.
#[derive(Debug)]
pub struct SocketFile {
    listener: UnixListener,
    path: PathBuf,
    /// Whose it is, and which file: to be removed only if it is still the one.
    owner: u32,
    inode: u64,
    _lock: File,
}

/// Why there is no socket to listen at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// There is no such folder.
    #[error("the folder of `{0}` is not there: make it first, with mode 0700")]
    NoFolder(PathBuf),
    /// Others could put a socket of theirs into its place.
    #[error("others can write the folder of `{0}`: choose one that only you can write, or `chmod go-w` it")]
    OpenFolder(PathBuf),
    /// Others could put a folder of theirs into the place of its folder.
    #[error(
        "others can write `{above}`, in which the folder of `{path}` is: choose one below folders that only you can write, or `chmod go-w` it"
    )]
    OpenAbove {
        /// The socket.
        path: PathBuf,
        /// The folder above.
        above: PathBuf,
    },
    /// Another file is where its lock would be.
    #[error("`{0}` is there and is no file of its own, and the socket's lock would be there: move it away")]
    NotALock(PathBuf),
    /// Another process has it.
    #[error("`{0}` is in use: another server listens there; end it, or say another path")]
    InUse(PathBuf),
    /// Something else is there.
    #[error("`{0}` is there and is no socket: say another path, or move it away")]
    NotASocket(PathBuf),
    /// The system says no.
    #[error("`{path}` cannot be listened at: say a shorter or another path")]
    Failed {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl SocketFile {
    /// Listens at a path. Blocks for a moment; to be called within the runtime that will serve.
    pub fn listen(path: &Path) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Failed { path: path.to_owned(), source };
        look_at_folder(path)?;
        let lock = locked(path)?;
        clear(path)?;
        let listener = UnixListener::bind(path).map_err(failed)?;
        // Who came in between is asked who they are, as everybody is.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(MODE)).map_err(failed)?;
        let made = path.symlink_metadata().map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), owner: made.uid(), inode: made.ino(), _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let still = self.path.symlink_metadata().is_ok_and(|found| found.ino() == self.inode);
        if still && let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "the socket could not be removed");
        }
    }
}

impl Listen for SocketFile {
    type Stream = UnixStream;

    async fn accept(&self) -> io::Result<Arrived<UnixStream>> {
        loop {
            let (stream, _unnamed) = self.listener.accept().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == self.owner || peer.uid() == 0 => {
                    return Ok(Arrived { stream, address: HERE });
                }
                Ok(peer) => tracing::warn!(uid = peer.uid(), "another user's connection was closed"),
                Err(error) => tracing::debug!(%error, "a connection that is gone already"),
            }
        }
    }

    fn say(stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
        stream.try_write(bytes)
    }
}

fn look_at_folder(path: &Path) -> Result<(), SocketError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(found) = folder.metadata() else { return Err(SocketError::NoFolder(path.to_owned())) };
    if !found.is_dir() {
        return Err(SocketError::NoFolder(path.to_owned()));
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Err(SocketError::OpenFolder(path.to_owned()));
    }
    look_above(path, folder).map_err(|above| SocketError::OpenAbove { path: path.to_owned(), above })
}

/// Looks at the folders that lead there, by the way that is said and by the one that links lead. In one that is sticky nobody moves
/// what is another's.
fn look_above(path: &Path, folder: &Path) -> Result<(), PathBuf> {
    let said = std::path::absolute(folder).map_err(|_no_folder| path.to_owned())?;
    let led = folder.canonicalize().map_err(|_no_folder| path.to_owned())?;
    for above in said.ancestors().skip(1).chain(led.ancestors().skip(1)) {
        let mode = above.metadata().map_err(|_unseen| above.to_owned())?.mode();
        if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
            return Err(above.to_owned());
        }
    }
    Ok(())
}

/// The lock of a path, which ends with the process that has it.
fn locked(path: &Path) -> Result<File, SocketError> {
    let failed = |source| SocketError::Failed { path: path.to_owned(), source };
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).truncate(false).mode(MODE);
    // A new file is made in no other place; one that was there must be the one of this name, and no link to another.
    let file = match options.clone().create_new(true).open(&name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = name.symlink_metadata().map_err(failed)?;
            if !found.is_file() {
                return Err(SocketError::NotALock(name));
            }
            let file = options.open(&name).map_err(failed)?;
            let opened = file.metadata().map_err(failed)?;
            if (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
                return Err(SocketError::NotALock(name));
            }
            file
        }
        made => made.map_err(failed)?,
    };
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SocketError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Removes a socket that nobody listens at. Whoever else would make one here waits for the lock.
fn clear(path: &Path) -> Result<(), SocketError> {
    let failed = |source| SocketError::Failed { path: path.to_owned(), source };
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !found.file_type().is_socket() {
        return Err(SocketError::NotASocket(path.to_owned()));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(failed)
        }
        Ok(_somebody) => Err(SocketError::InUse(path.to_owned())),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        folder
    }

    #[tokio::test]
    async fn a_socket_is_its_owners_and_goes_with_its_process() {
        let folder = folder();
        let path = folder.path().join("s");
        let socket = SocketFile::listen(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(matches!(SocketFile::listen(&path), Err(SocketError::InUse(_))));
        drop(socket);
        assert!(!path.exists());
        SocketFile::listen(&path).unwrap();
    }

    #[tokio::test]
    async fn a_socket_that_was_left_behind_is_replaced_and_another_file_is_not() {
        let folder = folder();
        let path = folder.path().join("s");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "left behind");
        drop(SocketFile::listen(&path).unwrap());
        std::fs::write(&path, "a letter").unwrap();
        assert!(matches!(SocketFile::listen(&path), Err(SocketError::NotASocket(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"a letter");
    }

    #[tokio::test]
    async fn one_that_somebody_listens_at_is_left_alone_whoever_made_it() {
        let folder = folder();
        let path = folder.path().join("s");
        let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(matches!(SocketFile::listen(&path), Err(SocketError::InUse(_))));
        drop(other);
    }

    #[tokio::test]
    async fn a_folder_that_others_write_is_refused() {
        let folder = folder();
        for (mode, good) in [(0o770, false), (0o707, false), (0o1777, false), (0o755, true)] {
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            let listened = SocketFile::listen(&folder.path().join("s"));
            assert_eq!(listened.is_ok(), good, "{mode:o}");
        }
        let absent = SocketFile::listen(&folder.path().join("none/s"));
        assert!(matches!(absent, Err(SocketError::NoFolder(_))));
    }

    #[tokio::test]
    async fn a_folder_above_that_others_write_is_refused_unless_it_is_sticky() {
        let folder = folder();
        let (open, own) = (folder.path().join("open"), folder.path().join("open/own"));
        std::fs::create_dir_all(&own).unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        for (mode, good) in [(0o777, false), (0o775, false), (0o1777, true), (0o755, true)] {
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(mode)).unwrap();
            for folder in [&own, &link] {
                let listened = SocketFile::listen(&folder.join("s"));
                assert_eq!(listened.is_ok(), good, "{mode:o} {}", folder.display());
                assert!(good || matches!(listened, Err(SocketError::OpenAbove { .. })));
            }
        }
        // The link itself may be what others put elsewhere.
        let safe = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(safe.path(), open.join("led")).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        let listened = SocketFile::listen(&open.join("led/s"));
        assert!(matches!(listened, Err(SocketError::OpenAbove { .. })), "{listened:?}");
    }

    #[tokio::test]
    async fn a_link_in_the_place_of_the_lock_is_not_followed() {
        let folder = folder();
        let (path, other) = (folder.path().join("s"), folder.path().join("another's"));
        std::fs::write(&other, "a letter").unwrap();
        for to in [&other, &folder.path().join("not there")] {
            std::os::unix::fs::symlink(to, folder.path().join("s.lock")).unwrap();
            assert!(matches!(SocketFile::listen(&path), Err(SocketError::NotALock(_))));
            std::fs::remove_file(folder.path().join("s.lock")).unwrap();
        }
        assert!(!folder.path().join("not there").exists() && !path.exists());
        drop(SocketFile::listen(&path).unwrap());
        SocketFile::listen(&path).unwrap();
    }

    #[tokio::test]
    async fn another_file_in_its_place_is_not_removed_at_the_end() {
        let folder = folder();
        let path = folder.path().join("s");
        let socket = SocketFile::listen(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "another's").unwrap();
        drop(socket);
        assert_eq!(std::fs::read(&path).unwrap(), b"another's");
    }
}
