//! What is trusted of a registry while it is refreshed, and what a new root lets go of.
//!
//! Refuses a first root that its own keys have not signed.

use jiff::Timestamp as Time;
use serde::de::DeserializeOwned;
use tough::schema::{Role, Root, Snapshot, Targets, Timestamp};

use super::refresh::{malformed, read};
use super::refused::{Refused, Signers};
use super::role::{Document, Profile, check_keys};
use super::signatures::signed;
use crate::RoleName;

/// What is trusted of a registry.
#[derive(Debug, Clone)]
pub(super) struct Trusted {
    pub(super) root: Document<Root>,
    pub(super) timestamp: Option<Document<Timestamp>>,
    pub(super) snapshot: Option<Document<Snapshot>>,
    pub(super) targets: Option<Document<Targets>>,
}

impl Trusted {
    /// Begins with a root that the operator has said to trust; it must be signed by its own keys.
    pub(super) fn begin(root: Vec<u8>, profile: Profile) -> Result<Self, Refused> {
        let root = read::<Root>(root, RoleName::Root)?;
        check_keys(&root.role.signed, profile).map_err(|fault| malformed(RoleName::Root, fault))?;
        signed(&root.role.signed, &root, RoleName::Root, Signers::Own)?;
        Ok(Self { root, timestamp: None, snapshot: None, targets: None })
    }

    /// The moment from which something of it is no longer current; `None` before a refresh has got to its end.
    pub(super) fn expires(&self) -> Option<Time> {
        let root = self.root.role.signed.expires;
        let timestamp = self.timestamp.as_ref()?.role.signed.expires;
        let snapshot = self.snapshot.as_ref()?.role.signed.expires;
        let targets = self.targets.as_ref()?.role.signed.expires;
        Some(root.min(timestamp).min(snapshot).min(targets))
    }

    /// Forgets what the root's present keys have not signed: after a rotation versions may begin anew (5.3.11).
    pub(super) fn forget_unsigned(&mut self) {
        let root = &self.root.role.signed;
        if !stands(root, self.snapshot.as_ref(), RoleName::Snapshot) {
            (self.timestamp, self.snapshot, self.targets) = (None, None, None);
        }
        if !stands(root, self.timestamp.as_ref(), RoleName::Timestamp) {
            self.timestamp = None;
        }
        if !stands(root, self.targets.as_ref(), RoleName::Targets) {
            self.targets = None;
        }
    }
}

fn stands<T: Role + DeserializeOwned + Clone>(
    root: &Root,
    document: Option<&Document<T>>,
    role: RoleName,
) -> bool {
    document.is_none_or(|document| signed(root, document, role, Signers::Trusted).is_ok())
}
