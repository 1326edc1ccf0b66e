//! Which manifest is held against which.

use std::collections::BTreeMap;

use pinhole_manifest::diff::{Side, added, diff, removed};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Manifest, read};

use super::source::{File, Found};
use super::{Compared, Report, Unread};
use crate::end::{End, Failure};

/// One manifest against one, whatever their ids; several against several by their ids.
pub(super) fn compare(old: Found, new: Found) -> anyhow::Result<Report> {
    let single = matches!((&old, &new), (Found::One(_), Found::One(_)));
    if !single && matches!((&old, &new), (Found::One(_), Found::Many(_)) | (Found::Many(_), Found::One(_))) {
        let message = "one side is a manifest, and the other a folder of several";
        return Err(Failure::new(End::Usage, message, "pass two manifests, or two folders of them").into());
    }
    let mut unread = Vec::new();
    let old = loaded(Side::Old, old, &mut unread);
    let new = loaded(Side::New, new, &mut unread);
    if !unread.is_empty() {
        return Ok(Report::Unread(unread));
    }
    let services = if single { together(old, new) } else { by_id(old, new)? };
    let changed = services.into_iter().filter(|service| !service.comparison.changes().is_empty());
    Ok(Report::Changes(changed.collect()))
}

type Loaded = (Manifest, File);

/// A service on both sides, or on one.
enum Sides {
    Both(Box<Loaded>, Box<Loaded>),
    New(Box<Loaded>),
    Old(Box<Loaded>),
}

fn loaded(side: Side, found: Found, unread: &mut Vec<Unread>) -> Vec<Loaded> {
    let files = match found {
        Found::One(file) => vec![file],
        Found::Many(files) => files,
        Found::Nothing => Vec::new(),
    };
    let mut loaded = Vec::new();
    for file in files {
        match read(&file.bytes).into_result() {
            Ok(manifest) => loaded.push((manifest, file)),
            Err(diagnostics) => unread.push(Unread { side, file, diagnostics }),
        }
    }
    loaded
}

fn together(old: Vec<Loaded>, new: Vec<Loaded>) -> Vec<Compared> {
    old.into_iter().zip(new).map(|(old, new)| compared(Sides::Both(Box::new(old), Box::new(new)))).collect()
}

fn by_id(old: Vec<Loaded>, new: Vec<Loaded>) -> anyhow::Result<Vec<Compared>> {
    let mut old = sorted(old)?;
    let mut services: BTreeMap<String, Compared> = BTreeMap::new();
    for (id, loaded) in sorted(new)? {
        let sides = match old.remove(&id) {
            Some(before) => Sides::Both(Box::new(before), Box::new(loaded)),
            None => Sides::New(Box::new(loaded)),
        };
        services.insert(id, compared(sides));
    }
    services.extend(old.into_iter().map(|(id, loaded)| (id, compared(Sides::Old(Box::new(loaded))))));
    Ok(services.into_values().collect())
}

fn sorted(loaded: Vec<Loaded>) -> anyhow::Result<BTreeMap<String, Loaded>> {
    let mut sorted: BTreeMap<String, Loaded> = BTreeMap::new();
    for (manifest, file) in loaded {
        let id = manifest.id().to_string();
        if let Some((_, other)) = sorted.get(&id) {
            let (one, other) = (visible(&file.shown()), visible(&other.shown()));
            let message = format!("`{one}` and `{other}` are both `{id}`");
            return Err(Failure::new(End::Invalid, message, "keep one manifest for a service").into());
        }
        sorted.insert(id, (manifest, file));
    }
    Ok(sorted)
}

fn compared(service: Sides) -> Compared {
    let (comparison, id) = match &service {
        Sides::Both(old, new) => (diff(&old.0, &new.0), new.0.id()),
        Sides::New(new) => (added(&new.0), new.0.id()),
        Sides::Old(old) => (removed(&old.0), old.0.id()),
    };
    let id = id.to_string();
    let side = |loaded: Box<Loaded>| Some((loaded.0.version().to_string(), loaded.1));
    let (old, new) = match service {
        Sides::Both(old, new) => (side(old), side(new)),
        Sides::New(new) => (None, side(new)),
        Sides::Old(old) => (side(old), None),
    };
    Compared { service: id, old, new, comparison }
}
