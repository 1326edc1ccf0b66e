//! Bearer tokens in PostgreSQL.

use pinhole_grant::{KeyId, Label, PrincipalId, UnixTime};
use pinhole_manifest::{Access, Digest};
use tokio_postgres::{Error, Row};

use super::broken::{Broken, Columns};
use super::pool::{Session, Values};
use super::spine::revoke;
use super::{PostgresStore, alone};
use crate::store::words::{digest, services};
use crate::store::{QuestionState, Removal, StoreError, Table, TokenError, TokenRow, TokenScope, Tokens};

const SELECT: &str = "
    SELECT id, member, name, sha256, reads, writes, services, created_at, expires_at, revoked_at FROM tokens";

impl Tokens for PostgresStore {
    fn add_token(&self, row: &TokenRow) -> Result<(), TokenError> {
        if row.expires_at <= row.created_at {
            return Err(TokenError::ExpiresAtOnce);
        }
        self.write("store a token", async |session| {
            alone(session, &[row.member]).await?;
            let (id, member, digest) = (row.id.to_string(), row.member.to_string(), row.digest.hex());
            let taken = "SELECT 1 FROM tokens WHERE id = $1 OR sha256 = $2";
            if session.exists(taken, &[&id, &digest]).await? {
                return Err(Broken::Refused(TokenError::IdTaken));
            }
            // One that is over holds its name no more.
            let over = "
                UPDATE tokens SET revoked_at = expires_at
                WHERE member = $1 AND name = $2 AND revoked_at IS NULL AND expires_at <= $3";
            session.execute(over, &[&member, &row.name.as_str(), &row.created_at.as_secs()]).await?;
            let named = "SELECT 1 FROM tokens WHERE member = $1 AND name = $2 AND revoked_at IS NULL";
            if session.exists(named, &[&member, &row.name.as_str()]).await? {
                return Err(Broken::Refused(TokenError::NameTaken));
            }
            insert(session, row).await
        })
    }

    fn token(&self, member: KeyId, digest: Digest) -> Result<Option<TokenRow>, StoreError> {
        let (member, digest) = (member.to_string(), digest.hex());
        self.read("look for a token", async |session| {
            let select = format!("{SELECT} WHERE sha256 = $1 AND member = $2");
            session.row(&select, &[&digest, &member]).await?.as_ref().map(read).transpose()
        })
    }

    fn tokens(&self, member: KeyId) -> Result<Vec<TokenRow>, StoreError> {
        let member = member.to_string();
        self.read("list tokens", async |session| {
            let select = format!("{SELECT} WHERE member = $1 ORDER BY created_at DESC, seq DESC");
            session.rows(&select, &[&member]).await?.iter().map(read).collect()
        })
    }

    fn revoke_token(&self, member: KeyId, id: PrincipalId, now: UnixTime) -> Result<Removal, StoreError> {
        self.write("revoke a token", async |session| {
            alone(session, &[member]).await?;
            let (id, member) = (id.to_string(), member.to_string());
            let over =
                "UPDATE tokens SET revoked_at = coalesce(revoked_at, $3) WHERE id = $1 AND member = $2";
            if session.execute(over, &[&id, &member, &now.as_secs()]).await? == 0 {
                return Ok(Removal::Absent);
            }
            end_questions(session, &member, &id).await?;
            Ok(Removal::Removed)
        })
    }
}

async fn insert(session: &Session, row: &TokenRow) -> Result<(), Broken<TokenError>> {
    let of = |access| row.scope.accesses().contains(&access);
    let services = row.scope.services().map(|services| serde_json::json!(services).to_string());
    // Another member may have taken the id since.
    let insert = "
        INSERT INTO tokens (id, member, name, sha256, reads, writes, services, created_at, expires_at, revoked_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
    let values: Values<'_> = &[
        &row.id.to_string(),
        &row.member.to_string(),
        &row.name.as_str(),
        &row.digest.hex(),
        &of(Access::Read),
        &of(Access::Write),
        &services,
        &row.created_at.as_secs(),
        &row.expires_at.as_secs(),
        &row.revoked_at.map(UnixTime::as_secs),
    ];
    match session.execute(insert, values).await? {
        0 => Err(Broken::Refused(TokenError::IdTaken)),
        _ => Ok(()),
    }
}

/// Ends what a principal has asked and not done yet: the yes to it goes with it, given out or not.
async fn end_questions(session: &Session, member: &str, principal: &str) -> Result<(), Error> {
    let approvals = "SELECT grant_id FROM questions
                     WHERE member = $1 AND principal = $2 AND state IN ('approved', 'used')
                       AND grant_id NOT IN (SELECT grant_id FROM uses)";
    for row in session.rows(approvals, &[&member, &principal]).await? {
        revoke(session, row.try_get(0)?).await?;
    }
    // Nobody has said no.
    let end = "UPDATE questions SET state = $3, sealed = NULL
               WHERE member = $1 AND principal = $2 AND state IN ('pending', 'approved')";
    session.execute(end, &[&member, &principal, &QuestionState::Expired.as_str()]).await.map(|_changed| ())
}

fn read<E>(row: &Row) -> Result<TokenRow, Broken<E>> {
    let columns = Columns::new(Table::Tokens, row)?;
    let accesses = [(Access::Read, columns.plain::<bool, E>(4)?), (Access::Write, columns.plain(5)?)];
    let accesses = accesses.into_iter().filter_map(|(access, is_in)| is_in.then_some(access));
    let services = match columns.plain::<Option<&str>, E>(6)? {
        None => None,
        Some(text) => Some(services(text).ok_or_else(|| columns.tampered())?),
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
