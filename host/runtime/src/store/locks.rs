//! Locks on things that are no rows: who renews a pair of tokens, say.
//!
//! INVARIANT: of all processes on one store at most one holds a name at a time, and a name is free again when its holder
//! drops it or dies. Nothing is written down: what was half done under a lock its next holder has to find out.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::StoreError;

/// What is locked. Names of different rooms, or made of different parts, are different.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockName([u8; 32]);

impl LockName {
    /// The name of what these parts say in this room.
    pub fn new(room: &'static str, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in std::iter::once(&room).chain(parts) {
            // With its length before it: no two lists of parts run into the same text.
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// SHA-256 of the room and the parts: 32 bytes.
    pub fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for LockName {
    /// The digest in lower-case hexadecimal: 64 characters, a file's name anywhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockName({self})")
    }
}

/// A lock that is held. It ends when this is dropped, on any thread, and with the process.
#[must_use = "the lock ends when this is dropped"]
pub struct Held(#[expect(dead_code, reason = "its drop is what ends the lock")] Box<dyn Send + Sync>);

impl Held {
    /// A lock that ends when `guard` is dropped, which must not block.
    pub(super) fn until_dropped(guard: impl Send + Sync + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

/// Why a lock is not held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else held it all the while.
    #[error("somebody else has held this for more than {} ms", .waited.as_millis())]
    Busy {
        /// How long was waited.
        waited: Duration,
    },
    /// The store failed; nothing is held.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The locks of a store. Calls block.
pub trait Locks: Send + Sync {
    /// Takes a lock, waiting for it no longer than about `patience`. It is not reentrant: a name that this process holds
    /// already is [`LockError::Busy`] like any other.
    fn hold(&self, what: &LockName, patience: Duration) -> Result<Held, LockError>;
}

/// The names that are held on a store in memory, which no other process sees.
#[derive(Debug, Default)]
pub(super) struct InMemory {
    held: Mutex<HashSet<LockName>>,
    freed: Condvar,
}

impl InMemory {
    /// As [`Locks::hold`].
    pub(super) fn hold(self: &Arc<Self>, what: &LockName, patience: Duration) -> Result<Held, LockError> {
        let wait = self.freed.wait_timeout_while(self.names(), patience, |held| held.contains(what));
        let (mut held, _timed_out) = wait.unwrap_or_else(PoisonError::into_inner);
        if held.insert(what.clone()) {
            Ok(Held::until_dropped(Name(Arc::clone(self), what.clone())))
        } else {
            Err(LockError::Busy { waited: patience })
        }
    }

    /// Each change of the set is one step, so what a thread left behind when it panicked is whole.
    fn names(&self) -> MutexGuard<'_, HashSet<LockName>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name in memory, until it is dropped.
struct Name(Arc<InMemory>, LockName);

impl Drop for Name {
    fn drop(&mut self) {
        self.0.names().remove(&self.1);
        self.0.freed.notify_all();
    }
}
