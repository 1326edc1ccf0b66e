//! What an op takes: a closed subset of JSON Schema 2020-12, and the args once they are normalised.
//!
//! Args are normalised once and used in that form for `where`, confirm, approval and rendering alike: whoever reads them
//! later reads what was checked. DESIGN, "Manifest": args.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value;

use crate::args::Shape;
use crate::ids::ArgName;

/// The largest integer that every JSON reader keeps exactly: 2^53 − 1 (RFC 8259, section 6).
pub const SAFE_INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// The args of an op: the schema as written, compiled, and a line for each arg.
#[derive(Debug)]
pub struct ArgsSchema {
    pub(crate) json: Value,
    pub(crate) validator: LazyValidator,
    pub(crate) shape: Shape,
    pub(crate) defs: BTreeMap<ArgName, ArgDef>,
}

/// A validator that is compiled when it is first needed: most ops of a host are never called, and each takes some 40 KiB.
///
/// INVARIANT: the schema has been compiled once before, when the manifest was read.
#[derive(Debug, Default)]
pub(crate) struct LazyValidator(OnceLock<Option<jsonschema::Validator>>);

impl LazyValidator {
    /// The validator; `None` where `compile` fails, which a caller takes for args that do not fit.
    pub(crate) fn compiled(
        &self,
        compile: impl FnOnce() -> Option<jsonschema::Validator>,
    ) -> Option<&jsonschema::Validator> {
        self.0.get_or_init(compile).as_ref()
    }
}

impl ArgsSchema {
    /// The schema as written, for lists of tools.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The args, in order of their names.
    pub fn defs(&self) -> &BTreeMap<ArgName, ArgDef> {
        &self.defs
    }

    /// The arg of this name.
    pub fn def(&self, name: &ArgName) -> Option<&ArgDef> {
        self.defs.get(name)
    }
}

/// One arg.
#[derive(Debug)]
#[non_exhaustive]
pub struct ArgDef {
    /// What kind of value it takes.
    pub kind: ArgKind,
    /// Whether it must be there.
    pub required: bool,
    /// What it is for.
    pub description: String,
    /// What stands in for it when it is absent.
    pub default: Option<Value>,
}

impl ArgDef {
    /// Whether the arg is there in every normalised call: it is required or has a default.
    pub fn always_present(&self) -> bool {
        self.required || self.default.is_some()
    }
}

/// The kind of value that an arg takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the types of JSON Schema")]
pub enum ArgKind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

impl ArgKind {
    /// Whether the value is a single text, number or truth value.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }
}

/// Args in their one normal form: validated, `null` optionals dropped, defaults filled, `1.0` as `1` where an integer is
/// asked, no integer beyond ±(2^53 − 1).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Args(BTreeMap<ArgName, Value>);

impl Args {
    /// INVARIANT: only normalising calls this.
    pub(crate) fn from_map(map: BTreeMap<ArgName, Value>) -> Self {
        Self(map)
    }

    /// The value of an arg.
    pub fn get(&self, name: &ArgName) -> Option<&Value> {
        self.0.get(name)
    }

    /// All args, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&ArgName, &Value)> {
        self.0.iter()
    }

    /// The args as a JSON object.
    pub fn to_json(&self) -> Value {
        Value::Object(self.0.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
    }
}

/// Why an arg was not taken. Holds no value of the caller's, only where it stood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pointer}`: {message}")]
#[non_exhaustive]
pub struct ArgFault {
    /// Where, as a JSON Pointer into the args; empty for the args as a whole.
    pub pointer: String,
    /// What is wrong, without the value.
    pub message: String,
}
