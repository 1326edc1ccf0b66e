//! When an answer is a failure, and which of the service's own words about it come back. DESIGN, "Manifest": `failure`,
//! `error`.
//!
//! A rule of failure decides what a write is said to have come to, so another one is never proven narrower: a person who
//! reads that a write failed may do it again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::code;
use crate::model::{Failure, Manifest};
use crate::pick::{Condition, SingularPath, Test};

pub(super) fn compare(log: &mut Log, old: &Manifest, new: &Manifest) {
    failure(log, old.failure(), new.failure());
    let message =
        |failure: Option<&'_ Failure>| failure.and_then(|failure| failure.message.as_ref().map(Words::of));
    words(log, &At::of(&["failure", "message"]), message(old.failure()), message(new.failure()));
    let error = |manifest: &Manifest| manifest.error_message().map(Words::of);
    words(log, &At::of(&["error", "message"]), error(old), error(new));
}

fn failure(log: &mut Log, old: Option<&Failure>, new: Option<&Failure>) {
    let at = At::of(&["failure"]);
    let shown = |failure: Option<&Failure>| failure.map(|failure| shown_condition(&failure.when));
    let note = match (old, new) {
        (None, None) => return,
        (Some(before), Some(after)) if same_condition(&before.when, &after.when) => return,
        (_, Some(after)) => {
            let says = format!(
                "an answer counts as a failure where {}, whatever came of the call",
                shown_condition(&after.when)
            );
            log.now(Kind::Failure, Direction::Unproven, &at, says)
        }
        (Some(_), None) => {
            let says = "what the service calls a failure in an answer of status 2xx counts as done";
            log.was(Kind::Failure, Direction::Widens, &at, says)
        }
    };
    note.between(shown(old), shown(new));
}

/// Where words of the service are taken from.
#[derive(PartialEq)]
struct Words(String);

impl Words {
    /// In the one spelling of the path.
    fn of(path: &SingularPath) -> Self {
        Self(path.to_string())
    }
}

fn words(log: &mut Log, at: &At, old: Option<Words>, new: Option<Words>) {
    let note = match (&old, &new) {
        (before, after) if before == after => return,
        (_, Some(Words(path))) => {
            let says = format!("an agent reads what a failure's answer has at {}", code(path));
            log.now(Kind::ErrorText, Direction::Widens, at, says)
        }
        (_, None) => {
            let says = "an agent no longer reads the service's own words about a failure";
            log.was(Kind::ErrorText, Direction::Narrows, at, says)
        }
    };
    note.between(old.map(|words| words.0), new.map(|words| words.0));
}

/// Whether two conditions hold of the same answers, as far as their members say.
pub(super) fn same_condition(old: &Condition, new: &Condition) -> bool {
    let texts = |list: &[Value]| list.iter().map(number_text).collect::<BTreeSet<String>>();
    old.path.steps() == new.path.steps()
        && match (&old.test, &new.test) {
            (Test::Is(before), Test::Is(after)) => number_text(before) == number_text(after),
            (Test::In(before), Test::In(after)) => texts(before) == texts(after),
            (Test::Exists(before), Test::Exists(after)) => before == after,
            _ => false,
        }
}

fn number_text(value: &Value) -> String {
    crate::args::normal(value).map_or_else(|| value.to_string(), |number| number.to_string())
}

/// A condition for people.
pub(super) fn shown_condition(condition: &Condition) -> String {
    let path = code(&condition.path.to_string());
    match &condition.test {
        Test::Is(value) => format!("{path} is {}", code(&value.to_string())),
        Test::In(values) => {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            format!("{path} is one of {}", code(&values.join(", ")))
        }
        Test::Exists(true) => format!("{path} is there"),
        Test::Exists(false) => format!("{path} is not there"),
    }
}
