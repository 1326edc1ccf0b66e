//! The keys of a role, how many of them must sign, and what a signature is worth to them.
//!
//! Refuses seats that nobody could fill. INVARIANT: a key has one seat, and signs once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::num::NonZeroU64;

use tough::schema::{RoleKeys, Signature};

use crate::RoleName;
use crate::keys::{KeyId, PublicKey, tuf_text};

/// Most keys of one role.
pub const SEATS_MAX: usize = 32;

/// The keys of one role, and how many of them must sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seats {
    pub(super) keys: BTreeMap<KeyId, PublicKey>,
    pub(super) threshold: u64,
}

/// Why keys and a threshold do not make a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeatsError {
    /// Nobody.
    #[error("a role needs a key: pass at least one")]
    Nobody,
    /// More than [`SEATS_MAX`].
    #[error("a role has at most {SEATS_MAX} keys: pass fewer")]
    Crowd,
    /// One key twice: it would sign once.
    #[error("the key `{0}` is there twice: pass it once")]
    Twice(KeyId),
    /// More signatures are asked for than there are keys, or none.
    #[error("a threshold of {threshold} cannot be met with {keys} keys: choose one from 1 to {keys}")]
    Threshold {
        /// What was asked for.
        threshold: u64,
        /// How many keys there are.
        keys: usize,
    },
}

impl Seats {
    /// These keys, of which `threshold` must sign.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>, threshold: u64) -> Result<Self, SeatsError> {
        let mut seated = BTreeMap::new();
        for key in keys {
            let id = key.id();
            if seated.insert(id, key).is_some() {
                return Err(SeatsError::Twice(id));
            }
        }
        match seated.len() {
            0 => Err(SeatsError::Nobody),
            count if count > SEATS_MAX => Err(SeatsError::Crowd),
            count if !(1..=wide(count)).contains(&threshold) => {
                Err(SeatsError::Threshold { threshold, keys: count })
            }
            _ => Ok(Self { keys: seated, threshold }),
        }
    }

    /// One key that signs alone.
    pub fn one(key: PublicKey) -> Self {
        Self { keys: BTreeMap::from([(key.id(), key)]), threshold: 1 }
    }

    /// The keys, in the order of their ids.
    pub fn keys(&self) -> impl Iterator<Item = &PublicKey> {
        self.keys.values()
    }

    /// How many must sign.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    pub(super) fn to_tuf(&self) -> RoleKeys {
        RoleKeys {
            keyids: self.keys.keys().map(|id| id.to_tuf()).collect(),
            // INVARIANT: from `new`, at least 1.
            threshold: NonZeroU64::new(self.threshold).unwrap_or(NonZeroU64::MIN),
            _extra: HashMap::new(),
        }
    }
}

/// A count as TUF has it.
pub(super) fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// What a signature is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// It counts.
    Counts(KeyId),
    /// It is of one of the role's keys and does not verify.
    Bad(KeyId),
    /// Its key has signed already.
    Again(KeyId),
    /// Its key is none of the role's.
    Foreign,
}

impl Seats {
    /// What each signature under these bytes is worth, in their order.
    pub(super) fn weigh(&self, message: &[u8], signatures: &[Signature]) -> Vec<Worth> {
        let mut seen = BTreeSet::new();
        let weigh = |signature: &Signature| {
            let id = KeyId::from_tuf(&signature.keyid);
            let Some((id, key)) = id.and_then(|id| Some((id, self.keys.get(&id)?))) else {
                return Worth::Foreign;
            };
            // Capitals would be a second form of the same signature.
            let plain = tuf_text(&signature.sig).is_some_and(|text| text == text.to_ascii_lowercase());
            if !plain || !key.verifies(message, &signature.sig) {
                return Worth::Bad(id);
            }
            if seen.insert(id) { Worth::Counts(id) } else { Worth::Again(id) }
        };
        signatures.iter().map(weigh).collect()
    }

    /// How far a file is signed.
    pub(super) fn standing(
        &self,
        role: RoleName,
        root: u64,
        message: &[u8],
        signatures: &[Signature],
    ) -> Standing {
        let counts = |worth: &Worth| match worth {
            Worth::Counts(id) => Some(*id),
            _ => None,
        };
        let signed: BTreeSet<KeyId> = self.weigh(message, signatures).iter().filter_map(counts).collect();
        let missing = self.keys.keys().filter(|id| !signed.contains(id)).copied().collect();
        Standing { role, root, threshold: self.threshold, signed: signed.into_iter().collect(), missing }
    }
}

/// How far a file is signed, under one root.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// Which file.
    pub role: RoleName,
    /// The version of the root that says whose signatures count.
    pub root: u64,
    /// How many signatures it takes.
    pub threshold: u64,
    /// Whose count.
    pub signed: Vec<KeyId>,
    /// Who has not signed.
    pub missing: Vec<KeyId>,
}

impl Standing {
    /// How many signatures are still wanted.
    pub fn wanted(&self) -> u64 {
        self.threshold.saturating_sub(wide(self.signed.len()))
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, root, threshold, signed, missing } = self;
        write!(f, "{role} has {} of {threshold} signatures of root {root}", signed.len())?;
        if self.wanted() == 0 {
            return Ok(());
        }
        write!(f, "; {} more of", self.wanted())?;
        missing.iter().try_for_each(|id| write!(f, " {id}"))
    }
}
