//! The metadata of a folder: the chain of roots, and everything that was signed under them.

use std::collections::BTreeMap;

use jiff::Timestamp as Moment;
use serde::de::DeserializeOwned;
use tough::schema::{Metafile, Role, Root, Signature, Signed, Snapshot, Targets, Timestamp};

use super::{Audit, FaultKind, Faults};
use crate::RoleName;
use crate::author::envelope::{self, METADATA_BYTES_MAX};
use crate::author::layout::{self, Layout, TIMESTAMP, metadata_name, versioned};
use crate::author::offer::digest_of_hashes;
use crate::author::role;
use crate::author::seats::{Seats, Worth, wide};

/// What could be read of the published metadata.
pub(super) struct Book {
    /// Every version of the targets.
    pub(super) targets: BTreeMap<u64, Signed<Targets>>,
    /// The one that is current.
    pub(super) current: u64,
}

/// A role's files, by version: what they say, and their bytes.
type Versions<T> = BTreeMap<u64, (Signed<T>, Vec<u8>)>;

/// Looks at `public/metadata`. Nothing published, and nothing begun to be, is no fault.
pub(super) fn look(layout: &Layout, now: Moment, faults: &mut Faults, audit: &mut Audit) -> Option<Book> {
    let files = layout::names(&layout.metadata()).unwrap_or_default();
    if files.is_empty() && layout::names(&layout.targets()).unwrap_or_default().is_empty() {
        return None;
    }
    let roots: Versions<Root> = read_all(layout, RoleName::Root, &files, faults);
    let snapshots: Versions<Snapshot> = read_all(layout, RoleName::Snapshot, &files, faults);
    let targets: Versions<Targets> = read_all(layout, RoleName::Targets, &files, faults);
    chain(&roots, faults);
    let roots: Vec<&Root> = roots.values().map(|(root, _)| &root.signed).collect();
    let last = *roots.last()?;
    for (version, (snapshot, _)) in &snapshots {
        signed_under_any(RoleName::Snapshot, *version, snapshot, &roots, faults);
    }
    for (version, (targets, _)) in &targets {
        signed_under_any(RoleName::Targets, *version, targets, &roots, faults);
    }
    audit
        .seats
        .extend(RoleName::ALL.into_iter().filter_map(|name| Some((name, role::seats(last, name).ok()?))));
    let stands = (RoleName::Root, last.version.get(), last.expires);
    holds(stands, &file(RoleName::Root, stands.1), now, faults, audit);

    let (timestamp, _): (Signed<Timestamp>, _) =
        read_one(layout, RoleName::Timestamp, TIMESTAMP, None, faults)?;
    current(&shown(TIMESTAMP), RoleName::Timestamp, &timestamp, last, faults);
    let stands = (RoleName::Timestamp, timestamp.signed.version.get(), timestamp.signed.expires);
    holds(stands, &shown(TIMESTAMP), now, faults, audit);

    let named = sole(&timestamp.signed.meta, "snapshot.json", &shown(TIMESTAMP), faults)?;
    let (name, snapshot) = follow(RoleName::Snapshot, named, &snapshots, faults)?;
    current(&name, RoleName::Snapshot, snapshot, last, faults);
    holds((RoleName::Snapshot, named.version.get(), snapshot.signed.expires), &name, now, faults, audit);

    let named = sole(&snapshot.signed.meta, "targets.json", &name, faults)?;
    let (name, current_targets) = follow(RoleName::Targets, named, &targets, faults)?;
    current(&name, RoleName::Targets, current_targets, last, faults);
    holds(
        (RoleName::Targets, named.version.get(), current_targets.signed.expires),
        &name,
        now,
        faults,
        audit,
    );
    later(RoleName::Snapshot, snapshots.keys(), snapshot.signed.version.get(), faults);
    later(RoleName::Targets, targets.keys(), named.version.get(), faults);
    let current = named.version.get();
    let targets = targets.into_iter().map(|(version, (targets, _))| (version, targets)).collect();
    Some(Book { targets, current })
}

fn shown(name: &str) -> String {
    format!("public/metadata/{name}")
}

fn file(role: RoleName, version: u64) -> String {
    shown(&versioned(role, version))
}

fn read_all<T: Role + DeserializeOwned>(
    layout: &Layout,
    role: RoleName,
    names: &[String],
    faults: &mut Faults,
) -> Versions<T> {
    let mut all = Versions::new();
    for name in names {
        let Some((found, Some(version))) = metadata_name(name) else { continue };
        if found == role
            && let Some(read) = read_one(layout, role, name, Some(version), faults)
        {
            all.insert(version, read);
        }
    }
    all
}

fn read_one<T: Role + DeserializeOwned>(
    layout: &Layout,
    role: RoleName,
    name: &str,
    version: Option<u64>,
    faults: &mut Faults,
) -> Option<(Signed<T>, Vec<u8>)> {
    let bytes = match layout::read(&layout.metadata().join(name), METADATA_BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            faults.add(shown(name), FaultKind::Absent);
            return None;
        }
        Err(error) => {
            faults.add(shown(name), FaultKind::Io(error));
            return None;
        }
    };
    let signed: Signed<T> = match envelope::read(role, &bytes) {
        Ok(signed) => signed,
        Err(error) => {
            faults.add(shown(name), FaultKind::Envelope(error));
            return None;
        }
    };
    let found = signed.signed.version().get();
    if let Some(stated) = version.filter(|stated| *stated != found) {
        faults.add(shown(name), FaultKind::Version { found, stated });
        return None;
    }
    Some((signed, bytes))
}

/// Every root from the first on, each signed by its own keys and by those of the one before.
fn chain(roots: &Versions<Root>, faults: &mut Faults) {
    let last = roots.keys().next_back().copied().unwrap_or(1);
    let mut before: Option<&Root> = None;
    for version in 1..=last {
        let name = file(RoleName::Root, version);
        let Some((root, _)) = roots.get(&version) else {
            faults.add(name, FaultKind::Absent);
            before = None;
            // A number that somebody made up is not counted up to.
            if version > wide(roots.len()).saturating_add(1) {
                return;
            }
            continue;
        };
        if let Err(fault) = role::check(&root.signed) {
            faults.add(&name, FaultKind::Root(fault));
        }
        let mut seats = Vec::new();
        for by in before.into_iter().chain([&root.signed]) {
            let Ok(sitting) = role::seats(by, RoleName::Root) else { continue };
            enough(&name, RoleName::Root, by.version.get(), &sitting, root, faults);
            seats.push(sitting);
        }
        if let Ok(message) = envelope::canonical(&root.signed) {
            weigh(&name, &seats.iter().collect::<Vec<_>>(), &message, &root.signatures, faults);
        }
        before = Some(&root.signed);
    }
}

/// Whether enough have signed.
fn enough<T: Role>(
    name: &str,
    role: RoleName,
    root: u64,
    seats: &Seats,
    signed: &Signed<T>,
    faults: &mut Faults,
) {
    match envelope::canonical(&signed.signed) {
        Ok(message) => {
            let standing = seats.standing(role, root, &message, &signed.signatures);
            if standing.wanted() > 0 {
                faults.add(name, FaultKind::Below(standing));
            }
        }
        Err(error) => faults.add(name, FaultKind::Envelope(error)),
    }
}

/// Whether every signature counts somewhere.
pub(super) fn weigh(
    name: &str,
    seats: &[&Seats],
    message: &[u8],
    signatures: &[Signature],
    faults: &mut Faults,
) {
    let weighed: Vec<Vec<Worth>> = seats.iter().map(|seats| seats.weigh(message, signatures)).collect();
    for place in 0..signatures.len() {
        let worths: Vec<Worth> = weighed.iter().filter_map(|worths| worths.get(place).copied()).collect();
        if worths.iter().any(|worth| matches!(worth, Worth::Counts(_))) {
            continue;
        }
        let bad = worths.iter().find_map(|worth| match worth {
            Worth::Bad(id) => Some(*id),
            _ => None,
        });
        faults.add(name, bad.map_or(FaultKind::IdleSignature, FaultKind::BadSignature));
    }
}

/// Whether an older file was well signed under one of the roots.
fn signed_under_any<T: Role>(
    role: RoleName,
    version: u64,
    signed: &Signed<T>,
    roots: &[&Root],
    faults: &mut Faults,
) {
    let name = file(role, version);
    let mut first: Option<Faults> = None;
    // The newest first: it is the likeliest, and the fault that a reader can use.
    for root in roots.iter().rev() {
        let mut found = Faults::default();
        current(&name, role, signed, root, &mut found);
        if found.0.is_empty() {
            return;
        }
        first.get_or_insert(found);
    }
    faults.0.extend(first.unwrap_or_default().0);
}

/// Whether a file is well signed under this root.
fn current<T: Role>(name: &str, role: RoleName, signed: &Signed<T>, root: &Root, faults: &mut Faults) {
    let Ok(seats) = role::seats(root, role) else { return };
    enough(name, role, root.version.get(), &seats, signed, faults);
    if let Ok(message) = envelope::canonical(&signed.signed) {
        weigh(name, &[&seats], &message, &signed.signatures, faults);
    }
}

fn holds(stands: (RoleName, u64, Moment), name: &str, now: Moment, faults: &mut Faults, audit: &mut Audit) {
    if stands.2 <= now {
        faults.add(name, FaultKind::Expired(stands.2));
    }
    audit.roles.push(stands);
}

/// The one file that a snapshot or timestamp names.
fn sole<'a>(
    meta: &'a std::collections::HashMap<String, Metafile>,
    name: &'static str,
    by: &str,
    faults: &mut Faults,
) -> Option<&'a Metafile> {
    let named = meta.get(name);
    let whole =
        |named: &&Metafile| named.length.is_some() && named.hashes.is_some() && named._extra.is_empty();
    if meta.len() != 1 || !named.as_ref().is_some_and(whole) {
        faults.add(by, FaultKind::Meta(name));
    }
    named
}

/// The file that another names, if it is the one that was meant.
fn follow<'a, T: Role>(
    role: RoleName,
    named: &Metafile,
    versions: &'a Versions<T>,
    faults: &mut Faults,
) -> Option<(String, &'a Signed<T>)> {
    let name = file(role, named.version.get());
    let Some((signed, bytes)) = versions.get(&named.version.get()) else {
        // One that is there and could not be read is a fault already; said twice is better than never.
        faults.add(name, FaultKind::Absent);
        return None;
    };
    let found = wide(bytes.len());
    if let Some(stated) = named.length.filter(|stated| *stated != found) {
        faults.add(&name, FaultKind::Length { found, stated });
    }
    let found = pinhole_manifest::Digest::of(bytes);
    match named.hashes.as_ref().map(digest_of_hashes) {
        Some(Some(stated)) if stated == found => {}
        Some(Some(stated)) => faults.add(&name, FaultKind::Hash { found, stated }),
        // `sole` has said so.
        Some(None) | None => {}
    }
    Some((name, signed))
}

/// Versions after the current one were never published.
fn later<'a>(role: RoleName, versions: impl Iterator<Item = &'a u64>, current: u64, faults: &mut Faults) {
    for found in versions.filter(|version| **version > current) {
        faults.add(file(role, *found), FaultKind::Version { found: *found, stated: current });
    }
}
