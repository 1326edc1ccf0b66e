//! The work that goes over a bot's chain: signing where it stands, looking whether it is sound, removing what is old.

use std::io;
use std::path::PathBuf;

use pinhole_grant::{PublicKey, SecretKey, UnixTime};

use super::file::CheckpointFile;
use crate::receipts::{Checkpoint, CheckpointError, Covers, Head, Verdict, Verifier};
use crate::store::{CheckpointRow, ReceiptFilter, Receipts, StoreError};

/// How many receipts are read at once.
const AT_ONCE: usize = 500;

/// Why receipts could not be kept or looked at.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The checkpoint could not be made.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A file of checkpoints could not be read or written.
    #[error("the file of checkpoints `{}`", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A receipt is not what was written, so that nothing is removed.
    #[error("the receipts are not as they were written")]
    NotSound,
}

/// Signs where the bot's chain stands, and keeps that in the store, then in the file. `None` where there is no receipt.
pub fn checkpoint(
    store: &(impl Receipts + ?Sized),
    bot: &SecretKey,
    now: UnixTime,
    file: Option<&CheckpointFile>,
) -> Result<Option<Head>, KeepError> {
    let last = store.last_receipts(bot.public().id(), &ReceiptFilter::default(), 1)?;
    let Some(last) = last.first() else { return Ok(None) };
    let head = last.receipt().ok_or(KeepError::NotSound)?.head();
    sign_at(store, bot, head, now, file)?;
    Ok(Some(head))
}

/// The same where it is known where the chain stands.
pub(crate) fn sign_at(
    store: &(impl Receipts + ?Sized),
    bot: &SecretKey,
    head: Head,
    now: UnixTime,
    file: Option<&CheckpointFile>,
) -> Result<(), KeepError> {
    let envelope = Checkpoint::sign(head, Covers::Head, now, bot)?;
    let row =
        CheckpointRow { bot: bot.public().id(), seq: head.seq, at: now, covers: Covers::Head, envelope };
    store.keep_checkpoint(&row)?;
    into_file(file, &row.envelope)
}

fn into_file(file: Option<&CheckpointFile>, envelope: &[u8]) -> Result<(), KeepError> {
    let Some(file) = file else { return Ok(()) };
    file.append(envelope).map_err(|source| KeepError::File { path: file.path().to_owned(), source })
}

/// Looks at the whole chain of a bot, with the checkpoints of the store and of these files.
pub fn verify(
    store: &(impl Receipts + ?Sized),
    bot: &PublicKey,
    files: &[CheckpointFile],
) -> Result<Verdict, KeepError> {
    let (mut known, mut falsehoods) = (Vec::new(), Vec::new());
    for row in store.checkpoints(bot.id())? {
        match Checkpoint::read(&row.envelope, bot) {
            Ok(checkpoint) if checkpoint.head().seq == row.seq && checkpoint.covers() == row.covers => {
                known.push(checkpoint);
            }
            _ => falsehoods.push(format!("the store's checkpoint at {}", row.seq)),
        }
    }
    for file in files {
        let failed = |source| KeepError::File { path: file.path().to_owned(), source };
        for (at, line) in file.lines().map_err(failed)?.enumerate() {
            match Checkpoint::read(&line.map_err(failed)?, bot) {
                Ok(checkpoint) => known.push(checkpoint),
                // One home may have had several keys.
                Err(CheckpointError::NotOne) => {}
                Err(_not_signed) => {
                    falsehoods.push(format!("line {} of {}", at.saturating_add(1), file.path().display()));
                }
            }
        }
    }
    let mut verifier = Verifier::new(bot.id(), known);
    for place in falsehoods {
        verifier.false_checkpoint(place);
    }
    let mut from = 0;
    loop {
        let rows = store.receipts_from(bot.id(), from, AT_ONCE)?;
        for row in &rows {
            verifier.row(row);
        }
        match rows.last() {
            Some(last) if rows.len() == AT_ONCE => from = last.seq.saturating_add(1),
            _ => return Ok(verifier.finish()),
        }
    }
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    /// How many receipts.
    pub receipts: u64,
    /// The last of them.
    pub last: Head,
}

/// Removes the receipts of runs that began before a time, but never the last one, and signs that. Refuses where the chain is
/// not sound. `None` where there is nothing to remove.
pub fn prune(
    store: &(impl Receipts + ?Sized),
    bot: &SecretKey,
    before: UnixTime,
    now: UnixTime,
    file: Option<&CheckpointFile>,
) -> Result<Option<Pruned>, KeepError> {
    let id = bot.public().id();
    let files: Vec<CheckpointFile> = file.cloned().into_iter().collect();
    if !verify(store, bot.public(), &files)?.is_sound() {
        return Err(KeepError::NotSound);
    }
    let Some(last) = last_before(store, id, before)? else { return Ok(None) };
    let envelope = Checkpoint::sign(last, Covers::Pruned, now, bot)?;
    let row = CheckpointRow { bot: id, seq: last.seq, at: now, covers: Covers::Pruned, envelope };
    // First in the file: without the word for it, what is gone would look cut off.
    into_file(file, &row.envelope)?;
    let receipts = store.prune_receipts(&row)?;
    Ok(Some(Pruned { receipts, last }))
}

/// The last of the receipts at the beginning that are all older; never the last of the chain.
fn last_before(
    store: &(impl Receipts + ?Sized),
    bot: pinhole_grant::KeyId,
    before: UnixTime,
) -> Result<Option<Head>, KeepError> {
    let (mut from, mut found, mut latest) = (0, None, None);
    loop {
        let rows = store.receipts_from(bot, from, AT_ONCE)?;
        for row in &rows {
            let receipt = row.receipt().ok_or(KeepError::NotSound)?;
            found = latest.or(found);
            if receipt.facts().at >= before {
                return Ok(found);
            }
            latest = Some(receipt.head());
        }
        match rows.last() {
            Some(last) if rows.len() == AT_ONCE => from = last.seq.saturating_add(1),
            _ => return Ok(found),
        }
    }
}
