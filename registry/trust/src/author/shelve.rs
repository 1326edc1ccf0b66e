//! `add` and `remove`: what the registry is to hold next.
//!
//! Refuses a version that goes back, and one that means two things. INVARIANT: the files are staged before the metadata that
//! names them. Nothing here signs or publishes.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp as Moment;
use pinhole_manifest::{Digest, ServiceId};
use tough::TargetName;
use tough::schema::{Root, Signed, Target, Targets};

use super::envelope::{self, EnvelopeError};
use super::layout::{hashed, metadata_name, names};
use super::offer::{Offer, OfferFault, Refused, digest_of, version_of};
use super::role::RootFault;
use super::seats::Standing;
use super::state::{self, StateError, Stock};
use super::statement::Statement;
use super::terms::{ClockError, empty_targets};
use super::{LockError, Work, Workshop, next};
use crate::RoleName;
use crate::names::Held;

/// What came of staging.
#[derive(Debug)]
pub enum Staging {
    /// The registry holds, or is about to hold, exactly this already.
    Unchanged,
    /// It waits for signatures.
    Staged(Staged),
}

/// What waits for signatures.
#[derive(Debug)]
#[non_exhaustive]
pub struct Staged {
    /// The file to be signed.
    pub file: PathBuf,
    /// What it says, against what is published.
    pub statement: Statement,
    /// How far it is signed, under each root that has a say.
    pub standing: Vec<Standing>,
}

/// Why nothing was staged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShelveError {
    /// The folder is in use, or not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Manifests that are not taken; each with all that is wrong with it.
    #[error("{} of the manifests cannot be added, so none was", .0.len())]
    Refused(Vec<Refused>),
    /// The registry does not hold a service.
    #[error("the registry does not hold `{0}`: look at what it holds with `pinhole registry verify`")]
    NotHeld(ServiceId),
    /// A file of the folder cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The root cannot be used.
    #[error(transparent)]
    Root(#[from] RootFault),
    /// The metadata would be too large.
    #[error("the metadata cannot be written: {0}")]
    Envelope(#[from] EnvelopeError),
    /// The clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The disk.
    #[error("the folder could not be written: look at the disk")]
    Disk(#[from] io::Error),
}

/// What a service was ever published as.
type History = BTreeMap<ServiceId, Vec<(semver::Version, Digest)>>;

impl Workshop {
    /// Stages the manifests of these folders, each with its modules: all of them or none.
    pub fn add(&self, folders: &[PathBuf], now: Moment) -> Result<Staging, ShelveError> {
        let work = self.work()?;
        let offers = self.offers(&work, folders)?;
        let mut held = work.held();
        for offer in &offers {
            held.retain(|name, _| !is_of(name, &offer.service));
            for (name, bytes) in &offer.files {
                held.insert(name.clone(), offer.target(bytes));
            }
        }
        if work.has(&held) {
            return Ok(Staging::Unchanged);
        }
        for (name, bytes) in offers.iter().flat_map(|offer| &offer.files) {
            self.disk.folder(&self.layout.staged_files())?;
            let path = self.layout.staged_files().join(hashed(Digest::of(bytes), name));
            self.disk.put(&self.layout, &path, bytes)?;
        }
        self.write_targets(&work, held, now).map(Staging::Staged)
    }

    /// Stages the registry without these services.
    pub fn remove(&self, services: &[ServiceId], now: Moment) -> Result<Staging, ShelveError> {
        let work = self.work()?;
        let mut held = work.held();
        for service in services {
            if held.remove(&Held::Manifest(service.clone())).is_none() {
                return Err(ShelveError::NotHeld(service.clone()));
            }
            held.retain(|name, _| !is_of(name, service));
        }
        if work.has(&held) {
            return Ok(Staging::Unchanged);
        }
        self.write_targets(&work, held, now).map(Staging::Staged)
    }

    /// Stages what is held already with a new expiry, for the targets' keys to sign anew.
    pub fn renew_targets(&self, now: Moment) -> Result<Staging, ShelveError> {
        let work = self.work()?;
        self.write_targets(&work, work.held(), now).map(Staging::Staged)
    }

    /// Reads and judges every offer before anything is written.
    fn offers(&self, work: &Work, folders: &[PathBuf]) -> Result<Vec<Offer>, ShelveError> {
        let history = self.history(work)?;
        let (mut offers, mut refused) = (Vec::<Offer>::new(), Vec::new());
        for folder in folders {
            let judged = Offer::read(folder).and_then(|offer| {
                if offers.iter().any(|other| other.service == offer.service) {
                    return Err(OfferFault::Twice(offer.service));
                }
                judge(&history, &offer)?;
                Ok(offer)
            });
            match judged {
                Ok(offer) => offers.push(offer),
                Err(fault) => refused.push(Refused { folder: folder.clone(), fault }),
            }
        }
        if refused.is_empty() { Ok(offers) } else { Err(ShelveError::Refused(refused)) }
    }

    /// What was ever published, by the targets that are still there.
    fn history(&self, work: &Work) -> Result<History, ShelveError> {
        let mut history = History::new();
        if work.stock.is_none() {
            return Ok(history);
        }
        let folder = self.layout.metadata();
        for name in names(&folder)? {
            if !matches!(metadata_name(&name), Some((RoleName::Targets, Some(_)))) {
                continue;
            }
            let Some(targets) = state::role::<Targets>(RoleName::Targets, &folder.join(name))? else {
                continue;
            };
            for (name, target) in by_name(&targets.signed) {
                if let (Held::Manifest(service), Some(version), Some(digest)) =
                    (name, version_of(&target), digest_of(&target))
                {
                    history.entry(service).or_default().push((version, digest));
                }
            }
        }
        Ok(history)
    }

    /// Writes the next targets, unsigned.
    pub(super) fn write_targets(
        &self,
        work: &Work,
        held: BTreeMap<Held, Target>,
        now: Moment,
    ) -> Result<Staged, ShelveError> {
        let version = next(work.stock.as_ref().map(|stock| stock.targets.signed.version));
        let mut targets = empty_targets(version, self.terms.expiry(RoleName::Targets, now)?);
        for (name, target) in held {
            // INVARIANT: a name that `Held` took is plain, so the library takes it too.
            if let Ok(name) = TargetName::new(name.to_string()) {
                targets.targets.insert(name, target);
            }
        }
        let staged = envelope::unsigned(targets);
        let bytes = envelope::file(RoleName::Targets, &staged)?;
        let file = self.layout.staged_role(RoleName::Targets);
        self.disk.folder(&self.layout.staged())?;
        self.disk.put(&self.layout, &file, &bytes)?;
        let statement =
            Statement::of_targets(&staged.signed, work.stock.as_ref().map(|stock| &stock.targets.signed))?;
        let standing = work.root().map(|root| standing(root, &staged)).transpose()?;
        Ok(Staged { file, statement, standing: standing.into_iter().collect() })
    }
}

/// How far targets are signed under a root.
fn standing(root: &Root, targets: &Signed<Targets>) -> Result<Standing, ShelveError> {
    let message = envelope::canonical(&targets.signed)?;
    let seats = super::role::seats(root, RoleName::Targets)?;
    Ok(seats.standing(RoleName::Targets, root.version.get(), &message, &targets.signatures))
}

impl Work {
    /// What the registry is about to hold: what is staged, else what is published.
    pub(super) fn held(&self) -> BTreeMap<Held, Target> {
        let staged = self.staged.targets.as_ref();
        let current = staged.or(self.stock.as_ref().map(|stock: &Stock| &stock.targets));
        current.map(|targets| by_name(&targets.signed).collect()).unwrap_or_default()
    }

    fn has(&self, held: &BTreeMap<Held, Target>) -> bool {
        (self.staged.targets.is_some() || self.stock.is_some()) && *held == self.held()
    }

    /// The root under which the next publish will stand.
    pub(super) fn root(&self) -> Option<&Root> {
        let staged = self.staged.root.as_ref();
        staged.or(self.stock.as_ref().map(|stock| &stock.root)).map(|root| &root.signed)
    }
}

/// The targets whose names are a registry's.
pub(crate) fn by_name(targets: &Targets) -> impl Iterator<Item = (Held, Target)> {
    let named: &HashMap<TargetName, Target> = &targets.targets;
    named.iter().filter_map(|(name, target)| Some((Held::parse(name.raw()).ok()?, target.clone())))
}

fn is_of(name: &Held, service: &ServiceId) -> bool {
    name.service() == service
}

/// A version that was published means its bytes for ever, and none goes back.
fn judge(history: &History, offer: &Offer) -> Result<(), OfferFault> {
    let Some(published) = history.get(&offer.service) else { return Ok(()) };
    if published.iter().any(|(version, digest)| *version == offer.version && *digest != offer.digest) {
        let Offer { service, version, .. } = offer;
        return Err(OfferFault::SameVersion { service: service.clone(), version: version.clone() });
    }
    match published.iter().map(|(version, _)| version).max() {
        Some(highest) if *highest > offer.version => Err(OfferFault::GoesBack {
            service: offer.service.clone(),
            published: highest.clone(),
            offered: offer.version.clone(),
        }),
        _ => Ok(()),
    }
}
