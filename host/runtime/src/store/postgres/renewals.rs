//! Lines and returned pairs in PostgreSQL. One statement decides whether a line is still what it was.

use pinhole_grant::{CredentialId, KeyId, PairDigest, UnixTime};
use pinhole_manifest::ServiceId;
use tokio_postgres::{Error, Row};

use super::broken::{Broken, Columns};
use super::pool::{Session, Values};
use super::{PostgresStore, alone};
use crate::store::{Line, LineError, LineState, Renewals, ReturnedRow, Returns, StoreError, Table};

const COLUMNS: &str = "lines.id, lines.member, bot, credential, service, gen, state, tries, failures, again_at, newest, \
                       sealed";

/// Who comes second waits for the first, and then finds another line.
const CHANGE: &str = "
    UPDATE lines SET gen = $2, state = $3, tries = $4, failures = $5, again_at = $6, newest = $7, sealed = $8
    WHERE id = $1 AND state <> 'dead' AND gen <= $2
      AND gen = $9 AND state = $10 AND tries = $11 AND failures = $12 AND newest = $13";

impl Renewals for PostgresStore {
    fn line(&self, pair: &PairDigest) -> Result<Option<Line>, StoreError> {
        self.read("look for a pair", async |session| line_of(session, pair).await)
    }

    fn begin_line(&self, line: &Line) -> Result<Line, StoreError> {
        self.write("begin a line of pairs", async |session| {
            // A pair is one member's: nobody else begins its line meanwhile.
            alone(session, &[line.member]).await?;
            if let Some(there) = line_of(session, &line.id).await? {
                return Ok(there);
            }
            insert(session, line).await?;
            leads_to(session, &line.id, line).await?;
            Ok(line.clone())
        })
    }

    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError> {
        self.write("change a line of pairs", async |session| {
            let values: Values<'_> = &[
                &from.id.to_string(),
                &number(to.generation),
                &to.state.as_str(),
                &i64::from(to.tries),
                &i64::from(to.failures),
                &to.again_at.map(UnixTime::as_secs),
                &to.newest.to_string(),
                &to.sealed,
                &number(from.generation),
                &from.state.as_str(),
                &i64::from(from.tries),
                &i64::from(from.failures),
                &from.newest.to_string(),
            ];
            if session.execute(CHANGE, values).await? == 0 {
                return Err(Broken::Refused(LineError::Changed));
            }
            if from.newest != to.newest {
                leads_to(session, &to.newest, from).await?;
            }
            Ok(())
        })
    }

    fn lines(&self, member: KeyId) -> Result<Vec<Line>, StoreError> {
        let select =
            format!("SELECT {COLUMNS} FROM lines WHERE member = $1 ORDER BY service, credential, gen, id");
        self.read("list lines of pairs", async |session| {
            session.rows(&select, &[&member.to_string()]).await?.iter().map(read).collect()
        })
    }
}

impl Returns for PostgresStore {
    fn put_returned(&self, row: &ReturnedRow) -> Result<(), StoreError> {
        let (connection, member) = (row.connection.to_string(), row.member.to_string());
        let generation = number(row.generation);
        let there = self.read("look for a returned pair", async |session| {
            let newer = "SELECT 1 FROM returned WHERE connection = $1 AND member = $2 AND gen >= $3";
            Ok::<_, Broken<StoreError>>(session.exists(newer, &[&connection, &member, &generation]).await?)
        })?;
        if there {
            return Ok(());
        }
        self.write("keep a returned pair", async |session| {
            let put = "INSERT INTO returned (connection, member, gen, sealed) VALUES ($1, $2, $3, $4)
                ON CONFLICT (member, connection) DO UPDATE SET gen = excluded.gen, sealed = excluded.sealed
                WHERE returned.gen < excluded.gen";
            session.execute(put, &[&connection, &member, &generation, &row.sealed]).await?;
            Ok(())
        })
    }

    fn returned(&self, member: KeyId) -> Result<Vec<ReturnedRow>, StoreError> {
        let select =
            "SELECT connection, member, gen, sealed FROM returned WHERE member = $1 ORDER BY connection";
        self.read("look for returned pairs", async |session| {
            let read = |row: &Row| {
                let columns = Columns::new(Table::Returned, row)?;
                Ok(ReturnedRow {
                    connection: columns.parsed(0, CredentialId::parse)?,
                    member: columns.parsed(1, KeyId::parse)?,
                    generation: generation(&columns, 2)?,
                    sealed: columns.plain(3)?,
                })
            };
            session.rows(select, &[&member.to_string()]).await?.iter().map(read).collect()
        })
    }

    fn drop_returned(&self, member: KeyId, connection: CredentialId, upto: u64) -> Result<(), StoreError> {
        self.write("forget a returned pair", async |session| {
            let gone = "DELETE FROM returned WHERE connection = $1 AND member = $2 AND gen <= $3";
            let values: Values<'_> = &[&connection.to_string(), &member.to_string(), &number(upto)];
            session.execute(gone, values).await?;
            Ok(())
        })
    }
}

/// Forgets what was renewed of a connection that is removed: its keys, and which pairs they were.
pub(super) async fn forget(session: &Session, member: &str, credential: &str) -> Result<(), Error> {
    let lines = "DELETE FROM lines WHERE member = $1 AND credential = $2";
    session.execute(lines, &[&member, &credential]).await?;
    let returned = "DELETE FROM returned WHERE member = $1 AND connection = $2";
    session.execute(returned, &[&member, &credential]).await.map(|_changed| ())
}

async fn insert(session: &Session, line: &Line) -> Result<(), Error> {
    let insert = "
        INSERT INTO lines (id, member, bot, credential, service, gen, state, tries, failures, again_at, newest, sealed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let values: Values<'_> = &[
        &line.id.to_string(),
        &line.member.to_string(),
        &line.bot.to_string(),
        &line.credential.to_string(),
        &line.service.as_str(),
        &number(line.generation),
        &line.state.as_str(),
        &i64::from(line.tries),
        &i64::from(line.failures),
        &line.again_at.map(UnixTime::as_secs),
        &line.newest.to_string(),
        &line.sealed,
    ];
    session.execute(insert, values).await.map(|_changed| ())
}

/// Notes that a pair belongs to a line. One that another line has already, as of a service that gives the same pair out twice,
/// stays with it.
async fn leads_to(session: &Session, pair: &PairDigest, line: &Line) -> Result<(), Error> {
    let lead = "INSERT INTO pairs (digest, member, line) VALUES ($1, $2, $3) ON CONFLICT (digest) DO NOTHING";
    let values: Values<'_> = &[&pair.to_string(), &line.member.to_string(), &line.id.to_string()];
    session.execute(lead, values).await.map(|_changed| ())
}

async fn line_of<E>(session: &Session, pair: &PairDigest) -> Result<Option<Line>, Broken<E>> {
    let select =
        format!("SELECT {COLUMNS} FROM pairs JOIN lines ON lines.id = pairs.line WHERE pairs.digest = $1");
    session.row(&select, &[&pair.to_string()]).await?.as_ref().map(read).transpose()
}

fn read<E>(row: &Row) -> Result<Line, Broken<E>> {
    let columns = Columns::new(Table::Lines, row)?;
    let state = match columns.plain::<&str, E>(6)? {
        "live" => LineState::Live,
        "sent" => LineState::Sent,
        "dead" => LineState::Dead,
        _ => return Err(columns.tampered()),
    };
    let count =
        |column| u32::try_from(columns.plain::<i64, E>(column)?).map_err(|_no_count| columns.tampered());
    Ok(Line {
        id: columns.parsed(0, PairDigest::parse)?,
        member: columns.parsed(1, KeyId::parse)?,
        bot: columns.parsed(2, KeyId::parse)?,
        credential: columns.parsed(3, CredentialId::parse)?,
        service: columns.parsed(4, ServiceId::parse)?,
        generation: generation(&columns, 5)?,
        state,
        tries: count(7)?,
        failures: count(8)?,
        again_at: columns.plain::<Option<i64>, E>(9)?.map(UnixTime::from_secs),
        newest: columns.parsed(10, PairDigest::parse)?,
        sealed: columns.plain(11)?,
    })
}

fn generation<E>(columns: &Columns<'_>, column: usize) -> Result<u64, Broken<E>> {
    u64::try_from(columns.plain::<i64, E>(column)?).map_err(|_negative| columns.tampered())
}

/// A generation as the database has numbers: none is as large as the largest of its.
fn number(generation: u64) -> i64 {
    i64::try_from(generation).unwrap_or(i64::MAX)
}
