//! Bearer tokens in SQLite.

use pinhole_grant::{KeyId, Label, PrincipalId, UnixTime};
use pinhole_manifest::{Access, Digest};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::SqliteStore;
use super::broken::{Broken, Columns};
use super::connections::exists;
use super::spine::revoke;
use crate::store::words::{digest, services};
use crate::store::{QuestionState, Removal, StoreError, Table, TokenError, TokenRow, TokenScope, Tokens};

const COLUMNS: &str = "id, member, name, sha256, reads, writes, services, created_at, expires_at, revoked_at";

impl Tokens for SqliteStore {
    fn add_token(&self, row: &TokenRow) -> Result<(), TokenError> {
        if row.expires_at <= row.created_at {
            return Err(TokenError::ExpiresAtOnce);
        }
        let of = |access| i64::from(row.scope.accesses().contains(&access));
        let services = row.scope.services().map(|services| serde_json::json!(services).to_string());
        self.write("store a token", |transaction| {
            let (id, member, digest) = (row.id.to_string(), row.member.to_string(), row.digest.hex());
            let taken = "SELECT 1 FROM tokens WHERE id = ?1 OR sha256 = ?2";
            if exists(transaction, taken, params![id, digest])? {
                return Err(Broken::Refused(TokenError::IdTaken));
            }
            // One that is over holds its name no more.
            transaction.execute(
                "UPDATE tokens SET revoked_at = expires_at
                 WHERE member = ?1 AND name = ?2 AND revoked_at IS NULL AND expires_at <= ?3",
                params![member, row.name.as_str(), row.created_at.as_secs()],
            )?;
            let named = "SELECT 1 FROM tokens WHERE member = ?1 AND name = ?2 AND revoked_at IS NULL";
            if exists(transaction, named, params![member, row.name.as_str()])? {
                return Err(Broken::Refused(TokenError::NameTaken));
            }
            transaction.execute(
                &format!("INSERT INTO tokens ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"),
                params![
                    id,
                    member,
                    row.name.as_str(),
                    digest,
                    of(Access::Read),
                    of(Access::Write),
                    services,
                    row.created_at.as_secs(),
                    row.expires_at.as_secs(),
                    row.revoked_at.map(UnixTime::as_secs),
                ],
            )?;
            Ok(())
        })
    }

    fn token(&self, member: KeyId, digest: Digest) -> Result<Option<TokenRow>, StoreError> {
        self.read("look for a token", |connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM tokens WHERE sha256 = ?1 AND member = ?2"))?;
            let params = params![digest.hex(), member.to_string()];
            statement.query_row(params, |row| Ok(read(row))).optional()?.transpose()
        })
    }

    fn tokens(&self, member: KeyId) -> Result<Vec<TokenRow>, StoreError> {
        self.read("list tokens", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tokens WHERE member = ?1 ORDER BY created_at DESC, rowid DESC"
            ))?;
            let mut rows = statement.query([member.to_string()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }

    fn revoke_token(&self, member: KeyId, id: PrincipalId, now: UnixTime) -> Result<Removal, StoreError> {
        self.write("revoke a token", |transaction| {
            let (id, member) = (id.to_string(), member.to_string());
            let over =
                "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?3) WHERE id = ?1 AND member = ?2";
            if transaction.execute(over, params![id, member, now.as_secs()])? == 0 {
                return Ok(Removal::Absent);
            }
            end_questions(transaction, &member, &id)?;
            Ok(Removal::Removed)
        })
    }
}

/// Ends what a principal has asked and not done yet: the yes to it goes with it, given out or not.
fn end_questions(connection: &Connection, member: &str, principal: &str) -> rusqlite::Result<()> {
    let approvals = "SELECT grant_id FROM questions
                     WHERE member = ?1 AND principal = ?2 AND state IN ('approved', 'used')
                       AND grant_id NOT IN (SELECT grant_id FROM uses)";
    let mut statement = connection.prepare(approvals)?;
    let approvals: Vec<String> =
        statement.query_map([member, principal], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for approval in approvals {
        revoke(connection, &approval)?;
    }
    // Nobody has said no.
    let end = "UPDATE questions SET state = ?3, sealed = NULL
               WHERE member = ?1 AND principal = ?2 AND state IN ('pending', 'approved')";
    connection.execute(end, [member, principal, QuestionState::Expired.as_str()]).map(|_changed| ())
}

fn read<E>(row: &Row<'_>) -> Result<TokenRow, Broken<E>> {
    let columns = Columns::new(Table::Tokens, row)?;
    let accesses = [(Access::Read, columns.plain::<bool, E>(4)?), (Access::Write, columns.plain(5)?)];
    let accesses = accesses.into_iter().filter_map(|(access, is_in)| is_in.then_some(access));
    let services = match columns.plain::<Option<String>, E>(6)? {
        None => None,
        Some(text) => Some(services(&text).ok_or_else(|| columns.tampered())?),
    };
    Ok(TokenRow {
        id: columns.parsed(0, PrincipalId::parse)?,
        member: columns.parsed(1, KeyId::parse)?,
        name: columns.parsed(2, Label::parse)?,
        digest: columns.parsed(3, digest)?,
        scope: TokenScope::new(accesses, services).map_err(|_empty| columns.tampered())?,
        created_at: UnixTime::from_secs(columns.plain(7)?),
        expires_at: UnixTime::from_secs(columns.plain(8)?),
        revoked_at: columns.plain::<Option<i64>, E>(9)?.map(UnixTime::from_secs),
    })
}
