//! The tables, and how an older database becomes a current one.
//!
//! INVARIANT: a step that was ever part of a release is never changed; what it made is changed by a further step. All steps
//! that are missing are taken in one transaction, or none is. DESIGN, "Doors": State.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// What marks a database as Pinhole's: `PINH` in the header's `application_id`.
pub(super) const APPLICATION_ID: i64 = 0x5049_4e48;

/// The steps, from an empty database on. `user_version` says how many were taken.
pub(super) const STEPS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// The version that all steps lead to.
pub(super) fn latest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Takes the steps that are missing. Another process may be doing the same: who comes second finds nothing to do.
pub(super) fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let taken = |version: i64| usize::try_from(version).unwrap_or(usize::MAX);
    if version(connection)? >= latest(steps) {
        return Ok(());
    }
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    for step in steps.iter().skip(taken(version(&transaction)?)) {
        transaction.execute_batch(step)?;
    }
    if version(&transaction)? < latest(steps) {
        transaction.pragma_update(None, "user_version", latest(steps))?;
    }
    transaction.commit()
}
