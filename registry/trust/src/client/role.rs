//! One file of metadata: its exact bytes, and what they say once everything about their form was found right.
//!
//! Refuses a file of another role, of another major version of the specification, and a key that counts twice. Signatures
//! are looked at in `signed.rs`. TUF specification 1.0, "Document formats".

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tough::schema::key::Key;
use tough::schema::{Metafile, Role, RoleType, Root, Signed};

use super::strict::{self, JsonFault};
use crate::roles::RoleName;
use pinhole_manifest::visible::visible;

/// Whose rules are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// A registry of manifests: Ed25519 keys, names of [`crate::names`], no delegations, no two texts for one version.
    Manifests,
    /// Any TUF repository.
    Any,
}

/// What is wrong with the form of a file of metadata.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// It is no JSON with one meaning.
    #[error(transparent)]
    Json(#[from] JsonFault),
    /// It has not the members that the specification asks for.
    #[error("it has not the form that the TUF specification gives it")]
    Schema(#[source] serde_json::Error),
    /// It is of another role.
    #[error("it is of the role `{found}`, not of `{expected}`", found = visible(.found))]
    OtherRole {
        /// The role that was asked for.
        expected: RoleName,
        /// The one that it has.
        found: String,
    },
    /// It follows a version of the specification that is not known here.
    #[error("it follows version `{found}` of the TUF specification, and only 1.x is known here", found = visible(.found))]
    SpecVersion {
        /// The version that it names.
        found: String,
    },
    /// It lists what it must not, or not what it must.
    #[error("it does not list `{0}`, or more than that")]
    Listing(&'static str),
    /// Its keys are none that it can be trusted by.
    #[error(transparent)]
    Keys(#[from] KeyFault),
}

/// What is wrong with the keys of a root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// A role has no keys.
    #[error("the role `{0}` has no keys")]
    NoRole(RoleName),
    /// A role lists a key twice.
    #[error("the role `{0}` lists one key twice")]
    ListedTwice(RoleName),
    /// A role lists a key that is not there.
    #[error("the role `{0}` lists a key that is not among the keys")]
    Unknown(RoleName),
    /// One public key has two ids, and would count twice.
    #[error("one public key has two ids: it would count twice")]
    TwoIds,
    /// A role wants more signatures than it has keys.
    #[error("the role `{role}` wants {threshold} signatures and has {keys} keys")]
    Threshold {
        /// The role.
        role: RoleName,
        /// The signatures that it wants.
        threshold: u64,
        /// The keys that it has.
        keys: usize,
    },
    /// A registry's keys are Ed25519, and this one is not.
    #[error("a key is not an Ed25519 key, the only kind that a registry has")]
    NotEd25519,
    /// A key with which anybody can sign.
    #[error("a key is one of the few with which anybody can sign")]
    Weak,
}

/// A file of metadata.
#[derive(Debug, Clone)]
pub(super) struct Document<T> {
    pub(super) bytes: Vec<u8>,
    pub(super) role: Signed<T>,
}

#[derive(Deserialize)]
struct Outline {
    signed: Head,
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "_type")]
    role: String,
    spec_version: String,
}

impl<T: Role + DeserializeOwned> Document<T> {
    /// Reads the file of a role; nothing is said about signatures.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, Malformed> {
        strict::check(&bytes)?;
        let outline: Outline = serde_json::from_slice(&bytes).map_err(Malformed::Schema)?;
        let expected = RoleName::of(T::TYPE);
        let clipped = |text: &str| text.chars().take(32).collect::<String>();
        if outline.signed.role != expected.as_str() {
            return Err(Malformed::OtherRole { expected, found: clipped(&outline.signed.role) });
        }
        if !is_known_version(&outline.signed.spec_version) {
            return Err(Malformed::SpecVersion { found: clipped(&outline.signed.spec_version) });
        }
        let role = serde_json::from_slice(&bytes).map_err(Malformed::Schema)?;
        Ok(Self { bytes, role })
    }

    pub(super) fn version(&self) -> u64 {
        self.role.signed.version().get()
    }

    /// Whether this very file is the one that is listed.
    pub(super) fn is_listed(&self, listed: &Metafile) -> bool {
        let length = u64::try_from(self.bytes.len()).ok();
        let hash = listed.hashes.as_ref();
        listed.version.get() == self.version()
            && (listed.length.is_none() || listed.length == length)
            && hash.is_none_or(|hashes| *hashes.sha256 == *Sha256::digest(&self.bytes))
    }
}

/// `1.x` or `1.x.y`.
fn is_known_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.len() <= 8 && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('.').collect();
    matches!(parts.as_slice(), ["1", rest @ ..] if (1..=2).contains(&rest.len()) && rest.iter().all(|part| number(part)))
}

const ROLES: [(RoleType, RoleName); 4] = [
    (RoleType::Root, RoleName::Root),
    (RoleType::Timestamp, RoleName::Timestamp),
    (RoleType::Snapshot, RoleName::Snapshot),
    (RoleType::Targets, RoleName::Targets),
];

/// Whether a root's keys are such that a person can count them: no alias, no key of nobody, no threshold out of reach. Of
/// other repositories the specification asks none of this; there `signatures.rs` counts.
pub(super) fn check_keys(root: &Root, profile: Profile) -> Result<(), KeyFault> {
    if profile == Profile::Any {
        return Ok(());
    }
    let mut seen = HashSet::new();
    for key in root.keys.values() {
        if !seen.insert(public_part(key)) {
            return Err(KeyFault::TwoIds);
        }
        check_ed25519(key)?;
    }
    for (kind, role) in ROLES {
        let listed = root.roles.get(&kind).ok_or(KeyFault::NoRole(role))?;
        let distinct: HashSet<_> = listed.keyids.iter().collect();
        if distinct.len() != listed.keyids.len() {
            return Err(KeyFault::ListedTwice(role));
        }
        if !listed.keyids.iter().all(|id| root.keys.contains_key(id)) {
            return Err(KeyFault::Unknown(role));
        }
        let threshold = listed.threshold.get();
        let keys = distinct.len();
        if usize::try_from(threshold).map_or(true, |threshold| threshold > keys) {
            return Err(KeyFault::Threshold { role, threshold, keys });
        }
    }
    Ok(())
}

pub(super) fn public_part(key: &Key) -> &[u8] {
    match key {
        Key::Rsa { keyval, .. } => &keyval.public,
        Key::Ed25519 { keyval, .. } => &keyval.public,
        Key::Ecdsa { keyval, .. } | Key::EcdsaOld { keyval, .. } => &keyval.public,
    }
}

fn check_ed25519(key: &Key) -> Result<(), KeyFault> {
    let Key::Ed25519 { keyval, .. } = key else { return Err(KeyFault::NotEd25519) };
    let public: &[u8] = &keyval.public;
    let public = public.try_into().map_err(|_length| KeyFault::NotEd25519)?;
    let point = ed25519_dalek::VerifyingKey::from_bytes(public).map_err(|_no_point| KeyFault::Weak)?;
    if point.is_weak() { Err(KeyFault::Weak) } else { Ok(()) }
}
