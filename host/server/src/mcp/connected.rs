//! What is connected, for the list of tools: each connection once it agrees with what is sealed in the bot's grant of it.
//!
//! Refuses rows that do not agree. What was held against its seal is not opened again as long as every byte of it stays.
//! INVARIANT: the list permits nothing; a call opens its grant anew.

use std::sync::{Arc, Mutex, PoisonError};

use pinhole_grant::KeyId;
use pinhole_runtime::local::{LocalBot, Standing, Stored};
use pinhole_runtime::store::{ConnectionRow, Desk, StoreError};

use super::tools::Connected;

/// The connections as they were when they were last opened.
#[derive(Default)]
pub(super) struct Known {
    last: Mutex<Option<Last>>,
}

struct Last {
    rows: Vec<Row>,
    connections: Arc<[Connected]>,
}

/// A connection and the bot's read grant of it, where there is one.
#[derive(PartialEq)]
struct Row {
    connection: ConnectionRow,
    stored: Option<Stored>,
}

impl Known {
    /// The connections of the member, in order of services and labels. Reads a few rows, and waits for nobody who writes.
    pub(super) fn connections(&self, bot: &LocalBot) -> Result<Arc<[Connected]>, StoreError> {
        let rows = rows(bot.desk.as_ref(), bot.member, bot.executor.bot.public().id())?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.rows == rows) {
            return Ok(Arc::clone(&last.connections));
        }
        // Whether the rows agree hangs on no time, and what is too late shows all the same.
        let now = bot.executor.clock.now();
        let mut connections = Vec::new();
        for row in &rows {
            let Some(stored) = &row.stored else { continue };
            // One whose time is over shows with what its row says: a call then says what to do.
            match stored.open(&bot.executor.bot, &bot.executor.issuers, now) {
                Ok(Standing::Open(_) | Standing::Refused(_)) => connections.push(connected(&row.connection)),
                Err(StoreError::Tampered { .. }) => {
                    tracing::warn!(service = %row.connection.service, "a connection that was tampered with is left out");
                }
                Err(error) => return Err(error),
            }
        }
        let connections: Arc<[Connected]> = connections.into();
        *last = Some(Last { rows, connections: Arc::clone(&connections) });
        Ok(connections)
    }
}

fn rows(desk: &dyn Desk, member: KeyId, bot: KeyId) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    for connection in desk.connections(member)? {
        let stored = Stored::of(connection.clone(), bot, desk)?;
        rows.push(Row { connection, stored });
    }
    Ok(rows)
}

fn connected(row: &ConnectionRow) -> Connected {
    Connected {
        service: row.service.clone(),
        label: row.label.clone(),
        account: row.account.clone(),
        cap: row.cap,
    }
}
