//! The document that says what is trusted and accepted. Everything else is named in it by its digest.
//!
//! INVARIANT: a service is served by at most one registry.

use std::collections::BTreeMap;

use jiff::Timestamp as Time;
use pinhole_manifest::{Digest, ServiceId};
use semver::Version;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::client::name::{Location, RegistryName};

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct State {
    pub(in crate::client) format: Format,
    pub(in crate::client) registries: BTreeMap<RegistryName, Registry>,
    /// Services that the operator said another source must leave to this registry.
    pub(in crate::client) claims: BTreeMap<ServiceId, RegistryName>,
}

/// The number of this format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) struct Format;

/// A registry that the operator trusts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct Registry {
    pub(in crate::client) location: Location,
    /// The root that the operator said to trust.
    pub(in crate::client) pinned: Digest,
    /// The latest root, signed from one to the next since the pinned one.
    pub(in crate::client) root: Digest,
    /// What the last whole sync has left; nothing before it.
    pub(in crate::client) current: Option<Current>,
    pub(in crate::client) services: BTreeMap<ServiceId, Service>,
    /// Services that it offers and another source owns, with that source's name.
    pub(in crate::client) refused: BTreeMap<ServiceId, String>,
}

/// What a whole sync leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct Current {
    pub(in crate::client) timestamp: Digest,
    pub(in crate::client) snapshot: Digest,
    pub(in crate::client) targets: Digest,
    /// The version of the targets.
    pub(in crate::client) version: u64,
    /// The time of that sync: no later one believes an earlier clock.
    pub(in crate::client) seen: Time,
    /// From when on hosts refuse its services.
    pub(in crate::client) expires: Time,
}

/// A service of a registry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct Service {
    pub(in crate::client) accepted: Release,
    pub(in crate::client) standing: Standing,
    pub(in crate::client) held: Option<Held>,
    /// What was accepted before, the latest last.
    pub(in crate::client) earlier: Vec<Earlier>,
}

/// Whether hosts are given it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::client) enum Standing {
    Served,
    /// It has left the collection. Kept so that it does not come back wider as if it were new.
    Gone,
}

/// A manifest with its modules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct Release {
    #[serde(serialize_with = "version_out", deserialize_with = "version_in")]
    pub(in crate::client) version: Version,
    pub(in crate::client) manifest: Digest,
    /// By the file that the manifest names.
    pub(in crate::client) modules: BTreeMap<String, Digest>,
}

/// An update that waits for the operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct Held {
    pub(in crate::client) release: Release,
    pub(in crate::client) why: Why,
}

/// Why an update waits for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// It is not proven narrower than what is accepted.
    Widens,
    /// Its version is lower than the accepted one's.
    Older,
}

/// What was accepted until then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct Earlier {
    pub(in crate::client) release: Release,
    pub(in crate::client) until: Time,
}

impl Release {
    pub(in crate::client) fn files(&self) -> impl Iterator<Item = Digest> + '_ {
        std::iter::once(self.manifest).chain(self.modules.values().copied())
    }
}

impl State {
    /// Every file that it names.
    pub(in crate::client) fn files(&self) -> impl Iterator<Item = Digest> + '_ {
        self.registries.values().flat_map(|registry| {
            let current = registry.current.iter();
            let metadata = current.flat_map(|c| [c.timestamp, c.snapshot, c.targets]);
            let services = registry.services.values().flat_map(|service| {
                let held = service.held.iter().map(|held| &held.release);
                let earlier = service.earlier.iter().map(|earlier| &earlier.release);
                std::iter::once(&service.accepted).chain(held).chain(earlier).flat_map(Release::files)
            });
            [registry.pinned, registry.root].into_iter().chain(metadata).chain(services)
        })
    }

    /// The registry that serves a service.
    pub(in crate::client) fn owner(&self, service: &ServiceId) -> Option<&RegistryName> {
        let serves = |registry: &Registry| {
            registry.services.get(service).is_some_and(|service| service.standing == Standing::Served)
        };
        self.registries.iter().find(|(_, registry)| serves(registry)).map(|(name, _)| name)
    }
}

impl Default for Format {
    fn default() -> Self {
        Self
    }
}

const FORMAT: u32 = 1;

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(FORMAT)
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            FORMAT => Ok(Self),
            found => Err(serde::de::Error::custom(format_args!("the format is {found}"))),
        }
    }
}

fn version_out<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(version)
}

fn version_in<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    Version::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
