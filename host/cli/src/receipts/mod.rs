//! `pinhole receipts`: what was run on this machine, and whether the record of it is as it was written.
//!
//! A bot that was given another key has a chain of receipts for each: all of them are its receipts.
//! Opens the bot's keys, never the member's. INVARIANT: nothing here changes a receipt; only `prune` removes any, and signs
//! that it did.

pub(crate) mod args;
mod shown;

use std::sync::Arc;

use pinhole_grant::{CredentialId, KeyId, KeyKind, PublicKey, SecretKey, UnixTime};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{OpId, ServiceId};
use pinhole_runtime::book::{self, CheckpointFile, KeepError};
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::receipts::{Receipt, ReceiptId, Stored, Verdict};
use pinhole_runtime::store::{Desk, ReceiptFilter};
use serde_json::{Value, json};

use self::args::{ListFlags, ReceiptsCommand};
use crate::config::Config;
use crate::database::{self, DatabaseFlags};
use crate::end::{End, Failure};
use crate::keys::{self, Bot};
use crate::tokens::Askers;
use crate::{grant, out};

/// Most notes of runs under way that are counted.
const NOTES_MAX: usize = 1_000;

/// The receipts of this machine's bot.
struct Shelf {
    store: Arc<dyn Desk>,
    bot: Bot,
    file: CheckpointFile,
    /// Whose tokens are known here.
    member: Option<PublicKey>,
    now: UnixTime,
}

impl Shelf {
    fn open(flags: &DatabaseFlags, config: &Config) -> anyhow::Result<Self> {
        let bot = keys::bot(config)?;
        let store = database::open_desk(&bot.home, flags)?;
        let file = database::checkpoints(&bot.home, flags)?;
        Ok(Self { store, file, bot, member: keys::member_public(config)?, now: SystemClock.now() })
    }

    /// The bot's keys, each of which has a chain of its own: the present one first, then the one before it.
    fn keys(&self) -> Vec<&SecretKey> {
        self.bot.keys.all().rev().collect()
    }

    /// What the tokens are called. Where that cannot be read, a receipt says their ids alone.
    fn askers(&self) -> Askers {
        let named = self.member.as_ref().map(|member| Askers::in_store(&*self.store, member.id()));
        named.and_then(Result::ok).unwrap_or_default()
    }

    /// The moment so long ago.
    fn ago(&self, time: &str) -> anyhow::Result<UnixTime> {
        Ok(self.now.plus_secs(grant::seconds(time)?.saturating_neg()))
    }
}

pub(crate) fn main(command: ReceiptsCommand, config: &Config) -> anyhow::Result<End> {
    // Looking makes nothing.
    if let ReceiptsCommand::List(flags) = &command
        && !keys::file(KeyKind::Bot, config).exists()
    {
        return shown_list(&[], flags);
    }
    let shelf = Shelf::open(command.database(), config)?;
    match command {
        ReceiptsCommand::List(flags) => list(&flags, &shelf),
        ReceiptsCommand::Show { receipt, json, database: _ } => show(&receipt, json, &shelf),
        ReceiptsCommand::Verify { checkpoints, json, database: _ } => {
            let others = checkpoints.into_iter().map(CheckpointFile::at).collect();
            verify(others, json, &shelf)
        }
        ReceiptsCommand::Checkpoint { json, database: _ } => checkpoint(json, &shelf),
        ReceiptsCommand::Prune { before, json, database: _ } => prune(&before, json, &shelf),
    }
}

fn list(flags: &ListFlags, shelf: &Shelf) -> anyhow::Result<End> {
    let usage = |message: String, hint: &str| Failure::new(End::Usage, message, hint);
    let services = "`pinhole services` lists what there is";
    let filter = ReceiptFilter {
        service: parsed(flags.service.as_deref(), ServiceId::parse)
            .map_err(|error| usage(error.to_string(), services))?,
        op: parsed(flags.op.as_deref(), OpId::parse).map_err(|error| usage(error.to_string(), services))?,
        connection: parsed(flags.connection.as_deref(), CredentialId::parse)
            .map_err(|error| usage(error.to_string(), "`pinhole connections list --json` shows ids"))?,
        code: flags.code.clone(),
        since: flags.since.as_deref().map(|time| shelf.ago(time)).transpose()?,
        until: flags.until.as_deref().map(|time| shelf.ago(time)).transpose()?,
    };
    let most = usize::try_from(flags.limit)?;
    let mut rows = Vec::new();
    for key in shelf.keys() {
        let room = most.saturating_sub(rows.len());
        rows.extend(shelf.store.last_receipts(key.public().id(), &filter, room)?);
    }
    shown_list(&rows, flags)
}

fn shown_list(rows: &[Stored], flags: &ListFlags) -> anyhow::Result<End> {
    if flags.json {
        let rows: Vec<Value> = rows.iter().map(shown::in_json).collect();
        out::json(&rows)?;
    } else if rows.is_empty() {
        out::note("there is no such receipt");
    } else {
        out::document(shown::in_lines(rows))?;
    }
    // A row that is not as it was written is shown as that, and is not passed over.
    if rows.iter().all(|row| row.receipt().is_some()) {
        return Ok(End::Done);
    }
    out::note("some receipts are not as they were written: `pinhole receipts verify` says which");
    Ok(End::Failed)
}

fn parsed<T, E>(text: Option<&str>, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<Option<T>, E> {
    text.map(parse).transpose()
}

fn show(name: &str, json: bool, shelf: &Shelf) -> anyhow::Result<End> {
    let row = found(name, shelf)?;
    let Some(receipt) = row.as_ref().and_then(Stored::receipt).filter(|receipt| is_named(receipt, name))
    else {
        let (message, hint) = match row {
            Some(_) => (
                format!("the receipt `{}` is not as it was written", visible(name)),
                "`pinhole receipts verify` says more",
            ),
            None => {
                (format!("there is no receipt `{}`", visible(name)), "`pinhole receipts list` shows them")
            }
        };
        let end = if row.is_some() { End::Failed } else { End::Refused };
        return Err(Failure::new(end, message, hint).into());
    };
    if json {
        out::json(&shown::whole(&receipt))?;
    } else {
        out::document(shown::for_people(&receipt, &shelf.askers()))?;
    }
    Ok(End::Done)
}

/// The row of this id, of whichever key's; or that of this number under the present key.
fn found(name: &str, shelf: &Shelf) -> anyhow::Result<Option<Stored>> {
    let seq = name.parse::<ReceiptId>().map(ReceiptId::seq).or_else(|_no_id| name.parse::<u64>());
    let Ok(seq) = seq else {
        let message = format!("`{}` names no receipt", visible(name));
        let hint = "write its id, such as `17-3fa94be2d01c7a55`, or its number";
        return Err(Failure::new(End::Usage, message, hint).into());
    };
    let of = |key: &SecretKey| -> anyhow::Result<Option<Stored>> {
        let rows = shelf.store.receipts_from(key.public().id(), seq, 1)?;
        Ok(rows.into_iter().find(|row| row.seq == seq))
    };
    let mut first = None;
    for key in shelf.keys() {
        let row = of(key)?;
        if row.as_ref().and_then(Stored::receipt).is_some_and(|receipt| is_named(&receipt, name)) {
            return Ok(row);
        }
        first = first.or(row);
    }
    Ok(first)
}

/// Under an id another receipt of the same number is another.
fn is_named(receipt: &Receipt, name: &str) -> bool {
    name.parse::<ReceiptId>().is_ok_and(|id| id == receipt.id()) || name == receipt.seq().to_string()
}

fn verify(mut files: Vec<CheckpointFile>, json: bool, shelf: &Shelf) -> anyhow::Result<End> {
    if let Some(missing) = files.iter().find(|file| !file.path().exists()) {
        let message = format!("there is no file `{}`", missing.path().display());
        return Err(Failure::new(End::Usage, message, "say where the copy of the checkpoints is").into());
    }
    files.push(shelf.file.clone());
    let mut chains = Vec::new();
    for key in shelf.keys() {
        let key = key.public();
        let verdict = book::verify(&*shelf.store, key, &files).map_err(not_kept)?;
        let under_way = shelf.store.notes(key.id(), NOTES_MAX)?.len();
        chains.push(Looked { key: key.clone(), verdict, under_way });
    }
    let is_sound = chains.iter().all(|chain| chain.verdict.is_sound());
    if json {
        out::json(&shown::verdicts_in_json(&chains))?;
    } else {
        out::document(shown::verdicts(&chains))?;
    }
    Ok(if is_sound { End::Done } else { End::Failed })
}

/// What came of looking at the chain of one of the bot's keys.
struct Looked {
    key: PublicKey,
    verdict: Verdict,
    under_way: usize,
}

fn checkpoint(json: bool, shelf: &Shelf) -> anyhow::Result<End> {
    let sign = |key| book::checkpoint(&*shelf.store, key, shelf.now, Some(&shelf.file)).map_err(not_kept);
    let made = sign(shelf.bot.keys.current())?;
    // Runs of a process that has a former key alone, and those that it left when it was killed.
    for former in shelf.bot.keys.former() {
        if has_unsigned(former.key().public().id(), shelf)? {
            sign(former.key())?;
        }
    }
    if json {
        out::json(&json!({ "seq": made.map(|head| head.seq), "hash": made.map(|head| head.hash) }))?;
        return Ok(End::Done);
    }
    match made {
        Some(head) => out::document(format_args!(
            "signed: the receipts up to {} ({}); also in {}",
            head.seq,
            head.hash,
            visible(&shelf.file.path().display().to_string())
        ))?,
        None => out::note("there is no receipt yet"),
    }
    Ok(End::Done)
}

/// Whether a chain goes on behind its last checkpoint.
fn has_unsigned(bot: KeyId, shelf: &Shelf) -> anyhow::Result<bool> {
    let signed = shelf.store.checkpoints(bot)?.last().map_or(0, |row| row.seq);
    let last = shelf.store.last_receipts(bot, &ReceiptFilter::default(), 1)?;
    Ok(last.first().is_some_and(|row| row.seq > signed))
}

fn prune(before: &str, json: bool, shelf: &Shelf) -> anyhow::Result<End> {
    let before = shelf.ago(before)?;
    let mut all = Vec::new();
    for key in shelf.keys() {
        let pruned =
            book::prune(&*shelf.store, key, before, shelf.now, Some(&shelf.file)).map_err(not_kept)?;
        all.extend(pruned.map(|pruned| (key.public(), pruned)));
    }
    let present = shelf.bot.keys.public();
    if json {
        let removed: u64 = all.iter().map(|(_, pruned)| pruned.receipts).sum();
        // The numbers of former keys' would be taken for those of the present one.
        let of_present = all.iter().find(|(key, _)| *key == present);
        out::json(&json!({ "removed": removed, "last": of_present.map(|(_, pruned)| pruned.last.seq) }))?;
    } else if all.is_empty() {
        out::note("there is nothing so old; the last receipt always stays");
    } else {
        let lines = all.iter().map(|(key, pruned)| {
            let whose = if *key == present { String::new() } else { format!(", of the former key {key}") };
            format!("removed: {} receipts, up to {}{whose}", pruned.receipts, pruned.last.seq)
        });
        out::document(lines.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(End::Done)
}

fn not_kept(error: KeepError) -> anyhow::Error {
    match error {
        KeepError::Store(store) => store.into(),
        KeepError::NotSound => {
            let hint = "`pinhole receipts verify` says which; nothing was changed";
            Failure::new(End::Failed, error.to_string(), hint).into()
        }
        KeepError::Checkpoint(_) => {
            Failure::new(End::Local, error.to_string(), "look at the bot's key: `pinhole doctor`").into()
        }
        KeepError::File { ref source, .. } => {
            let message = format!("{error}: {source}");
            Failure::new(End::Local, message, "look at the disk and at the rights of the folder").into()
        }
    }
}
