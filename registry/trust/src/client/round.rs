//! The services of one sync: downloaded, read, held against what was accepted.
//!
//! Refuses a service that another source owns. INVARIANT: nothing of the state changes before [`Taken::apply`], which
//! changes all of it in memory, for one commit.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp as Time};
use pinhole_manifest::model::Action;
use pinhole_manifest::{Manifest, ServiceId};

use super::collection::{Entry, MANIFEST_BYTES_MAX, Offer, place};
use super::fetch::{Area, Fetch, RemotePath};
use super::name::RegistryName;
use super::refresh::{get, right_hash, right_length};
use super::refused::Refused;
use super::state::document::{Earlier, Held, Registry, Release, Service, Standing, State, Why};
use super::state::{Lock, Store};
use super::sync::{Consent, Happened, SyncError, Terms, Unfit, Verdict};
use crate::names::ModuleName;

/// How long an accepted manifest is kept after another took its place, in days: longer than any grant lives.
const KEPT_DAYS: i64 = 100;
/// Most earlier manifests of a service.
const KEPT_MAX: usize = 256;

/// One sync of one registry.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    pub(super) store: &'a Store,
    pub(super) lock: &'a Lock,
    pub(super) fetch: &'a dyn Fetch,
    pub(super) terms: Terms<'a>,
    pub(super) name: &'a RegistryName,
}

/// What is to become of a service.
enum Next {
    Accept(Release),
    Hold(Release, Why),
    Leave(Unfit),
    OwnedBy(String),
}

/// What is to become of each service of the registry.
pub(super) struct Taken(BTreeMap<ServiceId, Next>);

impl Round<'_> {
    /// Downloads and judges all that the registry offers.
    pub(super) async fn take(
        self,
        state: &State,
        offers: BTreeMap<ServiceId, Offer>,
        consistent: bool,
    ) -> Result<Taken, SyncError> {
        let mut taken = BTreeMap::new();
        for (service, offer) in offers {
            let next = match self.other_owner(state, &service) {
                Some(owner) => Next::OwnedBy(owner),
                None => self.one(state, &service, offer, consistent).await?,
            };
            taken.insert(service, next);
        }
        Ok(Taken(taken))
    }

    fn other_owner(self, state: &State, service: &ServiceId) -> Option<String> {
        let claimant = state.claims.get(service);
        let owner = state.owner(service);
        if claimant == Some(self.name) || owner == Some(self.name) {
            return None;
        }
        let registry = owner.or(claimant).map(|registry| format!("the registry {registry}"));
        registry.or_else(|| (self.terms.owner)(service))
    }

    async fn one(
        self,
        state: &State,
        service: &ServiceId,
        offer: Offer,
        consistent: bool,
    ) -> Result<Next, SyncError> {
        let Some(entry) = offer.manifest else { return Err(self.refused(Refused::Incomplete)) };
        let bytes = self.obtain(&entry, consistent).await?;
        let manifest = match pinhole_manifest::read(&bytes).into_result() {
            Ok(manifest) if manifest.id() == service => manifest,
            Ok(manifest) => return Ok(Next::Leave(Unfit::OtherService(manifest.id().clone()))),
            Err(diagnostics) => return Ok(Next::Leave(Unfit::Manifest(diagnostics))),
        };
        let mut modules = BTreeMap::new();
        for op in manifest.ops().values() {
            let Action::Module(module) = &op.action else { continue };
            let name = ModuleName::of_file(&module.file).ok();
            let listed = name.and_then(|name| offer.modules.get(&name));
            match listed.filter(|entry| entry.digest == module.sha256) {
                Some(entry) => self.obtain(entry, consistent).await?,
                None => return Ok(Next::Leave(Unfit::Module(module.file.clone()))),
            };
            modules.insert(module.file.clone(), module.sha256);
        }
        let release = Release { version: manifest.version().clone(), manifest: entry.digest, modules };
        let known = state.registries.get(self.name).and_then(|registry| registry.services.get(service));
        Ok(match known.and_then(|known| self.why_held(known, &release, &manifest)) {
            Some(why) => Next::Hold(release, why),
            None => Next::Accept(release),
        })
    }

    /// Why a release may not take the place of the accepted one by itself.
    fn why_held(self, known: &Service, release: &Release, manifest: &Manifest) -> Option<Why> {
        if known.accepted == *release {
            return None;
        }
        if release.version < known.accepted.version {
            return Some(Why::Older);
        }
        if self.terms.consent == Consent::AcceptWidening {
            return None;
        }
        // What can no longer be read can no longer be compared.
        let accepted = self.store.find(&known.accepted.manifest, MANIFEST_BYTES_MAX);
        let accepted = accepted.and_then(|bytes| pinhole_manifest::read(&bytes).manifest);
        match accepted.map(|accepted| (self.terms.judge)(&accepted, manifest)) {
            Some(Verdict::Narrower) => None,
            Some(Verdict::Widens) | None => Some(Why::Widens),
        }
    }

    /// The bytes of a target, from the disk where they are there already.
    async fn obtain(self, entry: &Entry, consistent: bool) -> Result<Vec<u8>, SyncError> {
        if let Some(bytes) = self.store.find(&entry.digest, entry.length) {
            right_length(&entry.name, entry.length, &bytes).map_err(|fault| self.refused(fault))?;
            return Ok(bytes);
        }
        let refused = |fault| self.refused(fault);
        let path = RemotePath::new(Area::Targets, &place(&entry.name, &entry.digest, consistent));
        let path = path.map_err(|fault| refused(fault.into()))?;
        let bytes = get(self.fetch, &path, entry.length).await.map_err(refused)?;
        right_length(&entry.name, entry.length, &bytes).map_err(refused)?;
        right_hash(&entry.name, entry.digest.as_bytes(), &bytes).map_err(refused)?;
        self.store.put(self.lock, &bytes)?;
        Ok(bytes)
    }

    fn refused(self, source: Refused) -> SyncError {
        SyncError::Refused { name: self.name.clone(), source }
    }
}

impl Taken {
    /// Changes the state, and says what has happened to each service.
    pub(super) fn apply(
        self,
        state: &mut State,
        name: &RegistryName,
        now: Time,
    ) -> Vec<(ServiceId, Happened)> {
        let mut happened = BTreeMap::new();
        let mut won = Vec::new();
        let Some(registry) = state.registries.get_mut(name) else { return Vec::new() };
        registry.refused.clear();
        for (service, known) in &mut registry.services {
            if known.standing == Standing::Served && !self.0.contains_key(service) {
                (known.standing, known.held) = (Standing::Gone, None);
                happened.insert(service.clone(), Happened::Removed);
            }
        }
        for (service, next) in self.0 {
            let what = match next {
                Next::Accept(release) => {
                    won.push(service.clone());
                    accept(registry, &service, release, now)
                }
                Next::Hold(release, why) => hold(registry, &service, release, why),
                Next::Leave(unfit) => {
                    // What waited is not what the registry says now.
                    if let Some(known) = registry.services.get_mut(&service) {
                        known.held = None;
                    }
                    Happened::Unfit(unfit)
                }
                Next::OwnedBy(owner) => {
                    registry.refused.insert(service.clone(), owner.clone());
                    Happened::OwnedBy(owner)
                }
            };
            happened.insert(service, what);
        }
        for service in won {
            yield_to(state, name, &service);
        }
        happened.into_iter().collect()
    }
}

/// Makes a release the accepted one.
pub(super) fn accept(registry: &mut Registry, service: &ServiceId, release: Release, now: Time) -> Happened {
    let (version, digest) = (release.version.clone(), release.manifest);
    let Some(known) = registry.services.get_mut(service) else {
        let new = Service { accepted: release, standing: Standing::Served, held: None, earlier: Vec::new() };
        registry.services.insert(service.clone(), new);
        return Happened::Added { version, digest };
    };
    known.held = None;
    let returned = known.standing == Standing::Gone;
    known.standing = Standing::Served;
    if known.accepted == release {
        return if returned { Happened::Added { version, digest } } else { Happened::Unchanged };
    }
    let before = std::mem::replace(&mut known.accepted, release);
    let from = before.version.clone();
    known.earlier.push(Earlier { release: before, until: now });
    let kept = SignedDuration::from_hours(24 * KEPT_DAYS);
    known.earlier.retain(|earlier| now.duration_since(earlier.until) <= kept);
    let too_many = known.earlier.len().saturating_sub(KEPT_MAX);
    known.earlier.drain(..too_many);
    if returned {
        Happened::Added { version, digest }
    } else {
        Happened::Updated { from, to: version, digest }
    }
}

fn hold(registry: &mut Registry, service: &ServiceId, release: Release, why: Why) -> Happened {
    let (to, digest) = (release.version.clone(), release.manifest);
    let Some(known) = registry.services.get_mut(service) else {
        // Only what has an accepted release before it is ever held.
        return Happened::Unchanged;
    };
    known.held = Some(Held { release, why });
    Happened::Held { why, from: known.accepted.version.clone(), to, digest }
}

/// Takes a service from every other registry. INVARIANT: a service is served by at most one.
pub(super) fn yield_to(state: &mut State, name: &RegistryName, service: &ServiceId) {
    for (_, other) in state.registries.iter_mut().filter(|(other, _)| *other != name) {
        let Some(known) = other.services.get_mut(service) else { continue };
        if known.standing == Standing::Served {
            (known.standing, known.held) = (Standing::Gone, None);
            other.refused.insert(service.clone(), format!("the registry {name}"));
        }
    }
}
