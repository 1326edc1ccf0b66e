//! What a grant lets a bot do: access, ops, args, time, uses. Pure decisions, and their meet.
//!
//! INVARIANT: `a.narrow(&b)` allows exactly what both allow, so narrowing never allows more. A scope may allow nothing;
//! minting refuses such a one. DESIGN, "Crypto": Grant.

mod wheres;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use pinhole_manifest::{Access, ArgName, OpId};
use serde_json::Value;

use crate::time::UnixTime;

pub(crate) use wheres::is_safe;
pub use wheres::{WHERE_ARGS_MAX, WHERE_TEXT_BYTES_MAX, WHERE_VALUES_MAX, Where, WhereError};

/// How much earlier than `not_before` a grant may be used, in seconds: clocks of two machines differ.
pub const SKEW_SECS: i64 = 60;

/// Why an attempt is not within a grant. Exhaustive: each has its own answer to the bot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The grant is for another service.
    #[error("the grant is for another service")]
    WrongService,
    /// The manifest's host or token URL is not the one that the credential was connected to.
    #[error("the service's host is not the one that was connected: reconnect")]
    HostChanged,
    /// A read grant, and a write.
    #[error("the grant only reads")]
    ReadOnly,
    /// A write, and a connection that only reads.
    #[error("the connection only reads")]
    ReadOnlyConnection,
    /// The op is not among those listed.
    #[error("the grant does not cover `{op}`")]
    OutOfScope {
        /// The op.
        op: OpId,
    },
    /// The manifest is not the one that the grant was made for, and the grant relies on it.
    #[error("the manifest changed since the grant was made")]
    ManifestChanged,
    /// The grant narrows an arg that the call does not have.
    #[error("the grant narrows `{arg}`, which the call does not say")]
    WhereAbsent {
        /// The arg.
        arg: ArgName,
    },
    /// The grant narrows an arg to other values.
    #[error("the grant does not cover this value of `{arg}`")]
    WhereValue {
        /// The arg.
        arg: ArgName,
    },
    /// It is too early.
    #[error("the grant is not valid yet")]
    NotYetValid,
    /// It is too late.
    #[error("the grant expired")]
    Expired,
    /// Every use was spent.
    #[error("the grant is used up")]
    UsedUp,
    /// The op deletes, sends, spends or cannot be taken back, and the grant approves nothing in particular.
    #[error("the write needs the person's yes")]
    NeedsApproval,
    /// The grant approves another action.
    #[error("the grant approves another action")]
    WrongAction,
}

/// The bounds of a grant.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    /// The most that may be done.
    pub access: Access,
    /// The ops that may be run; `None` leaves it to the manifest.
    pub ops: Option<BTreeSet<OpId>>,
    /// What args are narrowed to.
    pub wheres: Where,
    /// From when, with [`SKEW_SECS`] of grace.
    pub not_before: UnixTime,
    /// Until when: from this second on it is expired.
    pub expires_at: UnixTime,
    /// How many runs; `None` is any number.
    pub uses: Option<NonZeroU32>,
}

/// One attempt to run an op, as far as a scope is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The op.
    pub op: &'a OpId,
    /// What the op does.
    pub access: Access,
    /// Its args in their normal form.
    pub args: &'a BTreeMap<ArgName, Value>,
    /// The time.
    pub now: UnixTime,
    /// Uses spent before this one.
    pub used: u32,
}

impl Scope {
    /// Every op that the manifest has of this access, from `not_before` until `expires_at`, any number of times.
    pub fn new(access: Access, not_before: UnixTime, expires_at: UnixTime) -> Self {
        Self { access, ops: None, wheres: Where::default(), not_before, expires_at, uses: None }
    }

    /// The same, for these ops alone.
    #[must_use]
    pub fn with_ops(self, ops: impl IntoIterator<Item = OpId>) -> Self {
        Self { ops: Some(ops.into_iter().collect()), ..self }
    }

    /// The same, with args narrowed.
    #[must_use]
    pub fn with_where(self, wheres: Where) -> Self {
        Self { wheres, ..self }
    }

    /// The same, for so many runs.
    #[must_use]
    pub fn with_uses(self, uses: NonZeroU32) -> Self {
        Self { uses: Some(uses), ..self }
    }

    /// What both allow, and nothing else.
    #[must_use]
    pub fn narrow(&self, other: &Self) -> Self {
        let ops = match (&self.ops, &other.ops) {
            (Some(ours), Some(theirs)) => Some(ours.intersection(theirs).cloned().collect()),
            (ours, theirs) => ours.clone().or_else(|| theirs.clone()),
        };
        Self {
            access: self.access.min(other.access),
            ops,
            wheres: self.wheres.narrow(&other.wheres),
            not_before: self.not_before.max(other.not_before),
            expires_at: self.expires_at.min(other.expires_at),
            uses: match (self.uses, other.uses) {
                (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
                (ours, theirs) => ours.or(theirs),
            },
        }
    }

    /// Whether the attempt is within every bound.
    pub fn allows(&self, attempt: &Attempt<'_>) -> Result<(), ScopeError> {
        self.allows_time(attempt.now)?;
        self.allows_op(attempt.op, attempt.access)?;
        self.wheres.check(|arg| attempt.args.get(arg))?;
        self.allows_use(attempt.used)
    }

    /// Whether the time is within the bounds.
    pub fn allows_time(&self, now: UnixTime) -> Result<(), ScopeError> {
        if now.plus_secs(SKEW_SECS) < self.not_before {
            return Err(ScopeError::NotYetValid);
        }
        if now >= self.expires_at { Err(ScopeError::Expired) } else { Ok(()) }
    }

    /// Whether an op of this access is within the bounds.
    pub fn allows_op(&self, op: &OpId, access: Access) -> Result<(), ScopeError> {
        if !self.access.covers(access) {
            return Err(ScopeError::ReadOnly);
        }
        if self.ops.as_ref().is_some_and(|ops| !ops.contains(op)) {
            return Err(ScopeError::OutOfScope { op: op.clone() });
        }
        Ok(())
    }

    /// Whether a use is left after so many.
    pub fn allows_use(&self, used: u32) -> Result<(), ScopeError> {
        if self.uses.is_some_and(|uses| used >= uses.get()) { Err(ScopeError::UsedUp) } else { Ok(()) }
    }
}
