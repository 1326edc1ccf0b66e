//! The manifests that a host runs by, each with the place that it came from.
//!
//! A service id has one manifest; a second is refused, whatever its place. DESIGN, "Registry": sources.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use pinhole_manifest::{Manifest, ServiceId};

/// The manifests that are part of the binary, as bytes.
pub const BUILT_IN: &[&[u8]] = &[
    include_bytes!("../../../manifests/github/manifest.json"),
    include_bytes!("../../../manifests/dnsimple/manifest.json"),
    include_bytes!("../../../manifests/hubspot/manifest.json"),
    include_bytes!("../../../manifests/linear/manifest.json"),
    include_bytes!("../../../manifests/stripe/manifest.json"),
];

macro_rules! module {
    ($service:literal, $file:literal) => {
        ($service, $file, include_bytes!(concat!("../../../manifests/", $service, "/", $file)))
    };
}

/// The modules of those manifests: the service, the name that its manifest has for the file, and the component.
pub const BUILT_IN_MODULES: &[(&str, &str, &[u8])] = &[
    module!("dnsimple", "modules/zone_file.wasm"),
    module!("github", "modules/stale_issues.wasm"),
    module!("hubspot", "modules/pipeline_summary.wasm"),
    module!("linear", "modules/cycle_report.wasm"),
    module!("stripe", "modules/revenue_by_month.wasm"),
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

/// Where the files are that a manifest's modules are in.
#[derive(Debug, Clone, Default)]
pub enum ModuleFiles {
    /// Nowhere: ops that need one are refused.
    #[default]
    None,
    /// In this folder, under the names that the manifest has for them. They are read when the op is first called.
    In(PathBuf),
    /// In the binary.
    BuiltIn(Vec<(&'static str, &'static [u8])>),
    /// In memory.
    Held(Arc<BTreeMap<String, Vec<u8>>>),
}

/// Largest file of a module, in bytes: 32 MiB.
pub const MODULE_BYTES_MAX: u64 = 32 << 20;

/// Why a module's file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ModuleFileError {
    /// There is none.
    #[error("there is no such file")]
    Absent,
    /// It has more than 32 MiB.
    #[error("the file has more than {MODULE_BYTES_MAX} bytes")]
    TooLarge,
    /// The disk said no.
    #[error("the file cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

impl ModuleFiles {
    /// Reads a file by the name that the manifest has for it, which is always one inside of its folder.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, ModuleFileError> {
        match self {
            Self::None => Err(ModuleFileError::Absent),
            Self::BuiltIn(files) => {
                let found = files.iter().find(|(file, _)| *file == name);
                found.map(|(_, bytes)| bytes.to_vec()).ok_or(ModuleFileError::Absent)
            }
            Self::Held(files) => files.get(name).cloned().ok_or(ModuleFileError::Absent),
            Self::In(folder) => {
                let mut bytes = Vec::new();
                let file = std::fs::File::open(folder.join(name))?;
                file.take(MODULE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
                let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                if size > MODULE_BYTES_MAX { Err(ModuleFileError::TooLarge) } else { Ok(bytes) }
            }
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
    /// Where its modules are.
    pub modules: ModuleFiles,
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
            catalog.insert(bytes, Source::BuiltIn, |id| {
                let own = BUILT_IN_MODULES.iter().filter(|(service, _, _)| *service == id.as_str());
                ModuleFiles::BuiltIn(own.map(|(_, file, component)| (*file, *component)).collect())
            })?;
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
        self.insert(bytes, source, |_id| modules)
    }

    fn insert(
        &mut self,
        bytes: &[u8],
        source: Source,
        modules: impl FnOnce(&ServiceId) -> ModuleFiles,
    ) -> Result<&Entry, CatalogError> {
        let manifest = pinhole_manifest::read(bytes).into_result().map_err(CatalogError::Invalid)?;
        let id = manifest.id().clone();
        match self.entries.entry(id) {
            std::collections::btree_map::Entry::Occupied(taken) => {
                Err(CatalogError::Taken(taken.key().clone()))
            }
            std::collections::btree_map::Entry::Vacant(free) => {
                let modules = modules(free.key());
                Ok(free.insert(Entry { manifest, source, modules }))
            }
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
