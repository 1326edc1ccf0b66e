//! The key of a bot and those that it had before: a bot whose key changes stays the same bot.
//!
//! What was sealed to a former key opens until that key's end, which the change sets, and not a second longer. What a bot's
//! host finds again by a digest (pairs, writes under a caller's key) is found by the oldest key, so that a token pair is the
//! same one whatever key its grant was sealed to, also to a process that was started before the change.
//! INVARIANT: former keys stand in the order in which they were given up, each once, and none is the present one.

use std::collections::BTreeSet;

use crate::grant::{self, InspectError, Inspection, OpenError, OpenedGrant};
use crate::keys::{KeyId, KeyKind, PublicKey, SecretKey};
use crate::seal;
use crate::time::UnixTime;

/// Most former keys of a bot.
pub const FORMER_KEYS_MAX: usize = 64;
/// The end of a key that ended at once. No clock is ever before it, be it set back or on another host.
pub const ENDED: UnixTime = UnixTime::from_secs(0);

/// A bot's key, and those that it had before.
#[derive(Debug)]
pub struct Ring {
    current: SecretKey,
    former: Vec<Former>,
}

/// A key that a bot has given up.
#[derive(Debug)]
pub struct Former {
    key: SecretKey,
    until: UnixTime,
}

/// Why a bot's keys were not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// One of the keys is not a bot's.
    #[error("only a bot's key is changed for another: this is not one")]
    NotABot,
    /// The new key is one that the bot has or had.
    #[error("the bot has, or had, this very key")]
    Known,
    /// It had [`FORMER_KEYS_MAX`] keys before.
    #[error("the bot has had {FORMER_KEYS_MAX} keys before, which is the most that are kept")]
    Full,
    /// It is none of the keys that the bot has given up.
    #[error("this is no former key of the bot")]
    NotFormer,
}

impl Former {
    pub(super) fn new(key: SecretKey, until: UnixTime) -> Self {
        Self { key, until }
    }

    /// The key.
    pub fn key(&self) -> &SecretKey {
        &self.key
    }

    /// From when on nothing that was sealed to it opens.
    pub fn until(&self) -> UnixTime {
        self.until
    }

    /// Whether what was sealed to it still opens.
    pub fn is_open(&self, now: UnixTime) -> bool {
        now < self.until
    }
}

impl From<SecretKey> for Ring {
    /// A bot that never had another key.
    fn from(key: SecretKey) -> Self {
        Self { current: key, former: Vec::new() }
    }
}

impl Ring {
    /// `former` are those that it gave up, the oldest first.
    pub(super) fn from_parts(current: SecretKey, former: Vec<Former>) -> Result<Self, RingError> {
        if former.len() > FORMER_KEYS_MAX {
            return Err(RingError::Full);
        }
        let ring = Self { current, former };
        let mut ids = BTreeSet::new();
        for key in ring.all() {
            if key.public().kind() != KeyKind::Bot && !ring.former.is_empty() {
                return Err(RingError::NotABot);
            }
            if !ids.insert(key.public().id()) {
                return Err(RingError::Known);
            }
        }
        Ok(ring)
    }

    /// The same bot under a new key. What was sealed to the present one opens until `until`, or [`ENDED`].
    pub fn rotated(self, next: SecretKey, until: UnixTime) -> Result<Self, RingError> {
        let Self { current, mut former } = self;
        former.push(Former { key: current, until });
        Self::from_parts(next, former)
    }

    /// Ends a former key at once and for good. Whether that changes anything.
    pub fn end(&mut self, id: KeyId) -> Result<bool, RingError> {
        let mut former = self.former.iter_mut();
        let former = former.find(|former| former.key.public().id() == id).ok_or(RingError::NotFormer)?;
        let changes = former.until != ENDED;
        former.until = ENDED;
        Ok(changes)
    }

    /// The present key.
    pub fn current(&self) -> &SecretKey {
        &self.current
    }

    /// The public half of the present key.
    pub fn public(&self) -> &PublicKey {
        self.current.public()
    }

    /// Those that it gave up, the oldest first.
    pub fn former(&self) -> &[Former] {
        &self.former
    }

    /// The public halves of all its keys, the present one first, then the one before it.
    pub fn publics(&self) -> Vec<PublicKey> {
        self.all().rev().map(|key| key.public().clone()).collect()
    }

    /// All its keys, the oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &SecretKey> {
        self.former.iter().map(|former| &former.key).chain(std::iter::once(&self.current))
    }

    /// The key that its digests are made with, whatever its present one is: its oldest.
    pub fn root(&self) -> &SecretKey {
        self.former.first().map_or(&self.current, |former| &former.key)
    }

    /// The key for what all processes of the bot are to read, also those that were started before the last change: the oldest
    /// that has not ended.
    pub fn shared(&self, now: UnixTime) -> &SecretKey {
        self.former.iter().find(|former| former.is_open(now)).map_or(&self.current, |former| &former.key)
    }

    /// The key of this id, whether it has ended or not.
    pub fn key(&self, id: KeyId) -> Option<&SecretKey> {
        self.all().find(|key| key.public().id() == id)
    }

    /// Whether the key of this id is one that it gave up and that has ended.
    pub fn has_ended(&self, id: KeyId, now: UnixTime) -> bool {
        self.former.iter().any(|former| former.key.public().id() == id && !former.is_open(now))
    }

    /// The key that an envelope is addressed to, whether it has ended or not; the present one where it is addressed to none
    /// of them, or is no envelope: whoever opens it with that is told why not.
    pub fn addressed(&self, envelope: &[u8]) -> &SecretKey {
        let to = seal::addressee(envelope).ok().and_then(|(_kind, to)| self.key(to));
        to.unwrap_or(&self.current)
    }

    /// Opens a grant, as [`crate::open`] does, with the key that it was sealed to, where that has not ended.
    pub fn open(
        &self,
        envelope: &[u8],
        issuers: &[PublicKey],
        now: UnixTime,
    ) -> Result<OpenedGrant, OpenError> {
        let key = self.addressed(envelope);
        if self.has_ended(key.public().id(), now) {
            return Err(OpenError::KeyEnded);
        }
        grant::open(envelope, key, issuers, now)
    }

    /// Shows a grant, as [`crate::inspect`] does, with the key that it was sealed to, whether that has ended or not.
    pub fn inspect(&self, envelope: &[u8], issuers: &[PublicKey]) -> Result<Inspection, InspectError> {
        grant::inspect(envelope, self.addressed(envelope), issuers)
    }
}
