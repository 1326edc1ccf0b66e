//! A few connections, made when they are needed and kept for the next call.
//!
//! A pool of one's own: those that are kept up (`deadpool`, `bb8`) wait inside a runtime, and `r2d2` asks each connection
//! whether it still lives before each use. Here a connection is believed until it fails, for each change begins with a
//! statement whose failing has changed nothing.
//! INVARIANT: a connection comes back only with no transaction open on it; any other is closed, and the server rolls back.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::address::PostgresAddress;
use super::broken::Place;
use super::fault::ServerError;
use super::tls::Tls;
use super::wait::Driver;
use crate::store::StoreError;

/// Most connections that are open at once.
pub(super) const CONNECTIONS_MAX: usize = 8;

/// What each connection is told first. A database whose owner waits for less than the disk (`off`) is not followed; one whose
/// standbys are waited for is.
const SETTINGS: &str = "
    SET search_path TO pinhole, pg_temp;
    SET standard_conforming_strings TO on;
    SET lock_timeout TO '10s';
    SET statement_timeout TO '20s';
    SET idle_in_transaction_session_timeout TO '30s';
    SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// One connection.
pub(super) struct Session {
    pub(super) client: Client,
    prepared: RefCell<HashMap<String, Statement>>,
    /// A transaction may be open on it.
    spoilt: Cell<bool>,
}

/// The values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Session {
    /// Makes a connection.
    pub(super) async fn open(
        address: &PostgresAddress,
        driver: &Driver,
        place: &Place,
    ) -> Result<Self, StoreError> {
        let failed = |error| place.fault("open a connection", error);
        let (client, connection) =
            address.config().connect(Tls(address.tls())).await.map_err(|error| place.unreached(error))?;
        let shown = place.shown();
        driver.handle().spawn(async move {
            if let Err(error) = connection.await {
                let code = error.code().map(|code| code.code().to_owned());
                tracing::debug!(database = %shown, code, "a connection to the database has ended");
            }
        });
        client.batch_execute(SETTINGS).await.map_err(failed)?;
        Ok(Self { client, prepared: RefCell::default(), spoilt: Cell::new(false) })
    }

    /// It is not to be used again.
    pub(super) fn spoil(&self) {
        self.spoilt.set(true);
    }

    /// Whether it may be used again.
    pub(super) fn is_whole(&self) -> bool {
        !self.spoilt.get() && !self.client.is_closed()
    }

    pub(super) async fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, Error> {
        self.client.execute(&self.prepared(sql).await?, values).await
    }

    pub(super) async fn rows(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.client.query(&self.prepared(sql).await?, values).await
    }

    /// The first row.
    pub(super) async fn row(&self, sql: &str, values: Values<'_>) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    pub(super) async fn exists(&self, sql: &str, values: Values<'_>) -> Result<bool, Error> {
        Ok(!self.rows(sql, values).await?.is_empty())
    }

    /// All statements are constants of this room: there are not many.
    async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.prepared.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.prepared.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// The connections of one process.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Session>,
    /// All that are open or about to be, those in use included.
    open: usize,
}

/// A place among the connections that may be open, for one call.
pub(super) struct Turn<'p> {
    pool: &'p Pool,
    /// One that was open already.
    session: Option<Session>,
}

impl Pool {
    /// Waits for a turn.
    pub(super) fn turn(&self, place: &Place) -> Result<Turn<'_>, StoreError> {
        let full = |state: &mut State| state.idle.is_empty() && state.open >= CONNECTIONS_MAX;
        let wait = self.freed.wait_timeout_while(self.state(), place.waits, full);
        let (mut state, _timed_out) = wait.unwrap_or_else(PoisonError::into_inner);
        let session = loop {
            match state.idle.pop() {
                Some(session) if session.client.is_closed() => state.open = state.open.saturating_sub(1),
                session => break session,
            }
        };
        if session.is_none() {
            if state.open >= CONNECTIONS_MAX {
                let (place, waited) = (place.shown(), place.waits);
                return Err(StoreError::Server(ServerError::Busy { place, waited }));
            }
            state.open = state.open.saturating_add(1);
        }
        Ok(Turn { pool: self, session })
    }

    /// Closes those that nobody uses: one of them was found dead.
    pub(super) fn forget_idle(&self) {
        let mut state = self.state();
        let gone = std::mem::take(&mut state.idle);
        state.open = state.open.saturating_sub(gone.len());
    }

    /// Each change of it is one step, so what a thread left behind when it panicked is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// The connection that was open already.
    pub(super) fn take(&mut self) -> Option<Session> {
        self.session.take()
    }

    /// Gives a connection back, with no transaction open on it.
    pub(super) fn give_back(&mut self, session: Session) {
        self.session = Some(session);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        match self.session.take() {
            Some(session) => state.idle.push(session),
            None => state.open = state.open.saturating_sub(1),
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}
