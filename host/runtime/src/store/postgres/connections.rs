//! Connections in PostgreSQL.

use pinhole_grant::{Account, CredentialId, GrantId, KeyId, Label, UnixTime};
use pinhole_manifest::{Access, ApiHost, ServiceId};
use tokio_postgres::{Error, Row};

use super::broken::{Broken, Columns};
use super::grants::put;
use super::pool::{Session, Values};
use super::renewals::forget;
use super::spine::revoke;
use super::{PostgresStore, alone};
use crate::store::words::{access, dial, dial_word};
use crate::store::{ConnectionError, ConnectionRow, Connections, GrantRow, QuestionState, StoreError, Table};

const SELECT: &str = "
    SELECT id, member, service, label, account, host, cap, dial, gen, created_at, sealed FROM connections";

impl Connections for PostgresStore {
    fn insert_connection(&self, row: &ConnectionRow) -> Result<(), ConnectionError> {
        self.write("store a connection", async |session| {
            alone(session, &[row.member]).await?;
            insert(session, row).await
        })
    }

    fn replace_connection(&self, row: &ConnectionRow) -> Result<(), ConnectionError> {
        self.write("store a newer credential", async |session| {
            alone(session, &[row.member]).await?;
            replace(session, row).await
        })
    }

    fn keep_connection(
        &self,
        row: &ConnectionRow,
        grant: &GrantRow,
        over: Option<&ConnectionRow>,
    ) -> Result<(), ConnectionError> {
        self.write("store a connection and its grant", async |session| {
            alone(session, &[row.member, over.map_or(row.member, |over| over.member)]).await?;
            match over {
                None => insert(session, row).await?,
                Some(over) if over.id == row.id => {
                    still(session, over).await?;
                    replace(session, row).await?;
                    end_writes_beyond(session, row).await?;
                }
                Some(over) => {
                    still(session, over).await?;
                    remove(session, over.member, over.id).await?;
                    insert(session, row).await?;
                }
            }
            put_with(session, row, grant).await
        })
    }

    fn set_cap(
        &self,
        row: &ConnectionRow,
        grant: &GrantRow,
        over: &ConnectionRow,
    ) -> Result<(), ConnectionError> {
        self.write("store another cap", async |session| {
            alone(session, &[row.member, over.member]).await?;
            still(session, over).await?;
            let stored = stored_generation(session, row).await?;
            if stored != row.generation {
                return Err(Broken::Refused(ConnectionError::NotNewer { stored }));
            }
            update(session, row).await?;
            end_writes_beyond(session, row).await?;
            put_with(session, row, grant).await
        })
    }

    fn connections(&self, member: KeyId) -> Result<Vec<ConnectionRow>, StoreError> {
        let member = member.to_string();
        self.read("list connections", async |session| {
            let select = format!("{SELECT} WHERE member = $1 ORDER BY service, label, id");
            session.rows(&select, &[&member]).await?.iter().map(read).collect()
        })
    }

    fn connection(&self, member: KeyId, id: CredentialId) -> Result<Option<ConnectionRow>, StoreError> {
        let (member, id) = (member.to_string(), id.to_string());
        self.read("look for a connection", async |session| {
            one(session, "member = $1 AND id = $2", &[&member, &id]).await
        })
    }

    fn connection_named(
        &self,
        member: KeyId,
        service: &ServiceId,
        label: &Label,
    ) -> Result<Option<ConnectionRow>, StoreError> {
        let member = member.to_string();
        self.read("look for a connection", async |session| {
            let named = "member = $1 AND service = $2 AND label = $3";
            one(session, named, &[&member, &service.as_str(), &label.as_str()]).await
        })
    }

    fn remove_connection(&self, member: KeyId, id: CredentialId) -> Result<Vec<GrantId>, ConnectionError> {
        self.write("forget a connection", async |session| {
            alone(session, &[member]).await?;
            remove(session, member, id).await
        })
    }
}

async fn insert(session: &Session, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    let (id, member) = (row.id.to_string(), row.member.to_string());
    if session.exists("SELECT 1 FROM connections WHERE id = $1", &[&id]).await? {
        return Err(Broken::Refused(ConnectionError::IdTaken));
    }
    label_is_free(session, row).await?;
    // Another member may have taken the id since.
    let insert = "
        INSERT INTO connections (id, member, service, label, account, host, cap, dial, gen, created_at, sealed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING";
    let values: Values<'_> = &[
        &id,
        &member,
        &row.service.as_str(),
        &row.label.as_str(),
        &row.account.as_str(),
        &row.host.as_str(),
        &row.cap.as_str(),
        &dial_word(row.dial),
        &generation(row)?,
        &row.created_at.as_secs(),
        &row.sealed,
    ];
    match session.execute(insert, values).await? {
        0 => Err(Broken::Refused(ConnectionError::IdTaken)),
        _ => Ok(()),
    }
}

async fn replace(session: &Session, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    let stored = stored_generation(session, row).await?;
    if stored >= row.generation {
        return Err(Broken::Refused(ConnectionError::NotNewer { stored }));
    }
    update(session, row).await
}

async fn remove(
    session: &Session,
    member: KeyId,
    id: CredentialId,
) -> Result<Vec<GrantId>, Broken<ConnectionError>> {
    let (id, member) = (id.to_string(), member.to_string());
    let there = "SELECT 1 FROM connections WHERE id = $1 AND member = $2";
    if !session.exists(there, &[&id, &member]).await? {
        return Err(Broken::Refused(ConnectionError::Absent));
    }
    let ended = grants_of(session, &id).await?;
    for grant in &ended {
        revoke(session, grant).await?;
    }
    session.execute("DELETE FROM grants WHERE connection = $1", &[&id]).await?;
    end_open(session, &id, QuestionState::Denied).await?;
    session.execute("DELETE FROM connections WHERE id = $1", &[&id]).await?;
    forget(session, &member, &id).await?;
    // Grants of it that are not stored, such as those that were renewed since, end too.
    let ended_for_good = "INSERT INTO ended (connection, member) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    session.execute(ended_for_good, &[&id, &member]).await?;
    // A row whose id is none held nothing that could run.
    Ok(ended.iter().filter_map(|grant| GrantId::parse(grant).ok()).collect())
}

/// Ends what a connection that only reads does not cover.
async fn end_writes_beyond(session: &Session, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    if row.cap == Access::Write {
        return Ok(());
    }
    let id = &row.id.to_string();
    for grant in grants_of(session, id).await? {
        let reads = "SELECT 1 FROM grants WHERE id = $1 AND access = 'read'";
        if !session.exists(reads, &[&grant]).await? {
            revoke(session, &grant).await?;
            session.execute("DELETE FROM grants WHERE id = $1", &[&grant]).await?;
        }
    }
    // Nobody has said no: they are over, and may be asked anew once it may be written again.
    Ok(end_open(session, id, QuestionState::Expired).await?)
}

async fn end_open(session: &Session, id: &str, state: QuestionState) -> Result<(), Error> {
    let end = "UPDATE questions SET state = $2, sealed = NULL
               WHERE connection = $1 AND state IN ('pending', 'approved')";
    session.execute(end, &[&id, &state.as_str()]).await.map(|_changed| ())
}

/// Whether the row is still the one that was looked at.
pub(super) async fn is_unchanged<E>(session: &Session, seen: &ConnectionRow) -> Result<bool, Broken<E>> {
    let (id, member) = (seen.id.to_string(), seen.member.to_string());
    let stored = one(session, "id = $1 AND member = $2", &[&id, &member]).await?;
    Ok(stored.as_ref() == Some(seen))
}

async fn still(session: &Session, seen: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    if is_unchanged(session, seen).await? { Ok(()) } else { Err(Broken::Refused(ConnectionError::Changed)) }
}

/// Stores a grant of the connection that was just stored.
async fn put_with(
    session: &Session,
    row: &ConnectionRow,
    grant: &GrantRow,
) -> Result<(), Broken<ConnectionError>> {
    if grant.connection != row.id || grant.member != row.member {
        return Err(Broken::Refused(ConnectionError::Grant));
    }
    put(session, grant, |_error| ConnectionError::Grant).await
}

/// The stored grants of a connection, and its approvals that were not used yet, given out or not.
async fn grants_of(session: &Session, id: &str) -> Result<Vec<String>, Error> {
    let select = "
        SELECT id FROM grants WHERE connection = $1
        UNION SELECT grant_id FROM questions WHERE connection = $1 AND state IN ('approved', 'used')
                                               AND grant_id NOT IN (SELECT grant_id FROM uses)";
    session.rows(select, &[&id]).await?.iter().map(|row| row.try_get(0)).collect()
}

/// The generation that is stored of this member's credential for this service.
async fn stored_generation(session: &Session, row: &ConnectionRow) -> Result<u64, Broken<ConnectionError>> {
    let (id, member) = (row.id.to_string(), row.member.to_string());
    let named = "id = $1 AND member = $2 AND service = $3";
    let stored = one(session, named, &[&id, &member, &row.service.as_str()]).await?;
    stored.map(|stored| stored.generation).ok_or(Broken::Refused(ConnectionError::Absent))
}

async fn update(session: &Session, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    label_is_free(session, row).await?;
    let update = "
        UPDATE connections SET label = $2, account = $3, host = $4, cap = $5, dial = $6, gen = $7, sealed = $8
        WHERE id = $1";
    let values: Values<'_> = &[
        &row.id.to_string(),
        &row.label.as_str(),
        &row.account.as_str(),
        &row.host.as_str(),
        &row.cap.as_str(),
        &dial_word(row.dial),
        &generation(row)?,
        &row.sealed,
    ];
    session.execute(update, values).await?;
    Ok(())
}

async fn label_is_free(session: &Session, row: &ConnectionRow) -> Result<(), Broken<ConnectionError>> {
    let same = "SELECT 1 FROM connections WHERE member = $1 AND service = $2 AND label = $3 AND id <> $4";
    let (member, id) = (row.member.to_string(), row.id.to_string());
    if session.exists(same, &[&member, &row.service.as_str(), &row.label.as_str(), &id]).await? {
        return Err(Broken::Refused(ConnectionError::LabelTaken));
    }
    Ok(())
}

async fn one<E>(
    session: &Session,
    condition: &str,
    values: Values<'_>,
) -> Result<Option<ConnectionRow>, Broken<E>> {
    session.row(&format!("{SELECT} WHERE {condition}"), values).await?.as_ref().map(read).transpose()
}

fn read<E>(row: &Row) -> Result<ConnectionRow, Broken<E>> {
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

fn generation<E>(row: &ConnectionRow) -> Result<i64, Broken<E>> {
    i64::try_from(row.generation).map_err(|_too_many| Broken::Row(Table::Connections, row.id.to_string()))
}
