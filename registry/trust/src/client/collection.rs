//! The targets of a registry, as services with their modules.
//!
//! Refuses a target whose name is none of a manifest or a module, and too many of them. A target that is larger than its
//! kind may be is refused when it is asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pinhole_manifest::{Digest, ServiceId};
use tough::schema::{Target, Targets};

use super::refused::Refused;
use crate::names::{Held, ModuleName};
pub(super) use crate::{MANIFEST_BYTES_MAX, MODULE_BYTES_MAX};

/// Most targets of a registry.
pub const TARGETS_MAX: usize = 32_768;

/// A file as the targets list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The name of the target.
    pub(super) name: String,
    pub(super) length: u64,
    pub(super) digest: Digest,
}

/// What a registry has for a service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) manifest: Option<Entry>,
    pub(super) modules: BTreeMap<ModuleName, Entry>,
}

/// Puts the targets together by their services.
pub(super) fn collect(targets: &Targets) -> Result<BTreeMap<ServiceId, Offer>, Refused> {
    if targets.targets.len() > TARGETS_MAX {
        return Err(Refused::TooManyTargets { at_most: TARGETS_MAX });
    }
    let mut offers: BTreeMap<ServiceId, Offer> = BTreeMap::new();
    for (name, target) in &targets.targets {
        let name = name.raw();
        let held = Held::parse(name)
            .map_err(|source| Refused::TargetName { name: name.chars().take(64).collect(), source })?;
        let offer = offers.entry(held.service().clone()).or_default();
        match held {
            Held::Manifest(_) => offer.manifest = Some(entry(name, target, MANIFEST_BYTES_MAX)?),
            Held::Module(_, module) => {
                offer.modules.insert(module, entry(name, target, MODULE_BYTES_MAX)?);
            }
        }
    }
    // A module without a manifest is of no use, and harms nobody.
    offers.retain(|_, offer| offer.manifest.is_some());
    Ok(offers)
}

fn entry(name: &str, target: &Target, at_most: u64) -> Result<Entry, Refused> {
    let file = || name.to_owned();
    if target.length > at_most {
        return Err(Refused::TooLarge { file: file(), at_most });
    }
    let digest = digest(target).ok_or_else(|| Refused::WrongHash { file: file() })?;
    Ok(Entry { name: file(), length: target.length, digest })
}

/// The digest that is signed of a target; `None` for a hash of another length.
pub(super) fn digest(target: &Target) -> Option<Digest> {
    let mut text = "sha256:".to_owned();
    for byte in target.hashes.sha256.iter() {
        write!(text, "{byte:02x}").ok()?;
    }
    Digest::parse(&text).ok()
}

/// Where a target is: its hash is before the last segment of its name, where snapshots are consistent.
pub(super) fn place(name: &str, digest: &Digest, consistent: bool) -> String {
    match (consistent, name.rsplit_once('/')) {
        (false, _) => name.to_owned(),
        (true, None) => format!("{}.{name}", digest.hex()),
        (true, Some((folder, file))) => format!("{folder}/{}.{file}", digest.hex()),
    }
}
