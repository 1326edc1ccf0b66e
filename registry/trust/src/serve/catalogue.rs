//! `GET /registry`: what the registry holds, for people and pages.
//!
//! Signed by nobody: a host takes nothing from it. INVARIANT: it tells of one state of the registry, the one that the
//! timestamp it began with leads to, and of manifests whose bytes are what the targets say.

use std::path::Path;

use jiff::Timestamp as Moment;
use pinhole_manifest::{Access, Digest, OpId, read};
use serde::Serialize;

use crate::MANIFEST_BYTES_MAX;
use crate::author::layout::{self, hashed};
use crate::author::{StateError, Stock, digest_of, targets_by_name};
use crate::names::Held;

/// Why there is no catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// Nothing is published.
    #[error("nothing is published yet")]
    Unpublished,
    /// The published metadata cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A manifest is not there, or is not what the targets say, or does not load.
    #[error("the manifest of `{0}` is not what the targets say: `pinhole registry verify` says more")]
    Manifest(Held),
    /// It could not be written.
    #[error("the catalogue could not be written")]
    Unwritten(#[source] serde_json::Error),
}

#[derive(Serialize)]
struct Catalogue {
    pinhole: u8,
    expires: Moment,
    root: u64,
    targets: u64,
    snapshot: u64,
    timestamp: u64,
    services: Vec<Service>,
}

#[derive(Serialize)]
struct Service {
    id: String,
    name: String,
    version: String,
    summary: String,
    host: String,
    docs: Option<String>,
    verified: Option<String>,
    digest: Digest,
    length: u64,
    target: String,
    modules: Vec<Module>,
    ops: Vec<Op>,
}

#[derive(Serialize)]
struct Module {
    target: String,
    digest: Digest,
    length: u64,
}

#[derive(Serialize)]
struct Op {
    id: OpId,
    access: Access,
    summary: String,
}

/// The catalogue of a published folder, as JSON.
pub(super) fn catalogue(public: &Path) -> Result<Vec<u8>, CatalogueError> {
    let stock = Stock::read(&public.join("metadata"))?.ok_or(CatalogueError::Unpublished)?;
    let Stock { root, targets, snapshot, timestamp } = &stock;
    let ends =
        [root.signed.expires, targets.signed.expires, snapshot.signed.expires, timestamp.signed.expires];
    let mut held: Vec<_> = targets_by_name(&targets.signed).collect();
    held.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut services = Vec::new();
    for (name, target) in &held {
        let Held::Manifest(id) = name else { continue };
        let digest = digest_of(target).ok_or_else(|| CatalogueError::Manifest(name.clone()))?;
        let mut service = service(public, name, digest)?;
        let modules = held.iter().filter(|(other, _)| other.service() == id && other != name);
        service.modules = modules
            .filter_map(|(name, target)| {
                Some(Module { target: name.to_string(), digest: digest_of(target)?, length: target.length })
            })
            .collect();
        services.push(service);
    }
    let catalogue = Catalogue {
        pinhole: 1,
        expires: ends.into_iter().min().unwrap_or(timestamp.signed.expires),
        root: root.signed.version.get(),
        targets: targets.signed.version.get(),
        snapshot: snapshot.signed.version.get(),
        timestamp: timestamp.signed.version.get(),
        services,
    };
    let mut bytes = serde_json::to_vec_pretty(&catalogue).map_err(CatalogueError::Unwritten)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn service(public: &Path, name: &Held, digest: Digest) -> Result<Service, CatalogueError> {
    let refused = || CatalogueError::Manifest(name.clone());
    let path = public.join("targets").join(hashed(digest, name));
    let bytes = layout::read(&path, MANIFEST_BYTES_MAX).ok().flatten().ok_or_else(refused)?;
    let manifest = read(&bytes).into_result().map_err(|_faults| refused())?;
    if manifest.digest() != digest || manifest.id() != name.service() {
        return Err(refused());
    }
    let ops = manifest.ops().values();
    Ok(Service {
        id: manifest.id().to_string(),
        name: manifest.name().to_owned(),
        version: manifest.version().to_string(),
        summary: manifest.summary().to_owned(),
        host: manifest.host().to_string(),
        docs: manifest.docs().map(|docs| docs.as_str().to_owned()),
        verified: manifest.verified().map(str::to_owned),
        digest,
        length: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        target: name.to_string(),
        modules: Vec::new(),
        ops: ops.map(|op| Op { id: op.id.clone(), access: op.access, summary: op.summary.clone() }).collect(),
    })
}
