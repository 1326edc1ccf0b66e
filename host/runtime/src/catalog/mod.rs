//! The manifests that a host runs by, each with the place that it came from.
//!
//! A service id has one manifest; a second is refused, whatever its place, except that a signed one may stand for the one of
//! the binary, which is the operator's word (`registry replace`). A manifest is read when it is first looked for.
//! DESIGN, "Registry": sources.

mod built_in;
mod entry;
mod files;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use pinhole_grant::SourceName;
use pinhole_manifest::diagnostic::Diagnostic;
use pinhole_manifest::{Digest, ServiceId};

pub use built_in::{BUILT_IN, BuiltIn};
pub use entry::{Earlier, Entry, Kept, Source};
pub use files::{MODULE_BYTES_MAX, ModuleFileError, ModuleFiles};

/// The manifests of one host.
#[derive(Debug, Default)]
pub struct Catalog {
    slots: BTreeMap<ServiceId, Slot>,
}

/// One manifest, read or not read yet.
#[derive(Debug)]
struct Slot {
    service: ServiceId,
    /// What it is read from.
    unread: Cow<'static, [u8]>,
    source: Source,
    modules: ModuleFiles,
    kept: Option<Kept>,
    entry: OnceLock<Option<Entry>>,
}

/// Why a service has no manifest to run by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// This host has never had one.
    #[error("there is no manifest of its service here")]
    Unknown,
    /// It does not load with this version.
    #[error("the manifest of its service does not load with this version")]
    Invalid,
}

/// Why a manifest was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// It does not load; the diagnostics say why.
    #[error("the manifest does not load")]
    Invalid(Vec<Diagnostic>),
    /// Its service id is taken.
    #[error("`{0}` has a manifest already")]
    Taken(ServiceId),
    /// A manifest of the binary is not the one that it was built with.
    #[error("the manifest of `{0}` in this binary is not the one that it was built with")]
    NotAsBuilt(&'static str),
}

/// What a signed registry gave for a service, as this host took it over.
#[derive(Debug)]
pub struct Signed {
    /// The service.
    pub service: ServiceId,
    /// The manifest's exact bytes.
    pub manifest: Vec<u8>,
    /// Which registry.
    pub registry: SourceName,
    /// Its modules.
    pub modules: ModuleFiles,
    /// What its registry's word is good for.
    pub kept: Kept,
}

impl Catalog {
    /// The manifests that are part of the binary, each held against the digest that it had when the binary was built.
    pub fn built_in() -> Result<Self, CatalogError> {
        let mut catalog = Self::default();
        for one in BUILT_IN {
            let id = one.service().ok_or(CatalogError::NotAsBuilt(one.id))?;
            let slot = Slot {
                service: id,
                unread: Cow::Borrowed(one.manifest),
                source: Source::BuiltIn,
                modules: ModuleFiles::BuiltIn(one.modules),
                kept: None,
                entry: OnceLock::new(),
            };
            catalog.slots.insert(slot.service.clone(), slot);
        }
        Ok(catalog)
    }

    /// Reads a manifest and takes it in. Its modules, should it have any, are nowhere.
    pub fn add(&mut self, bytes: &[u8], source: Source) -> Result<&Entry, CatalogError> {
        self.add_with(bytes, source, ModuleFiles::None)
    }

    /// The same for one whose modules are there.
    pub fn add_with(
        &mut self,
        bytes: &[u8],
        source: Source,
        modules: ModuleFiles,
    ) -> Result<&Entry, CatalogError> {
        let manifest = pinhole_manifest::read(bytes).into_result().map_err(CatalogError::Invalid)?;
        let id = manifest.id().clone();
        if self.slots.contains_key(&id) {
            return Err(CatalogError::Taken(id));
        }
        let entry = Entry { manifest, source: source.clone(), modules: modules.clone(), kept: None };
        let entry = OnceLock::from(Some(entry));
        let slot =
            Slot { service: id.clone(), unread: Cow::Borrowed(&[]), source, modules, kept: None, entry };
        self.put(slot).ok_or(CatalogError::Taken(id))
    }

    /// Takes in what a signed registry gave, in the place of what the binary has for that service. It is read when it is
    /// first looked for: the registry's client has read it before.
    pub fn add_signed(&mut self, signed: Signed) -> Result<(), CatalogError> {
        let Signed { service, manifest, registry, modules, kept } = signed;
        let taken = self.slots.get(&service).is_some_and(|slot| slot.source != Source::BuiltIn);
        if taken {
            return Err(CatalogError::Taken(service));
        }
        let slot = Slot {
            service: service.clone(),
            unread: Cow::Owned(manifest),
            source: Source::Signed(registry),
            modules,
            kept: Some(kept),
            entry: OnceLock::new(),
        };
        self.slots.insert(service, slot);
        Ok(())
    }

    fn put(&mut self, slot: Slot) -> Option<&Entry> {
        self.slots.entry(slot.service.clone()).insert_entry(slot).into_mut().read()
    }

    /// The manifest of a service, or why there is none.
    pub fn look(&self, service: &ServiceId) -> Result<&Entry, Missing> {
        match self.slots.get(service) {
            Some(slot) => slot.read().ok_or(Missing::Invalid),
            None => Err(Missing::Unknown),
        }
    }

    /// The manifest of a service.
    pub fn find(&self, service: &ServiceId) -> Option<&Entry> {
        self.look(service).ok()
    }

    /// All manifests, in order of their services.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.slots.values().filter_map(Slot::read)
    }

    /// Each service with its source; no manifest is read for it.
    pub fn sources(&self) -> impl Iterator<Item = (&ServiceId, &Source)> {
        self.slots.iter().map(|(service, slot)| (service, &slot.source))
    }
}

impl Slot {
    /// The manifest, read the first time. (The tests of the build read every one of the binary's.)
    fn read(&self) -> Option<&Entry> {
        let read = || {
            let manifest = pinhole_manifest::read(&self.unread).into_result().ok()?;
            let (source, modules) = (self.source.clone(), self.modules.clone());
            let as_said = *manifest.id() == self.service;
            as_said.then(|| Entry { manifest, source, modules, kept: self.kept.clone() })
        };
        self.entry.get_or_init(read).as_ref()
    }
}

impl BuiltIn {
    /// The service, if the manifest is still the one that the binary was built with.
    fn service(&self) -> Option<ServiceId> {
        let as_built = *Digest::of(self.manifest).as_bytes() == self.sha256;
        ServiceId::parse(self.id).ok().filter(|_id| as_built)
    }
}

#[cfg(test)]
mod tests;
