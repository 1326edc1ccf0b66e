//! The store in one SQLite database: `pinhole.db` in a home, with its `-wal` and `-shm` while it is in use.
//!
//! INVARIANT: each change is one transaction, begun with the right to write, so that over all threads and processes what
//! it looked at is what it changes. It is on the disk before the call returns (`synchronous=FULL`); the latest time alone
//! is written without waiting for the disk. Files have mode 0600, folders that are made here 0700. DESIGN, "Doors": State.

mod backup;
mod broken;
mod connections;
mod earlier;
mod grants;
mod kept;
mod locks;
mod open;
mod questions;
mod receipts;
mod renewals;
mod schema;
mod spine;
mod tokens;

pub use self::backup::BackupError;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(unix)]
use rusqlite::FileControl;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::broken::{Broken, Place};
use super::locks::InMemory;
use super::{Forgetting, QuestionId, Removal, StoreError, Table, Unreadable};
use pinhole_grant::{CredentialId, KeyId, PrincipalId};

/// The name of the database in a home.
pub const DATABASE: &str = "pinhole.db";

/// How long another process's lock is waited for.
pub const LOCK_WAIT: Duration = Duration::from_secs(10);

/// All of a host's state, in one database.
#[derive(Debug)]
pub struct SqliteStore {
    place: Place,
    /// What it commits is on the disk.
    durable: Mutex<Connection>,
    /// Reads, and writes the latest time, without waiting for `durable`. In memory there is but one connection.
    light: Option<Mutex<Connection>>,
    reach: Reach,
    /// Locks of a store in memory; those of a file are beside it.
    in_memory: Arc<InMemory>,
    forgetting: Forgetting,
}

/// What may be done with what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    All,
    /// SQLite refuses every change.
    Looks,
}

impl SqliteStore {
    /// Opens the database of a home, and makes both where they are missing. What a version without a database has left
    /// there (`state/`) is taken over first.
    pub fn open_home(home: &Path) -> Result<Self, StoreError> {
        let store = Self::open(&home.join(DATABASE))?;
        earlier::take_over(&store, home)?;
        Ok(store)
    }

    /// Opens the database in this file, and makes it where it is missing.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_waiting(path, LOCK_WAIT)
    }

    /// As [`SqliteStore::open`], waiting so long for another process's lock, here and in every call.
    pub fn open_waiting(path: &Path, waits: Duration) -> Result<Self, StoreError> {
        let place = Place { path: path.into(), waits };
        let (durable, light) = open::open(&place)?;
        let (durable, light) = (Mutex::new(durable), Some(Mutex::new(light)));
        Ok(Self {
            place,
            durable,
            light,
            reach: Reach::All,
            in_memory: Arc::default(),
            forgetting: Forgetting::default(),
        })
    }

    /// Opens the database of a home to look at it, where there is one. Refuses what [`SqliteStore::open_home`] refuses, but
    /// for what [`SqliteStore::superseded`] says. Nothing is made, taken over or taken from others; every change is refused
    /// as [`StoreError::ReadOnly`], and [`Store::high_water`](super::Store::high_water) keeps nothing.
    pub fn look(home: &Path) -> Result<Option<Self>, StoreError> {
        let place = Place { path: home.join(DATABASE).into(), waits: LOCK_WAIT };
        let Some((durable, light)) = open::look(&place)? else { return Ok(None) };
        let (durable, light) = (Mutex::new(durable), Some(Mutex::new(light)));
        Ok(Some(Self {
            place,
            durable,
            light,
            reach: Reach::Looks,
            in_memory: Arc::default(),
            forgetting: Forgetting::default(),
        }))
    }

    /// A store that ends with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        let place = Place { path: Path::new(":memory:").into(), waits: LOCK_WAIT };
        let connection = open::in_memory().map_err(|error| place.fault("be made in memory", error))?;
        let durable = Mutex::new(connection);
        Ok(Self {
            place,
            durable,
            light: None,
            reach: Reach::All,
            in_memory: Arc::default(),
            forgetting: Forgetting::default(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Reads the whole database, indices too, for damage. Other processes can go on meanwhile.
    pub fn check(&self) -> Result<(), StoreError> {
        open::check(&self.light(), &self.place, "integrity_check(1)")
    }

    /// [`StoreError::Superseded`] where an earlier version has left state in this home again since it was taken over.
    pub fn superseded(&self, home: &Path) -> Result<(), StoreError> {
        earlier::look(self, home).map(|_before| ())
    }

    /// Whether its format is this version's.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        Ok(self.format()? == schema::latest(&schema::STEPS))
    }

    /// The version of its format.
    pub fn format(&self) -> Result<i64, StoreError> {
        self.read("read the version of its format", |connection| Ok(schema::version(connection)?))
    }

    /// A change that is on the disk when this returns; or nothing has changed.
    fn write<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        self.change(lock(&self.durable), doing, work)
    }

    /// A change that a power cut may undo. Other processes see it at once, and the next durable change makes it durable.
    fn write_light<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        self.change(self.light(), doing, work)
    }

    fn change<T, E: From<StoreError>>(
        &self,
        mut connection: MutexGuard<'_, Connection>,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        let all = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            self.is_the_file(&transaction)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        all().map_err(|broken: Broken<E>| broken.into_error(&self.place, doing))
    }

    fn read<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        let connection = self.light();
        let found = self.is_the_file(&connection).and_then(|()| work(&connection));
        found.map_err(|broken| broken.into_error(&self.place, doing))
    }

    /// Whether the name still leads to the file that was opened. A use that is noted in another is spent for nobody else.
    #[cfg(unix)]
    fn is_the_file<E>(&self, connection: &Connection) -> Result<(), Broken<E>> {
        let mut moved = 0;
        if self.light.is_some() {
            connection.file_control(Some("main"), FileControl::HasMoved(&mut moved))?;
        }
        if moved == 0 { Ok(()) } else { Err(Broken::Moved) }
    }

    /// Other systems let nobody move a file that is open.
    #[cfg(not(unix))]
    fn is_the_file<E>(&self, _connection: &Connection) -> Result<(), Broken<E>> {
        Ok(())
    }

    fn light(&self) -> MutexGuard<'_, Connection> {
        lock(self.light.as_ref().unwrap_or(&self.durable))
    }
}

impl Unreadable for SqliteStore {
    fn forget_unreadable(&self, table: Table, member: KeyId, id: &str) -> Result<Removal, StoreError> {
        let forget = match table {
            Table::Connections if CredentialId::parse(id).is_err() => {
                "DELETE FROM connections WHERE id = ?1 AND member = ?2"
            }
            Table::Questions if id.parse::<QuestionId>().is_err() => {
                "DELETE FROM questions WHERE id = ?1 AND member = ?2"
            }
            Table::Tokens if PrincipalId::parse(id).is_err() => {
                "DELETE FROM tokens WHERE id = ?1 AND member = ?2"
            }
            _ => return Ok(Removal::Absent),
        };
        self.write("forget a row", |transaction| {
            if table == Table::Connections {
                transaction.execute("DELETE FROM grants WHERE connection = ?1", [id])?;
            }
            let gone = transaction.execute(forget, [id, &member.to_string()])?;
            Ok(if gone == 0 { Removal::Absent } else { Removal::Removed })
        })
    }
}

/// A thread that panicked has left no transaction open: it was rolled back as it was dropped.
fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
