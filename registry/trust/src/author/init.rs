//! `init`: a registry begins.
//!
//! Refuses a folder that is a registry's. INVARIANT: `settings.json`, by which a folder is known, is written when the first
//! root and targets are staged; a begin that was killed is begun again.

use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;

use super::disk::Disk;
use super::envelope::{self, EnvelopeError};
use super::layout::{self, Layout};
use super::publish::{PublishError, Published};
use super::sheet::SheetError;
use super::shelve::Staged;
use super::terms::{Charter, ClockError, Terms, empty_targets};
use super::{LockError, Settings, Workshop};
use crate::RoleName;
use crate::keys::RegistryKey;

/// How far a registry has come.
#[derive(Debug)]
pub enum Progress {
    /// Enough have signed: it is published.
    Published(Published),
    /// These files wait for signatures.
    Waiting(Vec<Staged>),
}

/// Why no registry began.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// There is one already.
    #[error("`{}` is a registry's folder already, and stays as it is: choose another", .0.display())]
    Taken(PathBuf),
    /// The folder is in use, or not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// What is staged is another file than the one that was read.
    #[error("the {0} that is staged is not the one that was shown: look at it again, then sign")]
    Unread(RoleName),
    /// The clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The metadata could not be written.
    #[error("the metadata cannot be written: {0}")]
    Envelope(#[from] EnvelopeError),
    /// What was staged cannot be used.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// It began, and could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The disk.
    #[error("`{}` could not be written: look at the path and the disk", folder.display())]
    Disk {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Workshop {
    /// Begins a registry in a folder that is new or empty of one. The keys at hand sign; if they are enough, the registry is
    /// published, with nothing in it. Otherwise `staged/root.json` and `staged/targets.json` go to the others.
    pub fn init(
        folder: &Path,
        charter: &Charter,
        terms: Terms,
        keys: &[RegistryKey],
        now: Moment,
    ) -> Result<(Self, Progress), InitError> {
        Self::init_on(Disk::default(), folder, charter, terms, keys, now)
    }

    pub(super) fn init_on(
        disk: Disk,
        folder: &Path,
        charter: &Charter,
        terms: Terms,
        keys: &[RegistryKey],
        now: Moment,
    ) -> Result<(Self, Progress), InitError> {
        let workshop = Self { layout: Layout::of(folder), terms, disk };
        let failed = |source| InitError::Disk { folder: folder.to_owned(), source };
        workshop.disk.folder(folder).map_err(failed)?;
        let work = workshop.work()?;
        let layout = &workshop.layout;
        let begun =
            layout.settings().exists() || !layout::names(&layout.public()).map_err(failed)?.is_empty();
        if begun {
            return Err(InitError::Taken(folder.to_owned()));
        }
        let root = charter.root(NonZeroU64::MIN, terms.expiry(RoleName::Root, now)?);
        let root = envelope::file(RoleName::Root, &envelope::unsigned(root))?;
        let targets = empty_targets(NonZeroU64::MIN, terms.expiry(RoleName::Targets, now)?);
        let targets = envelope::file(RoleName::Targets, &envelope::unsigned(targets))?;
        let mut settings = serde_json::to_vec_pretty(&Settings { days: terms })
            .map_err(|source| failed(io::Error::other(source)))?;
        settings.push(b'\n');
        workshop.disk.folder(&layout.staged()).map_err(failed)?;
        let put = |path: &Path, bytes: &[u8]| workshop.disk.put(layout, path, bytes).map_err(failed);
        put(&layout.staged_role(RoleName::Root), &root)?;
        put(&layout.staged_role(RoleName::Targets), &targets)?;
        put(&layout.settings(), &settings)?;
        drop(work);
        let progress = workshop.sign_and_publish(keys, now)?;
        Ok((workshop, progress))
    }

    /// Signs what is staged with the keys at hand, and publishes if that is enough.
    pub fn sign_and_publish(&self, keys: &[RegistryKey], now: Moment) -> Result<Progress, InitError> {
        match self.publish(keys, now) {
            Ok(published) => Ok(Progress::Published(published)),
            Err(PublishError::Below(_)) => Ok(Progress::Waiting(self.sign_staged(&self.pending()?, keys)?)),
            Err(other) => Err(other.into()),
        }
    }

    /// Signs what is staged, with each of these keys where it has a say: what [`Self::pending`] gave and a person has read, and
    /// nothing that was staged since.
    pub fn sign_staged(&self, read: &[Staged], keys: &[RegistryKey]) -> Result<Vec<Staged>, InitError> {
        let work = self.work()?;
        for (role, mut paper) in work.staged.papers() {
            let digest = Digest::of(&paper.message()?);
            if !read.iter().any(|read| (read.statement.role, read.statement.digest) == (role, digest)) {
                return Err(InitError::Unread(role));
            }
            let seats = paper.seats(work.stock.as_ref(), &work.staged).map_err(SheetError::Root)?;
            if paper.add_signatures(&seats, keys)? {
                let path = self.layout.staged_role(role);
                let failed = |source| InitError::Disk { folder: self.layout.folder().to_owned(), source };
                self.disk.put(&self.layout, &path, &paper.file()?).map_err(failed)?;
            }
        }
        drop(work);
        Ok(self.pending()?)
    }
}
