//! Which keywords there are, what they speak of, and what their values must be.

use serde_json::Value;

use crate::model::{ArgKind, SAFE_INTEGER_MAX};

/// What a keyword speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Every,
    Scalar,
    Text,
    Numeric,
    Array,
    Object,
}

/// The closed list; `None` for a keyword outside it.
pub(super) fn scope(keyword: &str) -> Option<Scope> {
    Some(match keyword {
        "type" | "description" | "default" => Scope::Every,
        "enum" => Scope::Scalar,
        "minLength" | "maxLength" | "pattern" | "format" => Scope::Text,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Scope::Numeric,
        "minItems" | "maxItems" | "uniqueItems" | "items" => Scope::Array,
        "properties" | "required" | "additionalProperties" => Scope::Object,
        _ => return None,
    })
}

impl Scope {
    /// Whether a keyword of this scope says anything of a value of this kind.
    pub(super) fn covers(self, kind: ArgKind) -> bool {
        match self {
            Self::Every => true,
            Self::Scalar => kind.is_scalar(),
            Self::Text => kind == ArgKind::String,
            Self::Numeric => matches!(kind, ArgKind::Integer | ArgKind::Number),
            Self::Array => kind == ArgKind::Array,
            Self::Object => kind == ArgKind::Object,
        }
    }
}

/// The kind that a `type` names.
pub(super) fn kind(value: Option<&Value>) -> Option<ArgKind> {
    Some(match value?.as_str()? {
        "string" => ArgKind::String,
        "integer" => ArgKind::Integer,
        "number" => ArgKind::Number,
        "boolean" => ArgKind::Boolean,
        "array" => ArgKind::Array,
        "object" => ArgKind::Object,
        _ => return None,
    })
}

/// Whether an `enum` may list this value for this kind.
pub(super) fn is_of_kind(value: &Value, kind: ArgKind) -> bool {
    match (kind, value) {
        (ArgKind::String, Value::String(_)) | (ArgKind::Boolean, Value::Bool(_)) => true,
        (ArgKind::Integer, Value::Number(_)) => {
            normal(value).is_some_and(|number| number.is_i64() || number.is_u64())
        }
        (ArgKind::Number, Value::Number(_)) => normal(value).is_some(),
        _ => false,
    }
}

/// The value in normal form, if it is a number that can be kept.
pub(crate) fn normal(value: &Value) -> Option<serde_json::Number> {
    value.as_number().and_then(|number| super::number::normal(number).ok())
}

/// A length or a count.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|&n| i64::try_from(n).is_ok_and(|n| n <= SAFE_INTEGER_MAX))
}
