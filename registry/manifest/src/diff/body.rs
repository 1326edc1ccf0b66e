//! The body of a request: JSON, a form, a GraphQL document with its variables. DESIGN, "Manifest": request.

use std::collections::BTreeSet;

use super::change::Direction;
use super::form::{Form, Gone};
use super::kind::Kind;
use super::log::{At, Log};
use super::request::pairs;
use super::shown::code;
use super::told::other;
use crate::model::{Body, JsonTemplate};

/// Compares the bodies of two requests, which stand at `at`.
pub(super) fn compare(log: &mut Log, at: &At, (old, new): (&Body, &Body), gone: &Gone) {
    let nothing = Gone::nothing();
    match (old, new) {
        (Body::None, Body::None) => {}
        (Body::Json(before), Body::Json(after)) => {
            forms(
                log,
                &at.name("json"),
                (Form::of(before, gone).as_ref(), Form::of(after, &nothing).as_ref()),
            );
        }
        (Body::Json(before), Body::None) if Form::of(before, gone).is_none() => {}
        (Body::Form(before), Body::Form(after)) => {
            form(log, &at.name("form"), (before, after), gone);
        }
        (
            Body::Graphql { document: before, variables: fed_before },
            Body::Graphql { document: after, variables: fed_after },
        ) => {
            let at = at.name("graphql");
            other(log, (Kind::Graphql, &at.name("query")), (Some(before), Some(after)), |_| {
                "another GraphQL document is sent, which may ask for anything".to_owned()
            });
            let forms_of = (Form::of(fed_before, gone), Form::of(fed_after, &nothing));
            forms(log, &at.name("variables"), (forms_of.0.as_ref(), forms_of.1.as_ref()));
        }
        (before, after) => {
            let name = |body: &Body| match body {
                Body::None => None,
                Body::Json(_) => Some("json"),
                Body::Form(_) => Some("form"),
                Body::Graphql { .. } => Some("graphql"),
            };
            let at = name(after).or(name(before)).map_or_else(|| at.clone(), |name| at.name(name));
            other(log, (Kind::Body, &at), (name(before), name(after)), |after| match after {
                Some(after) => format!("the call has a body of another kind, {after}"),
                None => "the call has no body any more".to_owned(),
            });
        }
    }
}

/// The members of a form, in the manifest's order.
type Members<'m> = &'m [(String, JsonTemplate)];

fn form(log: &mut Log, at: &At, (old, new): (Members<'_>, Members<'_>), gone: &Gone) {
    let nothing = Gone::nothing();
    let shown = |members: Members<'_>, gone: &Gone| -> Vec<(String, String)> {
        let member =
            |(key, value): &(String, JsonTemplate)| Some((key.clone(), Form::of(value, gone)?.shown()));
        members.iter().filter_map(member).collect()
    };
    let (before, after) = (shown(old, gone), shown(new, &nothing));
    pairs(log, at, (&before, &after), Kind::Body, |key, after| match after {
        Some(after) => format!("the call sends {} as {after} in its form", code(key)),
        None => format!("the call no longer sends {} in its form", code(key)),
    });
}

/// Two values, member by member where both are objects.
fn forms(log: &mut Log, at: &At, (old, new): (Option<&Form>, Option<&Form>)) {
    if old == new {
        return;
    }
    if let (Some(Form::Object(before)), Some(Form::Object(after))) = (old, new) {
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for key in keys {
            forms(log, &at.name(key), (before.get(key), after.get(key)));
        }
        return;
    }
    let says = match new {
        Some(new) => format!("the call sends {} as {} in its body", code(at.last()), code(&new.shown())),
        None => format!("the call no longer sends {} in its body", code(at.last())),
    };
    let note = if new.is_some() {
        log.now(Kind::Body, Direction::Unproven, at, says)
    } else {
        log.was(Kind::Body, Direction::Unproven, at, says)
    };
    note.between(old.map(Form::shown), new.map(Form::shown));
}
