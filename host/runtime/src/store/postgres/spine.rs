//! Spent uses, revocations and the latest time: what the spine asks for. One statement decides each.

use std::num::NonZeroU32;

use pinhole_grant::{CredentialId, GrantId, UnixTime};
use tokio_postgres::Error;

use super::PostgresStore;
use super::broken::Broken;
use super::pool::Session;
use crate::store::{SpendError, Store, StoreError};

/// Who comes second waits for the first and then looks at what that one has left.
const SPEND: &str = "
    INSERT INTO uses (grant_id, member, spent) VALUES ($1, (SELECT member FROM grants WHERE id = $1), 1)
    ON CONFLICT (grant_id) DO UPDATE SET spent = uses.spent + 1 WHERE uses.spent < $2";

const REVOKE: &str = "
    INSERT INTO revoked (grant_id, member)
    VALUES ($1, coalesce(
        (SELECT member FROM grants WHERE id = $1), (SELECT member FROM questions WHERE grant_id = $1 LIMIT 1)))
    ON CONFLICT (grant_id) DO NOTHING";

const ADVANCE: &str = "
    INSERT INTO clock (one, latest) VALUES (1, $1)
    ON CONFLICT (one) DO UPDATE SET latest = greatest(clock.latest, excluded.latest)
    RETURNING latest";

impl Store for PostgresStore {
    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        self.write("note that a use is spent", async |session| spend(session, grant, allowed).await)
    }

    fn has_use_left(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError> {
        let grant = grant.to_string();
        self.read("look for spent uses", async |session| {
            let row = session.row("SELECT spent FROM uses WHERE grant_id = $1", &[&grant]).await?;
            let spent: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
            Ok(spent.is_none_or(|spent| spent < i64::from(allowed.get())))
        })
    }

    fn revoke(&self, grant: &GrantId) -> Result<(), StoreError> {
        let grant = grant.to_string();
        self.write("note that a grant is revoked", async |session| Ok(revoke(session, &grant).await?))
    }

    fn is_revoked(&self, grant: &GrantId) -> Result<bool, StoreError> {
        let grant = grant.to_string();
        self.read("look for a revocation", async |session| {
            Ok(session.exists("SELECT 1 FROM revoked WHERE grant_id = $1", &[&grant]).await?)
        })
    }

    fn has_ended(&self, connection: &CredentialId) -> Result<bool, StoreError> {
        let connection = connection.to_string();
        self.read("look whether a connection has ended", async |session| {
            Ok(session.exists("SELECT 1 FROM ended WHERE connection = $1", &[&connection]).await?)
        })
    }

    /// Mostly a read: the row changes when a second has passed since the last call of any process.
    fn high_water(&self, now: UnixTime) -> Result<UnixTime, StoreError> {
        let doing = "keep the latest time";
        let latest = self.read(doing, async |session| {
            let row = session.row("SELECT latest FROM clock", &[]).await?;
            Ok::<Option<i64>, Broken<StoreError>>(row.map(|row| row.try_get(0)).transpose()?)
        })?;
        if let Some(latest) = latest.map(UnixTime::from_secs).filter(|latest| *latest >= now) {
            return Ok(latest);
        }
        self.write_light(doing, async |session| {
            let row = session.row(ADVANCE, &[&now.as_secs()]).await?;
            let latest = row.map(|row| row.try_get(0)).transpose()?;
            Ok(UnixTime::from_secs(latest.unwrap_or_else(|| now.as_secs())))
        })
    }
}

pub(super) async fn spend(
    session: &Session,
    grant: &GrantId,
    allowed: NonZeroU32,
) -> Result<(), Broken<SpendError>> {
    let changed = session.execute(SPEND, &[&grant.to_string(), &i64::from(allowed.get())]).await?;
    if changed == 1 { Ok(()) } else { Err(Broken::Refused(SpendError::UsedUp)) }
}

pub(super) async fn revoke(session: &Session, grant: &str) -> Result<(), Error> {
    session.execute(REVOKE, &[&grant]).await.map(|_changed| ())
}
