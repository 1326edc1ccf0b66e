//! What hosts load when they start: the accepted manifests of all registries, whole or not at all.
//!
//! Refuses a state or a file that is not as it was written. INVARIANT: nothing is fetched and nothing changed; every
//! manifest has the digest that was accepted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp as Time;
use pinhole_manifest::{Digest, ServiceId};

use super::Registries;
use super::collection::{MANIFEST_BYTES_MAX, MODULE_BYTES_MAX};
use super::name::{Identity, Location, RegistryName};
use super::state::document::{Registry, Release, Service, Standing, State};
use super::state::{StateError, Store};

/// How often the state is read anew when a file of it went away meanwhile.
const TRIES: usize = 3;

/// Whether a registry's word is still good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It is, until then.
    Fresh {
        /// The moment from which on it is not.
        until: Time,
    },
    /// It has expired: hosts refuse the registry's services until `pinhole registry sync`.
    Stale {
        /// When.
        since: Time,
    },
    /// It was trusted and never synced; it has no services.
    Never,
}

/// A registry as hosts see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedRegistry {
    /// Its name.
    pub name: RegistryName,
    /// What a credential must have recorded of it.
    pub identity: Identity,
    /// Where it is.
    pub location: Location,
    /// Whether its services may be used.
    pub freshness: Freshness,
}

/// An accepted manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The service.
    pub service: ServiceId,
    /// The exact bytes of its manifest.
    pub manifest: Vec<u8>,
    /// The digest that they were found to have.
    pub digest: Digest,
    /// Its modules, by the file that the manifest names.
    pub modules: BTreeMap<String, LoadedModule>,
    /// The registry that serves it.
    pub registry: RegistryName,
    /// What a credential must have recorded of that registry.
    pub identity: Identity,
    /// Whether it may be used.
    pub freshness: Freshness,
}

/// A module of an accepted manifest; read when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedModule {
    path: PathBuf,
    digest: Digest,
}

/// Why a module cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("the module `{}` is damaged or gone; `pinhole registry sync` fetches it anew", .path.display())]
pub struct ModuleError {
    path: PathBuf,
    source: Option<std::io::Error>,
}

/// Why nothing is loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The state cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// A manifest is not as it was accepted.
    #[error(
        "the manifest of `{service}` is damaged or gone; `pinhole registry sync {registry}` fetches it anew"
    )]
    Manifest {
        /// The service.
        service: ServiceId,
        /// The registry that serves it.
        registry: RegistryName,
        /// What is wrong.
        source: StateError,
    },
}

/// All that hosts load.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Shelf {
    /// The accepted manifests, by service; one a service.
    pub services: Vec<Loaded>,
    /// The registries, by name.
    pub registries: Vec<LoadedRegistry>,
}

impl LoadedModule {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The digest that it was accepted with.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Its bytes, if they have that digest.
    pub fn read(&self) -> Result<Vec<u8>, ModuleError> {
        let fault = |source| ModuleError { path: self.path.clone(), source };
        let bytes =
            super::state::read_plain(&self.path, MODULE_BYTES_MAX).map_err(|error| fault(Some(error)))?;
        if Digest::of(&bytes) == self.digest { Ok(bytes) } else { Err(fault(None)) }
    }
}

impl Registries {
    /// All that hosts load at this time. Pass a time that never goes back: a clock set back revives nothing that the last
    /// sync has seen expired, but only the caller knows of what came after.
    pub fn load(&self, now: Time) -> Result<Shelf, LoadError> {
        let mut state = self.store.read()?;
        for _ in 1..TRIES {
            let loaded = load(&self.store, &state, now);
            if loaded.is_ok() {
                return loaded;
            }
            // A sync may have taken away what was just replaced.
            let changed = self.store.read()?;
            if changed == state {
                return loaded;
            }
            state = changed;
        }
        load(&self.store, &state, now)
    }

    /// A manifest of that service that is or was accepted, by its digest: grants that were made under it are judged by it.
    /// Kept for 100 days after another has taken its place.
    pub fn earlier(&self, service: &ServiceId, digest: &Digest) -> Result<Option<Vec<u8>>, StateError> {
        let state = self.store.read()?;
        let services = state.registries.values().filter_map(|registry| registry.services.get(service));
        let known = |service: &Service| {
            let earlier = service.earlier.iter().map(|earlier| earlier.release.manifest);
            std::iter::once(service.accepted.manifest).chain(earlier).any(|manifest| manifest == *digest)
        };
        if services.into_iter().any(known) {
            self.store.get(digest, MANIFEST_BYTES_MAX).map(Some)
        } else {
            Ok(None)
        }
    }
}

fn load(store: &Store, state: &State, now: Time) -> Result<Shelf, LoadError> {
    let mut shelf = Shelf::default();
    for (name, registry) in &state.registries {
        let identity = Identity::new(name, &registry.pinned);
        let freshness = freshness(registry, now);
        let location = registry.location.clone();
        shelf.registries.push(LoadedRegistry {
            name: name.clone(),
            identity: identity.clone(),
            location,
            freshness,
        });
        for (id, service) in
            registry.services.iter().filter(|(_, service)| service.standing == Standing::Served)
        {
            let Release { manifest: digest, modules, .. } = &service.accepted;
            let manifest = store.get(digest, MANIFEST_BYTES_MAX).map_err(|source| LoadError::Manifest {
                service: id.clone(),
                registry: name.clone(),
                source,
            })?;
            let module = |digest: &Digest| LoadedModule { path: store.path(digest), digest: *digest };
            shelf.services.push(Loaded {
                service: id.clone(),
                manifest,
                digest: *digest,
                modules: modules.iter().map(|(file, digest)| (file.clone(), module(digest))).collect(),
                registry: name.clone(),
                identity: identity.clone(),
                freshness,
            });
        }
    }
    shelf.services.sort_by(|one, other| one.service.cmp(&other.service));
    Ok(shelf)
}

fn freshness(registry: &Registry, now: Time) -> Freshness {
    match &registry.current {
        None => Freshness::Never,
        Some(current) if current.expires <= now.max(current.seen) => {
            Freshness::Stale { since: current.expires }
        }
        Some(current) => Freshness::Fresh { until: current.expires },
    }
}
