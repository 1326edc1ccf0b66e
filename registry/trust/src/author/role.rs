//! The four roles of a registry, and who sits in them.
//!
//! Refuses seats that nobody could fill. INVARIANT: a [`Quorum`] has as many distinct Ed25519 public keys as it has ids, and
//! no more are asked for than there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::num::NonZeroU64;

use tough::schema::{RoleKeys, RoleType, Root, Signature};

use crate::keys::{KeyId, PublicKey, PublicKeyError, tuf_text};

/// Most keys of one role.
pub const SEATS_MAX: usize = 32;

/// A role of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleName {
    /// Says who signs what. Its keys are kept offline.
    Root,
    /// Says which manifests and modules there are. Maintainers sign it.
    Targets,
    /// Says which version of the targets is the current one.
    Snapshot,
    /// Says, often anew, which snapshot is the current one.
    Timestamp,
}

impl RoleName {
    /// All of them, in TUF's order.
    pub const ALL: [Self; 4] = [Self::Root, Self::Targets, Self::Snapshot, Self::Timestamp];

    /// Its name in metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Targets => "targets",
            Self::Snapshot => "snapshot",
            Self::Timestamp => "timestamp",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    pub(crate) fn to_tuf(self) -> RoleType {
        match self {
            Self::Root => RoleType::Root,
            Self::Targets => RoleType::Targets,
            Self::Snapshot => RoleType::Snapshot,
            Self::Timestamp => RoleType::Timestamp,
        }
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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

/// What is wrong with a root's word on a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootFault {
    /// It does not say who signs a role.
    #[error("the root names no keys for {0}")]
    NoRole(RoleName),
    /// A role has a member that none has.
    #[error("the root has more to say of {0} than keys and a threshold")]
    Members(RoleName),
    /// It names a key that it does not have.
    #[error("the root names a key for {0} that it does not have")]
    NoKey(RoleName),
    /// An id that is not 64 lower-case hexadecimal digits.
    #[error("the root has a key id that is none")]
    Id,
    /// A key that this registry does not take.
    #[error("the root has the key `{id}`, and {fault}")]
    Key {
        /// Its id.
        id: KeyId,
        /// What is wrong with it.
        fault: PublicKeyError,
    },
    /// One public key under two ids, which would sign twice.
    #[error("the root has the key `{0}` under a second id, so that one signature would count twice")]
    TwoIds(KeyId),
    /// Seats that nobody could fill.
    #[error("the root's keys for {role}: {fault}")]
    Seats {
        /// Of which role.
        role: RoleName,
        /// What is wrong.
        fault: SeatsError,
    },
    /// A key that has no role.
    #[error("the root has the key `{0}` for nothing")]
    Idle(KeyId),
    /// It does not promise that files keep their names.
    #[error("the root does not say `consistent_snapshot`, so that a sync during a publish would fail")]
    Inconsistent,
}

/// Who sits in a role by a root's word.
pub(super) fn seats(root: &Root, role: RoleName) -> Result<Seats, RootFault> {
    let keys = known(root)?;
    let named = root.roles.get(&role.to_tuf()).ok_or(RootFault::NoRole(role))?;
    if !named._extra.is_empty() {
        return Err(RootFault::Members(role));
    }
    let mut seated = Vec::new();
    for id in &named.keyids {
        let id = KeyId::from_tuf(id).ok_or(RootFault::Id)?;
        seated.push(keys.get(&id).cloned().ok_or(RootFault::NoKey(role))?);
    }
    Seats::new(seated, named.threshold.get()).map_err(|fault| RootFault::Seats { role, fault })
}

/// The keys of a root by the ids that it has them under.
fn known(root: &Root) -> Result<BTreeMap<KeyId, PublicKey>, RootFault> {
    let mut keys = BTreeMap::new();
    for (id, key) in &root.keys {
        let id = KeyId::from_tuf(id).ok_or(RootFault::Id)?;
        let key = PublicKey::from_tuf(key).map_err(|fault| RootFault::Key { id, fault })?;
        if key.id() != id {
            return Err(RootFault::TwoIds(key.id()));
        }
        keys.insert(id, key);
    }
    Ok(keys)
}

/// Holds a whole root against what this registry takes.
pub(super) fn check(root: &Root) -> Result<(), RootFault> {
    if !root.consistent_snapshot {
        return Err(RootFault::Inconsistent);
    }
    let mut used = BTreeSet::new();
    for role in RoleName::ALL {
        used.extend(seats(root, role)?.keys.into_keys());
    }
    match known(root)?.into_keys().find(|id| !used.contains(id)) {
        Some(idle) => Err(RootFault::Idle(idle)),
        None => Ok(()),
    }
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
