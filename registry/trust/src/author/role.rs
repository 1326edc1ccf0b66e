//! Who sits in the roles of a registry by a root's word.
//!
//! Refuses a root that no host would take. INVARIANT: the seats that come out have as many distinct Ed25519 keys as ids, and
//! no more signatures are asked for than there are keys.

use std::collections::{BTreeMap, BTreeSet};

use tough::schema::Root;

use super::seats::{Seats, SeatsError};
use crate::keys::{KeyId, PublicKey, PublicKeyError};
use crate::roles::RoleName;

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
