//! Grants of the local bots in SQLite.

use pinhole_grant::{CredentialId, GrantId, KeyId, UnixTime};
use pinhole_manifest::{Access, ServiceId};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::broken::{Broken, Columns};
use super::connections::{exists, is_unchanged};
use super::spine::revoke;
use crate::store::words::access;
use crate::store::{ConnectionRow, GrantError, GrantFilter, GrantRow, Grants, Removal, StoreError, Table};

const COLUMNS: &str = "id, member, bot, connection, service, access, expires_at, sealed";

impl Grants for SqliteStore {
    fn put_grant(&self, row: &GrantRow) -> Result<(), GrantError> {
        self.write("store a grant", |transaction| put(transaction, row, |error| error))
    }

    fn renew_grant(&self, row: &GrantRow, of: &ConnectionRow) -> Result<(), GrantError> {
        self.write("renew a grant", |transaction| {
            if !is_unchanged(transaction, of)? {
                return Err(Broken::Refused(GrantError::Changed));
            }
            put(transaction, row, |error| error)
        })
    }

    fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        self.read("list grants", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM grants
                 WHERE (?1 IS NULL OR member = ?1) AND (?2 IS NULL OR bot = ?2) AND (?3 IS NULL OR service = ?3)
                   AND (?4 IS NULL OR connection = ?4) AND (?5 IS NULL OR access = ?5)
                 ORDER BY expires_at DESC, id"
            ))?;
            let mut rows = statement.query(params![
                filter.member.map(|member| member.to_string()),
                filter.bot.map(|bot| bot.to_string()),
                filter.service.as_ref().map(ServiceId::as_str),
                filter.connection.map(|connection| connection.to_string()),
                filter.access.map(Access::as_str),
            ])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }

    fn remove_grant(&self, member: KeyId, id: GrantId) -> Result<Removal, StoreError> {
        self.write("forget a grant", |transaction| {
            let forget = "DELETE FROM grants WHERE id = ?1 AND member = ?2";
            let gone = transaction.execute(forget, params![id.to_string(), member.to_string()])?;
            Ok(if gone == 0 { Removal::Absent } else { Removal::Removed })
        })
    }

    fn revoke_grant(&self, member: KeyId, id: GrantId) -> Result<Removal, StoreError> {
        self.write("revoke a grant", |transaction| {
            let (id, member) = (id.to_string(), member.to_string());
            if !exists(
                transaction,
                "SELECT 1 FROM grants WHERE id = ?1 AND member = ?2",
                params![id, member],
            )? {
                return Ok(Removal::Absent);
            }
            revoke(transaction, &id)?;
            transaction.execute("DELETE FROM grants WHERE id = ?1", [&id])?;
            Ok(Removal::Removed)
        })
    }
}

/// Stores a grant. `refused` says in the caller's terms why not.
pub(super) fn put<E>(
    connection: &Connection,
    row: &GrantRow,
    refused: fn(GrantError) -> E,
) -> Result<(), Broken<E>> {
    let (id, member, bot) = (row.id.to_string(), row.member.to_string(), row.bot.to_string());
    let of = row.connection.to_string();
    let has = "SELECT 1 FROM connections WHERE id = ?1 AND member = ?2 AND service = ?3";
    if !exists(connection, has, params![of, member, row.service.as_str()])? {
        return Err(Broken::Refused(refused(GrantError::NoConnection)));
    }
    if exists(connection, "SELECT 1 FROM grants WHERE id = ?1", [&id])? {
        return Err(Broken::Refused(refused(GrantError::IdTaken)));
    }
    if row.access == Access::Read {
        connection.execute(
            "DELETE FROM grants WHERE member = ?1 AND bot = ?2 AND connection = ?3 AND access = 'read'",
            params![member, bot, of],
        )?;
    }
    connection.execute(
        &format!("INSERT INTO grants ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
        params![
            id,
            member,
            bot,
            of,
            row.service.as_str(),
            row.access.as_str(),
            row.expires_at.as_secs(),
            row.sealed,
        ],
    )?;
    Ok(())
}

fn read<E>(row: &Row<'_>) -> Result<GrantRow, Broken<E>> {
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
