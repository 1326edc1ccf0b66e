//! Receipts in SQLite: a chain a bot, notes, checkpoints.
//!
//! Receipts of reads go through the connection that does not wait for the disk. Both connections begin with the right to
//! write, so no two receipts are put behind the same one.

use pinhole_grant::{KeyId, UnixTime};
use pinhole_manifest::Digest;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, Transaction, params};

use super::SqliteStore;
use super::broken::{Broken, Columns};
use super::spine::spend;
use crate::receipts::{Covers, Facts, Head, Note, NoteId, ProcessId, Receipt, Stored};
use crate::store::{
    Appended, CheckpointRow, Marked, ReceiptFilter, Receipts, Settled, SpendError, StoreError, Table, Use,
};

const INSERT: &str = "
    INSERT INTO receipts (bot, seq, hash, body, member, at, connection, service, op, code)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const COLUMNS: &str = "seq, bot, hash, body, member, at, connection, service, op, code";
const NOTE: &str = "INSERT INTO begun (id, bot, process, member, facts) VALUES (?1, ?2, ?3, ?4, ?5)";
const CHECKPOINT: &str = "
    INSERT INTO checkpoints (bot, seq, pruned, at, envelope) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (bot, seq, pruned) DO NOTHING";
const PRUNE: &str = "
    DELETE FROM receipts WHERE bot = ?1 AND seq <= ?2
        AND seq < (SELECT max(seq) FROM receipts WHERE bot = ?1)";

impl Receipts for SqliteStore {
    fn begin(&self, note: &Note, spends: Option<Use>, settled: Settled) -> Result<(), SpendError> {
        let facts = written(&note.facts)?;
        let work = |transaction: &Transaction<'_>| {
            if let Some(Use { grant, allowed }) = spends {
                spend(transaction, &grant, allowed)?;
            }
            let (id, bot, process) =
                (note.id.to_string(), note.facts.bot.to_string(), note.process.to_string());
            let member = note.facts.member.map(|member| member.to_string());
            transaction.prepare_cached(NOTE)?.execute(params![id, bot, process, member, facts])?;
            Ok(())
        };
        let doing = "note that a run begins";
        match (spends, settled) {
            (None, Settled::Lightly) => self.write_light(doing, work),
            (Some(_), _) | (None, Settled::Durably) => self.write(doing, work),
        }
    }

    fn append(&self, facts: &Facts, note: Option<NoteId>, settled: Settled) -> Result<Appended, StoreError> {
        let work = |transaction: &Transaction<'_>| {
            if let Some(note) = note {
                take(transaction, note)?;
            }
            append(transaction, facts)
        };
        let doing = "write a receipt";
        match settled {
            Settled::Lightly => self.write_light(doing, work),
            Settled::Durably => self.write(doing, work),
        }
    }

    fn append_unended(&self, facts: &Facts, note: NoteId) -> Result<Option<Appended>, StoreError> {
        self.write("write the receipt of a run that never ended", |transaction| {
            if take(transaction, note)? == 0 {
                return Ok(None);
            }
            append(transaction, facts).map(Some)
        })
    }

    fn notes(&self, bot: KeyId, most: usize) -> Result<Vec<Note>, StoreError> {
        let find = "SELECT id, process, facts FROM begun WHERE bot = ?1 ORDER BY rowid LIMIT ?2";
        self.read("look for runs that have not ended", |connection| {
            let mut statement = connection.prepare_cached(find)?;
            let mut rows = statement.query(params![bot.to_string(), limit(most)])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let columns = Columns::new(Table::Begun, row)?;
                found.push(Note {
                    id: columns.parsed(0, NoteId::parse)?,
                    process: columns.parsed(1, ProcessId::parse)?,
                    facts: columns.parsed(2, |text| serde_json::from_str(text))?,
                });
            }
            Ok(found)
        })
    }

    fn keep_checkpoint(&self, row: &CheckpointRow) -> Result<(), StoreError> {
        self.write("keep a checkpoint of the receipts", |transaction| Ok(keep(transaction, row)?))
    }

    fn checkpoints(&self, bot: KeyId) -> Result<Vec<CheckpointRow>, StoreError> {
        let find = "SELECT seq, at, pruned, envelope FROM checkpoints WHERE bot = ?1 ORDER BY seq, pruned";
        self.read("look for checkpoints of the receipts", |connection| {
            let mut statement = connection.prepare_cached(find)?;
            let mut rows = statement.query([bot.to_string()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(CheckpointRow {
                    bot,
                    seq: number(row.get(0)?, Table::Checkpoints)?,
                    at: UnixTime::from_secs(row.get(1)?),
                    covers: if row.get(2)? { Covers::Pruned } else { Covers::Head },
                    envelope: row.get(3)?,
                });
            }
            Ok(found)
        })
    }

    fn receipts_from(&self, bot: KeyId, seq: u64, most: usize) -> Result<Vec<Stored>, StoreError> {
        let find =
            format!("SELECT {COLUMNS} FROM receipts WHERE bot = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3");
        self.read("read receipts", |connection| {
            let seq = i64::try_from(seq).unwrap_or(i64::MAX);
            rows(connection, &find, params![bot.to_string(), seq, limit(most)])
        })
    }

    fn last_receipts(
        &self,
        bot: KeyId,
        filter: &ReceiptFilter,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let find = format!(
            "SELECT {COLUMNS} FROM receipts
             WHERE bot = ?1 AND (?2 IS NULL OR service = ?2) AND (?3 IS NULL OR op = ?3)
               AND (?4 IS NULL OR connection = ?4) AND (?5 IS NULL OR code = ?5)
               AND (?6 IS NULL OR at >= ?6) AND (?7 IS NULL OR at < ?7)
             ORDER BY seq DESC LIMIT ?8"
        );
        self.read("look for receipts", |connection| {
            let seconds = |time: Option<UnixTime>| time.map(UnixTime::as_secs);
            let params = params![
                bot.to_string(),
                filter.service.as_ref().map(ToString::to_string),
                filter.op.as_ref().map(ToString::to_string),
                filter.connection.map(|connection| connection.to_string()),
                filter.code,
                seconds(filter.since),
                seconds(filter.until),
                limit(most),
            ];
            rows(connection, &find, params)
        })
    }

    fn prune_receipts(&self, anchor: &CheckpointRow) -> Result<u64, StoreError> {
        self.write("remove receipts", |transaction| {
            let seq = i64::try_from(anchor.seq).unwrap_or(i64::MAX);
            let gone = transaction.execute(PRUNE, params![anchor.bot.to_string(), seq])?;
            if gone > 0 {
                keep(transaction, anchor)?;
            }
            Ok(u64::try_from(gone).unwrap_or(u64::MAX))
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

fn take(connection: &Connection, note: NoteId) -> rusqlite::Result<usize> {
    connection.prepare_cached("DELETE FROM begun WHERE id = ?1")?.execute([note.to_string()])
}

fn append<E: From<StoreError>>(connection: &Connection, facts: &Facts) -> Result<Appended, Broken<E>> {
    let bot = facts.bot.to_string();
    let last = "SELECT seq, hash FROM receipts WHERE bot = ?1 ORDER BY seq DESC LIMIT 1";
    let found: Option<(i64, String)> = connection
        .prepare_cached(last)?
        .query_row([&bot], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let head = match found {
        None => None,
        Some((seq, hash)) => {
            let tampered = |_not_one| Broken::Row(Table::Receipts, seq.to_string());
            Some(Head { seq: number(seq, Table::Receipts)?, hash: Digest::parse(&hash).map_err(tampered)? })
        }
    };
    let receipt = Receipt::after(head, facts.clone()).map_err(|source| {
        Broken::Refused(StoreError::Failed { doing: "write a receipt", source: source.into() }.into())
    })?;
    let Head { seq, hash } = receipt.head();
    connection.prepare_cached(INSERT)?.execute(params![
        bot,
        i64::try_from(seq).unwrap_or(i64::MAX),
        hash.to_string(),
        receipt.body(),
        facts.member.map(|member| member.to_string()),
        facts.at.as_secs(),
        facts.connection.map(|connection| connection.to_string()),
        facts.service.as_str(),
        facts.op.as_str(),
        facts.code,
    ])?;
    let marked = "SELECT seq, at FROM checkpoints WHERE bot = ?1 AND pruned = 0 ORDER BY seq DESC LIMIT 1";
    let checkpoint: Option<(i64, i64)> = connection
        .prepare_cached(marked)?
        .query_row([&bot], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let checkpoint = match checkpoint {
        None => None,
        Some((seq, at)) => {
            Some(Marked { seq: number(seq, Table::Checkpoints)?, at: UnixTime::from_secs(at) })
        }
    };
    Ok(Appended { id: receipt.id(), head: receipt.head(), checkpoint })
}

fn keep(connection: &Connection, row: &CheckpointRow) -> rusqlite::Result<()> {
    let seq = i64::try_from(row.seq).unwrap_or(i64::MAX);
    let pruned = row.covers == Covers::Pruned;
    connection
        .prepare_cached(CHECKPOINT)?
        .execute(params![row.bot.to_string(), seq, pruned, row.at.as_secs(), row.envelope])
        .map(|_changed| ())
}

fn rows<E>(connection: &Connection, find: &str, params: &[&dyn ToSql]) -> Result<Vec<Stored>, Broken<E>> {
    let mut statement = connection.prepare_cached(find)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(stored(row)?);
    }
    Ok(found)
}

/// A row as it is. The columns that it is found by are not parsed: they are held against the bytes.
fn stored<E>(row: &Row<'_>) -> Result<Stored, Broken<E>> {
    let seq: i64 = row.get(0)?;
    let tampered = || Broken::Row(Table::Receipts, seq.to_string());
    let text = |column: usize| row.get::<_, Option<String>>(column).map_err(|_other_kind| tampered());
    let or_none = |column: usize| text(column).map(|text| text.unwrap_or_else(|| "-".to_owned()));
    let at: i64 = row.get(5).map_err(|_other_kind| tampered())?;
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
