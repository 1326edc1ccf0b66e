//! The SQLite store: exact over threads, processes and kills; what is wrong with a database is named, and nothing changes.

mod backup;
mod earlier;
mod faults;
mod kept;
mod locks;
mod looks;
mod processes;
mod receipts;
mod spine;
mod suite;
mod versions;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::SqliteStore;
use crate::store::tests::*;

/// A folder of the test's own, and the database in it.
struct Disk {
    folder: TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(super::DATABASE)
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.path()).unwrap()
    }

    /// The database as anybody with SQLite sees it.
    fn raw(&self) -> rusqlite::Connection {
        raw(&self.path())
    }
}

fn raw(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}
