//! Paths to one value, and what that value must be. DESIGN, "Pick": "Elsewhere".

use serde_json::Value;

/// A path that names at most one value: members and places only (RFC 9535, section 2.3.5.1, "singular query").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingularPath {
    pub(crate) text: String,
    pub(crate) steps: Vec<SingularStep>,
}

impl SingularPath {
    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The steps from the top of the document.
    pub fn steps(&self) -> &[SingularStep] {
        &self.steps
    }
}

/// One step of a [`SingularPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SingularStep {
    /// The member of this name.
    Name(String),
    /// The element at this place, from 0 to 999.
    Index(u64),
}

/// A value and what it must be.
#[derive(Debug)]
#[non_exhaustive]
pub struct Condition {
    /// Where the value stands.
    pub path: SingularPath,
    /// What it must be.
    pub test: Test,
}

/// What a value must be.
#[derive(Debug)]
pub enum Test {
    /// Equal to this scalar.
    Is(Value),
    /// Equal to one of these scalars.
    In(Vec<Value>),
    /// There (`true`; a `null` is there), or not there (`false`).
    Exists(bool),
}

impl Condition {
    /// Whether it holds of the value that stands at the path, if one does. An absent value is equal to nothing. Numbers
    /// are equal by value.
    pub fn holds(&self, found: Option<&Value>) -> bool {
        match &self.test {
            Test::Is(wanted) => found.is_some_and(|found| equal(found, wanted)),
            Test::In(wanted) => found.is_some_and(|found| wanted.iter().any(|one| equal(found, one))),
            Test::Exists(wanted) => found.is_some() == *wanted,
        }
    }
}

fn equal(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => found == wanted,
    }
}
