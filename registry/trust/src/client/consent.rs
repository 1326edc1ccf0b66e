//! The operator's yes: to an update that lets an agent do more, and to a registry that takes a service over.
//!
//! Refuses a yes to anything but what was shown: an update is named by its digest. Nothing is fetched: what is held is on
//! this host already.

use jiff::Timestamp as Time;
use pinhole_manifest::{Digest, ServiceId};
use semver::Version;

use super::Registries;
use super::collection::{MANIFEST_BYTES_MAX, MODULE_BYTES_MAX};
use super::name::{Identity, RegistryName};
use super::round;
use super::state::StateError;
use super::state::document::{Registry, Release, Service, State, Why};

/// An update that waits for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldUpdate {
    /// The registry that offers it.
    pub registry: RegistryName,
    /// The service.
    pub service: ServiceId,
    /// Why it waits.
    pub why: Why,
    /// The version that hosts have.
    pub from: Version,
    /// The version that waits.
    pub to: Version,
    /// The digest by which it is accepted.
    pub digest: Digest,
    /// The manifest that hosts have, for the comparison; `None` where it cannot be read any more.
    pub accepted: Option<Vec<u8>>,
    /// The manifest that waits.
    pub offered: Vec<u8>,
}

/// A service that a registry is to take over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replaced {
    /// What credentials will have to name.
    pub identity: Identity,
    /// Whose the service was; `None` where the registry serves it already.
    pub before: Option<String>,
}

/// Why a yes is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// No update of it waits.
    #[error("no update of `{0}` waits; `pinhole registry sync` looks for one")]
    NothingHeld(ServiceId),
    /// Another update waits than the one that was shown.
    #[error("what waits for `{service}` is {held}, not {shown}; look at it again, then accept that")]
    Other {
        /// The service.
        service: ServiceId,
        /// The digest of what waits.
        held: Digest,
        /// The digest that was said yes to.
        shown: Digest,
    },
    /// There is no such registry.
    #[error("no registry `{0}` is trusted; `pinhole registry list` shows those that are")]
    Unknown(RegistryName),
    /// The registry does not offer the service.
    #[error("the registry `{name}` does not offer `{service}`; `pinhole registry sync {name}` looks again")]
    NotOffered {
        /// The registry.
        name: RegistryName,
        /// The service.
        service: ServiceId,
    },
    /// The state cannot be read or changed.
    #[error(transparent)]
    State(#[from] StateError),
}

impl Registries {
    /// The updates that wait, by registry and service.
    pub fn held(&self) -> Result<Vec<HeldUpdate>, StateError> {
        let state = self.store.read()?;
        let mut updates = Vec::new();
        for (name, registry) in &state.registries {
            for (id, service) in &registry.services {
                let Some(held) = &service.held else { continue };
                updates.push(HeldUpdate {
                    registry: name.clone(),
                    service: id.clone(),
                    why: held.why,
                    from: service.accepted.version.clone(),
                    to: held.release.version.clone(),
                    digest: held.release.manifest,
                    accepted: self.store.find(&service.accepted.manifest, MANIFEST_BYTES_MAX),
                    offered: self.store.get(&held.release.manifest, MANIFEST_BYTES_MAX)?,
                });
            }
        }
        Ok(updates)
    }

    /// Says yes to the update of this digest: hosts load it from now on.
    pub fn accept(&self, service: &ServiceId, digest: &Digest, now: Time) -> Result<Version, ConsentError> {
        let lock = self.store.lock()?;
        let mut state = self.store.read()?;
        let (name, release) = held_of(&state, service, digest)?;
        self.store.get(&release.manifest, MANIFEST_BYTES_MAX)?;
        for module in release.modules.values() {
            self.store.get(module, MODULE_BYTES_MAX)?;
        }
        let version = release.version.clone();
        if let Some(registry) = state.registries.get_mut(&name) {
            round::accept(registry, service, release, now);
        }
        round::yield_to(&mut state, &name, service);
        self.store.commit(&lock, &state)?;
        Ok(version)
    }

    /// Says that a registry owns a service that it offers, whoever owned it before. Takes effect with the registry's next
    /// sync; until then hosts keep what they have.
    pub fn replace(&self, service: &ServiceId, name: &RegistryName) -> Result<Replaced, ConsentError> {
        let lock = self.store.lock()?;
        let mut state = self.store.read()?;
        let registry = state.registries.get(name).ok_or_else(|| ConsentError::Unknown(name.clone()))?;
        let before = registry.refused.get(service).cloned();
        if before.is_none() && state.owner(service) != Some(name) {
            return Err(ConsentError::NotOffered { name: name.clone(), service: service.clone() });
        }
        let identity = Identity::new(name, &registry.pinned);
        state.claims.insert(service.clone(), name.clone());
        self.store.commit(&lock, &state)?;
        Ok(Replaced { identity, before })
    }
}

fn held_of(
    state: &State,
    service: &ServiceId,
    shown: &Digest,
) -> Result<(RegistryName, Release), ConsentError> {
    let of =
        |registry: &Registry| registry.services.get(service).and_then(|known: &Service| known.held.clone());
    let mut held = state.registries.iter().filter_map(|(name, registry)| Some((name, of(registry)?.release)));
    let other = match held.next() {
        None => return Err(ConsentError::NothingHeld(service.clone())),
        Some((name, release)) if release.manifest == *shown => return Ok((name.clone(), release)),
        Some((_, other)) => other.manifest,
    };
    match held.find(|(_, release)| release.manifest == *shown) {
        Some((name, release)) => Ok((name.clone(), release)),
        None => Err(ConsentError::Other { service: service.clone(), held: other, shown: *shown }),
    }
}
