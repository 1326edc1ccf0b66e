//! The members of a manifest itself: whose it is, where its calls go, what people read of it. DESIGN, "Manifest".

use std::collections::BTreeSet;

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::{code, quoted};
use super::told::{Told, other};
use super::{auth, op};
use crate::host::HttpsUrl;
use crate::model::Manifest;

pub(super) fn compare(log: &mut Log, old: &Manifest, new: &Manifest) {
    if old.id() != new.id() {
        let says = format!(
            "this is another service, {}: its keys are asked for under that name",
            code(new.id().as_str())
        );
        log.now(Kind::ServiceId, Direction::Widens, &At::of(&["id"]), says)
            .between(Some(old.id().as_str()), Some(new.id().as_str()));
    }
    if old.host() != new.host() {
        let says = format!("every call, with the key in it, goes to {}", code(new.host().as_str()));
        log.now(Kind::Host, Direction::Widens, &At::of(&["host"]), says)
            .between(Some(old.host().as_str()), Some(new.host().as_str()));
    }
    headers(log, old, new);
    texts(log, old, new);
}

fn texts(log: &mut Log, old: &Manifest, new: &Manifest) {
    let told = |kind, name, what| Told { kind, at: At::of(&[name]), what };
    told(Kind::Text, "name", "the service's name").compare(log, Some(old.name()), Some(new.name()));
    told(Kind::Text, "summary", "what the service is said to offer").compare(
        log,
        Some(old.summary()),
        Some(new.summary()),
    );
    told(Kind::Link, "docs", "the link to the service's documentation").compare(
        log,
        old.docs().map(HttpsUrl::as_str),
        new.docs().map(HttpsUrl::as_str),
    );
    told(Kind::Verified, "verified", "the day on which somebody is said to have tried it").compare(
        log,
        old.verified(),
        new.verified(),
    );
}

/// Another header may ask for another version of the API, or for other fields under the names that are picked.
fn headers(log: &mut Log, old: &Manifest, new: &Manifest) {
    let names: BTreeSet<&String> = old.headers().keys().chain(new.headers().keys()).collect();
    for name in names {
        let (before, after) = (old.headers().get(name), new.headers().get(name));
        let at = At::of(&["headers", name]);
        other(
            log,
            (Kind::ServiceHeader, &at),
            (before.map(String::as_str), after.map(String::as_str)),
            |after| match after {
                Some(after) => format!("every call sends the header {} with {after}", code(name)),
                None => {
                    format!("no call sends the header {} any more, and answers may be others", code(name))
                }
            },
        );
    }
}

pub(super) fn added(log: &mut Log, new: &Manifest) {
    let says = format!(
        "a new service, {}: {}; its keys go to {}",
        quoted(new.name()),
        quoted(new.summary()),
        code(new.host().as_str())
    );
    log.now(Kind::ServiceAdded, Direction::Widens, &At::default(), says)
        .between(None::<&str>, Some(new.label()));
    auth::added(log, new.auth());
}

pub(super) fn removed(log: &mut Log, old: &Manifest) {
    let says = format!("the service {} and its {} are gone", quoted(old.name()), op::count(old.ops().len()));
    log.was(Kind::ServiceRemoved, Direction::Narrows, &At::default(), says)
        .between(Some(old.label()), None::<&str>);
}
