//! How long a text and an array may be, judged before anything else looks into them.
//!
//! Refuses what would take a pattern or `uniqueItems` long, by its length alone. INVARIANT: at most
//! [`HEAVY_TEXT_MAX`] characters of a call meet patterns that are not small. DESIGN, "Manifest": args.

use serde_json::{Map, Value};

use super::normalise::{FAULTS_MAX, fault};
use super::shape::Shape;
use super::{keywords, push};
use crate::model::{ArgFault, ArgKind};

/// Most characters of a text that has a pattern and no `maxLength`.
const TEXT_MAX: u64 = 4_096;
/// Most elements of an array without `maxItems`, and of every one whose elements must differ.
pub(super) const ITEMS_MAX: u64 = 10_000;
/// Most characters that the patterns which are not small are run over, in one call. Time goes with the text's length times
/// the pattern's size.
const HEAVY_TEXT_MAX: u64 = 65_536;
/// Largest compiled pattern that counts as small, in bytes.
const SMALL_BYTES: usize = 4_096;

/// What the lengths of a value are held to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Most characters of a text, or most elements of an array.
    most: Option<u64>,
    /// Whether a pattern looks at the text that takes long over a long one.
    heavy: bool,
}

impl Limits {
    /// Most characters or elements.
    pub(super) fn most(self) -> Option<u64> {
        self.most
    }

    pub(super) fn new(schema: &Map<String, Value>, kind: ArgKind) -> Self {
        let count = |keyword: &str| schema.get(keyword).and_then(keywords::count);
        let pattern = schema.get("pattern").and_then(Value::as_str);
        match kind {
            ArgKind::String => Self {
                most: count("maxLength").or(pattern.and(Some(TEXT_MAX))),
                heavy: pattern.is_some_and(is_heavy),
            },
            ArgKind::Array => Self { most: Some(count("maxItems").unwrap_or(ITEMS_MAX)), heavy: false },
            _ => Self::default(),
        }
    }
}

fn is_heavy(pattern: &str) -> bool {
    pattern.len() > SMALL_BYTES || regex::RegexBuilder::new(pattern).size_limit(SMALL_BYTES).build().is_err()
}

/// Reports every text and array that is too long, up to 64.
pub(super) fn check(shape: &Shape, value: &Value) -> Result<(), Vec<ArgFault>> {
    let mut check = Check { heavy_text: 0, faults: Vec::new() };
    check.value(shape, value, "");
    if check.heavy_text > HEAVY_TEXT_MAX && check.faults.len() < FAULTS_MAX {
        let message = format!("args hold more than {HEAVY_TEXT_MAX} characters that large patterns check");
        check.faults.push(fault("", message));
    }
    if check.faults.is_empty() { Ok(()) } else { Err(check.faults) }
}

struct Check {
    /// Characters that patterns which are not small would be run over.
    heavy_text: u64,
    faults: Vec<ArgFault>,
}

impl Check {
    fn value(&mut self, shape: &Shape, value: &Value, pointer: &str) {
        match (shape.kind, value) {
            (ArgKind::String, Value::String(text)) => {
                let most = shape.limits.most;
                // No more than the limit is counted: a text may be long.
                let length = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
                let length = text.chars().take(length.saturating_add(1)).count();
                let length = u64::try_from(length).unwrap_or(u64::MAX);
                if most.is_some_and(|most| length > most) {
                    self.fault(pointer, most, "characters");
                } else if shape.limits.heavy {
                    self.heavy_text = self.heavy_text.saturating_add(length);
                }
            }
            (ArgKind::Array, Value::Array(list)) => {
                let most = shape.limits.most;
                if most.is_some_and(|most| u64::try_from(list.len()).is_ok_and(|length| length > most)) {
                    self.fault(pointer, most, "elements");
                } else if let Some(items) = &shape.items {
                    for (i, element) in list.iter().enumerate() {
                        self.value(items, element, &push(pointer, &i.to_string()));
                    }
                }
            }
            (ArgKind::Object, Value::Object(members)) => {
                for (name, value) in members {
                    if let Some(member) = shape.members.get(name) {
                        self.value(member, value, &push(pointer, name));
                    }
                }
            }
            _ => {}
        }
    }

    fn fault(&mut self, pointer: &str, most: Option<u64>, what: &str) {
        if self.faults.len() < FAULTS_MAX {
            let most = most.unwrap_or_default();
            self.faults.push(fault(pointer, format!("has more than {most} {what}")));
        }
    }
}
