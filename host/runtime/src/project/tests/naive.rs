//! The same shape rules said another way: field by field over `serde_json` values, then merged.

use pinhole_manifest::pick::Step;
use serde_json::{Map, Value};

/// The steps of a plain path such as `a[*].b` or `a.*`.
pub(super) fn steps(path: &str) -> Vec<Step> {
    path.replace("[*]", ".*")
        .split('.')
        .map(|part| if part == "*" { Step::Each } else { Step::Name(part.to_owned()) })
        .collect()
}

/// Projects a root object by fields, each with its alias.
pub(super) fn object(root: &Value, fields: &[(Vec<Step>, Option<String>)]) -> Value {
    let mut whole = Value::Object(Map::new());
    for (steps, alias) in fields {
        match alias {
            None => merge(&mut whole, prune(root, steps).unwrap()),
            Some(alias) => {
                if let Some(value) = flat(root, steps) {
                    whole[alias] = value;
                }
            }
        }
    }
    whole
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn leaf(value: &Value) -> Option<Value> {
    let fits = value.as_array().map_or(is_scalar(value), |elements| elements.iter().all(is_scalar));
    fits.then(|| value.clone())
}

fn scalar_members(members: &Map<String, Value>) -> Value {
    members
        .iter()
        .filter(|(_, value)| is_scalar(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The part of a value that one field keeps.
fn prune(value: &Value, steps: &[Step]) -> Option<Value> {
    match (steps, value) {
        ([], _) | ([Step::Each], Value::Array(_)) => leaf(value),
        (_, Value::Null) => Some(Value::Null),
        ([Step::Name(name), rest @ ..], Value::Object(members)) => {
            let kept = members.get(name).and_then(|member| prune(member, rest));
            Some(kept.map(|kept| (name.clone(), kept)).into_iter().collect())
        }
        ([Step::Each], Value::Object(members)) => Some(scalar_members(members)),
        ([Step::Each, rest @ ..], Value::Array(elements)) => {
            Some(elements.iter().filter_map(|element| prune(element, rest)).collect())
        }
        _ => None,
    }
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(there) => merge(there, value),
                    None => drop(into.insert(key, value)),
                }
            }
        }
        (Value::Array(into), Value::Array(from)) => {
            assert_eq!(into.len(), from.len());
            into.iter_mut().zip(from).for_each(|(into, from)| merge(into, from));
        }
        (into, from) => assert_eq!(*into, from),
    }
}

/// What an alias gets.
fn flat(value: &Value, steps: &[Step]) -> Option<Value> {
    let inner = steps.iter().position(|step| *step == Step::Each).filter(|place| place + 1 < steps.len());
    let (way, rest) = steps.split_at(inner.unwrap_or(steps.len()));
    let mut here = value;
    for step in way {
        match (step, here) {
            (_, Value::Null) => return Some(Value::Null),
            (Step::Name(name), Value::Object(members)) => here = members.get(name)?,
            (Step::Index(index), Value::Array(elements)) => {
                here = elements.get(usize::try_from(*index).unwrap())?;
            }
            (Step::Each, Value::Array(_)) => {}
            (Step::Each, Value::Object(members)) => return Some(scalar_members(members)),
            _ => return None,
        }
    }
    match (rest, here) {
        ([], _) => leaf(here),
        (_, Value::Null) => Some(Value::Null),
        (_, Value::Array(_)) => {
            let mut all = Vec::new();
            gather(here, rest, &mut all);
            Some(Value::Array(all))
        }
        _ => None,
    }
}

fn gather(value: &Value, steps: &[Step], all: &mut Vec<Value>) {
    match (steps, value) {
        ([], _) => all.extend(leaf(value)),
        (_, Value::Null) => all.push(Value::Null),
        ([Step::Each], Value::Array(_)) => {
            if let Some(Value::Array(scalars)) = leaf(value) {
                all.extend(scalars);
            }
        }
        ([Step::Each], Value::Object(members)) => all.push(scalar_members(members)),
        ([Step::Each, rest @ ..], Value::Array(elements)) => {
            for element in elements {
                gather(element, rest, all);
            }
        }
        ([Step::Name(name), rest @ ..], Value::Object(members)) => {
            if let Some(member) = members.get(name) {
                gather(member, rest, all);
            }
        }
        ([Step::Index(index), rest @ ..], Value::Array(elements)) => {
            if let Some(element) = usize::try_from(*index).ok().and_then(|index| elements.get(index)) {
                gather(element, rest, all);
            }
        }
        _ => {}
    }
}
