//! Locks beside the database: a file a name, in a folder that is the owner's alone.
//!
//! INVARIANT: a file that was made stays, empty: were it removed, two processes could hold two files of one name. Its name
//! is a digest, so that nothing from outside becomes a path.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::open::{of_io, private_folder};
use super::{Reach, SqliteStore};
use crate::store::{Held, LockError, LockName, Locks, StoreError};

/// What the folder's name ends with, after the database's.
const SUFFIX: &str = "-locks";
/// A file's lock is looked for anew after this, doubled each time up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Locks for SqliteStore {
    fn hold(&self, what: &LockName, patience: Duration) -> Result<Held, LockError> {
        if self.light.is_none() {
            return self.in_memory.hold(what, patience);
        }
        if self.reach == Reach::Looks {
            return Err(StoreError::ReadOnly { path: self.place.path.to_path_buf(), source: None }.into());
        }
        let failed = |source| LockError::Store(of_io(&self.place, "lock", source));
        let file = lock_file(&self.place.path, what).map_err(failed)?;
        let (mut waited, mut pause) = (Duration::ZERO, SHORTEST_PAUSE);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Held::until_dropped(file)),
                Err(TryLockError::WouldBlock) if waited < patience => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Busy { waited }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            let now = pause.min(patience.saturating_sub(waited));
            std::thread::sleep(now);
            waited = waited.saturating_add(now);
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }
}

fn lock_file(database: &Path, what: &LockName) -> std::io::Result<File> {
    let folder = super::open::beside(database, SUFFIX);
    private_folder(&folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = folder.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))?;
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // In the place of a lock a link is none: its file may be another's.
    #[cfg(unix)]
    {
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, no_link.cast_signed());
    }
    options.open(folder.join(what.to_string()))
}
