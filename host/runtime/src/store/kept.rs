//! Writes that carried their caller's key: what became of each, so that the same one is not carried out twice.
//!
//! ```text
//! (nothing) ─► begun ─► done       the outcome is kept, sealed
//!     ▲          ├────► unknown    it may have been carried out, and nobody knows
//!     └──────────┴─ it was not sent: forgotten
//! ```
//! What was begun and never ended, since its process was killed, is unknown once its time is over. INVARIANT: of all calls with
//! one key, over all processes and crashes, at most one is told [`Claim::Mine`] while it may be under way, and none after one
//! that may have been carried out, unless its service knows a repeated write. DESIGN, "The way of a call".

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pinhole_grant::{KeyId, KeyedDigest, UnixTime};

use super::StoreError;

/// How long an outcome is kept, in seconds: a day.
pub const KEPT_SECS: i64 = 24 * 60 * 60;
/// So many of the newest calls of one bot for one member are kept; outcomes of those that began before them are forgotten, at the
/// latest after some sixty further writes of a process.
pub const KEPT_MAX: u32 = 10_000;

/// How often what is over is looked for among everybody's, in seconds.
const ALL_EVERY_SECS: i64 = 60 * 60;
/// At which of its claims a process looks for outcomes beyond [`KEPT_MAX`]: the first, and then every so many.
const MOST_EVERY: u64 = 64;

/// A write that is about to begin under its caller's key.
#[derive(Debug, Clone, Copy)]
pub struct Claiming {
    /// Whose key, and which.
    pub id: KeyedDigest,
    /// What is asked for under it: service, op and args.
    pub act: KeyedDigest,
    /// Whose grant it is.
    pub member: KeyId,
    /// The bot that runs it.
    pub bot: KeyId,
    /// The high-water time.
    pub now: UnixTime,
    /// When it is over, however it ends.
    pub over_by: UnixTime,
    /// Whether it may go out again where nobody knows what became of it.
    pub again: Again,
}

/// Whether a write may go out again where nobody knows what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Its service knows a repeated one by a header.
    Known,
    /// It might be done twice.
    Blind,
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nothing is under way: this caller, and nobody else, carries it out, and says what became of it.
    Mine,
    /// It is done: the sealed outcome.
    Done(Vec<u8>),
    /// Another call is carrying it out, until then at most.
    UnderWay(UnixTime),
    /// It may have been carried out, and nobody knows.
    Unknown,
    /// The key was used for something else.
    Conflict,
}

/// What became of a write.
#[derive(Debug, Clone, Copy)]
pub enum Fate<'a> {
    /// Nothing of it left.
    NotSent,
    /// It may have been carried out.
    Unknown,
    /// It was answered: the sealed outcome.
    Done(&'a [u8]),
}

/// When a process looks for what may be forgotten. What it takes grows with what is kept, so no write pays for all of it.
#[derive(Debug, Default)]
pub(super) struct Forgetting {
    all: Mutex<Option<UnixTime>>,
    claims: AtomicU64,
}

impl Forgetting {
    /// Whether what is over is now looked for among everybody's, and not only among those of who claims.
    pub(super) fn of_all(&self, now: UnixTime) -> bool {
        let mut last = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back makes it due too.
        let passed = last.and_then(|last| now.secs_since(last));
        let due = passed.is_none_or(|passed| !(0..ALL_EVERY_SECS).contains(&passed));
        if due {
            *last = Some(now);
        }
        due
    }

    /// Whether outcomes beyond [`KEPT_MAX`] are now looked for.
    pub(super) fn beyond_most(&self) -> bool {
        self.claims.fetch_add(1, Ordering::Relaxed).is_multiple_of(MOST_EVERY)
    }
}

/// Writes under their callers' keys. Calls block for as long as the disk takes; each change is on it before they return.
pub trait Kept: Send + Sync {
    /// Begins a write, unless something is known of its key.
    fn claim(&self, claiming: &Claiming) -> Result<Claim, StoreError>;

    /// What [`Kept::claim`] would say but for [`Claim::Mine`]; begins nothing.
    fn kept(&self, claiming: &Claiming) -> Result<Option<Claim>, StoreError>;

    /// Says what became of a write that was begun.
    fn ended(&self, id: KeyedDigest, fate: Fate<'_>) -> Result<(), StoreError>;
}
