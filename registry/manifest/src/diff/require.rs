//! What must hold before a write is sent. DESIGN, "Manifest": `require`.
//!
//! A requirement that comes is not proven narrower: it sends a read that was not sent, and whether it holds tells an agent
//! something of an answer that it may not see.

use super::answer::{same_condition, shown_condition};
use super::change::Direction;
use super::form::{Form, Gone};
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::{code, quoted};
use crate::model::Requirement;

pub(super) fn compare(log: &mut Log, at: &At, (old, new): (&[Requirement], &[Requirement]), gone: &Gone) {
    let mut left: Vec<(usize, &Requirement)> = old.iter().enumerate().collect();
    let mut fresh = Vec::new();
    for (index, requirement) in new.iter().enumerate() {
        match left.iter().position(|(_, known)| same(known, requirement, gone)) {
            Some(place) => drop(left.remove(place)),
            None => fresh.push((index, requirement)),
        }
    }
    for (index, requirement) in fresh {
        let says = format!(
            "before the write, {} is read, and an agent learns whether {}; if not, it reads {}",
            code(requirement.op.as_str()),
            shown_condition(&requirement.condition),
            quoted(&requirement.otherwise)
        );
        log.now(Kind::Require, Direction::Unproven, &at.index(index), says)
            .between(None::<&str>, Some(shown_condition(&requirement.condition)));
    }
    for (index, requirement) in left {
        let says = format!(
            "the write is sent without asking {} whether {}",
            code(requirement.op.as_str()),
            shown_condition(&requirement.condition)
        );
        log.was(Kind::Require, Direction::Widens, &at.index(index), says)
            .between(Some(shown_condition(&requirement.condition)), None::<&str>);
    }
}

fn same(old: &Requirement, new: &Requirement, gone: &Gone) -> bool {
    let fed = |requirement: &Requirement, gone: &Gone| -> Vec<(String, Form)> {
        let fed = requirement.args.iter();
        fed.filter_map(|(name, value)| Some((name.to_string(), Form::of(value, gone)?))).collect()
    };
    old.op == new.op
        && old.otherwise == new.otherwise
        && same_condition(&old.condition, &new.condition)
        && fed(old, gone) == fed(new, &Gone::nothing())
}
