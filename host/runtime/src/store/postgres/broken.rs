//! What can go wrong inside a transaction, and which of the store's errors it is.
//!
//! INVARIANT: a value that is none of its column's kind is a row that was tampered with, named by its id; it is never
//! replaced by a default.

use std::sync::Arc;
use std::time::Duration;

use pinhole_manifest::visible::visible;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::FromSql;
use tokio_postgres::{Error, Row};

use super::fault::ServerError;
use crate::store::{Cause, StoreError, Table};

/// Longest id that is repeated in an error, in characters.
const SHOWN_ID_MAX: usize = 64;
/// Longest text of the server's that is repeated, in characters.
const SHOWN_TEXT_MAX: usize = 200;

/// Why a piece of work was given up and rolled back.
#[derive(Debug)]
pub(super) enum Broken<E> {
    /// The server says no, or nothing.
    Sql(Error),
    /// A row is not what was put there.
    Row(Table, String),
    /// It is not to be done.
    Refused(E),
}

impl<E> From<Error> for Broken<E> {
    fn from(error: Error) -> Self {
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
            Self::Refused(refused) => refused,
        }
    }
}

/// How an error of the driver's is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The connection is gone, and with it whatever was not committed.
    Lost,
    /// Two changes met, and this one was rolled back: the same again may pass.
    Met,
    /// It will not pass by trying again.
    Lasting,
}

pub(super) fn kind(error: &Error) -> Kind {
    match error.as_db_error() {
        None if is_lost(error) => Kind::Lost,
        None => Kind::Lasting,
        Some(said) if ["FATAL", "PANIC"].contains(&said.severity()) => Kind::Lost,
        Some(said) => match *said.code() {
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Kind::Met,
            SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => Kind::Lost,
            _ => Kind::Lasting,
        },
    }
}

fn is_lost(error: &Error) -> bool {
    use std::error::Error as _;
    error.is_closed() || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// Where the database is, as it may be shown, and how long anybody is waited for.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) shown: Arc<str>,
    pub(super) waits: Duration,
}

impl Place {
    pub(super) fn shown(&self) -> String {
        self.shown.as_ref().to_owned()
    }

    /// The store's word for an error of the driver's.
    pub(super) fn fault(&self, doing: &'static str, error: Error) -> StoreError {
        let place = self.shown();
        let code = error.code().map(|code| code.code().to_owned());
        let unreachable = code.is_none() && kind(&error) == Kind::Lost;
        let source = Some(said(error));
        let waited = self.waits;
        // Classes and codes of PostgreSQL's appendix A.
        StoreError::Server(match code.as_deref() {
            None if unreachable => ServerError::Unreachable { place, source },
            None => ServerError::Failed { place, doing, source },
            Some("25006") => ServerError::ReadOnly { place, source },
            Some("53300" | "57P01" | "57P02" | "57P03") => ServerError::Unreachable { place, source },
            Some("53100" | "53200" | "54000") => ServerError::Full { place, source },
            Some("55P03" | "57014" | "40001" | "40P01") => ServerError::Busy { place, waited },
            Some("42501") => ServerError::Denied { place, source },
            Some(code) => match code.get(..2) {
                Some("28" | "3D") => ServerError::Denied { place, source },
                Some("08") => ServerError::Unreachable { place, source },
                // A table or a column that is missing is damage too.
                Some("XX" | "42" | "3F") => ServerError::Damaged { place, source },
                _ => ServerError::Failed { place, doing, source },
            },
        })
    }

    /// The word for a connection that was not made: where the server itself has not said why, it was not reached.
    pub(super) fn unreached(&self, error: Error) -> StoreError {
        if error.as_db_error().is_some() {
            return self.fault("open a connection", error);
        }
        StoreError::Server(ServerError::Unreachable { place: self.shown(), source: Some(said(error)) })
    }

    /// The word for a change whose commit nobody has confirmed.
    pub(super) fn uncertain(&self, doing: &'static str, error: Option<Error>) -> StoreError {
        let place = self.shown();
        StoreError::Server(ServerError::Uncertain { place, doing, source: error.map(said) })
    }

    /// The word for an answer that did not come in time.
    pub(super) fn silent(&self) -> StoreError {
        let source = Some("it is silent".into());
        StoreError::Server(ServerError::Unreachable { place: self.shown(), source })
    }
}

/// What the driver says, without details: they repeat values of rows.
fn said(error: Error) -> Cause {
    if let Some(said) = error.as_db_error() {
        let text: String = said.message().chars().take(SHOWN_TEXT_MAX).collect();
        return format!("{} ({})", visible(&text), said.code().code()).into();
    }
    let text = error.to_string();
    match error.into_source() {
        Some(source) => source,
        None => text.into(),
    }
}

/// The columns of one row, its id first.
pub(super) struct Columns<'r> {
    row: &'r Row,
    table: Table,
    id: String,
}

impl<'r> Columns<'r> {
    pub(super) fn new<E>(table: Table, row: &'r Row) -> Result<Self, Broken<E>> {
        let id = row.try_get(0).map_err(|_none| Broken::Row(table, String::new()))?;
        Ok(Self { row, table, id })
    }

    /// A column as the database has it.
    pub(super) fn plain<T: FromSql<'r>, E>(&self, column: usize) -> Result<T, Broken<E>> {
        self.row.try_get(column).map_err(|_other_kind| self.tampered())
    }

    /// A column whose text has a grammar.
    pub(super) fn parsed<T, F, E>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Result<T, F>,
    ) -> Result<T, Broken<E>> {
        parse(self.plain(column)?).map_err(|_not_one| self.tampered())
    }

    /// This row is not what was put there.
    pub(super) fn tampered<E>(&self) -> Broken<E> {
        Broken::Row(self.table, self.id.clone())
    }
}
