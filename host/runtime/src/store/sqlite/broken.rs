//! What can go wrong inside a transaction, and which of the store's errors it is.
//!
//! INVARIANT: a value that SQLite gives back and that is none of its column's kind is a row that was tampered with, named
//! by its id; it is never replaced by a default.

use std::path::Path;
use std::time::Duration;

use pinhole_manifest::visible::visible;
use rusqlite::{ErrorCode, Row, ffi};

use crate::store::{StoreError, Table};

/// Longest id that is repeated in an error, in characters.
const SHOWN_ID_MAX: usize = 64;

/// Why a piece of work was given up and rolled back.
#[derive(Debug)]
pub(super) enum Broken<E> {
    /// The database says no.
    Sql(rusqlite::Error),
    /// A row is not what was put there.
    Row(Table, String),
    /// The file is not the one any more that was opened.
    Moved,
    /// It is not to be done.
    Refused(E),
}

impl<E> From<rusqlite::Error> for Broken<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl<E: From<StoreError>> Broken<E> {
    pub(super) fn into_error(self, place: &Place, doing: &'static str) -> E {
        match self {
            Self::Sql(error) => place.fault(doing, error).into(),
            Self::Row(table, id) => {
                let id = visible(&id.chars().take(SHOWN_ID_MAX).collect::<String>());
                StoreError::Tampered { table, id }.into()
            }
            Self::Moved => StoreError::Moved { path: place.path.to_path_buf() }.into(),
            Self::Refused(refused) => refused,
        }
    }
}

/// Where the database is, and how long another process's lock is waited for.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: Box<Path>,
    pub(super) waits: Duration,
}

impl Place {
    /// The store's word for an error of SQLite's.
    pub(super) fn fault(&self, doing: &'static str, error: rusqlite::Error) -> StoreError {
        let path = self.path.to_path_buf();
        let extended = error.sqlite_extended_error_code();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Locked { path, waited: self.waits }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnly { path, source: Some(error.into()) }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path, source: Some(error.into()) },
            Some(ErrorCode::SystemIoFailure) if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
                StoreError::Full { path, source: Some(error.into()) }
            }
            Some(ErrorCode::NotADatabase) => StoreError::Foreign { path },
            // A table that is missing is damage too; so is a file that ends in the middle of a page.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
                StoreError::Corrupt { path, source: Some(error.into()) }
            }
            Some(ErrorCode::SystemIoFailure) if extended == Some(ffi::SQLITE_IOERR_SHORT_READ) => {
                StoreError::Corrupt { path, source: Some(error.into()) }
            }
            _ => StoreError::Failed { doing, source: error.into() },
        }
    }
}

/// The columns of one row, its id first.
pub(super) struct Columns<'r> {
    row: &'r Row<'r>,
    table: Table,
    id: String,
}

impl<'r> Columns<'r> {
    pub(super) fn new<E>(table: Table, row: &'r Row<'r>) -> Result<Self, Broken<E>> {
        let id = row.get(0).map_err(|_none| Broken::Row(table, String::new()))?;
        Ok(Self { row, table, id })
    }

    /// A column as SQLite has it.
    pub(super) fn plain<T: rusqlite::types::FromSql, E>(&self, column: usize) -> Result<T, Broken<E>> {
        self.row.get(column).map_err(|_other_kind| self.tampered())
    }

    /// A column whose text has a grammar.
    pub(super) fn parsed<T, F, E>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Result<T, F>,
    ) -> Result<T, Broken<E>> {
        let text: String = self.plain(column)?;
        parse(&text).map_err(|_not_one| self.tampered())
    }

    /// This row is not what was put there.
    pub(super) fn tampered<E>(&self) -> Broken<E> {
        Broken::Row(self.table, self.id.clone())
    }
}
