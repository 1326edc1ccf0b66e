//! What is connected, for the list of tools: each connection once it agrees with what is sealed in the bot's grant of it.
//!
//! Leaves out rows that do not agree. INVARIANT: the list permits nothing; a call opens its grant anew.

use pinhole_runtime::local::{LocalBot, Stored};
use pinhole_runtime::store::{ConnectionRow, StoreError};

use super::tools::Connected;

/// The connections of the bot's member, in order of services and labels. Reads a few rows, and waits for nobody who writes.
pub(super) fn connections(bot: &LocalBot) -> Result<Vec<Connected>, StoreError> {
    // Whether rows agree hangs on no time, and what is too late shows all the same: a call then says what to do.
    let (now, own) = (bot.executor.clock.now(), bot.executor.bot.public().id());
    let mut connections = Vec::new();
    for row in bot.desk.connections(bot.member)? {
        let Some(stored) = Stored::of(row, own, bot.desk.as_ref())? else { continue };
        match bot.agree(&stored, now) {
            Ok(()) => connections.push(connected(stored.connection)),
            Err(StoreError::Tampered { .. }) => {
                let service = &stored.connection.service;
                tracing::warn!(%service, "a connection that was tampered with is left out");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(connections)
}

fn connected(row: ConnectionRow) -> Connected {
    let ConnectionRow { service, label, account, cap, .. } = row;
    Connected { service, label, account, cap }
}
