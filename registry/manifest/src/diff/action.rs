//! How an op gets its answer: by a request that is spelled out, or by a module.

use super::change::Direction;
use super::form::Gone;
use super::kind::Kind;
use super::log::{At, Log};
use super::{module, request};
use crate::model::{Action, Op};

pub(super) fn compare(log: &mut Log, at: &At, old: &Op, new: &Op, gone: &Gone) {
    match (&old.action, &new.action) {
        (Action::Request(before), Action::Request(after)) => {
            request::compare(log, &at.name("request"), (before, after), gone);
        }
        (Action::Module(before), Action::Module(after)) => {
            module::compare(log, &at.name("module"), before, after);
        }
        (Action::Request(_), Action::Module(after)) => {
            let lines: Vec<String> = after.requests.iter().map(module::shown).collect();
            let says = format!("a module computes the answer, and may ask for {}", lines.join(", "));
            log.now(Kind::Action, Direction::Widens, &at.name("module"), says)
                .between(Some("a request"), Some(after.sha256.to_string()));
        }
        (Action::Module(before), Action::Request(after)) => {
            let says = format!("one request, {}, takes the place of a module", request::line(after));
            log.now(Kind::Action, Direction::Unproven, &at.name("request"), says)
                .between(Some(before.sha256.to_string()), Some("a request"));
        }
    }
}
