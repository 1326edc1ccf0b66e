//! The receipts of the bots that run here, the notes of runs that have begun, and the checkpoints of the chains.
//!
//! INVARIANT: of one bot no two receipts have the same number, over all processes: to look for the last one and to put the
//! next one behind it is one step. A use that is spent, and the note of the run that spends it, are one step; so are a
//! receipt, and the end of its run's note. DESIGN, "Words": receipt.

use std::num::NonZeroU32;

use pinhole_grant::{CredentialId, GrantId, KeyId, UnixTime};
use pinhole_manifest::{OpId, ServiceId};

use super::{SpendError, StoreError};
use crate::receipts::{Covers, Facts, Head, Note, NoteId, ReceiptId, Stored};

/// Whether a change waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It is on the disk before the call returns.
    Durably,
    /// A power cut may undo it; the next durable change makes it durable too.
    Lightly,
}

/// A use of a grant that is to be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The grant.
    pub grant: GrantId,
    /// How many it has in all.
    pub allowed: NonZeroU32,
}

/// A receipt that was put behind its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Its id.
    pub id: ReceiptId,
    /// It as the end of the chain.
    pub head: Head,
    /// The last checkpoint of the chain, if it has any.
    pub checkpoint: Option<Marked>,
}

/// Where and when a chain was signed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked {
    /// The number of the receipt.
    pub seq: u64,
    /// By the machine's clock.
    pub at: UnixTime,
}

/// A checkpoint as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Whose chain.
    pub bot: KeyId,
    /// The receipt that it stands at.
    pub seq: u64,
    /// When it was made.
    pub at: UnixTime,
    /// What it says that it vouches for.
    pub covers: Covers,
    /// The signed envelope.
    pub envelope: Vec<u8>,
}

/// Which receipts are looked for. Unset means any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceiptFilter {
    /// Of this service.
    pub service: Option<ServiceId>,
    /// Of this op.
    pub op: Option<OpId>,
    /// Of this connection.
    pub connection: Option<CredentialId>,
    /// With this code.
    pub code: Option<String>,
    /// From this time on.
    pub since: Option<UnixTime>,
    /// Before this time.
    pub until: Option<UnixTime>,
}

/// The receipts of a host. Calls block for as long as the disk takes; each change is whole or not there.
pub trait Receipts: Send + Sync {
    /// Notes that a run is about to send something. Where it takes a use of its grant, the use is spent in the same step, and
    /// durably whatever `settled` says.
    fn begin(&self, note: &Note, spends: Option<Use>, settled: Settled) -> Result<(), SpendError>;

    /// Puts a receipt behind its bot's chain, and ends the run's note, if it left one.
    fn append(&self, facts: &Facts, note: Option<NoteId>, settled: Settled) -> Result<Appended, StoreError>;

    /// The same for a note whose run will never end, durably: `None` where the note is gone, since somebody has done so or the
    /// run has ended after all.
    fn append_unended(&self, facts: &Facts, note: NoteId) -> Result<Option<Appended>, StoreError>;

    /// The notes of a bot's runs that have not ended, at most `most`, the oldest first.
    fn notes(&self, bot: KeyId, most: usize) -> Result<Vec<Note>, StoreError>;

    /// Keeps a checkpoint, durably, and with it all that came before it. One of the same number and kind stays as it is.
    fn keep_checkpoint(&self, row: &CheckpointRow) -> Result<(), StoreError>;

    /// The checkpoints of a bot's chain, by number.
    fn checkpoints(&self, bot: KeyId) -> Result<Vec<CheckpointRow>, StoreError>;

    /// The receipts of a bot from a number on, by number, at most `most`. Rows as they are: whether they are what was put there
    /// is for [`crate::receipts::Verifier`] to say.
    fn receipts_from(&self, bot: KeyId, seq: u64, most: usize) -> Result<Vec<Stored>, StoreError>;

    /// The last receipts of a bot that the filter lets through, by the columns that they have; the newest first, at most
    /// `most`.
    fn last_receipts(
        &self,
        bot: KeyId,
        filter: &ReceiptFilter,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Forgets the receipts of a bot up to a number, but never the last one, and keeps the checkpoint that says so; durably, in
    /// one step. How many were forgotten.
    fn prune_receipts(&self, anchor: &CheckpointRow) -> Result<u64, StoreError>;
}

impl ReceiptFilter {
    /// Whether it lets a receipt through that says this.
    pub fn lets_through(&self, facts: &Facts) -> bool {
        self.service.as_ref().is_none_or(|service| *service == facts.service)
            && self.op.as_ref().is_none_or(|op| *op == facts.op)
            && self.connection.is_none_or(|connection| facts.connection == Some(connection))
            && self.code.as_ref().is_none_or(|code| *code == facts.code)
            && self.since.is_none_or(|since| facts.at >= since)
            && self.until.is_none_or(|until| facts.at < until)
    }
}
