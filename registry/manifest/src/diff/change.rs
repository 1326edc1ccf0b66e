//! One change of a manifest, and which way it goes.
//!
//! INVARIANT: the texts of a change are short, and every character of them shows itself.

use super::kind::Kind;
use super::shown::{clip, differing};
use crate::ids::OpId;

/// Which way a change goes. What is not proven to narrow counts as widening.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// An agent can do or see something that it could not, or a person reads something else than before.
    Widens,
    /// Nobody can say that it does not.
    Unproven,
    /// Less than before, and nothing besides.
    Narrows,
    /// Nothing that an agent or a person would notice.
    Neutral,
}

impl Direction {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Widens => "widens",
            Self::Unproven => "unproven",
            Self::Narrows => "narrows",
            Self::Neutral => "neutral",
        }
    }

    /// Whether it counts as widening.
    pub fn widens(self) -> bool {
        match self {
            Self::Widens | Self::Unproven => true,
            Self::Narrows | Self::Neutral => false,
        }
    }

    pub(super) fn is_neutral(self) -> bool {
        self == Self::Neutral
    }
}

/// Which of the two manifests a pointer leads into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one before.
    Old,
    /// The one after.
    New,
}

impl Side {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub(super) kind: Kind,
    pub(super) direction: Direction,
    pub(super) op: Option<OpId>,
    pub(super) side: Side,
    pub(super) pointer: String,
    pub(super) says: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Change {
    /// What changed.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Which way it goes.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether it counts as widening.
    pub fn widens(&self) -> bool {
        self.direction.widens()
    }

    /// The op that it is about; none if it is about the service.
    pub fn op(&self) -> Option<&OpId> {
        self.op.as_ref()
    }

    /// Which of the two manifests [`Change::pointer`] leads into.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Where, as a JSON Pointer (RFC 6901) into the new manifest; into the old one for what is no longer there.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What it lets an agent do or see that it could not, or no longer lets it, in one line without a full stop.
    pub fn says(&self) -> &str {
        &self.says
    }

    /// What stood there, clipped to 8,192 characters around what differs.
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// What stands there, clipped likewise.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// What stood there and what stands there.
    pub(super) fn between(&mut self, before: Option<&str>, after: Option<&str>) {
        if let (Some(before), Some(after)) = (before, after) {
            let (before, after) = differing(before, after);
            (self.before, self.after) = (Some(before), Some(after));
        } else {
            (self.before, self.after) = (before.map(clip), after.map(clip));
        }
    }
}
