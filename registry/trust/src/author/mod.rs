//! The maintainer's side: a folder in which a registry is put together, signed, and published from.
//!
//! ```text
//! public/                     what any web server serves as it is
//!   metadata/1.root.json …    every root, so that hosts can follow from the one that they trust
//!   metadata/7.targets.json   every version; older ones stay for hosts that are in the middle of a sync
//!   metadata/9.snapshot.json
//!   metadata/timestamp.json   the one file whose content changes
//!   targets/<sha256>.github.json, <sha256>.github.stale_issues.wasm
//! staged/                     what waits for signatures; nothing of it is served
//!   root.json, targets.json   each is what a maintainer takes to her key, signs, and sends back
//!   targets/<sha256>.<name>   the files that `targets.json` names and `public` does not have yet
//! settings.json               how long each role's word holds
//! ```
//!
//! The folder holds no secret. Keys are files of their own, and are handed to a call.
//!
//! INVARIANT: `public/metadata` changes in one step, for it is made whole under another name and then takes the place of the
//! old one. Whoever is killed leaves the old registry or the new one, and the next command finishes or begins again. (On a
//! disk that cannot exchange two folders there is a moment with no metadata at all, in which hosts get nothing.) `public` and
//! what is beside it must be on one disk.

mod audit;
mod disk;
mod edition;
mod envelope;
mod init;
pub(crate) mod layout;
mod offer;
mod paper;
mod publish;
mod role;
mod rotate;
mod seats;
mod sheet;
mod shelve;
mod state;
mod statement;
mod terms;
mod words;

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use crate::RoleName;
pub use audit::{Audit, Fault, FaultKind};
use disk::Disk;
pub use envelope::{EnvelopeError, METADATA_BYTES_MAX};
pub use init::{InitError, Progress};
use layout::Layout;
pub(crate) use offer::digest_of;
pub use offer::{ModuleFault, OfferFault, Refused};
pub use publish::{PublishError, Published};
pub use role::RootFault;
pub use rotate::{Reseat, RotateError};
pub use seats::{SEATS_MAX, Seats, SeatsError, Standing};
pub use sheet::{CollectError, Collected, Countersigned, Sheet, SheetError, SignError};
pub(crate) use shelve::by_name as targets_by_name;
pub use shelve::{ShelveError, Staged, Staging};
use state::Staged as StagedRoles;
pub(crate) use state::Stock;
pub use state::{StateError, StateFault};
pub use statement::{Change, Statement, Word};
pub use terms::{Charter, ClockError, DAYS_MAX, Terms, TermsError};

/// A maintainer's folder.
#[derive(Debug)]
pub struct Workshop {
    layout: Layout,
    terms: Terms,
    disk: Disk,
}

/// Why a folder is not a maintainer's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No registry was begun there.
    #[error("`{}` is no registry's folder: begin one with `pinhole registry init`", .0.display())]
    NotARegistry(PathBuf),
    /// Its settings cannot be used.
    #[error("`{}` cannot be used: {source}", file.display())]
    Settings {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The disk.
    #[error("`{}` cannot be read", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Why a folder cannot be worked in now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another command works in it.
    #[error("another command is at work in `{}`: wait until it is done", .0.display())]
    Busy(PathBuf),
    /// The disk.
    #[error("`{}` could not be locked or tidied: look at the disk", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file of the folder cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
}

/// The folder while a command has it for itself, and what it held when the command began.
#[derive(Debug)]
struct Work {
    /// Unlocks when it is closed.
    _lock: File,
    stock: Option<Stock>,
    staged: StagedRoles,
}

impl Workshop {
    /// Opens a maintainer's folder.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let layout = Layout::of(folder);
        let file = layout.settings();
        let bytes = match layout::read(&file, 64 << 10) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(OpenError::NotARegistry(folder.to_owned())),
            Err(source) => return Err(OpenError::Io { file, source }),
        };
        let settings: Settings =
            serde_json::from_slice(&bytes).map_err(|source| OpenError::Settings { file, source })?;
        Ok(Self { layout, terms: settings.days, disk: Disk::default() })
    }

    /// What a web server serves, and what [`crate::serve`] takes: the folder with `metadata` and `targets`.
    pub fn public(&self) -> PathBuf {
        self.layout.public()
    }

    /// How long each role's word holds.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The files that wait for signatures, with what each says and how far it is signed.
    pub fn pending(&self) -> Result<Vec<Staged>, SheetError> {
        let (stock, staged) = (Stock::read(&self.layout.metadata())?, StagedRoles::read(&self.layout)?);
        let mut pending = Vec::new();
        for (role, paper) in staged.papers() {
            let statement = paper.statement(stock.as_ref())?;
            let standing = paper.standing(stock.as_ref(), &staged)?;
            pending.push(Staged { file: self.layout.staged_role(role), statement, standing });
        }
        Ok(pending)
    }

    /// Drops what waits for signatures.
    pub fn discard(&self) -> Result<(), LockError> {
        let work = self.work()?;
        let removed = self.disk.remove(&self.layout.staged());
        drop(work);
        removed.map_err(|source| self.unlockable(source))
    }

    /// Takes the folder for one command, and finishes what a killed one has left.
    fn work(&self) -> Result<Work, LockError> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.layout.lock())
            .map_err(|source| self.unlockable(source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(LockError::Busy(self.layout.folder().to_owned()));
            }
            Err(std::fs::TryLockError::Error(source)) => return Err(self.unlockable(source)),
        }
        self.disk.tidy(&self.layout).map_err(|source| self.unlockable(source))?;
        let stock = Stock::read(&self.layout.metadata())?;
        let mut staged = StagedRoles::read(&self.layout)?;
        self.clear_published(stock.as_ref(), &mut staged).map_err(|source| self.unlockable(source))?;
        Ok(Work { _lock: lock, stock, staged })
    }

    /// Drops what a killed publish had published and not yet cleared away.
    fn clear_published(&self, stock: Option<&Stock>, staged: &mut StagedRoles) -> io::Result<()> {
        let Some(stock) = stock else { return Ok(()) };
        if staged.root.as_ref().is_some_and(|root| root.signed == stock.root.signed) {
            self.disk.remove(&self.layout.staged_role(RoleName::Root))?;
            staged.root = None;
        }
        if staged.targets.as_ref().is_some_and(|targets| targets.signed == stock.targets.signed) {
            self.disk.remove(&self.layout.staged_role(RoleName::Targets))?;
            self.disk.remove(&self.layout.staged_files())?;
            staged.targets = None;
        }
        Ok(())
    }

    fn unlockable(&self, source: io::Error) -> LockError {
        LockError::Io { folder: self.layout.folder().to_owned(), source }
    }
}

/// `settings.json`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    days: Terms,
}

/// The version after this one; the first after none.
fn next(version: Option<NonZeroU64>) -> NonZeroU64 {
    version.map_or(NonZeroU64::MIN, |version| version.saturating_add(1))
}

#[cfg(test)]
mod tests;
