//! A host, and what it is given.

use pinhole_manifest::{Digest, Manifest, ServiceId};
use pinhole_registry::client::{
    Consent, Happened, Location, Registries, RegistryName, Synced, Terms, Verdict,
};
use tempfile::TempDir;

use crate::kit::{Forge, manifest, now};

pub(crate) struct Host {
    pub(crate) folder: TempDir,
    pub(crate) registries: Registries,
}

pub(crate) fn name(text: &str) -> RegistryName {
    RegistryName::parse(text).unwrap()
}

pub(crate) fn id(text: &str) -> ServiceId {
    ServiceId::parse(text).unwrap()
}

pub(crate) fn location() -> Location {
    Location::url("https://registry.example/").unwrap()
}

/// Fewer fields are narrower; nothing else is.
pub(crate) fn judge(old: &Manifest, new: &Manifest) -> Verdict {
    let fields = |manifest: &Manifest| {
        format!("{:?}", manifest.ops().values().map(|op| &op.pick).collect::<Vec<_>>()).len()
    };
    if fields(new) < fields(old) { Verdict::Narrower } else { Verdict::Widens }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

impl Host {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registries = Registries::at(folder.path().join("registries"));
        Self { folder, registries }
    }

    pub(crate) fn trusting(forge: &Forge) -> Self {
        let host = Self::new();
        host.registries.trust(&name("acme"), location(), &forge.root_bytes()).unwrap();
        host
    }

    pub(crate) fn sync_with(
        &self,
        registry: &str,
        forge: &Forge,
        consent: Consent,
        compiled: &[&str],
    ) -> Synced {
        let owner =
            |service: &ServiceId| compiled.contains(&service.as_str()).then(|| "the binary".to_owned());
        let terms = Terms { owner: &owner, judge: &judge, now: now(), consent };
        block_on(self.registries.sync(&name(registry), forge, terms)).unwrap()
    }

    pub(crate) fn sync(&self, forge: &Forge) -> Synced {
        self.sync_with("acme", forge, Consent::Held, &[])
    }

    /// `service@version of registry` of all that hosts load.
    pub(crate) fn loads(&self) -> Vec<String> {
        let all = self.registries.load(now()).unwrap();
        all.services
            .iter()
            .map(|loaded| {
                let manifest = pinhole_manifest::read(&loaded.manifest).manifest.unwrap();
                assert_eq!((manifest.id(), manifest.digest()), (&loaded.service, loaded.digest));
                format!("{} of {}", manifest.label(), loaded.registry)
            })
            .collect()
    }
}

pub(crate) fn of<'a>(synced: &'a Synced, service: &str) -> &'a Happened {
    &synced.services.iter().find(|(id, _)| id.as_str() == service).unwrap().1
}

pub(crate) fn publish(forge: &mut Forge, service: &str, version: &str, fields: &[&str]) -> Digest {
    let bytes = manifest(service, version, fields);
    let digest = Digest::of(&bytes);
    forge.content.insert(format!("{service}.json"), bytes);
    forge.next();
    digest
}
