//! `rotate`: other keys, other thresholds, or a root that holds longer.
//!
//! Refuses seats that nobody could fill. INVARIANT: a root is staged on the one that is published, and only one at a time;
//! the keys of both must sign it.

use std::collections::BTreeMap;

use jiff::Timestamp as Moment;

use super::envelope::{self, EnvelopeError};
use super::paper::Paper;
use super::role::{self, RootFault};
use super::seats::{Seats, SeatsError};
use super::sheet::SheetError;
use super::shelve::{ShelveError, Staged};
use super::statement::Statement;
use super::terms::{Charter, ClockError};
use super::{LockError, Work, Workshop, next};
use crate::RoleName;
use crate::keys::{KeyId, PublicKey};

/// A change of who signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reseat {
    /// The key may sign for the role.
    Seat(RoleName, PublicKey),
    /// The key may sign for the role no longer.
    Unseat(RoleName, KeyId),
    /// So many keys of the role must sign.
    Threshold(RoleName, u64),
}

/// Why no root was staged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RotateError {
    /// The folder is in use, or not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Nothing is published yet.
    #[error("nothing is published yet: have the first root signed, and publish it")]
    Unpublished,
    /// A root waits for signatures already.
    #[error("root {0} waits for signatures already: publish it, or drop it with `pinhole registry discard`")]
    Waiting(u64),
    /// The key has the seat already.
    #[error("the key `{key}` may sign for {role} already")]
    Seated {
        /// The role.
        role: RoleName,
        /// The key.
        key: KeyId,
    },
    /// The key has no such seat.
    #[error("the key `{key}` does not sign for {role}: `pinhole registry verify` says who does")]
    NotSeated {
        /// The role.
        role: RoleName,
        /// The key.
        key: KeyId,
    },
    /// Seats that nobody could fill.
    #[error("{role}: {fault}")]
    Seats {
        /// The role.
        role: RoleName,
        /// What is wrong.
        fault: SeatsError,
    },
    /// The published root cannot be used.
    #[error(transparent)]
    Root(#[from] RootFault),
    /// The clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The metadata cannot be written.
    #[error("the metadata cannot be written: {0}")]
    Envelope(#[from] EnvelopeError),
    /// What is staged cannot be used.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// The targets could not be staged anew.
    #[error(transparent)]
    Shelve(#[from] ShelveError),
    /// The disk.
    #[error("the folder could not be written: look at the disk")]
    Disk(#[from] std::io::Error),
}

impl Workshop {
    /// Stages the next root with these changes, in their order; without any, the same root for longer. Where the keys of the
    /// targets change so that the published ones are signed by too few, those are staged anew too.
    pub fn rotate(&self, changes: &[Reseat], now: Moment) -> Result<Vec<Staged>, RotateError> {
        let work = self.work()?;
        let stock = work.stock.as_ref().ok_or(RotateError::Unpublished)?;
        if let Some(waiting) = &work.staged.root {
            return Err(RotateError::Waiting(waiting.signed.version.get()));
        }
        let old = &stock.root.signed;
        let charter = changed(old, changes)?;
        let root = charter.root(next(Some(old.version)), self.terms.expiry(RoleName::Root, now)?);
        let staged = envelope::unsigned(root);
        let mut all = Vec::new();
        let message = envelope::canonical(&stock.targets.signed)?;
        let targets = charter.seats(RoleName::Targets).standing(
            RoleName::Targets,
            staged.signed.version.get(),
            &message,
            &stock.targets.signatures,
        );
        if targets.wanted() > 0 && work.staged.targets.is_none() {
            all.push(self.write_targets(&work, work.held(), now)?);
        }
        let file = self.layout.staged_role(RoleName::Root);
        self.disk.folder(&self.layout.staged())?;
        self.disk.put(&self.layout, &file, &envelope::file(RoleName::Root, &staged)?)?;
        let statement = Statement::of_root(&staged.signed, Some(old))?;
        let standing = Paper::Root(staged).standing(Some(stock), &work.staged)?;
        all.insert(0, Staged { file, statement, standing });
        drop::<Work>(work);
        Ok(all)
    }
}

fn changed(old: &tough::schema::Root, changes: &[Reseat]) -> Result<Charter, RotateError> {
    let mut charter = Charter::new(
        role::seats(old, RoleName::Root)?,
        role::seats(old, RoleName::Targets)?,
        role::seats(old, RoleName::Snapshot)?,
        role::seats(old, RoleName::Timestamp)?,
    );
    for change in changes {
        match change {
            Reseat::Seat(role, key) => {
                let key_id = key.id();
                if charter.seats_mut(*role).keys.insert(key_id, key.clone()).is_some() {
                    return Err(RotateError::Seated { role: *role, key: key_id });
                }
            }
            Reseat::Unseat(role, key) => {
                let not_seated = RotateError::NotSeated { role: *role, key: *key };
                charter.seats_mut(*role).keys.remove(key).ok_or(not_seated)?;
            }
            Reseat::Threshold(role, threshold) => charter.seats_mut(*role).threshold = *threshold,
        }
    }
    // Held against the rules when all changes are made, so that their order does not matter.
    for role in RoleName::ALL {
        let seats = charter.seats_mut(role);
        let keys: BTreeMap<KeyId, PublicKey> = std::mem::take(&mut seats.keys);
        *seats = Seats::new(keys.into_values(), seats.threshold)
            .map_err(|fault| RotateError::Seats { role, fault })?;
    }
    Ok(charter)
}
