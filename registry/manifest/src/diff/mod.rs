//! What a change of a manifest lets an agent do or see that it could not, or lets a person read.
//!
//! Compares what two manifests mean, not how they are written: defaults that are spelled out, the order of members and of
//! lists whose order says nothing are no change. INVARIANT: whatever is not proven to narrow counts as widening, and every
//! member of a manifest is looked at. DESIGN, "Registry": an update that is not proven narrower is a widening.

mod action;
mod answer;
mod args;
mod auth;
mod body;
mod bounds;
mod change;
mod comparison;
mod form;
mod kind;
mod log;
mod module;
mod oauth;
mod op;
mod page;
mod pick;
mod place;
mod request;
mod require;
mod service;
mod shown;
mod told;

#[cfg(test)]
mod tests;

pub use change::{Change, Direction, Side};
pub use comparison::{Bump, Comparison, VersionVerdict};
pub use kind::Kind;
pub use place::{Place, places};

use crate::ids::OpId;
use crate::model::Manifest;
use log::{At, Log};

/// Compares two manifests of one service.
///
/// Two files that mean the same have no change but [`Kind::Bytes`] and [`Kind::Version`], which are neutral; the same file
/// has none.
pub fn diff(old: &Manifest, new: &Manifest) -> Comparison {
    let mut log = Log::default();
    service::compare(&mut log, old, new);
    auth::compare(&mut log, old, new);
    answer::compare(&mut log, old, new);
    ops(&mut log, old, new);
    if old.version() != new.version() {
        let says = format!("the version is now {}", new.version());
        log.now(Kind::Version, Direction::Neutral, &At::of(&["version"]), says)
            .between(Some(old.version().to_string()), Some(new.version().to_string()));
    }
    let mut changes = log.into_changes();
    let same_bytes = old.digest() == new.digest();
    if changes.is_empty() && !same_bytes {
        let mut log = Log::default();
        log.now(
            Kind::Bytes,
            Direction::Neutral,
            &At::default(),
            "the file is written in another way, and means the same",
        )
        .between(Some(old.digest().to_string()), Some(new.digest().to_string()));
        changes = log.into_changes();
    }
    Comparison::new(changes, |widens| {
        let needed = match (widens, same_bytes) {
            (true, _) => Some(Bump::Minor),
            (false, false) => Some(Bump::Patch),
            (false, true) => None,
        };
        VersionVerdict::of(old.version(), new.version(), needed)
    })
    .requiring(new)
}

/// What a service that was not there brings: everything that it has widens.
pub fn added(new: &Manifest) -> Comparison {
    let mut log = Log::default();
    service::added(&mut log, new);
    for op in new.ops().values() {
        let mut of_op = Log::of_op(&op.id);
        op::added(&mut of_op, new, op);
        log.extend(of_op);
    }
    Comparison::new(log.into_changes(), |_| VersionVerdict::Right)
}

/// What is gone with a service that is no longer there: nothing of it widens.
pub fn removed(old: &Manifest) -> Comparison {
    let mut log = Log::default();
    service::removed(&mut log, old);
    Comparison::new(log.into_changes(), |_| VersionVerdict::Right)
}

fn ops(log: &mut Log, old: &Manifest, new: &Manifest) {
    let ids: std::collections::BTreeSet<&OpId> = old.ops().keys().chain(new.ops().keys()).collect();
    for id in ids {
        let mut of_op = Log::of_op(id);
        match (old.op(id), new.op(id)) {
            (Some(before), Some(after)) => op::compare(&mut of_op, before, after),
            (None, Some(after)) => op::added(&mut of_op, new, after),
            (Some(before), None) => op::removed(&mut of_op, before),
            (None, None) => {}
        }
        log.extend(of_op);
    }
}
