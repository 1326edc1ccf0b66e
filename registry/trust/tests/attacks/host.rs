//! A host that trusts one registry, and an attack on it.

use pinhole_registry::client::{
    Consent, Location, Refused, Registries, RegistryName, SyncError, Synced, Terms, Verdict,
};
use tempfile::TempDir;

use crate::kit::{Forge, now};

/// An attack on a registry that this host has synced once.
pub(crate) struct Attack {
    /// The fault's name.
    pub(crate) name: &'static str,
    /// What the attacker does.
    pub(crate) done: fn(&mut Forge),
    /// Whether this is how it is refused.
    pub(crate) refused: fn(&Refused) -> bool,
}

/// A host that trusts one registry.
pub(crate) struct Host {
    pub(crate) folder: TempDir,
    pub(crate) registries: Registries,
    pub(crate) name: RegistryName,
}

impl Host {
    pub(crate) fn trusting(forge: &Forge) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registries = Registries::at(folder.path().join("registries"));
        let name = RegistryName::parse("acme").unwrap();
        let location = Location::url("https://registry.example/").unwrap();
        registries.trust(&name, location, &forge.root_bytes()).unwrap();
        Self { folder, registries, name }
    }

    /// One that has synced.
    pub(crate) fn synced(forge: &Forge) -> Self {
        let host = Self::trusting(forge);
        host.sync(forge).unwrap();
        host
    }

    pub(crate) fn sync(&self, forge: &Forge) -> Result<Synced, SyncError> {
        self.sync_at(forge, now())
    }

    pub(crate) fn sync_at(&self, forge: &Forge, now: jiff::Timestamp) -> Result<Synced, SyncError> {
        let terms = Terms { owner: &|_| None, judge: &|_, _| Verdict::Narrower, now, consent: Consent::Held };
        block_on(self.registries.sync(&self.name, forge, terms))
    }

    /// The bytes of the state.
    pub(crate) fn state(&self) -> Vec<u8> {
        std::fs::read(self.folder.path().join("registries/state")).unwrap()
    }

    /// All that hosts would load, and when it expires.
    pub(crate) fn view(&self) -> String {
        format!("{:?}", self.registries.load(now()).unwrap())
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

pub(crate) fn refusal(outcome: Result<Synced, SyncError>) -> Refused {
    match outcome {
        Err(SyncError::Refused { source, .. }) => source,
        other => panic!("not refused: {other:?}"),
    }
}
