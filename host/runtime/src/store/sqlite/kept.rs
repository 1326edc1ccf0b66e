//! Writes under their callers' keys, in SQLite.

use pinhole_grant::UnixTime;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::SqliteStore;
use super::broken::{Broken, Columns};
use crate::store::{Again, Claim, Claiming, Fate, KEPT_MAX, KEPT_SECS, Kept, StoreError, Table};
use pinhole_grant::KeyedDigest;

/// By the index of ages: what is kept of a call is over a day after it began.
pub(super) const FORGET_OVER: &str = "DELETE FROM kept WHERE member = ?1 AND bot = ?2 AND begun_at <= ?3";
pub(super) const FORGET_ALL_OVER: &str = "DELETE FROM kept WHERE kept_until <= ?1";
/// When the first of so many that are the newest began, from the index alone.
pub(super) const MOST_BACK: &str = "
    SELECT begun_at FROM kept WHERE member = ?1 AND bot = ?2 ORDER BY begun_at DESC LIMIT 1 OFFSET ?3";
pub(super) const FORGET_BEFORE: &str =
    "DELETE FROM kept WHERE member = ?1 AND bot = ?2 AND begun_at < ?3 AND state = 'done'";

impl Kept for SqliteStore {
    fn claim(&self, claiming: &Claiming) -> Result<Claim, StoreError> {
        self.write("begin a write under its key", |transaction| {
            forget_over(transaction, claiming)?;
            if self.forgetting.of_all(claiming.now) {
                transaction.execute(FORGET_ALL_OVER, [claiming.now.as_secs()])?;
            }
            let known = known(transaction, claiming)?;
            let goes_again = known == Some(Claim::Unknown) && claiming.again == Again::Known;
            if let Some(known) = known.filter(|_| !goes_again) {
                return Ok(known);
            }
            begin(transaction, claiming)?;
            if self.forgetting.beyond_most() {
                forget_oldest(transaction, claiming)?;
            }
            Ok(Claim::Mine)
        })
    }

    fn kept(&self, claiming: &Claiming) -> Result<Option<Claim>, StoreError> {
        self.read("look for a write under its key", |connection| known(connection, claiming))
    }

    fn ended(&self, id: KeyedDigest, fate: Fate<'_>) -> Result<(), StoreError> {
        let id = id.to_string();
        self.write("keep what became of a write", |transaction| {
            match fate {
                Fate::NotSent => transaction.execute("DELETE FROM kept WHERE id = ?1", [&id])?,
                Fate::Unknown => {
                    transaction.execute("UPDATE kept SET state = 'unknown' WHERE id = ?1", [&id])?
                }
                Fate::Done(sealed) => transaction.execute(
                    "UPDATE kept SET state = 'done', sealed = ?2 WHERE id = ?1",
                    params![id, sealed],
                )?,
            };
            Ok(())
        })
    }
}

/// What a row says of the key, where there is one.
fn known(connection: &Connection, claiming: &Claiming) -> Result<Option<Claim>, Broken<StoreError>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, act, state, over_by, sealed FROM kept WHERE id = ?1 AND kept_until > ?2",
    )?;
    let params = params![claiming.id.to_string(), claiming.now.as_secs()];
    let row = statement.query_row(params, |row| Ok(read(row, claiming))).optional()?;
    row.transpose()
}

fn read(row: &rusqlite::Row<'_>, claiming: &Claiming) -> Result<Claim, Broken<StoreError>> {
    let columns = Columns::new(Table::Kept, row)?;
    let act = columns.parsed(1, |text| KeyedDigest::parse(text).ok_or(()))?;
    if act != claiming.act {
        return Ok(Claim::Conflict);
    }
    let over_by = UnixTime::from_secs(columns.plain(3)?);
    let state: String = columns.plain(2)?;
    match state.as_str() {
        "done" => Ok(Claim::Done(columns.plain(4)?)),
        "begun" if claiming.now < over_by => Ok(Claim::UnderWay(over_by)),
        "begun" | "unknown" => Ok(Claim::Unknown),
        _ => Err(columns.tampered()),
    }
}

fn begin(connection: &Connection, claiming: &Claiming) -> rusqlite::Result<()> {
    let &Claiming { id, act, member, bot, now, over_by, again: _ } = claiming;
    // What goes again stays as old as its first time: the service, too, forgets it a day after that.
    let mut begin = connection.prepare_cached(
        "INSERT INTO kept (id, act, member, bot, state, begun_at, over_by, kept_until)
         VALUES (?1, ?2, ?3, ?4, 'begun', ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET state = 'begun', over_by = excluded.over_by",
    )?;
    begin.execute(params![
        id.to_string(),
        act.to_string(),
        member.to_string(),
        bot.to_string(),
        now.as_secs(),
        over_by.as_secs(),
        now.plus_secs(KEPT_SECS).as_secs(),
    ])?;
    Ok(())
}

fn forget_over(connection: &Connection, claiming: &Claiming) -> rusqlite::Result<()> {
    let began = claiming.now.plus_secs(-KEPT_SECS).as_secs();
    let whose = params![claiming.member.to_string(), claiming.bot.to_string(), began];
    connection.prepare_cached(FORGET_OVER)?.execute(whose).map(|_gone| ())
}

/// Only what is done is forgotten before its time: what may be under way, or may have been carried out, is not.
fn forget_oldest(connection: &Connection, claiming: &Claiming) -> rusqlite::Result<()> {
    let (member, bot) = (claiming.member.to_string(), claiming.bot.to_string());
    let mut back = connection.prepare_cached(MOST_BACK)?;
    let before = back.query_row(params![member, bot, KEPT_MAX - 1], |row| row.get::<_, i64>(0)).optional()?;
    if let Some(before) = before {
        connection.prepare_cached(FORGET_BEFORE)?.execute(params![member, bot, before])?;
    }
    Ok(())
}
