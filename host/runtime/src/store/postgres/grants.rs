//! Grants of the bots in PostgreSQL.

use pinhole_grant::{CredentialId, GrantId, KeyId, UnixTime};
use pinhole_manifest::{Access, ServiceId};
use tokio_postgres::Row;

use super::broken::{Broken, Columns};
use super::connections::is_unchanged;
use super::pool::{Session, Values};
use super::spine::revoke;
use super::{PostgresStore, alone};
use crate::store::words::access;
use crate::store::{ConnectionRow, GrantError, GrantFilter, GrantRow, Grants, Removal, StoreError, Table};

impl Grants for PostgresStore {
    fn put_grant(&self, row: &GrantRow) -> Result<(), GrantError> {
        self.write("store a grant", async |session| {
            alone(session, &[row.member]).await?;
            put(session, row, |error| error).await
        })
    }

    fn renew_grant(&self, row: &GrantRow, of: &ConnectionRow) -> Result<(), GrantError> {
        self.write("renew a grant", async |session| {
            alone(session, &[row.member, of.member]).await?;
            if !is_unchanged(session, of).await? {
                return Err(Broken::Refused(GrantError::Changed));
            }
            put(session, row, |error| error).await
        })
    }

    fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        let select = "
            SELECT id, member, bot, connection, service, access, expires_at, sealed FROM grants
            WHERE ($1::text IS NULL OR member = $1) AND ($2::text IS NULL OR bot = $2)
              AND ($3::text IS NULL OR service = $3) AND ($4::text IS NULL OR connection = $4)
              AND ($5::text IS NULL OR access = $5)
            ORDER BY expires_at DESC, id";
        self.read("list grants", async |session| {
            let values: Values<'_> = &[
                &filter.member.map(|member| member.to_string()),
                &filter.bot.map(|bot| bot.to_string()),
                &filter.service.as_ref().map(ServiceId::as_str),
                &filter.connection.map(|connection| connection.to_string()),
                &filter.access.map(Access::as_str),
            ];
            session.rows(select, values).await?.iter().map(read).collect()
        })
    }

    fn remove_grant(&self, member: KeyId, id: GrantId) -> Result<Removal, StoreError> {
        self.write("forget a grant", async |session| {
            alone(session, &[member]).await?;
            forget(session, member, id).await
        })
    }

    fn revoke_grant(&self, member: KeyId, id: GrantId) -> Result<Removal, StoreError> {
        self.write("revoke a grant", async |session| {
            alone(session, &[member]).await?;
            let there = "SELECT 1 FROM grants WHERE id = $1 AND member = $2";
            if session.exists(there, &[&id.to_string(), &member.to_string()]).await? {
                revoke(session, &id.to_string()).await?;
            }
            forget(session, member, id).await
        })
    }
}

async fn forget(session: &Session, member: KeyId, id: GrantId) -> Result<Removal, Broken<StoreError>> {
    let forget = "DELETE FROM grants WHERE id = $1 AND member = $2";
    let gone = session.execute(forget, &[&id.to_string(), &member.to_string()]).await?;
    Ok(if gone == 0 { Removal::Absent } else { Removal::Removed })
}

/// Stores a grant. `refused` says in the caller's terms why not.
pub(super) async fn put<E>(
    session: &Session,
    row: &GrantRow,
    refused: fn(GrantError) -> E,
) -> Result<(), Broken<E>> {
    let (id, member, bot) = (row.id.to_string(), row.member.to_string(), row.bot.to_string());
    let (of, service) = (row.connection.to_string(), row.service.as_str());
    let has = "SELECT 1 FROM connections WHERE id = $1 AND member = $2 AND service = $3";
    if !session.exists(has, &[&of, &member, &service]).await? {
        return Err(Broken::Refused(refused(GrantError::NoConnection)));
    }
    if session.exists("SELECT 1 FROM grants WHERE id = $1", &[&id]).await? {
        return Err(Broken::Refused(refused(GrantError::IdTaken)));
    }
    if row.access == Access::Read {
        let older =
            "DELETE FROM grants WHERE member = $1 AND bot = $2 AND connection = $3 AND access = 'read'";
        session.execute(older, &[&member, &bot, &of]).await?;
    }
    // Another member may have taken the id since.
    let insert = "
        INSERT INTO grants (id, member, bot, connection, service, access, expires_at, sealed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    let (access, expires_at) = (row.access.as_str(), row.expires_at.as_secs());
    let values: Values<'_> = &[&id, &member, &bot, &of, &service, &access, &expires_at, &row.sealed];
    match session.execute(insert, values).await? {
        0 => Err(Broken::Refused(refused(GrantError::IdTaken))),
        _ => Ok(()),
    }
}

fn read<E>(row: &Row) -> Result<GrantRow, Broken<E>> {
    let columns = Columns::new(Table::Grants, row)?;
    Ok(GrantRow {
        id: columns.parsed(0, GrantId::parse)?,
        member: columns.parsed(1, KeyId::parse)?,
        bot: columns.parsed(2, KeyId::parse)?,
        connection: columns.parsed(3, CredentialId::parse)?,
        service: columns.parsed(4, ServiceId::parse)?,
        access: columns.parsed(5, access)?,
        expires_at: UnixTime::from_secs(columns.plain(6)?),
        sealed: columns.plain(7)?,
    })
}
