//! What must hold before a write is sent. DESIGN, "Manifest": `require`.
//!
//! Reads the conditions; whether the op that one names is there and takes these args is judged in `cross`. INVARIANT: a
//! draft is only built where its op's name follows the grammar.

use std::collections::BTreeMap;

use super::reader::{At, Value};
use super::text::{self, LINE_MAX};
use super::uses::Uses;
use super::{answer, template};
use crate::diagnostic::Code;
use crate::ids::{ArgName, OpId};
use crate::model::{JsonTemplate, Requirement};
use crate::pick::Condition;

/// Most requirements of a write.
const REQUIRE_MAX: usize = 10;

/// A requirement as far as it could be read.
#[derive(Debug)]
pub(super) struct RequireDraft {
    pub(super) at: At,
    /// The op's name, not yet looked up.
    pub(super) op: Option<String>,
    /// The args as far as they could be read, by the names as written.
    pub(super) args: Vec<(String, Option<JsonTemplate>)>,
    condition: Option<Condition>,
    otherwise: Option<String>,
}

impl RequireDraft {
    pub(super) fn build(self) -> Option<Requirement> {
        let args: Option<BTreeMap<_, _>> =
            self.args.into_iter().map(|(name, value)| Some((ArgName::parse(&name).ok()?, value?))).collect();
        Some(Requirement {
            op: OpId::parse(&self.op?).ok()?,
            args: args?,
            condition: self.condition?,
            otherwise: self.otherwise?,
        })
    }
}

/// Reads the list; the args that it names go to `uses`.
pub(super) fn require(value: &Value<'_>, uses: &mut Uses) -> Vec<RequireDraft> {
    let elements = value.elements().unwrap_or_default();
    if elements.len() > REQUIRE_MAX {
        value.fault(
            Code::OutOfRange,
            format!("there are {} requirements", elements.len()),
            "keep at most 10",
        );
    }
    elements.iter().filter_map(|element| one(element, uses)).collect()
}

fn one(value: &Value<'_>, uses: &mut Uses) -> Option<RequireDraft> {
    let mut object = value.object()?;
    let op = object.required("op").and_then(|value| value.text()).map(str::to_owned);
    let args = object.optional("args").and_then(|value| value.entries()).unwrap_or_default();
    let args = args.iter().map(|(name, entry)| ((*name).to_owned(), template::json(entry, uses))).collect();
    let condition = answer::condition(&mut object);
    let otherwise = object.required("else").and_then(|value| text::line(&value, LINE_MAX));
    object.finish();
    Some(RequireDraft { at: value.at.clone(), op, args, condition, otherwise })
}
