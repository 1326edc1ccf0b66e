//! The receipts behind the last checkpoint: whether they are as they were written and follow one another.
//!
//! What was signed before is `pinhole receipts verify`'s to look at: this stays cheap, however long the chain is.

use pinhole_grant::PublicKey;
use pinhole_runtime::receipts::{Checkpoint, Head};
use pinhole_runtime::store::{Desk, StoreError};

use super::database::Database;
use super::finding::Findings;
use super::keys::{Bot, Keys};

/// How many are looked at: more than stand behind a checkpoint by default.
const LOOKED_MAX: usize = 10_000;
const VERIFY: &str = "`pinhole receipts verify` says which";

/// How the end of a chain is.
enum Tail {
    /// This many, and as they were written.
    Sound(usize),
    /// The bot did not sign the last checkpoint.
    False(u64),
    /// From this number on.
    Broken(u64),
}

pub(super) fn look(keys: &Keys, database: &Database, findings: &mut Findings) {
    let (Some(desk), Bot::There(bot)) = (database.desk(), &keys.bot) else { return };
    for (place, key) in bot.publics().iter().enumerate() {
        let about = if place == 0 { "receipts" } else { "receipts of a former key" };
        let none = if bot.former().is_empty() { "none yet" } else { "none yet under the present key" };
        match tail(&*desk, key) {
            Ok(Tail::Sound(0)) if place > 0 => {}
            Ok(Tail::Sound(0)) => findings.ok(about, none),
            Ok(Tail::Sound(count)) => {
                findings.ok(about, format!("the last {count} are as they were written"));
            }
            Ok(Tail::False(seq)) => {
                findings.wrong(about, format!("the checkpoint at {seq} is none of the bot's"), VERIFY);
            }
            Ok(Tail::Broken(seq)) => {
                let found = format!("from {seq} on they are not as they were written, or some are missing");
                findings.wrong(about, found, VERIFY);
            }
            Err(error) => findings.store(about, error),
        }
    }
}

fn tail(desk: &dyn Desk, bot: &PublicKey) -> Result<Tail, StoreError> {
    let mut before: Option<Head> = None;
    if let Some(row) = desk.checkpoints(bot.id())?.pop() {
        match Checkpoint::read(&row.envelope, bot) {
            Ok(checkpoint) if checkpoint.head().seq == row.seq => before = Some(checkpoint.head()),
            _ => return Ok(Tail::False(row.seq)),
        }
    }
    let signed = before;
    let from = signed.map_or(1, |head| head.seq);
    let rows = desk.receipts_from(bot.id(), from, LOOKED_MAX)?;
    if let Some(head) = signed.filter(|_head| rows.is_empty()) {
        return Ok(Tail::Broken(head.seq));
    }
    for row in &rows {
        let Some(receipt) = row.receipt() else { return Ok(Tail::Broken(row.seq)) };
        let follows = match before {
            // The first of all, or the one that was signed.
            None => receipt.seq() == 1 && receipt.prev().is_none(),
            Some(head) if Some(head) == signed && head.seq == receipt.seq() => head.hash == receipt.hash(),
            Some(head) => receipt.prev() == Some(head.hash) && head.seq.checked_add(1) == Some(receipt.seq()),
        };
        if !follows {
            return Ok(Tail::Broken(row.seq));
        }
        before = Some(Head { seq: receipt.seq(), hash: receipt.hash() });
    }
    Ok(Tail::Sound(rows.len()))
}
