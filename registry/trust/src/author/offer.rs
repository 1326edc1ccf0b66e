//! What a maintainer offers: a manifest's folder, read whole.
//!
//! Refuses a manifest that does not load and a module that is not the manifest's, and says all that is wrong. INVARIANT: the
//! bytes of an [`Offer`] are the ones that were checked.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use pinhole_manifest::diagnostic::Diagnostic;
use pinhole_manifest::model::Action;
use pinhole_manifest::{Digest, Manifest, ServiceId, read};
use serde_json::Value;
use tough::schema::{Hashes, Target};

use super::envelope::hashes;
use super::layout;
use super::seats::wide;
use crate::names::{Held, ModuleName};
pub(super) use crate::{MANIFEST_BYTES_MAX, MODULE_BYTES_MAX};

/// A manifest with its modules.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) service: ServiceId,
    pub(super) version: semver::Version,
    pub(super) digest: Digest,
    pub(super) files: BTreeMap<Held, Vec<u8>>,
}

/// A manifest's folder that is not taken.
#[derive(Debug)]
pub struct Refused {
    /// The folder.
    pub folder: PathBuf,
    /// What is wrong.
    pub fault: OfferFault,
}

/// What is wrong with a manifest's folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferFault {
    /// No `manifest.json` is there.
    #[error("there is no `manifest.json`: pass the folder of a manifest")]
    NoManifest,
    /// A file could not be read.
    #[error("`{file}` could not be read")]
    Unreadable {
        /// Which one, as the manifest has it.
        file: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The manifest does not load; everything that is wrong with it.
    #[error("the manifest does not load: `pinhole manifest check` says where")]
    Manifest(Vec<Diagnostic>),
    /// Modules that are not what the manifest says; each of them.
    #[error("its modules are not what the manifest says: build them, and write their digests down")]
    Modules(Vec<ModuleFault>),
    /// Another folder of the same call is of the same service.
    #[error("another folder offers `{0}` too: pass one")]
    Twice(ServiceId),
    /// The version is published already, with other bytes.
    #[error("version {version} of `{service}` is published with other bytes: raise the version")]
    SameVersion {
        /// The service.
        service: ServiceId,
        /// Its version.
        version: semver::Version,
    },
    /// A later version is published already.
    #[error("`{service}` was published as version {published}, and {offered} goes back: raise the version")]
    GoesBack {
        /// The service.
        service: ServiceId,
        /// The highest version that was ever published.
        published: semver::Version,
        /// The one offered.
        offered: semver::Version,
    },
}

/// A module that is not what its manifest says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleFault {
    /// It is not there.
    #[error("`{0}` is not there")]
    Absent(String),
    /// It could not be read, or is too large.
    #[error("`{file}` could not be read: {source}")]
    Unreadable {
        /// Which one.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Its bytes are others.
    #[error("`{file}` is {found}, and the manifest says {stated}")]
    Digest {
        /// Which one.
        file: String,
        /// What the manifest says.
        stated: Digest,
        /// What is there.
        found: Digest,
    },
    /// Its name cannot be a target's.
    #[error("`{0}` is no name for a module: write `modules/<name>.wasm`")]
    Name(String),
}

impl Offer {
    /// Reads a manifest's folder.
    pub(super) fn read(folder: &Path) -> Result<Self, OfferFault> {
        let bytes = layout::read(&folder.join("manifest.json"), MANIFEST_BYTES_MAX)
            .map_err(|source| OfferFault::Unreadable { file: "manifest.json".to_owned(), source })?
            .ok_or(OfferFault::NoManifest)?;
        let manifest = read(&bytes).into_result().map_err(OfferFault::Manifest)?;
        let mut files = BTreeMap::new();
        let mut faults = Vec::new();
        for (file, stated) in modules(&manifest) {
            match module(folder, file, stated) {
                Ok((name, bytes)) => {
                    files.insert(Held::Module(manifest.id().clone(), name), bytes);
                }
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(OfferFault::Modules(faults));
        }
        let (service, version) = (manifest.id().clone(), manifest.version().clone());
        files.insert(Held::Manifest(service.clone()), bytes);
        Ok(Self { service, version, digest: manifest.digest(), files })
    }

    /// What targets say of a file of it.
    pub(super) fn target(&self, bytes: &[u8]) -> Target {
        let custom = [("service", self.service.to_string()), ("version", self.version.to_string())];
        Target {
            length: wide(bytes.len()),
            hashes: hashes(bytes),
            custom: custom.map(|(name, text)| (name.to_owned(), Value::String(text))).into(),
            _extra: HashMap::new(),
        }
    }
}

/// The module files that a manifest names, each with the digest that it states; a file that two ops name with two digests
/// comes twice.
pub(super) fn modules(manifest: &Manifest) -> Vec<(&str, Digest)> {
    let named = manifest.ops().values().filter_map(|op| match &op.action {
        Action::Module(module) => Some((module.file.as_str(), module.sha256)),
        Action::Request(_) => None,
    });
    let mut named: Vec<_> = named.collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn module(folder: &Path, file: &str, stated: Digest) -> Result<(ModuleName, Vec<u8>), ModuleFault> {
    let name = ModuleName::of_file(file).map_err(|_name| ModuleFault::Name(file.to_owned()))?;
    let bytes = layout::read(&folder.join(file), MODULE_BYTES_MAX)
        .map_err(|source| ModuleFault::Unreadable { file: file.to_owned(), source })?
        .ok_or_else(|| ModuleFault::Absent(file.to_owned()))?;
    let found = Digest::of(&bytes);
    if found == stated {
        Ok((name, bytes))
    } else {
        Err(ModuleFault::Digest { file: file.to_owned(), stated, found })
    }
}

/// The version in what targets say of a file.
pub(super) fn version_of(target: &Target) -> Option<semver::Version> {
    semver::Version::parse(target.custom.get("version")?.as_str()?).ok()
}

/// The digest in what targets say of a file.
pub(crate) fn digest_of(target: &Target) -> Option<Digest> {
    digest_of_hashes(&target.hashes)
}

/// The digest among the hashes of a file.
pub(super) fn digest_of_hashes(hashes: &Hashes) -> Option<Digest> {
    Digest::parse(&format!("sha256:{}", crate::keys::tuf_text(&hashes.sha256)?)).ok()
}
