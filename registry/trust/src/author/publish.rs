//! `publish`: what enough have signed becomes what hosts get.
//!
//! Refuses whatever is signed by too few, is as old as what is published, or names a file that is not there. INVARIANT: the
//! whole of the new state is on the disk before `metadata` changes, in one step; everything before that step leaves the old
//! registry, and nothing after it matters to a host.

use std::collections::BTreeSet;
use std::io;

use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;
use tough::schema::Targets;

use super::edition::Edition;
use super::envelope::EnvelopeError;
use super::layout::{self, hashed, metadata_name, versioned};
use super::offer::{MODULE_BYTES_MAX, digest_of};
use super::role::RootFault;
use super::seats::Standing;
use super::shelve::by_name;
use super::state::{self, StateError};
use super::statement::Statement;
use super::terms::ClockError;
use super::{LockError, Work, Workshop};
use crate::RoleName;
use crate::keys::RegistryKey;
use crate::names::Held;

/// What is published now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Published {
    /// What changed from the registry before; empty if only snapshot and timestamp were signed anew.
    pub statements: Vec<Statement>,
    /// The version and the end of each role's word.
    pub roles: Vec<(RoleName, u64, Moment)>,
    /// How many manifests the registry holds.
    pub services: usize,
}

/// Why nothing was published; but for [`PublishError::Untidy`], the old registry is whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The folder is in use, or not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Too few have signed, or the keys at hand are too few for snapshot and timestamp; each that is short.
    #[error("{}", short(.0))]
    Below(Vec<Standing>),
    /// The targets keys are others now, and too few of them have signed the targets that are published.
    #[error(
        "the new root's targets keys have not signed what the registry holds: stage it for them with \
         `pinhole registry rotate --renew targets`"
    )]
    Reseated(Standing),
    /// What is staged was made on another state than the one published.
    #[error(
        "{role} {version} is staged on another registry than the one published, which is at {published}: drop it and \
         stage it again"
    )]
    Version {
        /// Of which role.
        role: RoleName,
        /// The staged version.
        version: u64,
        /// What is published; 0 if nothing is.
        published: u64,
    },
    /// Nothing is staged and nothing published.
    #[error("there is nothing to publish: begin with `pinhole registry init`")]
    Nothing,
    /// A role's word has ended, so that no host would take it.
    #[error(
        "{role} held until {ended}: stage it anew with `pinhole registry rotate --renew {role}` and have it signed"
    )]
    Expired {
        /// Which role.
        role: RoleName,
        /// Until when it held.
        ended: Moment,
    },
    /// The root cannot be used.
    #[error(transparent)]
    Root(#[from] RootFault),
    /// Targets that no host would take.
    #[error("the targets name `{}`, which no host would take", pinhole_manifest::visible::visible(.0))]
    Name(String),
    /// Targets that let other keys sign.
    #[error("the targets let other keys sign for some of them, which no host would take")]
    Delegated,
    /// A file that the targets name is not there, or is another.
    #[error("the file of `{0}` is not there, or is not what the targets say: add it again")]
    File(Held),
    /// A file of the folder cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The metadata cannot be written.
    #[error("the metadata cannot be written: {0}")]
    Envelope(#[from] EnvelopeError),
    /// The clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The disk. The old registry is whole.
    #[error("the folder could not be written, and what was published before still is: look at the disk")]
    Disk(#[source] io::Error),
    /// It is published; what was staged could not be cleared away.
    #[error(
        "it is published, and what was staged could not be cleared away: look at the disk, and publish again"
    )]
    Untidy(#[source] io::Error),
}

fn short(standings: &[Standing]) -> String {
    let each: Vec<String> = standings.iter().map(Standing::to_string).collect();
    format!("not enough have signed: {}", each.join("; "))
}

impl Workshop {
    /// Publishes what is staged, if enough have signed; with nothing staged, signs snapshot and timestamp anew. The keys are
    /// those of snapshot and timestamp. Each that has a say in what is staged signs that too, read or not: who shares the
    /// folder with others reads and signs first ([`Self::sign_staged`], [`super::Sheet`]), and passes the online key alone.
    pub fn publish(&self, keys: &[RegistryKey], now: Moment) -> Result<Published, PublishError> {
        let work = self.work()?;
        let edition = self.edition(&work, keys, now)?;
        self.write(&work, &edition).map_err(PublishError::Disk)?;
        self.disk.exchange(&self.layout).map_err(PublishError::Disk)?;
        self.clear_away().map_err(PublishError::Untidy)?;
        Ok(edition.published)
    }

    /// Writes all that the next state has more than this one: files, then the metadata under its other name.
    fn write(&self, work: &Work, edition: &Edition) -> io::Result<()> {
        let targets = self.layout.targets();
        self.disk.folder(&targets)?;
        for (name, target) in by_name(&edition.targets.signed) {
            let Some(digest) = digest_of(&target) else { continue };
            let file = hashed(digest, &name);
            let staged = layout::read(&self.layout.staged_files().join(&file), MODULE_BYTES_MAX)?;
            let Some(bytes) = staged.filter(|bytes| Digest::of(bytes) == digest) else { continue };
            let there = layout::read(&targets.join(&file), MODULE_BYTES_MAX)?;
            if there.is_none_or(|there| there != bytes) {
                self.disk.put(&self.layout, &targets.join(&file), &bytes)?;
            }
        }
        let (next, metadata) = (self.layout.next(), self.layout.metadata());
        self.disk.folder(&next)?;
        for name in layout::names(&metadata)? {
            if metadata_name(&name).is_some_and(|(_, version)| version.is_some()) {
                self.disk.link(&metadata.join(&name), &next.join(&name))?;
            }
        }
        let root = versioned(RoleName::Root, edition.root.signed.version.get());
        let same_root = work.stock.is_some() && work.staged.root.is_none();
        for (name, bytes) in &edition.files {
            if !(same_root && *name == root) {
                self.disk.put(&self.layout, &next.join(name), bytes)?;
            }
        }
        Ok(())
    }

    /// Drops what was staged, the metadata that was, and files that no targets name.
    fn clear_away(&self) -> io::Result<()> {
        self.disk.remove(&self.layout.staged())?;
        self.disk.remove(&self.layout.next())?;
        let metadata = self.layout.metadata();
        let mut named = BTreeSet::new();
        for name in layout::names(&metadata)? {
            if !matches!(metadata_name(&name), Some((RoleName::Targets, Some(_)))) {
                continue;
            }
            let Ok(Some(targets)) = state::role::<Targets>(RoleName::Targets, &metadata.join(&name)) else {
                // What cannot be read might name any of them.
                return Ok(());
            };
            named.extend(
                by_name(&targets.signed)
                    .filter_map(|(held, target)| Some(hashed(digest_of(&target)?, &held))),
            );
        }
        for file in layout::names(&self.layout.targets())? {
            if layout::hashed_name(&file).is_some() && !named.contains(&file) {
                self.disk.remove(&self.layout.targets().join(file))?;
            }
        }
        Ok(())
    }
}
