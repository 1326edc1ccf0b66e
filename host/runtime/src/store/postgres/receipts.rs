//! Receipts in PostgreSQL: a chain a bot, notes, checkpoints.
//!
//! Receipts of one bot are put behind each other under an advisory lock of the bot's, as a member's changes are under hers.
//! Those of reads do not wait for the disk; a crash of the server may take the last of them, never one from the middle.

use futures_util::future::join3;
use pinhole_grant::{KeyId, UnixTime};
use pinhole_manifest::Digest;
use tokio_postgres::{Error, Row};

use super::broken::{Broken, Columns};
use super::pool::{Session, Values};
use super::spine::spend;
use super::{PostgresStore, alone};
use crate::receipts::{Covers, Facts, Head, Note, NoteId, ProcessId, Receipt, Stored};
use crate::store::{
    Appended, CheckpointRow, Marked, ReceiptFilter, Receipts, Settled, SpendError, StoreError, Table, Use,
};

const SELECT: &str = "SELECT seq, bot, hash, body, member, at, connection, service, op, code FROM receipts";

impl Receipts for PostgresStore {
    fn begin(&self, note: &Note, spends: Option<Use>, settled: Settled) -> Result<(), SpendError> {
        let facts = written(&note.facts)?;
        let work = async |session: &Session| {
            if let Some(Use { grant, allowed }) = spends {
                spend(session, &grant, allowed).await?;
            }
            let insert = "INSERT INTO begun (id, bot, process, member, facts) VALUES ($1, $2, $3, $4, $5)";
            let values: Values<'_> = &[
                &note.id.to_string(),
                &note.facts.bot.to_string(),
                &note.process.to_string(),
                &note.facts.member.map(|member| member.to_string()),
                &facts,
            ];
            session.execute(insert, values).await?;
            Ok(())
        };
        let doing = "note that a run begins";
        match (spends, settled) {
            (None, Settled::Lightly) => self.write_light(doing, work),
            (Some(_), _) | (None, Settled::Durably) => self.write(doing, work),
        }
    }

    fn append(&self, facts: &Facts, note: Option<NoteId>, settled: Settled) -> Result<Appended, StoreError> {
        let work = async |session: &Session| {
            alone(session, &[facts.bot]).await?;
            append(session, facts, note).await
        };
        let doing = "write a receipt";
        match settled {
            Settled::Lightly => self.write_light(doing, work),
            Settled::Durably => self.write(doing, work),
        }
    }

    fn append_unended(&self, facts: &Facts, note: NoteId) -> Result<Option<Appended>, StoreError> {
        self.write("write the receipt of a run that never ended", async |session| {
            alone(session, &[facts.bot]).await?;
            if take(session, note).await? == 0 {
                return Ok(None);
            }
            append(session, facts, None).await.map(Some)
        })
    }

    fn notes(&self, bot: KeyId, most: usize) -> Result<Vec<Note>, StoreError> {
        let find = "SELECT id, process, facts FROM begun WHERE bot = $1 ORDER BY seq LIMIT $2";
        self.read("look for runs that have not ended", async |session| {
            let rows = session.rows(find, &[&bot.to_string(), &limit(most)]).await?;
            rows.iter().map(noted).collect()
        })
    }

    fn keep_checkpoint(&self, row: &CheckpointRow) -> Result<(), StoreError> {
        self.write("keep a checkpoint of the receipts", async |session| Ok(keep(session, row).await?))
    }

    fn checkpoints(&self, bot: KeyId) -> Result<Vec<CheckpointRow>, StoreError> {
        let find = "SELECT seq, at, pruned, envelope FROM checkpoints WHERE bot = $1 ORDER BY seq, pruned";
        self.read("look for checkpoints of the receipts", async |session| {
            let rows = session.rows(find, &[&bot.to_string()]).await?;
            let read = |row: &Row| {
                Ok(CheckpointRow {
                    bot,
                    seq: number(row.try_get(0)?, Table::Checkpoints)?,
                    at: UnixTime::from_secs(row.try_get(1)?),
                    covers: if row.try_get(2)? { Covers::Pruned } else { Covers::Head },
                    envelope: row.try_get(3)?,
                })
            };
            rows.iter().map(read).collect()
        })
    }

    fn receipts_from(&self, bot: KeyId, seq: u64, most: usize) -> Result<Vec<Stored>, StoreError> {
        let find = format!("{SELECT} WHERE bot = $1 AND seq >= $2 ORDER BY seq LIMIT $3");
        let seq = i64::try_from(seq).unwrap_or(i64::MAX);
        self.read("read receipts", async |session| {
            let rows = session.rows(&find, &[&bot.to_string(), &seq, &limit(most)]).await?;
            rows.iter().map(stored).collect()
        })
    }

    fn last_receipts(
        &self,
        bot: KeyId,
        filter: &ReceiptFilter,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let find = format!(
            "{SELECT} WHERE bot = $1 AND ($2::text IS NULL OR service = $2) AND ($3::text IS NULL OR op = $3)
               AND ($4::text IS NULL OR connection = $4) AND ($5::text IS NULL OR code = $5)
               AND ($6::bigint IS NULL OR at >= $6) AND ($7::bigint IS NULL OR at < $7)
             ORDER BY seq DESC LIMIT $8"
        );
        self.read("look for receipts", async |session| {
            let seconds = |time: Option<UnixTime>| time.map(UnixTime::as_secs);
            let values: Values<'_> = &[
                &bot.to_string(),
                &filter.service.as_ref().map(ToString::to_string),
                &filter.op.as_ref().map(ToString::to_string),
                &filter.connection.map(|connection| connection.to_string()),
                &filter.code,
                &seconds(filter.since),
                &seconds(filter.until),
                &limit(most),
            ];
            session.rows(&find, values).await?.iter().map(stored).collect()
        })
    }

    fn prune_receipts(&self, anchor: &CheckpointRow) -> Result<u64, StoreError> {
        let prune = "
            DELETE FROM receipts
            WHERE bot = $1 AND seq <= $2 AND seq < (SELECT max(seq) FROM receipts WHERE bot = $1)";
        self.write("remove receipts", async |session| {
            alone(session, &[anchor.bot]).await?;
            let seq = i64::try_from(anchor.seq).unwrap_or(i64::MAX);
            let gone = session.execute(prune, &[&anchor.bot.to_string(), &seq]).await?;
            if gone > 0 {
                keep(session, anchor).await?;
            }
            Ok(gone)
        })
    }
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

fn number<E>(seq: i64, table: Table) -> Result<u64, Broken<E>> {
    u64::try_from(seq).map_err(|_negative| Broken::Row(table, seq.to_string()))
}

fn written(facts: &Facts) -> Result<String, StoreError> {
    let failed =
        |source: serde_json::Error| StoreError::Failed { doing: "write a note", source: source.into() };
    serde_json::to_string(facts).map_err(failed)
}

fn noted<E>(row: &Row) -> Result<Note, Broken<E>> {
    let columns = Columns::new(Table::Begun, row)?;
    Ok(Note {
        id: columns.parsed(0, NoteId::parse)?,
        process: columns.parsed(1, ProcessId::parse)?,
        facts: columns.parsed(2, |text| serde_json::from_str(text))?,
    })
}

async fn take(session: &Session, note: NoteId) -> Result<u64, Error> {
    session.execute("DELETE FROM begun WHERE id = $1", &[&note.to_string()]).await
}

/// Puts a receipt behind the last and takes its note away. What is asked before is asked at once, in this order, and answered in
/// one journey to the server: nobody else of the bot's can go on meanwhile.
async fn append<E: From<StoreError>>(
    session: &Session,
    facts: &Facts,
    note: Option<NoteId>,
) -> Result<Appended, Broken<E>> {
    let bot = facts.bot.to_string();
    let taken = async {
        match note {
            Some(note) => take(session, note).await,
            None => Ok(0),
        }
    };
    let (taken, last, checkpoint) = join3(taken, last(session, &bot), marked(session, &bot)).await;
    taken?;
    let (last, checkpoint) = (last?, checkpoint?);
    let receipt = Receipt::after(last, facts.clone()).map_err(|source| {
        Broken::Refused(StoreError::Failed { doing: "write a receipt", source: source.into() }.into())
    })?;
    let Head { seq, hash } = receipt.head();
    let insert = "
        INSERT INTO receipts (bot, seq, hash, body, member, at, connection, service, op, code)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let values: Values<'_> = &[
        &bot,
        &i64::try_from(seq).unwrap_or(i64::MAX),
        &hash.to_string(),
        &receipt.body(),
        &facts.member.map(|member| member.to_string()),
        &facts.at.as_secs(),
        &facts.connection.map(|connection| connection.to_string()),
        &facts.service.as_str(),
        &facts.op.as_str(),
        &facts.code,
    ];
    session.execute(insert, values).await?;
    Ok(Appended { id: receipt.id(), head: receipt.head(), checkpoint })
}

/// The end of a bot's chain.
async fn last<E>(session: &Session, bot: &str) -> Result<Option<Head>, Broken<E>> {
    let last = "SELECT seq, hash FROM receipts WHERE bot = $1 ORDER BY seq DESC LIMIT 1";
    let Some(row) = session.row(last, &[&bot]).await? else { return Ok(None) };
    let seq: i64 = row.try_get(0)?;
    let tampered = |_not_one| Broken::Row(Table::Receipts, seq.to_string());
    let hash = Digest::parse(row.try_get(1)?).map_err(tampered)?;
    Ok(Some(Head { seq: number(seq, Table::Receipts)?, hash }))
}

/// The last checkpoint of a bot.
async fn marked<E>(session: &Session, bot: &str) -> Result<Option<Marked>, Broken<E>> {
    let marked = "SELECT seq, at FROM checkpoints WHERE bot = $1 AND NOT pruned ORDER BY seq DESC LIMIT 1";
    let Some(row) = session.row(marked, &[&bot]).await? else { return Ok(None) };
    let seq = number(row.try_get(0)?, Table::Checkpoints)?;
    Ok(Some(Marked { seq, at: UnixTime::from_secs(row.try_get(1)?) }))
}

async fn keep(session: &Session, row: &CheckpointRow) -> Result<(), Error> {
    let insert = "
        INSERT INTO checkpoints (bot, seq, pruned, at, envelope) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (bot, seq, pruned) DO NOTHING";
    let values: Values<'_> = &[
        &row.bot.to_string(),
        &i64::try_from(row.seq).unwrap_or(i64::MAX),
        &(row.covers == Covers::Pruned),
        &row.at.as_secs(),
        &row.envelope,
    ];
    session.execute(insert, values).await.map(|_changed| ())
}

/// A row as it is. The columns that it is found by are not parsed: they are held against the bytes.
fn stored<E>(row: &Row) -> Result<Stored, Broken<E>> {
    let seq: i64 = row.try_get(0)?;
    let tampered = || Broken::Row(Table::Receipts, seq.to_string());
    let text = |column: usize| row.try_get::<_, Option<String>>(column).map_err(|_other_kind| tampered());
    let or_none = |column: usize| text(column).map(|text| text.unwrap_or_else(|| "-".to_owned()));
    let at: i64 = row.try_get(5).map_err(|_other_kind| tampered())?;
    let index = [or_none(4)?, at.to_string(), or_none(6)?, or_none(7)?, or_none(8)?, or_none(9)?].join(" ");
    let of = |column| text(column).map(Option::unwrap_or_default);
    Ok(Stored {
        bot: KeyId::parse(&of(1)?).map_err(|_not_one| tampered())?,
        seq: number(seq, Table::Receipts)?,
        hash: Digest::parse(&of(2)?).unwrap_or(Digest::of(b"")),
        body: of(3)?,
        index,
    })
}
