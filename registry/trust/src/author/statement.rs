//! What a file that is to be signed says, in words: for the person whose key is asked for.
//!
//! Shows no text that could hide itself. INVARIANT: every difference between the file and what it is held against is a
//! change here; nothing is left out for being small.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;
use pinhole_manifest::visible::visible;
use tough::schema::{Root, Target, Targets};

use super::envelope::{self, EnvelopeError};
use super::offer::{digest_of, version_of};
use super::role;
use crate::RoleName;
use crate::keys::{KeyId, PublicKey};
use crate::names::Held;

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statement {
    /// Of which role.
    pub role: RoleName,
    /// Its version.
    pub version: u64,
    /// Until when it holds.
    pub expires: Moment,
    /// The SHA-256 of what is signed, byte for byte: maintainers who are apart compare it.
    pub digest: Digest,
    /// The version that it was held against; `None` if there was nothing to compare with, and all is shown as new.
    pub against: Option<u64>,
    /// What changes.
    pub changes: Vec<Change>,
    /// How many manifests it has, those that do not change included; 0 for a root.
    pub services: usize,
}

/// A difference between two versions of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A manifest or module that was not there.
    Added(Held, Word),
    /// A manifest or module with other bytes, or another word about it.
    Changed(Held, Word, Word),
    /// A manifest or module that is no more.
    Removed(Held, Word),
    /// A target whose name no registry has; the text as it stands.
    Unknown(String),
    /// A key that may sign for a role.
    Seated(RoleName, PublicKey),
    /// A key that may no longer.
    Unseated(RoleName, KeyId),
    /// How many keys of a role must sign: before, if it is known, and after.
    Threshold(RoleName, Option<u64>, u64),
    /// Something of the file that this program does not put into words. Do not sign it.
    Unsaid(&'static str),
}

/// What targets say of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// The version of the manifest; absent if none is stated.
    pub version: Option<semver::Version>,
    /// The SHA-256 of the file.
    pub digest: Option<Digest>,
    /// Its length, in bytes.
    pub length: u64,
}

impl Word {
    fn of(target: &Target) -> Self {
        Self { version: version_of(target), digest: digest_of(target), length: target.length }
    }
}

impl Statement {
    pub(super) fn of_targets(new: &Targets, old: Option<&Targets>) -> Result<Self, EnvelopeError> {
        let (mut changes, named) = (Vec::new(), held(new));
        let before = old.map(held).unwrap_or_default();
        for (name, target) in &named {
            match before.get(name) {
                None => changes.push(Change::Added(name.clone(), Word::of(target))),
                Some(was) if was == target => {}
                Some(was) => changes.push(Change::Changed(name.clone(), Word::of(was), Word::of(target))),
            }
        }
        let gone = before.iter().filter(|(name, _)| !named.contains_key(name));
        changes.extend(gone.map(|(name, was)| Change::Removed(name.clone(), Word::of(was))));
        let unknown = new.targets.keys().filter(|name| Held::parse(name.raw()).is_err());
        changes.extend(unknown.map(|name| Change::Unknown(name.raw().to_owned())));
        if new.delegations.is_some() {
            changes.push(Change::Unsaid("it lets other keys sign for some of the targets"));
        }
        if !new._extra.is_empty() {
            changes.push(Change::Unsaid("it has members that targets do not have"));
        }
        let services = named.keys().filter(|name| matches!(name, Held::Manifest(_))).count();
        Ok(Self {
            role: RoleName::Targets,
            version: new.version.get(),
            expires: new.expires,
            digest: Digest::of(&envelope::canonical(new)?),
            against: old.map(|old| old.version.get()),
            changes,
            services,
        })
    }

    pub(super) fn of_root(new: &Root, old: Option<&Root>) -> Result<Self, EnvelopeError> {
        let mut changes = Vec::new();
        for name in RoleName::ALL {
            let Ok(seats) = role::seats(new, name) else {
                changes.push(Change::Unsaid("it names keys that a registry does not take"));
                continue;
            };
            let before = old.and_then(|old| role::seats(old, name).ok());
            let had: BTreeSet<KeyId> = before.iter().flat_map(|seats| seats.keys.keys().copied()).collect();
            let seated = seats.keys().filter(|key| !had.contains(&key.id()));
            changes.extend(seated.map(|key| Change::Seated(name, key.clone())));
            let unseated = had.iter().filter(|id| !seats.keys.contains_key(id));
            changes.extend(unseated.map(|id| Change::Unseated(name, *id)));
            let threshold = before.map(|seats| seats.threshold());
            if threshold != Some(seats.threshold()) {
                changes.push(Change::Threshold(name, threshold, seats.threshold()));
            }
        }
        if !new._extra.is_empty() || !new.consistent_snapshot {
            changes.push(Change::Unsaid("it says more of the registry than keys and thresholds"));
        }
        Ok(Self {
            role: RoleName::Root,
            version: new.version.get(),
            expires: new.expires,
            digest: Digest::of(&envelope::canonical(new)?),
            against: old.map(|old| old.version.get()),
            changes,
            services: 0,
        })
    }
}

fn held(targets: &Targets) -> BTreeMap<Held, Target> {
    super::shelve::by_name(targets).collect()
}

impl fmt::Display for Statement {
    /// Lines for a terminal, without a line break at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, version, expires, digest, .. } = self;
        writeln!(f, "{role} {version}, which holds until {expires}")?;
        writeln!(f, "what is signed is {digest}")?;
        match self.against {
            Some(old) if self.changes.is_empty() => write!(f, "it says what version {old} says"),
            Some(old) => write!(f, "what changes from version {old}:"),
            None => write!(f, "there is nothing to compare it with; all that it says:"),
        }?;
        self.changes.iter().try_for_each(|change| write!(f, "\n  {change}"))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(name, word) => write!(f, "+ {} {word}", Named(name)),
            Self::Changed(name, was, word) => write!(f, "~ {} {word}, before {was}", Named(name)),
            Self::Removed(name, was) => write!(f, "- {} {was}", Named(name)),
            Self::Unknown(name) => {
                write!(f, "! `{}` is no name that a registry has: do not sign", visible(name))
            }
            Self::Seated(role, key) => write!(f, "+ {role}: the key {} may sign", key.id()),
            Self::Unseated(role, id) => write!(f, "- {role}: the key {id} may sign no longer"),
            Self::Threshold(role, None, new) => write!(f, "+ {role}: {new} must sign"),
            Self::Threshold(role, Some(old), new) => write!(f, "~ {role}: {new} must sign, before {old}"),
            Self::Unsaid(what) => write!(f, "! {what}: do not sign"),
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{version} (")?,
            None => write!(f, "of no stated version (")?,
        }
        match &self.digest {
            Some(digest) => write!(f, "{digest}, {} bytes)", self.length),
            None => write!(f, "no sound digest: do not sign)"),
        }
    }
}

/// A target as people name it.
struct Named<'a>(&'a Held);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Held::Manifest(service) => write!(f, "{service}"),
            Held::Module(service, module) => write!(f, "{service} {}", module.file()),
        }
    }
}
