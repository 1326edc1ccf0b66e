//! What a schema says of single values: which are listed, and how large one may be.
//!
//! Says nothing where the description leaves it open. INVARIANT: drafting and verifying read it alike, so that what was drafted
//! holds when it is verified.

use serde_json::Value;

use super::parts::{Join, Parts};

/// Most values of a list that an arg could have.
const VALUES_MAX: usize = 256;
/// Numbers beyond this are no bounds that an arg could have.
const BOUND_MAX: f64 = 9e15;

/// The values of a type that are listed, each once; nothing where it is open, or where an arg could not list them.
pub(super) fn closed(parts: &Parts<'_>, kind: &str) -> Option<Vec<Value>> {
    if !matches!(kind, "string" | "integer" | "number") {
        return None;
    }
    let mixed = parts.list.iter().any(|part| part.join == Join::Choice) && parts.types().len() > 1;
    let mut values: Vec<Value> = Vec::new();
    for value in parts.listed()? {
        let good = match value {
            Value::String(text) => kind == "string" && crate::visible::is_plain_line(text),
            Value::Number(number) => {
                let safe = number.as_f64().is_some_and(|it| it.abs() <= BOUND_MAX);
                safe && ((kind == "integer" && !number.is_f64()) || kind == "number")
            }
            _ => false,
        };
        if good && !values.contains(value) {
            values.push(value.clone());
        }
        if values.len() > VALUES_MAX {
            return None;
        }
    }
    (!values.is_empty() && !mixed).then_some(values)
}

/// The largest number that is taken, said as a bound or as `(max N)` in words.
pub(super) fn largest(parts: &Parts<'_>, prose: &str) -> Option<f64> {
    let is_strict = parts.always("exclusiveMaximum") == Some(&Value::Bool(true));
    let bound = parts.always("maximum").and_then(Value::as_f64).filter(|_| !is_strict);
    let bound = bound.filter(|it| it.abs() <= BOUND_MAX);
    let said = said(prose).map(f64::from);
    match (bound, said) {
        (Some(bound), Some(said)) => Some(bound.min(said)),
        (bound, said) => bound.or(said),
    }
}

/// The number of `(max 100)` in words.
pub(super) fn said(prose: &str) -> Option<u32> {
    let (_, rest) = prose.split_once("(max ")?;
    let (digits, _) = rest.split_once(')')?;
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}
