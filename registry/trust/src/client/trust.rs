//! Which registries the operator trusts, by the digest of a root that she was shown.
//!
//! Refuses a second registry under a name that has one, and a root that is not signed by its own keys.

use std::collections::BTreeMap;

use jiff::Timestamp as Time;
use pinhole_manifest::{Digest, ServiceId};
use tough::schema::RoleType;

use super::Registries;
use super::name::{Identity, Location, RegistryName};
use super::refused::Refused;
use super::role::Profile;
use super::state::StateError;
use super::state::document::{Registry, Standing};
use super::trusted::Trusted;
use crate::RoleName;

/// What a root says, for the person who is to trust it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootSummary {
    /// The digest that she compares with what the maintainer has published elsewhere.
    pub digest: Digest,
    /// Its version.
    pub version: u64,
    /// When it expires. One that has expired can still lead to a later one.
    pub expires: Time,
    /// For each role, how many signatures it wants and how many keys it has.
    pub thresholds: Vec<(RoleName, u64, usize)>,
}

/// What came of trusting a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trusting {
    /// What it is to a credential.
    pub identity: Identity,
    /// What its root says.
    pub root: RootSummary,
    /// Whether it was trusted by this very root before; only its location is taken over then.
    pub known: bool,
}

/// Why a registry is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The root is none that can be trusted.
    #[error("the root is none that a registry can be trusted by")]
    Root(#[source] Refused),
    /// Another registry has that name.
    #[error(
        "`{name}` is another registry, of the root {pinned}; `pinhole registry untrust {name}` first, or choose another name"
    )]
    NameTaken {
        /// The name.
        name: RegistryName,
        /// The root that it was trusted by.
        pinned: Digest,
    },
    /// The state cannot be read or changed.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a registry's trust is not taken back.
#[derive(Debug, thiserror::Error)]
pub enum UntrustError {
    /// There is no such registry.
    #[error("no registry `{0}` is trusted; `pinhole registry list` shows those that are")]
    Unknown(RegistryName),
    /// The state cannot be read or changed.
    #[error(transparent)]
    State(#[from] StateError),
}

/// A registry that is trusted no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Untrusted {
    /// What it was to credentials.
    pub identity: Identity,
    /// The services that hosts no longer load from it.
    pub services: Vec<ServiceId>,
}

/// A registry that is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its name.
    pub name: RegistryName,
    /// What it is to a credential.
    pub identity: Identity,
    /// Where it is.
    pub location: Location,
    /// The root that it was trusted by.
    pub pinned: Digest,
    /// The version of its targets, when it was last synced, and from when on its services are refused.
    pub synced: Option<(u64, Time, Time)>,
    /// The services that hosts load from it, with the digest of what is accepted.
    pub services: Vec<(ServiceId, semver::Version, Digest)>,
    /// The services of which an update is held.
    pub held: Vec<ServiceId>,
    /// The services that it offers and another source owns, with that source.
    pub refused: Vec<(ServiceId, String)>,
}

/// Reads a root, so that its digest can be shown before it is trusted.
pub fn inspect_root(root: &[u8]) -> Result<RootSummary, Refused> {
    let trusted = Trusted::begin(root.to_vec(), Profile::Manifests)?;
    let signed = &trusted.root.role.signed;
    let role =
        |kind, name| signed.roles.get(&kind).map(|role| (name, role.threshold.get(), role.keyids.len()));
    let thresholds = [
        role(RoleType::Root, RoleName::Root),
        role(RoleType::Targets, RoleName::Targets),
        role(RoleType::Snapshot, RoleName::Snapshot),
        role(RoleType::Timestamp, RoleName::Timestamp),
    ];
    Ok(RootSummary {
        digest: Digest::of(root),
        version: trusted.root.version(),
        expires: signed.expires,
        thresholds: thresholds.into_iter().flatten().collect(),
    })
}

impl Registries {
    /// Trusts a registry by a root. Nothing is fetched: its services come with the first sync.
    pub fn trust(
        &self,
        name: &RegistryName,
        location: Location,
        root: &[u8],
    ) -> Result<Trusting, TrustError> {
        let summary = inspect_root(root).map_err(TrustError::Root)?;
        let pinned = summary.digest;
        let lock = self.store.lock()?;
        let mut state = self.store.read()?;
        let known = match state.registries.get_mut(name) {
            Some(registry) if registry.pinned == pinned => {
                registry.location = location;
                true
            }
            Some(registry) => {
                return Err(TrustError::NameTaken { name: name.clone(), pinned: registry.pinned });
            }
            None => {
                self.store.put(&lock, root)?;
                let registry = Registry {
                    location,
                    pinned,
                    root: pinned,
                    current: None,
                    services: BTreeMap::new(),
                    refused: BTreeMap::new(),
                };
                state.registries.insert(name.clone(), registry);
                false
            }
        };
        self.store.commit(&lock, &state)?;
        Ok(Trusting { identity: Identity::new(name, &pinned), root: summary, known })
    }

    /// Takes the trust back: hosts load nothing more of it, and what it has said is forgotten.
    pub fn untrust(&self, name: &RegistryName) -> Result<Untrusted, UntrustError> {
        let lock = self.store.lock()?;
        let mut state = self.store.read()?;
        let registry = state.registries.remove(name).ok_or_else(|| UntrustError::Unknown(name.clone()))?;
        state.claims.retain(|_, claimant| claimant != name);
        self.store.commit(&lock, &state)?;
        self.store.sweep(&lock, &state);
        let served = registry.services.iter().filter(|(_, service)| service.standing == Standing::Served);
        let services = served.map(|(id, _)| id.clone()).collect();
        Ok(Untrusted { identity: Identity::new(name, &registry.pinned), services })
    }

    /// The registries that are trusted, by name.
    pub fn list(&self) -> Result<Vec<Listed>, StateError> {
        let state = self.store.read()?;
        Ok(state.registries.iter().map(|(name, registry)| listed(name, registry)).collect())
    }
}

fn listed(name: &RegistryName, registry: &Registry) -> Listed {
    let served = registry.services.iter().filter(|(_, service)| service.standing == Standing::Served);
    let held = registry.services.iter().filter(|(_, service)| service.held.is_some());
    Listed {
        name: name.clone(),
        identity: Identity::new(name, &registry.pinned),
        location: registry.location.clone(),
        pinned: registry.pinned,
        synced: registry.current.as_ref().map(|current| (current.version, current.seen, current.expires)),
        services: served
            .map(|(id, service)| (id.clone(), service.accepted.version.clone(), service.accepted.manifest))
            .collect(),
        held: held.map(|(id, _)| id.clone()).collect(),
        refused: registry.refused.iter().map(|(id, owner)| (id.clone(), owner.clone())).collect(),
    }
}
