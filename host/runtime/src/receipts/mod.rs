//! Receipts: one record a run, each bound to the one before it, and signed at times by the bot's key.
//!
//! Pure: what a receipt says, how it is chained, what a checkpoint vouches for, and what is wrong with a chain. Nothing here
//! reads a store, a file or the time. A receipt has no secret, no body and no value of a result; args only where the
//! operator says so.
//!
//! INVARIANT: what is hashed is what is stored: the compact JSON of a receipt in the one order of its members that
//! [`Receipt`] writes, never written again. A receipt names the hash of the one before it, and a checkpoint the hash of
//! the last. DESIGN, "Words": receipt.

mod chain;
mod checkpoint;
mod facts;
mod ids;
mod settings;
mod verify;

pub use chain::{Head, NotAReceipt, Receipt};
pub use checkpoint::{CHECKPOINT_LINE_MAX, Checkpoint, CheckpointError, Covers};
pub use facts::{ARGS_BYTES_MAX, FIELDS_MAX, Facts, INTERRUPTED, OK, REQUESTS_MAX, RequestMade, Unended};
pub use ids::{MarkError, NoteId, ProcessId, ReceiptId, ReceiptIdError};
pub use settings::{ArgsKept, CheckpointEvery, ReceiptSettings};
pub use verify::{Finding, Stored, Verdict, Verifier};

/// Leaves a run's note before it sends anything; the receipt takes it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Which.
    pub id: NoteId,
    /// Whose run it is: while this process is there, the run may yet end.
    pub process: ProcessId,
    /// What is known of the run before anything is sent: the receipt that it gets where it never ends.
    pub facts: Facts,
}

#[cfg(test)]
mod tests;
