//! Writes under their callers' keys, in PostgreSQL.

use pinhole_grant::{KeyedDigest, UnixTime};
use tokio_postgres::{Error, Row};

use super::broken::{Broken, Columns};
use super::pool::{Session, Values};
use super::{PostgresStore, alone};
use crate::store::{Again, Claim, Claiming, Fate, KEPT_MAX, KEPT_SECS, Kept, StoreError, Table};

/// By the index of ages: what is kept of a call is over a day after it began.
const FORGET_OVER: &str = "DELETE FROM kept WHERE member = $1 AND bot = $2 AND begun_at <= $3";
/// Others, whose members claim at this moment, are left to them.
const FORGET_ALL_OVER: &str = "
    DELETE FROM kept WHERE id IN (SELECT id FROM kept WHERE kept_until <= $1 FOR UPDATE SKIP LOCKED)";
/// When the first of so many that are the newest began, from the index alone.
const MOST_BACK: &str = "
    SELECT begun_at FROM kept WHERE member = $1 AND bot = $2 ORDER BY begun_at DESC LIMIT 1 OFFSET $3";
const FORGET_BEFORE: &str =
    "DELETE FROM kept WHERE member = $1 AND bot = $2 AND begun_at < $3 AND state = 'done'";

impl Kept for PostgresStore {
    fn claim(&self, claiming: &Claiming) -> Result<Claim, StoreError> {
        self.write("begin a write under its key", async |session| {
            // A key is one member's: nobody else claims it meanwhile.
            alone(session, &[claiming.member]).await?;
            forget_over(session, claiming).await?;
            if self.forgetting.of_all(claiming.now) {
                session.execute(FORGET_ALL_OVER, &[&claiming.now.as_secs()]).await?;
            }
            let known = known(session, claiming).await?;
            let goes_again = known == Some(Claim::Unknown) && claiming.again == Again::Known;
            if let Some(known) = known.filter(|_| !goes_again) {
                return Ok(known);
            }
            begin(session, claiming).await?;
            if self.forgetting.beyond_most() {
                forget_oldest(session, claiming).await?;
            }
            Ok(Claim::Mine)
        })
    }

    fn kept(&self, claiming: &Claiming) -> Result<Option<Claim>, StoreError> {
        self.read("look for a write under its key", async |session| known(session, claiming).await)
    }

    fn ended(&self, id: KeyedDigest, fate: Fate<'_>) -> Result<(), StoreError> {
        let id = id.to_string();
        self.write("keep what became of a write", async |session| {
            match fate {
                Fate::NotSent => session.execute("DELETE FROM kept WHERE id = $1", &[&id]).await?,
                Fate::Unknown => {
                    session.execute("UPDATE kept SET state = 'unknown' WHERE id = $1", &[&id]).await?
                }
                Fate::Done(sealed) => {
                    let done = "UPDATE kept SET state = 'done', sealed = $2 WHERE id = $1";
                    session.execute(done, &[&id, &sealed]).await?
                }
            };
            Ok(())
        })
    }
}

/// What a row says of the key, where there is one.
async fn known(session: &Session, claiming: &Claiming) -> Result<Option<Claim>, Broken<StoreError>> {
    let select = "SELECT id, act, state, over_by, sealed FROM kept WHERE id = $1 AND kept_until > $2";
    let row = session.row(select, &[&claiming.id.to_string(), &claiming.now.as_secs()]).await?;
    row.as_ref().map(|row| read(row, claiming)).transpose()
}

fn read(row: &Row, claiming: &Claiming) -> Result<Claim, Broken<StoreError>> {
    let columns = Columns::new(Table::Kept, row)?;
    let act = columns.parsed(1, |text| KeyedDigest::parse(text).ok_or(()))?;
    if act != claiming.act {
        return Ok(Claim::Conflict);
    }
    let over_by = UnixTime::from_secs(columns.plain(3)?);
    match columns.plain(2)? {
        "done" => Ok(Claim::Done(columns.plain(4)?)),
        "begun" if claiming.now < over_by => Ok(Claim::UnderWay(over_by)),
        "begun" | "unknown" => Ok(Claim::Unknown),
        _ => Err(columns.tampered()),
    }
}

async fn begin(session: &Session, claiming: &Claiming) -> Result<(), Error> {
    let &Claiming { id, act, member, bot, now, over_by, again: _ } = claiming;
    // What goes again stays as old as its first time: the service, too, forgets it a day after that.
    let insert = "
        INSERT INTO kept (id, act, member, bot, state, begun_at, over_by, kept_until)
        VALUES ($1, $2, $3, $4, 'begun', $5, $6, $7)
        ON CONFLICT (id) DO UPDATE SET state = 'begun', over_by = excluded.over_by";
    let values: Values<'_> = &[
        &id.to_string(),
        &act.to_string(),
        &member.to_string(),
        &bot.to_string(),
        &now.as_secs(),
        &over_by.as_secs(),
        &now.plus_secs(KEPT_SECS).as_secs(),
    ];
    session.execute(insert, values).await.map(|_changed| ())
}

async fn forget_over(session: &Session, claiming: &Claiming) -> Result<(), Error> {
    let (member, bot) = (claiming.member.to_string(), claiming.bot.to_string());
    let began = claiming.now.plus_secs(-KEPT_SECS).as_secs();
    session.execute(FORGET_OVER, &[&member, &bot, &began]).await.map(|_gone| ())
}

/// Only what is done is forgotten before its time: what may be under way, or may have been carried out, is not.
async fn forget_oldest(session: &Session, claiming: &Claiming) -> Result<(), Error> {
    let (member, bot) = (claiming.member.to_string(), claiming.bot.to_string());
    let back = session.row(MOST_BACK, &[&member, &bot, &i64::from(KEPT_MAX - 1)]).await?;
    if let Some(before) = back.map(|row| row.try_get::<_, i64>(0)).transpose()? {
        session.execute(FORGET_BEFORE, &[&member, &bot, &before]).await?;
    }
    Ok(())
}
