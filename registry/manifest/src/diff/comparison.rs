//! The changes between two manifests, and what follows from them.

use std::collections::BTreeMap;

use semver::Version;

use super::change::{Change, Side};
use super::kind::Kind;
use crate::ids::OpId;
use crate::model::{Manifest, Op};

/// What changed between two manifests of a service, what counts most first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    changes: Vec<Change>,
    version: VersionVerdict,
    /// The reads that each op requires.
    requires: BTreeMap<OpId, Vec<OpId>>,
}

/// Whether the version of a manifest says what its changes are.
///
/// A widening wants a higher minor or major number, any other change of the file a version that is higher at all, and none
/// is ever lower. Build metadata (`+…`) makes no version higher (Semantic Versioning 2.0.0, section 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionVerdict {
    /// It does.
    Right,
    /// It was not raised, or not by enough.
    TooLow {
        /// What has to be raised.
        needed: Bump,
    },
    /// It is lower than before.
    Backwards,
}

/// Which number of a version has to be raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bump {
    /// Any: the patch number will do.
    Patch,
    /// The minor number, or the major one.
    Minor,
}

impl Bump {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
        }
    }
}

impl VersionVerdict {
    /// Whether the rule is broken.
    pub fn is_broken(self) -> bool {
        self != Self::Right
    }

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::TooLow { needed: Bump::Patch } => "too_low_patch",
            Self::TooLow { needed: Bump::Minor } => "too_low_minor",
            Self::Backwards => "backwards",
        }
    }

    /// What to do about it; nothing where the version is right.
    pub fn says(self) -> Option<&'static str> {
        match self {
            Self::Right => None,
            Self::TooLow { needed: Bump::Patch } => {
                Some("the file changed and its version did not rise: raise the patch number at least")
            }
            Self::TooLow { needed: Bump::Minor } => {
                Some("a change that is not proven narrower needs a higher minor or major number")
            }
            Self::Backwards => Some("the version is lower than before: no host goes back to an older one"),
        }
    }

    pub(super) fn of(old: &Version, new: &Version, needed: Option<Bump>) -> Self {
        let order = new.cmp_precedence(old);
        match needed {
            _ if order.is_lt() => Self::Backwards,
            Some(Bump::Minor) if (new.major, new.minor) <= (old.major, old.minor) => {
                Self::TooLow { needed: Bump::Minor }
            }
            Some(needed) if order.is_eq() => Self::TooLow { needed },
            Some(_) | None => Self::Right,
        }
    }
}

impl Comparison {
    /// Sorts what was found.
    pub(super) fn new(mut changes: Vec<Change>, version: impl FnOnce(bool) -> VersionVerdict) -> Self {
        let rank = |change: &Change| {
            (!change.widens(), change.direction.is_neutral(), change.kind, change.direction)
        };
        changes.sort_by(|a, b| {
            let rest =
                |change: &Change| (change.op.clone(), change.side == Side::Old, change.pointer.clone());
            rank(a).cmp(&rank(b)).then_with(|| rest(a).cmp(&rest(b)))
        });
        let widens = changes.iter().any(Change::widens);
        Self { changes, version: version(widens), requires: BTreeMap::new() }
    }

    /// The same, with what each op of this manifest requires.
    pub(super) fn requiring(mut self, manifest: &Manifest) -> Self {
        let reads = |op: &Op| op.require.iter().map(|one| one.op.clone()).collect();
        self.requires = manifest.ops().iter().map(|(id, op)| (id.clone(), reads(op))).collect();
        self
    }

    /// The changes: those that widen first, then those that narrow, each by [`Kind`], op and place.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether anything is not proven to be narrower than before.
    pub fn widens(&self) -> bool {
        self.changes.iter().any(Change::widens)
    }

    /// Whether anything that is not proven to be narrower bears on this op: on itself, on the service, or on a read that it
    /// requires, which decides whether it runs.
    pub fn op_widens(&self, op: &OpId) -> bool {
        let reads = self.requires.get(op).map(Vec::as_slice).unwrap_or_default();
        let bears = |change: &Change| change.op().is_none_or(|of| of == op || reads.contains(of));
        self.changes.iter().any(|change| change.widens() && bears(change))
    }

    /// The ops that require this one.
    pub fn required_by<'c>(&'c self, op: &'c OpId) -> impl Iterator<Item = &'c OpId> {
        self.requires.iter().filter(move |(_, reads)| reads.contains(op)).map(|(id, _)| id)
    }

    /// Whether the version says what the changes are.
    pub fn version(&self) -> VersionVerdict {
        self.version
    }

    /// Whether there is anything but another version and another way to write the same.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| matches!(change.kind, Kind::Version | Kind::Bytes))
    }
}
