//! Takes over what a registry says now: refresh, download, compare with what was accepted, and one commit.
//!
//! Refuses everything together when anything of the metadata or of a download is not right; leaves a service as it was when
//! only its manifest is of no use here. INVARIANT: after a failure only roots may have advanced, for each is signed by the
//! one before it (TUF specification 5.3); hosts see the same services as before.

use jiff::Timestamp as Time;
use pinhole_manifest::diagnostic::Diagnostic;
use pinhole_manifest::{Digest, Manifest, ServiceId};
use semver::Version;

use super::Registries;
use super::collection::collect;
use super::fetch::Fetch;
use super::name::RegistryName;
use super::refresh::Refresh;
use super::refused::Refused;
use super::role::{Document, Profile};
use super::round::{Round, Taken};
use super::state::document::{Current, Registry, State, Why};
use super::state::{Lock, StateError};
use super::trusted::Trusted;
use crate::RoleName;

/// What a comparison of an accepted manifest with a new one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is proven that an agent can do and see no more.
    Narrower,
    /// It is not.
    Widens,
}

/// What the operator has said to updates that widen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// They wait until each is accepted.
    Held,
    /// They apply at once: the operator's flag. One of a lower version waits all the same.
    AcceptWidening,
}

/// On what terms a registry is synced.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The source that owns a service beside the registries of this folder, such as the binary; its name for messages.
    pub owner: &'a (dyn Fn(&ServiceId) -> Option<String> + Sync),
    /// Compares an accepted manifest (first) with a new one.
    pub judge: &'a (dyn Fn(&Manifest, &Manifest) -> Verdict + Sync),
    /// The time. One before that of the last sync counts as that.
    pub now: Time,
    /// What applies without asking.
    pub consent: Consent,
}

impl std::fmt::Debug for Terms<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terms")
            .field("now", &self.now)
            .field("consent", &self.consent)
            .finish_non_exhaustive()
    }
}

/// What has happened to a service.
#[derive(Debug)]
pub enum Happened {
    /// It is new, or has come back, and hosts load it from now on.
    Added {
        /// Its version.
        version: Version,
        /// Its digest.
        digest: Digest,
    },
    /// It is what was accepted.
    Unchanged,
    /// It is replaced by what lets an agent do no more, or by what the operator said yes to beforehand.
    Updated {
        /// The version that hosts had.
        from: Version,
        /// The version that they have now.
        to: Version,
        /// Its digest.
        digest: Digest,
    },
    /// An update waits for `pinhole registry accept`; hosts keep what was accepted.
    Held {
        /// Why.
        why: Why,
        /// The version that hosts have.
        from: Version,
        /// The version that waits.
        to: Version,
        /// Its digest.
        digest: Digest,
    },
    /// It has left the registry, and hosts no longer load it.
    Removed,
    /// Another source owns it, until `pinhole registry replace`.
    OwnedBy(String),
    /// What the registry has of it is of no use; hosts keep what was accepted.
    Unfit(Unfit),
}

/// Why a service's manifest is left out.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It does not load with this version of Pinhole.
    #[error("its manifest does not load with this version of Pinhole")]
    Manifest(Vec<Diagnostic>),
    /// It is another service's.
    #[error("its manifest is that of `{0}`")]
    OtherService(ServiceId),
    /// The registry has not a module that it names, or another under its name.
    #[error("the registry has not the module `{0}` that its manifest names")]
    Module(String),
}

/// What a sync has done.
#[derive(Debug)]
#[non_exhaustive]
pub struct Synced {
    /// The version of the root that is trusted now.
    pub root: u64,
    /// The version of the targets that are taken over.
    pub targets: u64,
    /// From when on hosts refuse the registry's services.
    pub expires: Time,
    /// Each service of the registry, and each that has left it, by id.
    pub services: Vec<(ServiceId, Happened)>,
}

/// Why nothing was taken over.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// There is no such registry.
    #[error("no registry `{0}` is trusted; `pinhole registry trust` it first")]
    Unknown(RegistryName),
    /// What it offers is refused.
    #[error("what the registry `{name}` offers is refused, and what was accepted of it stays")]
    Refused {
        /// The registry.
        name: RegistryName,
        /// Why.
        source: Refused,
    },
    /// The state cannot be read or changed.
    #[error(transparent)]
    State(#[from] StateError),
}

impl Registries {
    /// Takes over what a registry says now. Holds the lock all the while: of two at once the second is refused.
    pub async fn sync(
        &self,
        name: &RegistryName,
        fetch: &dyn Fetch,
        terms: Terms<'_>,
    ) -> Result<Synced, SyncError> {
        let lock = self.store.lock()?;
        let mut state = self.store.read()?;
        let registry = state.registries.get(name).ok_or_else(|| SyncError::Unknown(name.clone()))?;
        let seen = registry.current.as_ref().map_or(Time::MIN, |current| current.seen);
        let terms = Terms { now: terms.now.max(seen), ..terms };
        let before = self.trusted(registry)?;
        let mut trusted = before.clone();
        let round = Round { store: &self.store, lock: &lock, fetch, terms, name };
        match round_up(round, &mut trusted, &state).await {
            Ok(taken) => self.take_over(&lock, state, name, &trusted, taken, terms.now),
            Err(error) => {
                self.keep_root(&lock, &mut state, name, &before, &trusted)?;
                Err(error)
            }
        }
    }

    fn trusted(&self, registry: &Registry) -> Result<Trusted, StateError> {
        fn one<T: tough::schema::Role + serde::de::DeserializeOwned>(
            registries: &Registries,
            digest: Digest,
            role: RoleName,
        ) -> Result<Option<Document<T>>, StateError> {
            let bytes = registries.store.get(&digest, role.bytes_max())?;
            Document::read(bytes).map(Some).map_err(|_unlike_before| registries.store.damaged_file(&digest))
        }
        let root = self.store.get(&registry.root, RoleName::Root.bytes_max())?;
        let mut trusted = Trusted::begin(root, Profile::Manifests)
            .map_err(|_unlike_before| self.store.damaged_file(&registry.root))?;
        if let Some(current) = &registry.current {
            trusted.timestamp = one(self, current.timestamp, RoleName::Timestamp)?;
            trusted.snapshot = one(self, current.snapshot, RoleName::Snapshot)?;
            trusted.targets = one(self, current.targets, RoleName::Targets)?;
        }
        Ok(trusted)
    }

    fn take_over(
        &self,
        lock: &Lock,
        mut state: State,
        name: &RegistryName,
        trusted: &Trusted,
        taken: Taken,
        now: Time,
    ) -> Result<Synced, SyncError> {
        let incomplete = || SyncError::Refused { name: name.clone(), source: Refused::Incomplete };
        let expires = trusted.expires().ok_or_else(incomplete)?;
        let targets = trusted.targets.as_ref().ok_or_else(incomplete)?;
        let timestamp = trusted.timestamp.as_ref().ok_or_else(incomplete)?;
        let snapshot = trusted.snapshot.as_ref().ok_or_else(incomplete)?;
        let current = Current {
            timestamp: self.store.put(lock, &timestamp.bytes)?,
            snapshot: self.store.put(lock, &snapshot.bytes)?,
            targets: self.store.put(lock, &targets.bytes)?,
            version: targets.version(),
            seen: now,
            expires,
        };
        let root = self.store.put(lock, &trusted.root.bytes)?;
        let services = taken.apply(&mut state, name, now);
        if let Some(registry) = state.registries.get_mut(name) {
            registry.root = root;
            registry.current = Some(current);
        }
        self.store.commit(lock, &state)?;
        self.store.sweep(lock, &state);
        Ok(Synced { root: trusted.root.version(), targets: targets.version(), expires, services })
    }

    /// Keeps the root that a failed sync has got to. What its keys have not signed is forgotten when the next one begins.
    fn keep_root(
        &self,
        lock: &Lock,
        state: &mut State,
        name: &RegistryName,
        before: &Trusted,
        after: &Trusted,
    ) -> Result<(), StateError> {
        let Some(registry) = state.registries.get_mut(name) else { return Ok(()) };
        if before.root.bytes == after.root.bytes {
            return Ok(());
        }
        registry.root = self.store.put(lock, &after.root.bytes)?;
        if let Some(current) = &mut registry.current {
            current.expires = current.expires.min(after.root.role.signed.expires);
        }
        self.store.commit(lock, state)
    }
}

async fn round_up(round: Round<'_>, trusted: &mut Trusted, state: &State) -> Result<Taken, SyncError> {
    let refused = |source| SyncError::Refused { name: round.name.clone(), source };
    let refresh = Refresh { fetch: round.fetch, now: round.terms.now, profile: Profile::Manifests };
    refresh.run(trusted).await.map_err(refused)?;
    let targets = trusted.targets.as_ref().ok_or_else(|| refused(Refused::Incomplete))?;
    let offers = collect(&targets.role.signed).map_err(refused)?;
    round.take(state, offers, trusted.root.role.signed.consistent_snapshot).await
}
