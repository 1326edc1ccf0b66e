//! The manifests that a host runs by, each with the place that it came from.
//!
//! A service id has one manifest; a second is refused, whatever its place. DESIGN, "Registry": sources.

use std::collections::BTreeMap;

use pinhole_manifest::{Manifest, ServiceId};

/// The manifests that are part of the binary, as bytes.
pub const BUILT_IN: &[&[u8]] = &[
    include_bytes!("../../../manifests/github/manifest.json"),
    include_bytes!("../../../manifests/dnsimple/manifest.json"),
    include_bytes!("../../../manifests/hubspot/manifest.json"),
    include_bytes!("../../../manifests/linear/manifest.json"),
    include_bytes!("../../../manifests/stripe/manifest.json"),
];

/// Where a manifest came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is part of the binary.
    BuiltIn,
    /// A local file that nobody signed, which the operator asked for; every outcome says so.
    UnsignedFile,
}

impl Source {
    /// The name by which a credential remembers where its manifest came from.
    pub fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "compiled-in",
            Self::UnsignedFile => "local",
        }
    }
}

/// One manifest and its source.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The manifest.
    pub manifest: Manifest,
    /// Where it came from.
    pub source: Source,
}

/// The manifests of one host.
#[derive(Debug, Default)]
pub struct Catalog {
    entries: BTreeMap<ServiceId, Entry>,
}

/// Why a manifest was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// It does not load; the diagnostics say why.
    #[error("the manifest does not load")]
    Invalid(Vec<pinhole_manifest::diagnostic::Diagnostic>),
    /// Its service id is taken.
    #[error("`{0}` has a manifest already")]
    Taken(ServiceId),
}

impl Catalog {
    /// The manifests that are part of the binary.
    pub fn built_in() -> Result<Self, CatalogError> {
        let mut catalog = Self::default();
        for bytes in BUILT_IN {
            catalog.add(bytes, Source::BuiltIn)?;
        }
        Ok(catalog)
    }

    /// Reads a manifest and takes it in.
    pub fn add(&mut self, bytes: &[u8], source: Source) -> Result<&Entry, CatalogError> {
        let manifest = pinhole_manifest::read(bytes).into_result().map_err(CatalogError::Invalid)?;
        let id = manifest.id().clone();
        match self.entries.entry(id) {
            std::collections::btree_map::Entry::Occupied(taken) => {
                Err(CatalogError::Taken(taken.key().clone()))
            }
            std::collections::btree_map::Entry::Vacant(free) => Ok(free.insert(Entry { manifest, source })),
        }
    }

    /// The manifest of a service.
    pub fn find(&self, service: &ServiceId) -> Option<&Entry> {
        self.entries.get(service)
    }

    /// All manifests, in order of their services.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }
}
