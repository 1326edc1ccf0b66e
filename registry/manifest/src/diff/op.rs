//! One op: whether it looks or changes, what a person is asked, how much may come back. DESIGN, "Manifest": an op.

use std::cmp::Ordering;

use super::change::Direction;
use super::form::Gone;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::{code, codes, quoted};
use super::told::Told;
use super::{action, args, page, pick, require};
use crate::Access;
use crate::model::{Action, Limits, Manifest, Op, PathTemplate};
use crate::pick::Pick;

pub(super) fn compare(log: &mut Log, old: &Op, new: &Op) {
    let at = At::of(&["ops", new.id.as_str()]);
    access(log, &at, old, new);
    effect(log, &at, old, new);
    irreversible(log, &at, old, new);
    let summary =
        Told { kind: Kind::Text, at: at.name("summary"), what: "what a model is told that the op does" };
    summary.compare(log, Some(&old.summary), Some(&new.summary));
    // That a write asks nobody any more, `access` has said.
    let asks = new.access == Access::Write;
    let confirm =
        Told { kind: Kind::Confirm, at: at.name("confirm"), what: "the question that a person answers" };
    let line = |op: &Op| op.confirm.as_ref().map(ToString::to_string);
    confirm.compare(log, line(old).filter(|_| asks).as_deref(), line(new).as_deref());
    idempotency(log, &at, old, new);
    let gone = Gone::between(&old.args, &new.args);
    args::compare(log, &at.name("args"), &old.args, &new.args);
    require::compare(log, &at.name("require"), (&old.require, &new.require), &gone);
    action::compare(log, &at, old, new, &gone);
    page::compare(log, &at.name("page"), old.page.as_ref(), new.page.as_ref());
    pick::compare(log, &at.name("pick"), &old.pick, &new.pick);
    limits(log, &at.name("limits"), old.limits, new.limits);
}

/// An op that was not there, with all that it brings.
pub(super) fn added(log: &mut Log, manifest: &Manifest, new: &Op) {
    let name = code(new.id.as_str());
    let what = match new.access {
        Access::Read => format!("an agent can look with {name}"),
        Access::Write => format!("an agent can ask for a write with {name}"),
    };
    let mut says =
        format!("{what}: {} ({}; {})", quoted(&new.summary), sent(manifest, new), comes_back(&new.pick));
    if let (Some(effect), Some(confirm)) = (new.effect, &new.confirm) {
        let back = if new.irreversible { ", and cannot be taken back" } else { "" };
        says = format!(
            "{says}; its effect is {}{back}; a person is asked {}",
            code(effect.as_str()),
            quoted(&confirm.to_string())
        );
    }
    let fields = match &new.pick {
        Pick::None => None,
        Pick::Fields(projection) => {
            Some(projection.fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    log.now(Kind::OpAdded, Direction::Widens, &At::of(&["ops", new.id.as_str()]), says)
        .between(None::<&str>, fields);
}

/// An op that is no longer there.
pub(super) fn removed(log: &mut Log, old: &Op) {
    let says = format!("the op {} is gone", code(old.id.as_str()));
    log.was(Kind::OpRemoved, Direction::Narrows, &At::of(&["ops", old.id.as_str()]), says)
        .between(Some(&old.summary), None::<&str>);
}

/// A number of ops.
pub(super) fn count(ops: usize) -> String {
    if ops == 1 { "one op".to_owned() } else { format!("{ops} ops") }
}

fn sent(manifest: &Manifest, op: &Op) -> String {
    match &op.action {
        Action::Request(request) => {
            format!(
                "{} {}{}",
                request.method.as_str(),
                manifest.host(),
                code(&path(&request.path)).replace('`', "")
            )
        }
        Action::Module(module) => {
            let lines: Vec<String> = module.requests.iter().map(super::module::shown).collect();
            format!("a module asks {} for {}", manifest.host(), lines.join(", "))
        }
    }
}

/// The path as the manifest has it.
pub(super) fn path(path: &PathTemplate) -> String {
    path.segments().iter().flat_map(|segment| ["/".to_owned(), segment.to_string()]).collect()
}

fn comes_back(pick: &Pick) -> String {
    match pick {
        Pick::None => "nothing comes back".to_owned(),
        Pick::Fields(projection) => {
            let fields = projection.fields.iter().map(|field| field.text.as_str());
            format!("what comes back: {}", codes(fields))
        }
    }
}

/// Both ways widen: a read that becomes a write changes something, and a write that becomes a read asks nobody.
fn access(log: &mut Log, at: &At, old: &Op, new: &Op) {
    let says = match (old.access, new.access) {
        (Access::Read, Access::Write) => "what only looked now changes something at the service",
        (Access::Write, Access::Read) => "what a person said yes to now runs without asking anybody",
        (Access::Read, Access::Read) | (Access::Write, Access::Write) => return,
    };
    log.now(Kind::Access, Direction::Widens, &at.name("access"), says)
        .between(Some(old.access.as_str()), Some(new.access.as_str()));
}

/// The word decides whether a write needs a yes of its own, and a person reads it.
fn effect(log: &mut Log, at: &At, old: &Op, new: &Op) {
    let (Some(before), Some(after)) = (old.effect, new.effect) else {
        // One side is a read: `access` has said so.
        return;
    };
    if before == after {
        return;
    }
    let (direction, says) = match (before.needs_approval(), after.needs_approval()) {
        (true, false) => (
            Direction::Widens,
            "a write grant can run it without a person's yes to this very call".to_owned(),
        ),
        _ => (Direction::Unproven, format!("a person reads that it will {} something", after.as_str())),
    };
    log.now(Kind::Effect, direction, &at.name("effect"), says)
        .between(Some(before.as_str()), Some(after.as_str()));
}

fn irreversible(log: &mut Log, at: &At, old: &Op, new: &Op) {
    // A read has neither; a write that becomes one has been told of.
    if old.access != new.access {
        return;
    }
    let at = at.name("irreversible");
    match (old.irreversible, new.irreversible) {
        (true, false) => {
            let says = "it is no longer said that it cannot be taken back, and a write grant may run it without a person's yes";
            log.now(Kind::Irreversible, Direction::Widens, &at, says).between(Some("true"), Some("false"));
        }
        (false, true) => {
            let says = "it runs with a person's yes to this very call alone";
            log.now(Kind::Irreversible, Direction::Narrows, &at, says).between(Some("false"), Some("true"));
        }
        (true, true) | (false, false) => {}
    }
}

fn idempotency(log: &mut Log, at: &At, old: &Op, new: &Op) {
    let (before, after) = (old.idempotency.as_deref(), new.idempotency.as_deref());
    let at = at.name("idempotency");
    let note = match (before, after) {
        _ if before == after => return,
        (None, Some(header)) => {
            let says = format!(
                "a write that failed is sent again, and the header {} alone keeps it from being done twice",
                code(header)
            );
            log.now(Kind::Idempotency, Direction::Widens, &at, says)
        }
        (_, Some(header)) => {
            let says = format!(
                "a repeated write is known by {} alone; if the service reads another header, it is done twice",
                code(header)
            );
            log.now(Kind::Idempotency, Direction::Unproven, &at, says)
        }
        (_, None) => {
            let says = "the service no longer knows a repeated write, so that one may be done twice";
            log.was(Kind::Idempotency, Direction::Unproven, &at, says)
        }
    };
    note.between(before, after);
}

fn limits(log: &mut Log, at: &At, old: Limits, new: Limits) {
    for (name, before, after, says) in [
        (
            "response_bytes",
            old.response_bytes,
            new.response_bytes,
            format!("an answer of up to {} bytes is read", new.response_bytes),
        ),
        (
            "result_bytes",
            old.result_bytes,
            new.result_bytes,
            format!("up to {} bytes of an answer come back at once", new.result_bytes),
        ),
        (
            "timeout_ms",
            old.timeout_ms,
            new.timeout_ms,
            format!("a call may take up to {} ms", new.timeout_ms),
        ),
    ] {
        let direction = match after.cmp(&before) {
            Ordering::Greater => Direction::Widens,
            Ordering::Less => Direction::Narrows,
            Ordering::Equal => continue,
        };
        log.now(Kind::Limit, direction, &at.name(name), says)
            .between(Some(before.to_string()), Some(after.to_string()));
    }
}
