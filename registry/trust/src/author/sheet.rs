//! Signing: a maintainer apart and offline takes a staged file, reads what it says, and gives it back with her signature; the
//! signatures of several are collected.
//!
//! Refuses a key that the role does not have, a second signature of one key, and a file that says anything else than what is
//! staged. INVARIANT: what is signed is the canonical form of what the statement was made of.

use std::io;

use tough::schema::Signature;

use super::envelope::{self, EnvelopeError};
use super::paper::{Paper, standing};
use super::role::RootFault;
use super::seats::{Seats, Standing, Worth};
use super::state::{Staged, StateError, Stock};
use super::statement::Statement;
use super::{LockError, Workshop};
use crate::RoleName;
use crate::keys::{KeyId, RegistryKey};

/// A file that is to be signed, with what it says.
#[derive(Debug)]
pub struct Sheet {
    paper: Paper,
    statement: Statement,
    /// The seats that have a say, with the version of the root that says so; none if no root is known.
    seats: Vec<(u64, Seats)>,
}

/// A file with one more signature.
#[derive(Debug)]
#[non_exhaustive]
pub struct Countersigned {
    /// The file, to be written and sent back.
    pub bytes: Vec<u8>,
    /// Whose signature was added.
    pub key: KeyId,
    /// How far the file is signed now; empty if it was signed without the registry's folder beside it.
    pub standing: Vec<Standing>,
}

/// Why a file is not one to be signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SheetError {
    /// Neither a root nor targets.
    #[error("it is neither a root nor targets: pass `staged/root.json` or `staged/targets.json`")]
    Unknown,
    /// It is not in its form.
    #[error("the file cannot be signed: {0}")]
    Envelope(#[from] EnvelopeError),
    /// The root cannot be used.
    #[error("the file cannot be signed: {0}")]
    Root(#[from] RootFault),
    /// The folder beside it cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// It is as old as what is published, or older.
    #[error(
        "the file is {role} {version}, and {published} is published: ask for the file that is staged now, or bring \
         your copy of the registry up to date"
    )]
    Version {
        /// Of which role.
        role: RoleName,
        /// The file's version.
        version: u64,
        /// What is published.
        published: u64,
    },
}

/// Why a file was not signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The role has no such key.
    #[error(
        "the key `{key}` has no say in {role}: sign with one that it names, or pass the registry's folder too"
    )]
    Foreign {
        /// The key.
        key: KeyId,
        /// The role.
        role: RoleName,
    },
    /// The key has signed already.
    #[error("the key `{0}` has signed this already: it counts once")]
    Again(KeyId),
    /// It says something that this program cannot put into words.
    #[error("the file says more than this program can put into words, so it is not signed: `{0}`")]
    Unsaid(String),
    /// It is not in its form.
    #[error("the file cannot be signed: {0}")]
    Envelope(#[from] EnvelopeError),
}

/// What a signed file has brought.
#[derive(Debug)]
#[non_exhaustive]
pub struct Collected {
    /// Of which role.
    pub role: RoleName,
    /// Whose signatures were new.
    pub added: Vec<KeyId>,
    /// Whose were there already.
    pub had: Vec<KeyId>,
    /// How far the staged file is signed now.
    pub standing: Vec<Standing>,
}

/// Why a signed file was not taken. Nothing of it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// The folder is in use, or not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It is not a file to be signed.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// Nothing of this role is staged.
    #[error("no {0} waits for signatures: it may be published already")]
    NotStaged(RoleName),
    /// It says something else than what is staged.
    #[error(
        "the file says something else than the {0} that is staged: what was signed is not what is wanted"
    )]
    Other(RoleName),
    /// It has no signature.
    #[error("the file has no signature: it is not signed yet")]
    Unsigned,
    /// A signature by a key that the role does not have.
    #[error("the file has a signature by a key that has no say in {0}")]
    Foreign(RoleName),
    /// A signature that does not verify.
    #[error("the signature of the key `{0}` is not one under this file")]
    Bad(KeyId),
    /// One key signed twice.
    #[error("the key `{0}` is there with two signatures: it counts once")]
    Again(KeyId),
    /// The disk.
    #[error("the folder could not be written: look at the disk")]
    Disk(#[from] io::Error),
}

impl Sheet {
    /// Reads a file that is to be signed. With the registry's folder beside it (a copy will do) it is held against what is
    /// published there, and the key against those that have a say.
    pub fn read(file: &[u8], beside: Option<&Workshop>) -> Result<Self, SheetError> {
        let paper = Paper::read(file)?;
        let (stock, staged) = match beside {
            Some(workshop) => (Stock::read(&workshop.layout.metadata())?, Staged::read(&workshop.layout)?),
            None => (None, Staged::default()),
        };
        paper.is_later(stock.as_ref())?;
        let statement = paper.statement(stock.as_ref())?;
        let seats = paper.seats(stock.as_ref(), &staged)?;
        Ok(Self { paper, statement, seats })
    }

    /// What it says.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Signs it, and gives the file back.
    pub fn sign(mut self, key: &RegistryKey) -> Result<Countersigned, SignError> {
        use super::statement::Change;
        let unsaid = |change: &&Change| matches!(change, Change::Unsaid(_) | Change::Unknown(_));
        if let Some(change) = self.statement.changes.iter().find(unsaid) {
            return Err(SignError::Unsaid(change.to_string()));
        }
        let id = key.public().id();
        let role = self.paper.role();
        if !self.seats.is_empty() && !self.seats.iter().any(|(_, seats)| seats.keys.contains_key(&id)) {
            return Err(SignError::Foreign { key: id, role });
        }
        let message = self.paper.message()?;
        let signatures = self.paper.signatures_mut();
        if signatures.iter().any(|signature| signature.keyid == id.to_tuf()) {
            return Err(SignError::Again(id));
        }
        signatures.push(envelope::signature(&message, key));
        let standing = standing(role, &self.seats, &message, self.paper.signatures());
        Ok(Countersigned { bytes: self.paper.file()?, key: id, standing })
    }
}

impl Workshop {
    /// Adds the signatures of a file that came back to the staged one.
    pub fn collect(&self, file: &[u8]) -> Result<Collected, CollectError> {
        let work = self.work()?;
        let came = Paper::read(file)?;
        let role = came.role();
        let mut papers = work.staged.papers();
        let Some(position) = papers.iter().position(|(staged, _)| *staged == role) else {
            return Err(CollectError::NotStaged(role));
        };
        let (_, mut staged) = papers.swap_remove(position);
        let envelope = |error| CollectError::Sheet(SheetError::Envelope(error));
        let message = staged.message().map_err(envelope)?;
        if came.message().map_err(envelope)? != message {
            return Err(CollectError::Other(role));
        }
        let seats = staged.seats(work.stock.as_ref(), &work.staged).map_err(SheetError::Root)?;
        let (mut added, mut had) = (Vec::new(), Vec::new());
        for (signature, id) in judged(role, &seats, &message, came.signatures())? {
            if staged.signatures().iter().any(|there| there.keyid == signature.keyid) {
                had.push(id);
            } else {
                added.push(id);
                staged.signatures_mut().push(signature);
            }
        }
        if !added.is_empty() {
            let bytes = staged.file().map_err(envelope)?;
            self.disk.put(&self.layout, &self.layout.staged_role(role), &bytes)?;
        }
        let standing = standing(role, &seats, &message, staged.signatures());
        Ok(Collected { role, added, had, standing })
    }
}

/// The signatures of a file that came back, each of a key that has a say and each once.
fn judged(
    role: RoleName,
    seats: &[(u64, Seats)],
    message: &[u8],
    signatures: &[Signature],
) -> Result<Vec<(Signature, KeyId)>, CollectError> {
    if signatures.is_empty() {
        return Err(CollectError::Unsigned);
    }
    let weighed: Vec<Vec<Worth>> = seats.iter().map(|(_, seats)| seats.weigh(message, signatures)).collect();
    let mut good = Vec::new();
    for (place, signature) in signatures.iter().enumerate() {
        // One key may sit under both roots; it is foreign only if it sits under neither.
        let worths = weighed.iter().filter_map(|worths| worths.get(place).copied());
        match worths.reduce(|one, other| if one == Worth::Foreign { other } else { one }) {
            Some(Worth::Counts(id)) => good.push((signature.clone(), id)),
            Some(Worth::Bad(id)) => return Err(CollectError::Bad(id)),
            Some(Worth::Again(id)) => return Err(CollectError::Again(id)),
            Some(Worth::Foreign) | None => return Err(CollectError::Foreign(role)),
        }
    }
    Ok(good)
}
