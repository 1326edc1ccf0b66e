//! For how long each role's word holds, and who signs at the beginning.
//!
//! Refuses a time that nobody means. INVARIANT: an expiry has no fractional seconds, which some clients refuse.

use std::collections::HashMap;
use std::num::NonZeroU64;

use jiff::Timestamp as Moment;
use serde::{Deserialize, Serialize};
use tough::schema::{Root, Targets};

use super::envelope::SPEC_VERSION;
use super::seats::Seats;
use crate::RoleName;

/// Longest time for which a role's word may hold, in days: ten years.
pub const DAYS_MAX: u32 = 3650;

const DAY: i64 = 86_400;

/// How long the metadata of each role holds after it is written, in days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "TermsFile", into = "TermsFile")]
pub struct Terms {
    root: u32,
    targets: u32,
    snapshot: u32,
    timestamp: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TermsFile {
    root: u32,
    targets: u32,
    snapshot: u32,
    timestamp: u32,
}

impl From<Terms> for TermsFile {
    fn from(Terms { root, targets, snapshot, timestamp }: Terms) -> Self {
        Self { root, targets, snapshot, timestamp }
    }
}

impl TryFrom<TermsFile> for Terms {
    type Error = TermsError;

    fn try_from(file: TermsFile) -> Result<Self, TermsError> {
        Self::default()
            .with(RoleName::Root, file.root)?
            .with(RoleName::Targets, file.targets)?
            .with(RoleName::Snapshot, file.snapshot)?
            .with(RoleName::Timestamp, file.timestamp)
    }
}

/// A role's time is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{role} cannot hold for {days} days: choose from 1 to {DAYS_MAX}")]
pub struct TermsError {
    /// Which role.
    pub role: RoleName,
    /// What was asked for.
    pub days: u32,
}

/// A time too far from ours for a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the clock stands at a time from which no expiry can be reckoned: set it right")]
pub struct ClockError;

impl Default for Terms {
    /// Root a year, targets 90 days, snapshot and timestamp 30 days.
    fn default() -> Self {
        Self { root: 365, targets: 90, snapshot: 30, timestamp: 30 }
    }
}

impl Terms {
    /// The same with another time for a role, from 1 to [`DAYS_MAX`] days.
    pub fn with(mut self, role: RoleName, days: u32) -> Result<Self, TermsError> {
        if !(1..=DAYS_MAX).contains(&days) {
            return Err(TermsError { role, days });
        }
        match role {
            RoleName::Root => self.root = days,
            RoleName::Targets => self.targets = days,
            RoleName::Snapshot => self.snapshot = days,
            RoleName::Timestamp => self.timestamp = days,
        }
        Ok(self)
    }

    /// A role's time, in days.
    pub fn days(&self, role: RoleName) -> u32 {
        match role {
            RoleName::Root => self.root,
            RoleName::Targets => self.targets,
            RoleName::Snapshot => self.snapshot,
            RoleName::Timestamp => self.timestamp,
        }
    }

    /// When what a role says now ends, in whole seconds.
    pub(super) fn expiry(&self, role: RoleName, now: Moment) -> Result<Moment, ClockError> {
        let seconds = now.as_second().saturating_add(i64::from(self.days(role)).saturating_mul(DAY));
        Moment::from_second(seconds).map_err(|_far| ClockError)
    }
}

/// Who signs what when a registry begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charter {
    pub(super) root: Seats,
    pub(super) targets: Seats,
    pub(super) snapshot: Seats,
    pub(super) timestamp: Seats,
}

impl Charter {
    /// Each role with seats of its own; a key may sit in several.
    pub fn new(root: Seats, targets: Seats, snapshot: Seats, timestamp: Seats) -> Self {
        Self { root, targets, snapshot, timestamp }
    }

    /// Maintainers for root and targets, and one key that is online for the rest.
    pub fn with_online(maintainers: Seats, online: crate::keys::PublicKey) -> Self {
        let online = Seats::one(online);
        Self { root: maintainers.clone(), targets: maintainers, snapshot: online.clone(), timestamp: online }
    }

    /// The seats of a role.
    pub fn seats(&self, role: RoleName) -> &Seats {
        match role {
            RoleName::Root => &self.root,
            RoleName::Targets => &self.targets,
            RoleName::Snapshot => &self.snapshot,
            RoleName::Timestamp => &self.timestamp,
        }
    }

    pub(super) fn seats_mut(&mut self, role: RoleName) -> &mut Seats {
        match role {
            RoleName::Root => &mut self.root,
            RoleName::Targets => &mut self.targets,
            RoleName::Snapshot => &mut self.snapshot,
            RoleName::Timestamp => &mut self.timestamp,
        }
    }

    /// The root that says so.
    pub(super) fn root(&self, version: NonZeroU64, expires: Moment) -> Root {
        let all = || RoleName::ALL.into_iter().map(|role| (role, self.seats(role)));
        Root {
            spec_version: SPEC_VERSION.to_owned(),
            consistent_snapshot: true,
            version,
            expires,
            keys: all()
                .flat_map(|(_, seats)| seats.keys())
                .map(|key| (key.id().to_tuf(), key.to_tuf()))
                .collect(),
            roles: all().map(|(role, seats)| (role.to_tuf(), seats.to_tuf())).collect(),
            _extra: HashMap::new(),
        }
    }
}

/// Targets with nothing in them.
pub(super) fn empty_targets(version: NonZeroU64, expires: Moment) -> Targets {
    let mut targets = Targets::new(SPEC_VERSION.to_owned(), version, expires);
    // Nothing is delegated here, and an empty delegation would be a word about it.
    targets.delegations = None;
    targets
}
