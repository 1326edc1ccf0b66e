//! The targets of a folder: that each file is what is signed, that manifests load, that modules are theirs, and that nothing
//! else lies there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pinhole_manifest::{Digest, Manifest, ServiceId, read};
use tough::schema::{Target, Targets};

use super::roles::Book;
use super::{Audit, FaultKind, Faults};
use crate::author::layout::{self, Layout, hashed, hashed_name};
use crate::author::offer::{MODULE_BYTES_MAX, digest_of, modules, version_of};
use crate::author::seats::wide;
use crate::author::shelve::by_name;
use crate::names::{Held, ModuleName};

/// Looks at `public/targets`.
pub(super) fn look(layout: &Layout, book: &Book, faults: &mut Faults, audit: &mut Audit) {
    let mut named: BTreeMap<String, u64> = BTreeMap::new();
    for (version, targets) in &book.targets {
        let by = format!("public/metadata/{}", layout::versioned(super::RoleName::Targets, *version));
        for (name, target) in words(&by, &targets.signed, faults) {
            if let Some(digest) = digest_of(&target) {
                named.insert(hashed(digest, &name), target.length);
            }
        }
    }
    let there: BTreeSet<String> = layout::names(&layout.targets()).unwrap_or_default().into_iter().collect();
    for file in named.keys().filter(|file| !there.contains(*file)) {
        faults.add(format!("public/targets/{file}"), FaultKind::Absent);
    }
    for file in &there {
        let Some((stated, _)) = hashed_name(file) else { continue };
        let shown = format!("public/targets/{file}");
        if let Some(bytes) = bytes_of(&layout.targets().join(file), &shown, faults) {
            same(&shown, &bytes, stated, named.get(file).copied(), faults);
        }
        if !named.contains_key(file) {
            faults.add(shown, FaultKind::Unnamed);
        }
    }
    if let Some(targets) = book.targets.get(&book.current) {
        manifests(layout, &by_name(&targets.signed).collect(), faults, audit);
    }
}

/// Looks at what staged targets name.
pub(super) fn look_at_staged(layout: &Layout, targets: &Targets, faults: &mut Faults) {
    for (name, target) in words("staged/targets.json", targets, faults) {
        let Some(stated) = digest_of(&target) else { continue };
        let file = hashed(stated, &name);
        if layout.targets().join(&file).exists() {
            continue;
        }
        let shown = format!("staged/targets/{file}");
        match layout::read(&layout.staged_files().join(&file), MODULE_BYTES_MAX) {
            Ok(Some(bytes)) => same(&shown, &bytes, stated, Some(target.length), faults),
            Ok(None) => faults.add(shown, FaultKind::Absent),
            Err(error) => faults.add(shown, FaultKind::Io(error)),
        }
    }
}

/// The targets that a registry could have; each other one is a fault.
fn words(by: &str, targets: &Targets, faults: &mut Faults) -> Vec<(Held, Target)> {
    if targets.delegations.is_some() {
        faults.add(by, FaultKind::Delegated);
    }
    for name in targets.targets.keys().filter(|name| Held::parse(name.raw()).is_err()) {
        faults.add(by, FaultKind::Name(name.raw().to_owned()));
    }
    let named: Vec<(Held, Target)> = by_name(targets).collect();
    for (name, target) in &named {
        let service = target.custom.get("service").and_then(|service| service.as_str());
        let plain = target._extra.is_empty() && target.hashes._extra.is_empty() && target.custom.len() == 2;
        let says = service == Some(name.service().as_str()) && version_of(target).is_some();
        if !plain || !says || digest_of(target).is_none() {
            faults.add(by, FaultKind::Word(name.clone()));
        }
    }
    named
}

fn bytes_of(path: &Path, shown: &str, faults: &mut Faults) -> Option<Vec<u8>> {
    match layout::read(path, MODULE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) => {
            faults.add(shown, FaultKind::Io(error));
            None
        }
    }
}

fn same(shown: &str, bytes: &[u8], stated: Digest, length: Option<u64>, faults: &mut Faults) {
    let found = Digest::of(bytes);
    if found != stated {
        faults.add(shown, FaultKind::Hash { found, stated });
    }
    let found = wide(bytes.len());
    if let Some(stated) = length.filter(|stated| *stated != found) {
        faults.add(shown, FaultKind::Length { found, stated });
    }
}

/// The current manifests load, are what the targets say, and have exactly the modules that they name.
fn manifests(layout: &Layout, held: &BTreeMap<Held, Target>, faults: &mut Faults, audit: &mut Audit) {
    let mut wanted: BTreeSet<Held> = BTreeSet::new();
    let mut unread: BTreeSet<ServiceId> = BTreeSet::new();
    for (name, target) in held {
        let (Held::Manifest(service), Some(digest)) = (name, digest_of(target)) else { continue };
        let file = hashed(digest, name);
        let shown = format!("public/targets/{file}");
        // One that is not there is a fault already.
        let bytes = layout::read(&layout.targets().join(&file), MODULE_BYTES_MAX).ok().flatten();
        let reading = bytes.map(|bytes| read(&bytes).into_result());
        let manifest = match reading {
            Some(Ok(manifest)) => manifest,
            Some(Err(diagnostics)) => {
                faults.add(shown, FaultKind::Manifest(diagnostics.len()));
                unread.insert(service.clone());
                continue;
            }
            None => {
                unread.insert(service.clone());
                continue;
            }
        };
        let stated =
            version_of(target).map_or_else(|| service.to_string(), |version| format!("{service}@{version}"));
        if manifest.label() != stated {
            faults.add(&shown, FaultKind::Service { found: manifest.label(), stated });
        }
        wanted.extend(its_modules(&shown, &manifest, held, faults));
        audit.services.push((service.clone(), manifest.version().clone(), digest));
    }
    for (name, target) in held {
        let idle =
            matches!(name, Held::Module(service, _) if !unread.contains(service)) && !wanted.contains(name);
        if let Some(digest) = digest_of(target).filter(|_| idle) {
            faults.add(format!("public/targets/{}", hashed(digest, name)), FaultKind::IdleModule);
        }
    }
}

fn its_modules(
    shown: &str,
    manifest: &Manifest,
    held: &BTreeMap<Held, Target>,
    faults: &mut Faults,
) -> Vec<Held> {
    let mut wanted = Vec::new();
    for (file, stated) in modules(manifest) {
        let name = ModuleName::of_file(file).ok().map(|name| Held::Module(manifest.id().clone(), name));
        match name.filter(|name| held.get(name).and_then(digest_of) == Some(stated)) {
            Some(name) => wanted.push(name),
            None => faults.add(shown, FaultKind::NoModule(file.to_owned())),
        }
    }
    wanted
}
