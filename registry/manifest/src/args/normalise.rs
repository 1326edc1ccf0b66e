//! From what a caller gives to the one normal form.
//!
//! Refuses what the schema does not take, any number that would be rounded, and more than `ARGS_BYTES_MAX`. Never echoes a
//! value. INVARIANT: normalising what is normal changes nothing. DESIGN, "Manifest": args.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternCache, ValidationError, Validator};
use serde_json::{Map, Value};

use super::shape::Shape;
use super::{ARGS_BYTES_MAX, formats, limits, number, push, push_foreign};
use crate::ids::ArgName;
use crate::model::{ArgFault, ArgKind, Args, ArgsSchema};

/// Most faults that one call reports.
pub(super) const FAULTS_MAX: usize = 64;

impl ArgsSchema {
    /// Brings args into normal form: `null` stands for an absent optional and is dropped (inside objects too), defaults are
    /// filled, whole numbers become integers (`1.0` is `1`, `-0` is `0`).
    ///
    /// # Errors
    /// Every fault at once, up to 64: args that the schema does not take, unknown ones included; a number beyond
    /// ±(2^53 − 1); more than 1 MiB as compact JSON. Texts and arrays that are too long are reported alone, before
    /// anything looks into them: beyond `maxLength` and `maxItems`, and without them beyond 4,096 characters of a text
    /// with a pattern and 10,000 elements of an array; more than 65,536 characters for patterns of more than 4 KiB.
    pub fn normalise(&self, raw: Map<String, Value>) -> Result<Args, Vec<ArgFault>> {
        let raw = Value::Object(raw);
        within_limit(&raw)?;
        // Before anything looks into them: patterns and `uniqueItems` take long over what is long.
        limits::check(&self.shape, &raw)?;
        let mut faults = Vec::new();
        let normal = value(&self.shape, raw, "", &mut faults);
        let compile = || formats::validator(&self.json, &PatternCache::new()).ok();
        let Some(validator) = self.validator.compiled(compile) else {
            return Err(vec![fault("", "the schema of the args cannot be compiled")]);
        };
        judge(validator, &normal, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        within_limit(&normal)?;
        let Value::Object(map) = normal else { return Err(vec![fault("", "args are an object")]) };
        let name = |name: &str| ArgName::parse(name).map_err(|_grammar| vec![unknown("", name)]);
        let args = map.into_iter().map(|(key, value)| Ok((name(&key)?, value)));
        Ok(Args::from_map(args.collect::<Result<BTreeMap<_, _>, Vec<ArgFault>>>()?))
    }
}

/// Normalises a default by its own schema; the error is the first fault's message.
pub(super) fn value_alone(shape: &Shape, validator: &Validator, raw: Value) -> Result<Value, String> {
    let mut faults = limits::check(shape, &raw).err().unwrap_or_default();
    if let Some(fault) = faults.pop() {
        return Err(fault.message);
    }
    let normal = value(shape, raw, "", &mut faults);
    judge(validator, &normal, &mut faults);
    faults.into_iter().next().map_or(Ok(normal), |fault| Err(fault.message))
}

pub(super) fn fault(pointer: impl Into<String>, message: impl Into<String>) -> ArgFault {
    ArgFault { pointer: pointer.into(), message: message.into() }
}

fn unknown(parent: &str, name: &str) -> ArgFault {
    fault(push_foreign(parent, name), "is not something that the op takes")
}

/// Follows the shape, not the value: a value of another kind is left as it is, for the validator to refuse.
fn value(shape: &Shape, raw: Value, pointer: &str, faults: &mut Vec<ArgFault>) -> Value {
    match (shape.kind, raw) {
        (ArgKind::Object, Value::Object(map)) => Value::Object(members(shape, map, pointer, faults)),
        (ArgKind::Array, Value::Array(list)) => {
            let Some(items) = &shape.items else { return Value::Array(list) };
            let element =
                |(i, raw): (usize, Value)| value(items, raw, &push(pointer, &i.to_string()), faults);
            Value::Array(list.into_iter().enumerate().map(element).collect())
        }
        (ArgKind::Integer | ArgKind::Number, Value::Number(raw)) => match number::normal(&raw) {
            Ok(normal) => Value::Number(normal),
            Err(error) => {
                if faults.len() < FAULTS_MAX {
                    faults.push(fault(pointer, error.to_string()));
                }
                Value::Number(raw)
            }
        },
        (_, raw) => raw,
    }
}

fn members(
    shape: &Shape,
    raw: Map<String, Value>,
    pointer: &str,
    faults: &mut Vec<ArgFault>,
) -> Map<String, Value> {
    let mut normal = Map::new();
    for (name, raw) in raw {
        let raw = match shape.members.get(&name) {
            Some(member) if raw.is_null() && !member.required => continue,
            Some(member) => value(member, raw, &push(pointer, &name), faults),
            None => raw,
        };
        normal.insert(name, raw);
    }
    for (name, member) in &shape.members {
        if let (Some(default), false) = (&member.default, normal.contains_key(name)) {
            normal.insert(name.clone(), default.clone());
        }
    }
    normal
}

/// Adds the validator's faults, save where a number has one already: it would only be judged a second time.
fn judge(validator: &Validator, normal: &Value, faults: &mut Vec<ArgFault>) {
    let numbers: BTreeSet<String> = faults.iter().map(|fault| fault.pointer.clone()).collect();
    for error in validator.iter_errors(normal) {
        let pointer = error.instance_path().as_str();
        let found = match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                unexpected.iter().map(|name| unknown(pointer, name)).collect()
            }
            ValidationErrorKind::Required { property } => {
                vec![fault(push(pointer, property.as_str().unwrap_or_default()), "is required")]
            }
            _ => vec![fault(pointer, describe(&error))],
        };
        for one in found {
            if faults.len() >= FAULTS_MAX {
                return;
            }
            if !numbers.contains(&one.pointer) && !faults.contains(&one) {
                faults.push(one);
            }
        }
    }
}

/// What the validator says, with the value left out.
fn describe(error: &ValidationError<'_>) -> String {
    error.masked().to_string()
}

fn within_limit(value: &Value) -> Result<(), Vec<ArgFault>> {
    let mut left = Left(ARGS_BYTES_MAX);
    serde_json::to_writer(&mut left, value)
        .map_err(|_full| vec![fault("", format!("args are larger than {ARGS_BYTES_MAX} bytes"))])
}

/// Counts what is written to it and keeps none of it.
struct Left(usize);

impl io::Write for Left {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
