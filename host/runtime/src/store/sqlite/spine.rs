//! Spent uses, revocations and the latest time: what the spine asks for. One statement decides each.

use std::num::NonZeroU32;

use pinhole_grant::{CredentialId, GrantId, UnixTime};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::broken::Broken;
use super::{Reach, SqliteStore};
use crate::store::{SpendError, Store, StoreError};

/// The row changes only while a use is left, and it is changed by one writer at a time.
const SPEND: &str = "
    INSERT INTO uses (grant_id, member, spent) VALUES (?1, (SELECT member FROM grants WHERE id = ?1), 1)
    ON CONFLICT (grant_id) DO UPDATE SET spent = spent + 1 WHERE spent < ?2";

const REVOKE: &str = "
    INSERT INTO revoked (grant_id, member)
    VALUES (?1, coalesce(
        (SELECT member FROM grants WHERE id = ?1), (SELECT member FROM questions WHERE grant_id = ?1)))
    ON CONFLICT (grant_id) DO NOTHING";

const ADVANCE: &str = "
    INSERT INTO clock (one, latest) VALUES (1, ?1)
    ON CONFLICT (one) DO UPDATE SET latest = max(latest, excluded.latest)";

impl Store for SqliteStore {
    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        self.write("note that a use is spent", |transaction| spend(transaction, grant, allowed))
    }

    fn has_use_left(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError> {
        self.read("look for spent uses", |connection| {
            let mut statement = connection.prepare_cached("SELECT spent FROM uses WHERE grant_id = ?1")?;
            let spent: Option<u32> = statement.query_row([grant.to_string()], |row| row.get(0)).optional()?;
            Ok(spent.is_none_or(|spent| spent < allowed.get()))
        })
    }

    fn revoke(&self, grant: &GrantId) -> Result<(), StoreError> {
        self.write("note that a grant is revoked", |transaction| Ok(revoke(transaction, &grant.to_string())?))
    }

    fn is_revoked(&self, grant: &GrantId) -> Result<bool, StoreError> {
        self.read("look for a revocation", |connection| {
            let mut statement = connection.prepare_cached("SELECT 1 FROM revoked WHERE grant_id = ?1")?;
            Ok(statement.exists([grant.to_string()])?)
        })
    }

    fn has_ended(&self, connection: &CredentialId) -> Result<bool, StoreError> {
        // A database that is only looked at stays in its format, and in the first nothing could end so.
        if self.reach == Reach::Looks && self.format()? < 2 {
            return Ok(false);
        }
        self.read("look whether a connection has ended", |database| {
            let mut statement = database.prepare_cached("SELECT 1 FROM ended WHERE connection = ?1")?;
            Ok(statement.exists([connection.to_string()])?)
        })
    }

    /// Mostly a read: the row changes when a second has passed since the last call of any process.
    fn high_water(&self, now: UnixTime) -> Result<UnixTime, StoreError> {
        let doing = "keep the latest time";
        let latest = self.latest()?;
        if let Some(latest) = latest.filter(|latest| *latest >= now) {
            return Ok(latest);
        }
        if self.reach == Reach::Looks {
            return Ok(now);
        }
        self.write_light(doing, |transaction| {
            transaction.prepare_cached(ADVANCE)?.execute([now.as_secs()])?;
            Ok(latest_of(transaction)?)
        })
    }
}

impl SqliteStore {
    /// The latest time that any caller has seen, where one has.
    pub fn latest(&self) -> Result<Option<UnixTime>, StoreError> {
        self.read("look for the latest time", |connection| Ok(latest_of(connection).optional()?))
    }
}

pub(super) fn spend(
    connection: &Connection,
    grant: &GrantId,
    allowed: NonZeroU32,
) -> Result<(), Broken<SpendError>> {
    let changed = connection.prepare_cached(SPEND)?.execute(params![grant.to_string(), allowed.get()])?;
    if changed == 1 { Ok(()) } else { Err(Broken::Refused(SpendError::UsedUp)) }
}

pub(super) fn revoke(connection: &Connection, grant: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(REVOKE)?.execute([grant]).map(|_changed| ())
}

fn latest_of(connection: &Connection) -> rusqlite::Result<UnixTime> {
    let mut statement = connection.prepare_cached("SELECT latest FROM clock")?;
    statement.query_row([], |row| row.get(0)).map(UnixTime::from_secs)
}
