//! What a grant lets a bot do: access, ops, args, time, uses. Pure decisions, and their meet.
//!
//! INVARIANT: `a.narrow(&b)` allows exactly what both allow, so narrowing never allows more. A scope may allow nothing;
//! minting refuses such a one. DESIGN, "Crypto": Grant.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use pinhole_manifest::model::SAFE_INTEGER_MAX;
use pinhole_manifest::{Access, ArgName, OpId};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::time::UnixTime;

/// How much earlier than `not_before` a grant may be used, in seconds: clocks of two machines differ.
pub const SKEW_SECS: i64 = 60;
/// Most args that a `where` narrows.
pub const WHERE_ARGS_MAX: usize = 64;
/// Most values that a `where` lists for an arg.
pub const WHERE_VALUES_MAX: usize = 256;
/// Longest text among them, in bytes.
pub const WHERE_TEXT_BYTES_MAX: usize = 1024;

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

/// Args narrowed to listed values. INVARIANT: each list holds scalars only, and no list that was given was empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Where(BTreeMap<ArgName, Vec<Value>>);

/// Why a narrowing is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhereError {
    /// An arg has no value that is allowed.
    #[error("`{arg}` has no value")]
    NoValues {
        /// The arg.
        arg: ArgName,
    },
    /// A value is not a text, a truth value or a number that every reader keeps.
    #[error("`{arg}` is narrowed by something other than a text, a truth value or a number up to 2^53 - 1")]
    NotAScalar {
        /// The arg.
        arg: ArgName,
    },
    /// There are more args, more values or a longer text than [`WHERE_ARGS_MAX`], [`WHERE_VALUES_MAX`],
    /// [`WHERE_TEXT_BYTES_MAX`].
    #[error("too many args or values, or too long a text")]
    TooLarge,
}

impl Where {
    /// Takes the values that each arg may have.
    pub fn new(lists: BTreeMap<ArgName, Vec<Value>>) -> Result<Self, WhereError> {
        if lists.len() > WHERE_ARGS_MAX {
            return Err(WhereError::TooLarge);
        }
        for (arg, values) in &lists {
            if values.is_empty() {
                return Err(WhereError::NoValues { arg: arg.clone() });
            }
            let long = |value: &Value| value.as_str().is_some_and(|text| text.len() > WHERE_TEXT_BYTES_MAX);
            if values.len() > WHERE_VALUES_MAX || values.iter().any(long) {
                return Err(WhereError::TooLarge);
            }
            if !values.iter().all(is_plain_scalar) {
                return Err(WhereError::NotAScalar { arg: arg.clone() });
            }
        }
        Ok(Self(lists))
    }

    /// The args that are narrowed, and to what.
    pub fn iter(&self) -> impl Iterator<Item = (&ArgName, &[Value])> {
        self.0.iter().map(|(arg, values)| (arg, values.as_slice()))
    }

    /// Whether nothing is narrowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has_empty_list(&self) -> bool {
        self.0.values().any(Vec::is_empty)
    }

    /// Whether these args, looked up by name, are among the values. Every narrowed arg must be there.
    pub fn check<'v>(&self, find: impl Fn(&ArgName) -> Option<&'v Value>) -> Result<(), ScopeError> {
        for (arg, values) in &self.0 {
            let value = find(arg).ok_or_else(|| ScopeError::WhereAbsent { arg: arg.clone() })?;
            if !values.iter().any(|listed| same(listed, value)) {
                return Err(ScopeError::WhereValue { arg: arg.clone() });
            }
        }
        Ok(())
    }

    fn narrow(&self, other: &Self) -> Self {
        let mut lists = self.0.clone();
        for (arg, theirs) in &other.0 {
            lists
                .entry(arg.clone())
                .and_modify(|ours| ours.retain(|value| theirs.iter().any(|their| same(their, value))))
                .or_insert_with(|| theirs.clone());
        }
        Self(lists)
    }
}

impl<'de> Deserialize<'de> for Where {
    /// As `new`; a repeated arg is refused too, for readers would differ on which of the two counts.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists;

        impl<'de> Visitor<'de> for Lists {
            type Value = Where;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("lists of values by the name of an arg")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Where, A::Error> {
                let mut lists = BTreeMap::new();
                while let Some((arg, values)) = map.next_entry::<ArgName, Vec<Value>>()? {
                    if lists.insert(arg, values).is_some() {
                        return Err(A::Error::custom("an arg stands twice"));
                    }
                }
                Where::new(lists).map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_map(Lists)
    }
}

fn is_plain_scalar(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Bool(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(is_safe),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether a number is one that every JSON reader keeps: at most 2^53 − 1 either way. A larger integer becomes a float of
/// at least 2^53 here, so none slips through by rounding.
pub(crate) fn is_safe(number: f64) -> bool {
    #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "2^53 - 1 is exact as a float")]
    const MOST: f64 = SAFE_INTEGER_MAX as f64;
    number.abs() <= MOST
}

/// The same value, `1` and `1.0` being one number: a grant must not depend on how a number was written.
fn same(listed: &Value, value: &Value) -> bool {
    match (listed, value) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            // Exact for what `is_safe` lets through; anything larger is no listed value's equal.
            (Some(a), Some(b)) => is_safe(b) && a.total_cmp(&b).is_eq() || a == 0.0 && b == 0.0,
            _ => false,
        },
        _ => listed == value,
    }
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
