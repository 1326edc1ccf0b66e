//! Lines and returned pairs in SQLite. One statement decides whether a line is still what it was.

use pinhole_grant::{CredentialId, KeyId, PairDigest, UnixTime};
use pinhole_manifest::ServiceId;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::broken::{Broken, Columns};
use super::{Reach, SqliteStore};
use crate::store::{Line, LineError, LineState, Renewals, ReturnedRow, Returns, StoreError, Table};

const COLUMNS: &str =
    "lines.id, lines.member, bot, credential, service, gen, state, tries, failures, again_at, newest, sealed";

const CHANGE: &str = "
    UPDATE lines SET gen = ?2, state = ?3, tries = ?4, failures = ?5, again_at = ?6, newest = ?7, sealed = ?8
    WHERE id = ?1 AND state <> 'dead' AND gen <= ?2
      AND gen = ?9 AND state = ?10 AND tries = ?11 AND failures = ?12 AND newest = ?13";

impl Renewals for SqliteStore {
    fn line(&self, pair: &PairDigest) -> Result<Option<Line>, StoreError> {
        if self.is_before_lines()? {
            return Ok(None);
        }
        self.read("look for a pair", |connection| line_of(connection, pair))
    }

    fn begin_line(&self, line: &Line) -> Result<Line, StoreError> {
        self.write("begin a line of pairs", |transaction| {
            if let Some(there) = line_of(transaction, &line.id)? {
                return Ok(there);
            }
            let insert = "INSERT INTO lines
                (id, member, bot, credential, service, gen, state, tries, failures, again_at, newest, sealed)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
            transaction.execute(
                insert,
                params![
                    line.id.to_string(),
                    line.member.to_string(),
                    line.bot.to_string(),
                    line.credential.to_string(),
                    line.service.as_str(),
                    number(line.generation),
                    line.state.as_str(),
                    line.tries,
                    line.failures,
                    line.again_at.map(UnixTime::as_secs),
                    line.newest.to_string(),
                    line.sealed,
                ],
            )?;
            leads_to(transaction, &line.id, line)?;
            Ok(line.clone())
        })
    }

    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError> {
        self.write("change a line of pairs", |transaction| {
            let changed = transaction.prepare_cached(CHANGE)?.execute(params![
                from.id.to_string(),
                number(to.generation),
                to.state.as_str(),
                to.tries,
                to.failures,
                to.again_at.map(UnixTime::as_secs),
                to.newest.to_string(),
                to.sealed,
                number(from.generation),
                from.state.as_str(),
                from.tries,
                from.failures,
                from.newest.to_string(),
            ])?;
            if changed == 0 {
                return Err(Broken::Refused(LineError::Changed));
            }
            if from.newest != to.newest {
                leads_to(transaction, &to.newest, from)?;
            }
            Ok(())
        })
    }

    fn lines(&self, member: KeyId) -> Result<Vec<Line>, StoreError> {
        if self.is_before_lines()? {
            return Ok(Vec::new());
        }
        self.read("list lines of pairs", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM lines WHERE member = ?1 ORDER BY service, credential, gen, id"
            ))?;
            let mut rows = statement.query([member.to_string()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }
}

impl Returns for SqliteStore {
    fn put_returned(&self, row: &ReturnedRow) -> Result<(), StoreError> {
        let (connection, member) = (row.connection.to_string(), row.member.to_string());
        let there = self.read("look for a returned pair", |database| {
            let newer = "SELECT 1 FROM returned WHERE connection = ?1 AND member = ?2 AND gen >= ?3";
            let mut statement = database.prepare_cached(newer)?;
            Ok::<_, Broken<StoreError>>(statement.exists(params![
                connection,
                member,
                number(row.generation)
            ])?)
        })?;
        if there {
            return Ok(());
        }
        self.write("keep a returned pair", |transaction| {
            let put = "INSERT INTO returned (connection, member, gen, sealed) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (member, connection) DO UPDATE SET gen = excluded.gen, sealed = excluded.sealed
                WHERE gen < excluded.gen";
            transaction.execute(put, params![connection, member, number(row.generation), row.sealed])?;
            Ok(())
        })
    }

    fn returned(&self, member: KeyId) -> Result<Vec<ReturnedRow>, StoreError> {
        if self.is_before_lines()? {
            return Ok(Vec::new());
        }
        self.read("look for returned pairs", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT connection, member, gen, sealed FROM returned WHERE member = ?1 ORDER BY connection",
            )?;
            let mut rows = statement.query([member.to_string()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let columns = Columns::new(Table::Returned, row)?;
                found.push(ReturnedRow {
                    connection: columns.parsed(0, CredentialId::parse)?,
                    member: columns.parsed(1, KeyId::parse)?,
                    generation: generation(&columns, 2)?,
                    sealed: columns.plain(3)?,
                });
            }
            Ok(found)
        })
    }

    fn drop_returned(&self, member: KeyId, connection: CredentialId, upto: u64) -> Result<(), StoreError> {
        self.write("forget a returned pair", |transaction| {
            let gone = "DELETE FROM returned WHERE connection = ?1 AND member = ?2 AND gen <= ?3";
            transaction.execute(gone, params![connection.to_string(), member.to_string(), number(upto)])?;
            Ok(())
        })
    }
}

impl SqliteStore {
    /// A database that is only looked at stays in its format, and before the fourth nothing was renewed.
    fn is_before_lines(&self) -> Result<bool, StoreError> {
        Ok(self.reach == Reach::Looks && self.format()? < 4)
    }
}

/// Forgets what was renewed of a connection that is removed: its keys, and which pairs they were.
pub(super) fn forget(connection: &Connection, member: &str, credential: &str) -> rusqlite::Result<()> {
    let lines = "DELETE FROM lines WHERE member = ?1 AND credential = ?2";
    connection.execute(lines, [member, credential])?;
    let returned = "DELETE FROM returned WHERE member = ?1 AND connection = ?2";
    connection.execute(returned, [member, credential]).map(|_changed| ())
}

/// Notes that a pair belongs to a line. One that another line has already, as of a service that gives the same pair out twice,
/// stays with it.
fn leads_to(connection: &Connection, pair: &PairDigest, line: &Line) -> rusqlite::Result<()> {
    let lead = "INSERT INTO pairs (digest, member, line) VALUES (?1, ?2, ?3) ON CONFLICT (digest) DO NOTHING";
    let params = params![pair.to_string(), line.member.to_string(), line.id.to_string()];
    connection.execute(lead, params).map(|_changed| ())
}

fn line_of<E>(connection: &Connection, pair: &PairDigest) -> Result<Option<Line>, Broken<E>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM pairs JOIN lines ON lines.id = pairs.line WHERE pairs.digest = ?1"
    ))?;
    statement.query_row([pair.to_string()], |row| Ok(read(row))).optional()?.transpose()
}

fn read<E>(row: &Row<'_>) -> Result<Line, Broken<E>> {
    let columns = Columns::new(Table::Lines, row)?;
    let state = match columns.plain::<String, E>(6)?.as_str() {
        "live" => LineState::Live,
        "sent" => LineState::Sent,
        "dead" => LineState::Dead,
        _ => return Err(columns.tampered()),
    };
    Ok(Line {
        id: columns.parsed(0, PairDigest::parse)?,
        member: columns.parsed(1, KeyId::parse)?,
        bot: columns.parsed(2, KeyId::parse)?,
        credential: columns.parsed(3, CredentialId::parse)?,
        service: columns.parsed(4, ServiceId::parse)?,
        generation: generation(&columns, 5)?,
        state,
        tries: columns.plain(7)?,
        failures: columns.plain(8)?,
        again_at: columns.plain::<Option<i64>, E>(9)?.map(UnixTime::from_secs),
        newest: columns.parsed(10, PairDigest::parse)?,
        sealed: columns.plain(11)?,
    })
}

fn generation<E>(columns: &Columns<'_>, column: usize) -> Result<u64, Broken<E>> {
    u64::try_from(columns.plain::<i64, E>(column)?).map_err(|_negative| columns.tampered())
}

/// A generation as SQLite has numbers: none is as large as the largest of its.
fn number(generation: u64) -> i64 {
    i64::try_from(generation).unwrap_or(i64::MAX)
}
