//! A copy of the database, made while others read and write it.
//!
//! INVARIANT: the copy is the database of one moment; it gets its name when it is whole, synced and found sound, its owner's
//! alone, and never the name of another file.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::open::{check, folder_of};
use super::{SqliteStore, broken::Place};
use crate::store::StoreError;

/// All pages in one step: a change of another process would begin a copy in pieces anew.
const ALL: i32 = -1;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// There is something of this name.
    #[error("`{}` is there already", .path.display())]
    Taken {
        /// The name.
        path: PathBuf,
    },
    /// There is no such folder.
    #[error("the folder of `{}` is not there", .path.display())]
    NoFolder {
        /// The name.
        path: PathBuf,
    },
    /// The copy could not be written.
    #[error("`{}` could not be written: {source}", .path.display())]
    Write {
        /// The name.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The copy, or what is copied, is damaged, or cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SqliteStore {
    /// Copies the database to a file that is not there, mode 0600. Others can go on meanwhile; what they change is in it or not,
    /// each change whole.
    pub fn back_up(&self, to: &Path) -> Result<(), BackupError> {
        let failed = |source: io::Error| match source.kind() {
            ErrorKind::AlreadyExists => BackupError::Taken { path: to.to_owned() },
            ErrorKind::NotFound => BackupError::NoFolder { path: to.to_owned() },
            _ => BackupError::Write { path: to.to_owned(), source },
        };
        if to.symlink_metadata().is_ok() {
            return Err(BackupError::Taken { path: to.to_owned() });
        }
        let folder = folder_of(to);
        let draft =
            tempfile::Builder::new().prefix(".pinhole.backup.").tempfile_in(folder).map_err(failed)?;
        let draft = draft.into_temp_path();
        let place = Place { path: to.into(), waits: self.place.waits };
        self.copy(&draft, &place)?;
        File::open(&draft).and_then(|file| file.sync_all()).map_err(failed)?;
        draft.persist_noclobber(to).map_err(|error| failed(error.error))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }

    fn copy(&self, draft: &Path, place: &Place) -> Result<(), StoreError> {
        let failed = |error| place.fault("be copied", error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut copy = Connection::open_with_flags(draft, flags).map_err(failed)?;
        let from = self.light();
        let step = Backup::new(&from, &mut copy).and_then(|backup| backup.step(ALL)).map_err(failed)?;
        drop(from);
        if step != StepResult::Done {
            return Err(StoreError::Locked { path: self.place.path.to_path_buf(), waited: self.place.waits });
        }
        check(&copy, place, "integrity_check(1)")?;
        copy.close().map_err(|(_connection, error)| failed(error))
    }
}
