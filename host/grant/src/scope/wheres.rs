//! A grant's `where`: args narrowed to listed values.
//!
//! Refuses what could not be compared alike by every reader, and lists that allow nothing. DESIGN, "Crypto": Grant.

use std::collections::BTreeMap;

use pinhole_manifest::ArgName;
use pinhole_manifest::model::SAFE_INTEGER_MAX;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ScopeError;

/// Most args that a `where` narrows.
pub const WHERE_ARGS_MAX: usize = 64;
/// Most values that a `where` lists for an arg.
pub const WHERE_VALUES_MAX: usize = 256;
/// Longest text among them, in bytes.
pub const WHERE_TEXT_BYTES_MAX: usize = 1024;

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

    /// Whether this arg is narrowed.
    pub fn narrows(&self, arg: &ArgName) -> bool {
        self.0.contains_key(arg)
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

    pub(super) fn narrow(&self, other: &Self) -> Self {
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
