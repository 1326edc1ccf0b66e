//! Connections in SQLite.

use pinhole_grant::{Account, CredentialId, GrantId, KeyId, Label, UnixTime};
use pinhole_manifest::{Access, ApiHost, ServiceId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params, params_from_iter};

use super::SqliteStore;
use super::broken::{Broken, Columns};
use super::grants::put;
use super::renewals::forget;
use super::spine::revoke;
use crate::store::words::{access, dial, dial_word};
use crate::store::{ConnectionError, ConnectionRow, Connections, GrantRow, QuestionState, StoreError, Table};

const COLUMNS: &str = "id, member, service, label, account, host, cap, dial, gen, created_at, sealed";

impl Connections for SqliteStore {
    fn insert_connection(&self, row: &ConnectionRow) -> Result<(), ConnectionError> {
        self.write("store a connection", |transaction| insert(transaction, row))
    }

    fn replace_connection(&self, row: &ConnectionRow) -> Result<(), ConnectionError> {
        self.write("store a newer credential", |transaction| replace(transaction, row))
    }

    fn keep_connection(
        &self,
        row: &ConnectionRow,
        grant: &GrantRow,
        over: Option<&ConnectionRow>,
    ) -> Result<(), ConnectionError> {
        self.write("store a connection and its grant", |transaction| {
            match over {
                None => insert(transaction, row)?,
                Some(over) if over.id == row.id => {
                    still(transaction, over)?;
                    replace(transaction, row)?;
                    end_writes_beyond(transaction, row)?;
                }
                Some(over) => {
                    still(transaction, over)?;
                    remove(transaction, over.member, over.id)?;
                    insert(transaction, row)?;
                }
            }
            put_with(transaction, row, grant)
        })
    }

    fn set_cap(
        &self,
        row: &ConnectionRow,
        grant: &GrantRow,
        over: &ConnectionRow,
    ) -> Result<(), ConnectionError> {
        self.write("store another cap", |transaction| {
            still(transaction, over)?;
            let stored = stored_generation(transaction, row)?;
            if stored != row.generation {
                return Err(Broken::Refused(ConnectionError::NotNewer { stored }));
            }
            update(transaction, row)?;
            end_writes_beyond(transaction, row)?;
            put_with(transaction, row, grant)
        })
    }

    fn connections(&self, member: KeyId) -> Result<Vec<ConnectionRow>, StoreError> {
        self.read("list connections", |connection| {
            let select =
                format!("SELECT {COLUMNS} FROM connections WHERE member = ?1 ORDER BY service, label, id");
            let mut statement = connection.prepare_cached(&select)?;
            let mut rows = statement.query([member.to_string()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }

    fn connection(&self, member: KeyId, id: CredentialId) -> Result<Option<ConnectionRow>, StoreError> {
        self.read("look for a connection", |connection| {
            one(connection, "member = ?1 AND id = ?2", params![member.to_string(), id.to_string()])
        })
    }

    fn connection_named(
        &self,
        member: KeyId,
        service: &ServiceId,
        label: &Label,
    ) -> Result<Option<ConnectionRow>, StoreError> {
        self.read("look for a connection", |connection| {
            let named = "member = ?1 AND service = ?2 AND label = ?3";
            one(connection, named, params![member.to_string(), service.as_str(), label.as_str()])
        })
    }

    fn remove_connection(&self, member: KeyId, id: CredentialId) -> Result<Vec<GrantId>, ConnectionError> {
        self.write("forget a connection", |transaction| remove(transaction, member, id))
    }
}

fn insert(connection: &Connection, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    if exists(connection, "SELECT 1 FROM connections WHERE id = ?1", [row.id.to_string()])? {
        return Err(Broken::Refused(ConnectionError::IdTaken));
    }
    label_is_free(connection, row)?;
    let insert =
        format!("INSERT INTO connections ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    connection.execute(&insert, params_from_iter(values(row)?))?;
    Ok(())
}

fn replace(connection: &Connection, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    let stored = stored_generation(connection, row)?;
    if stored >= row.generation {
        return Err(Broken::Refused(ConnectionError::NotNewer { stored }));
    }
    update(connection, row)
}

fn remove(
    connection: &Connection,
    member: KeyId,
    id: CredentialId,
) -> Result<Vec<GrantId>, Broken<ConnectionError>> {
    let (id, member) = (id.to_string(), member.to_string());
    let there = "SELECT 1 FROM connections WHERE id = ?1 AND member = ?2";
    if !exists(connection, there, params![id, member])? {
        return Err(Broken::Refused(ConnectionError::Absent));
    }
    let ended = grants_of(connection, &id)?;
    for grant in &ended {
        revoke(connection, grant)?;
    }
    connection.execute("DELETE FROM grants WHERE connection = ?1", [&id])?;
    end_open(connection, &id, QuestionState::Denied)?;
    connection.execute("DELETE FROM connections WHERE id = ?1", [&id])?;
    forget(connection, &member, &id)?;
    // Grants of it that are not stored, such as those that were renewed since, end too.
    let ended_for_good = "INSERT INTO ended (connection, member) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    connection.execute(ended_for_good, params![id, member])?;
    // A row whose id is none held nothing that could run.
    Ok(ended.iter().filter_map(|grant| GrantId::parse(grant).ok()).collect())
}

/// Ends what a connection that only reads does not cover.
fn end_writes_beyond(connection: &Connection, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    if row.cap == Access::Write {
        return Ok(());
    }
    let id = &row.id.to_string();
    for grant in grants_of(connection, id)? {
        let reads = "SELECT 1 FROM grants WHERE id = ?1 AND access = 'read'";
        if !exists(connection, reads, [&grant])? {
            revoke(connection, &grant)?;
            connection.execute("DELETE FROM grants WHERE id = ?1", [&grant])?;
        }
    }
    // Nobody has said no: they are over, and may be asked anew once it may be written again.
    Ok(end_open(connection, id, QuestionState::Expired)?)
}

fn end_open(connection: &Connection, id: &str, state: QuestionState) -> rusqlite::Result<()> {
    let end = "UPDATE questions SET state = ?2, sealed = NULL
               WHERE connection = ?1 AND state IN ('pending', 'approved')";
    connection.execute(end, params![id, state.as_str()]).map(|_changed| ())
}

/// Whether the row is still the one that was looked at.
pub(super) fn is_unchanged<E>(connection: &Connection, seen: &ConnectionRow) -> Result<bool, Broken<E>> {
    let named = "id = ?1 AND member = ?2";
    let stored = one(connection, named, params![seen.id.to_string(), seen.member.to_string()])?;
    Ok(stored.as_ref() == Some(seen))
}

fn still(connection: &Connection, seen: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    if is_unchanged(connection, seen)? { Ok(()) } else { Err(Broken::Refused(ConnectionError::Changed)) }
}

/// Stores a grant of the connection that was just stored.
fn put_with(
    connection: &Connection,
    row: &ConnectionRow,
    grant: &GrantRow,
) -> Result<(), Broken<ConnectionError>> {
    if grant.connection != row.id || grant.member != row.member {
        return Err(Broken::Refused(ConnectionError::Grant));
    }
    put(connection, grant, |_error| ConnectionError::Grant)
}

/// The stored grants of a connection, and its approvals that were not used yet, given out or not.
fn grants_of(connection: &Connection, id: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT id FROM grants WHERE connection = ?1
         UNION SELECT grant_id FROM questions WHERE connection = ?1 AND state IN ('approved', 'used')
                                              AND grant_id NOT IN (SELECT grant_id FROM uses)",
    )?;
    statement.query_map([id], |row| row.get(0))?.collect()
}

/// The generation that is stored of this member's credential for this service.
fn stored_generation(connection: &Connection, row: &ConnectionRow) -> Result<u64, Broken<ConnectionError>> {
    let named = "id = ?1 AND member = ?2 AND service = ?3";
    let stored =
        one(connection, named, params![row.id.to_string(), row.member.to_string(), row.service.as_str()])?;
    stored.map(|stored| stored.generation).ok_or(Broken::Refused(ConnectionError::Absent))
}

fn update(connection: &Connection, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    label_is_free(connection, row)?;
    connection.execute(
        "UPDATE connections
         SET label = ?4, account = ?5, host = ?6, cap = ?7, dial = ?8, gen = ?9, sealed = ?11 WHERE id = ?1",
        params_from_iter(values(row)?),
    )?;
    Ok(())
}

fn label_is_free(connection: &Connection, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    let same = "SELECT 1 FROM connections WHERE member = ?1 AND service = ?2 AND label = ?3 AND id <> ?4";
    let (member, id) = (row.member.to_string(), row.id.to_string());
    if exists(connection, same, params![member, row.service.as_str(), row.label.as_str(), id])? {
        return Err(Broken::Refused(ConnectionError::LabelTaken));
    }
    Ok(())
}

pub(super) fn exists(connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<bool> {
    connection.prepare_cached(sql)?.exists(params)
}

fn one<E>(
    connection: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Option<ConnectionRow>, Broken<E>> {
    let select = format!("SELECT {COLUMNS} FROM connections WHERE {condition}");
    let mut statement = connection.prepare_cached(&select)?;
    statement.query_row(params, |row| Ok(read(row))).optional()?.transpose()
}

fn read<E>(row: &Row<'_>) -> Result<ConnectionRow, Broken<E>> {
    let columns = Columns::new(Table::Connections, row)?;
    let generation: i64 = columns.plain(8)?;
    Ok(ConnectionRow {
        id: columns.parsed(0, CredentialId::parse)?,
        member: columns.parsed(1, KeyId::parse)?,
        service: columns.parsed(2, ServiceId::parse)?,
        label: columns.parsed(3, Label::parse)?,
        account: columns.parsed(4, Account::parse)?,
        host: columns.parsed(5, ApiHost::parse)?,
        cap: columns.parsed(6, access)?,
        dial: columns.parsed(7, dial)?,
        generation: u64::try_from(generation).map_err(|_negative| columns.tampered())?,
        created_at: UnixTime::from_secs(columns.plain(9)?),
        sealed: columns.plain(10)?,
    })
}

/// A row in the order of its columns.
fn values<E>(row: &ConnectionRow) -> Result<[Value; 11], Broken<E>> {
    let text = |text: &str| Value::Text(text.to_owned());
    Ok([
        Value::Text(row.id.to_string()),
        Value::Text(row.member.to_string()),
        text(row.service.as_str()),
        text(row.label.as_str()),
        text(row.account.as_str()),
        text(row.host.as_str()),
        text(row.cap.as_str()),
        text(dial_word(row.dial)),
        Value::Integer(generation(row)?),
        Value::Integer(row.created_at.as_secs()),
        Value::Blob(row.sealed.clone()),
    ])
}

fn generation<E>(row: &ConnectionRow) -> Result<i64, Broken<E>> {
    i64::try_from(row.generation)
        .map_err(|error| Broken::Sql(rusqlite::Error::ToSqlConversionFailure(error.into())))
}
