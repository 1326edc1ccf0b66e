//! What a maintainer's folder holds now: what is published, and what waits for signatures.
//!
//! Decides nothing about who signed: that is `publish`'s and `verify`'s. INVARIANT: what comes out was read in the one form
//! of its files.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tough::schema::{Role, Root, Signed, Snapshot, Targets, Timestamp};

use super::envelope::{self, EnvelopeError, METADATA_BYTES_MAX};
use super::layout::{self, Layout, TIMESTAMP, versioned};
use crate::RoleName;

/// Why a file of the folder could not be used.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be used: {fault}", file.display())]
pub struct StateError {
    /// Which file.
    pub file: PathBuf,
    /// What is wrong.
    #[source]
    pub fault: StateFault,
}

/// What is wrong with a file of the folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFault {
    /// It is not there.
    #[error("it is not there: look at the folder with `pinhole registry verify`")]
    Absent,
    /// The disk.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// It is not what it should be.
    #[error("{0}")]
    Envelope(#[source] EnvelopeError),
}

/// What is published.
#[derive(Debug)]
pub(crate) struct Stock {
    pub(crate) root: Signed<Root>,
    pub(crate) timestamp: Signed<Timestamp>,
    pub(crate) snapshot: Signed<Snapshot>,
    pub(crate) targets: Signed<Targets>,
}

/// What waits for signatures.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) root: Option<Signed<Root>>,
    pub(super) targets: Option<Signed<Targets>>,
}

impl Stock {
    /// Reads what is published; `None` where nothing is yet.
    ///
    /// A publish under way does not disturb it: older files stay, so whichever timestamp is read leads to its own.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, StateError> {
        let Some(timestamp) = role::<Timestamp>(RoleName::Timestamp, &folder.join(TIMESTAMP))? else {
            // The word that a registry was begun but is not whole is `verify`'s.
            return if layout::names(folder).is_ok_and(|names| names.is_empty()) {
                Ok(None)
            } else {
                Err(absent(folder.join(TIMESTAMP)))
            };
        };
        let snapshot = named(folder, RoleName::Snapshot, timestamp.signed.meta.get("snapshot.json"))?;
        let snapshot: Signed<Snapshot> = snapshot;
        let targets = named(folder, RoleName::Targets, snapshot.signed.meta.get("targets.json"))?;
        Ok(Some(Self { root: last_root(folder)?, timestamp, snapshot, targets }))
    }
}

impl Staged {
    pub(super) fn read(layout: &Layout) -> Result<Self, StateError> {
        Ok(Self {
            root: role(RoleName::Root, &layout.staged_role(RoleName::Root))?,
            targets: role(RoleName::Targets, &layout.staged_role(RoleName::Targets))?,
        })
    }
}

/// Reads a role's file; `None` where there is none.
pub(super) fn role<T: Role + DeserializeOwned>(
    name: RoleName,
    path: &Path,
) -> Result<Option<Signed<T>>, StateError> {
    let failed = |fault| StateError { file: path.to_owned(), fault };
    let bytes = layout::read(path, METADATA_BYTES_MAX).map_err(|error| failed(StateFault::Io(error)))?;
    let Some(bytes) = bytes else { return Ok(None) };
    envelope::read(name, &bytes).map(Some).map_err(|error| failed(StateFault::Envelope(error)))
}

/// Reads the file of a version that another file names.
fn named<T: Role + DeserializeOwned>(
    folder: &Path,
    name: RoleName,
    meta: Option<&tough::schema::Metafile>,
) -> Result<Signed<T>, StateError> {
    let path = match meta {
        Some(meta) => folder.join(versioned(name, meta.version.get())),
        None => folder.join(format!("{name}.json")),
    };
    role(name, &path)?.ok_or_else(|| absent(path))
}

/// The root of the highest version, counted from 1.
fn last_root(folder: &Path) -> Result<Signed<Root>, StateError> {
    let file = |version| folder.join(versioned(RoleName::Root, version));
    let mut last = 1_u64;
    while file(last.saturating_add(1)).exists() {
        last = last.saturating_add(1);
    }
    role(RoleName::Root, &file(last))?.ok_or_else(|| absent(file(last)))
}

fn absent(file: PathBuf) -> StateError {
    StateError { file, fault: StateFault::Absent }
}
