//! What must outlive a process: which uses of a grant are spent, which grants are revoked, how late it has been.
//!
//! INVARIANT: `spend` has returned `Ok` at most as often as the grant has uses, over all processes and all crashes, and
//! what it returned is on the disk before it returns. DESIGN, "The way of a call": "use spent, durably".

mod connections;
mod fault;
mod grants;
mod kept;
mod locks;
mod memory;
mod postgres;
mod questions;
mod receipts;
mod renewals;
mod returned;
mod sqlite;
mod tokens;
mod unreadable;
mod words;

use std::num::NonZeroU32;

pub use connections::{ConnectionError, ConnectionRow, Connections};
pub use fault::{Cause, StoreError, Table};
pub use grants::{GrantError, GrantFilter, GrantRow, Grants, Removal};
use kept::Forgetting;
pub use kept::{Again, Claim, Claiming, Fate, KEPT_MAX, KEPT_SECS, Kept};
pub use locks::{Held, LockError, LockName, Locks};
pub use memory::MemoryStore;
use pinhole_grant::{CredentialId, GrantId, UnixTime};
pub use postgres::{AddressError, PostgresAddress, PostgresStore, ServerError};
pub use questions::{
    Answer, AnswerError, NewQuestion, Party, QUESTION_TEXT_BYTES_MAX, QUESTIONS_KEPT, QUESTIONS_PENDING_MAX,
    Question, QuestionId, QuestionIdError, QuestionState, Questions, RaiseError, TakeError, Taken,
};
pub use receipts::{Appended, CheckpointRow, Marked, ReceiptFilter, Receipts, Settled, Use};
pub use renewals::{Carried, Line, LineError, LineState, Lines, NextPair, Renewals, TRIES_MAX};
pub use returned::{ReturnedRow, Returns};
pub use sqlite::{BackupError, DATABASE, LOCK_WAIT, SqliteStore};
pub use tokens::{EmptyScope, TokenError, TokenRow, TokenScope, TokenState, Tokens};
pub use unreadable::Unreadable;

/// The durable state of a host. Calls block for as long as the disk takes.
pub trait Store: Kept + Lines + Receipts {
    /// Spends one use of a grant that has `allowed` in all. `Ok` means that this caller, and nobody else, has it.
    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError>;

    /// Whether a use is left of a grant that has `allowed` in all. Proves nothing: only `spend` gives a use away.
    fn has_use_left(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError>;

    /// Revokes a grant for good. Revoking twice is no error.
    fn revoke(&self, grant: &GrantId) -> Result<(), StoreError>;

    /// Whether the grant was revoked.
    fn is_revoked(&self, grant: &GrantId) -> Result<bool, StoreError>;

    /// Whether the connection has ended, and every grant of it with it, whoever holds one.
    fn has_ended(&self, connection: &CredentialId) -> Result<bool, StoreError>;

    /// The latest time that any caller has seen: `now`, or a later one if the clock was set back since.
    fn high_water(&self, now: UnixTime) -> Result<UnixTime, StoreError>;
}

/// All that is durable on a host.
pub trait Desk: Store + Connections + Grants + Questions + Returns + Tokens + Unreadable {}

impl<T: Store + Connections + Grants + Questions + Returns + Tokens + Unreadable> Desk for T {}

/// Why a use could not be spent.
#[derive(Debug, thiserror::Error)]
pub enum SpendError {
    /// All uses are spent.
    #[error("every use of this grant is spent")]
    UsedUp,
    /// The store failed; whether the use is spent is then unknown, and nothing may be sent.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests;
