//! What an op sends: method, path, query, headers. DESIGN, "Manifest": request.
//!
//! Another request may do anything, so each difference is unproven, save that an arg which is gone leaves its place empty,
//! as a call without it always did.

use super::body;
use super::change::Direction;
use super::form::Gone;
use super::kind::Kind;
use super::log::{At, Log};
use super::op::path;
use super::shown::code;
use super::told::other;
use crate::model::{QueryParam, Request, Template};

pub(super) fn compare(log: &mut Log, at: &At, (old, new): (&Request, &Request), gone: &Gone) {
    let (before, after) = (old.method.as_str(), new.method.as_str());
    other(log, (Kind::Method, &at.name("method")), (Some(before), Some(after)), |after| {
        format!("the call is a {}, which may do something else", after.unwrap_or_default())
    });
    let (before, after) = (path(&old.path), path(&new.path));
    other(log, (Kind::Path, &at.name("path")), (Some(&before), Some(&after)), |after| {
        format!("the call goes to {}", after.unwrap_or_default())
    });
    query(log, &at.name("query"), (&old.query, &new.query), gone);
    headers(log, &at.name("headers"), (&old.headers, &new.headers), gone);
    body::compare(log, at, (&old.body, &new.body), gone);
}

/// A request in a few words.
pub(super) fn line(request: &Request) -> String {
    code(&format!("{} {}", request.method.as_str(), path(&request.path)))
}

fn query(log: &mut Log, at: &At, (old, new): (&[QueryParam], &[QueryParam]), gone: &Gone) {
    let before: Pairs = old.iter().filter(|param| !gone.leaves_out(&param.value)).map(param).collect();
    let after: Pairs = new.iter().map(param).collect();
    pairs(log, at, (&before, &after), Kind::Query, |key, after| match after {
        Some(after) => format!("the call asks with {} set to {after}", code(key)),
        None => format!("the call no longer says {}, and more or other things may come back", code(key)),
    });
}

fn param(param: &QueryParam) -> (String, String) {
    let value = match &param.join {
        // As the manifest has it, which no text with placeholders looks like.
        Some(join) => serde_json::json!({ "value": param.value.to_string(), "join": join }).to_string(),
        None => param.value.to_string(),
    };
    (param.key.clone(), value)
}

/// Headers, in the manifest's order.
type Headers<'h> = &'h [(String, Template)];

fn headers(log: &mut Log, at: &At, (old, new): (Headers<'_>, Headers<'_>), gone: &Gone) {
    let text = |(name, template): &'_ (String, Template)| (name.clone(), template.to_string());
    let before: Pairs = old.iter().filter(|(_, template)| !gone.leaves_out(template)).map(text).collect();
    let after: Pairs = new.iter().map(text).collect();
    pairs(log, at, (&before, &after), Kind::Header, |name, after| match after {
        Some(after) => format!("the call sends the header {} with {after}", code(name)),
        None => format!("the call no longer sends the header {}", code(name)),
    });
}

/// Names and values, in the manifest's order. INVARIANT: two values are one text only if they are one template.
pub(super) type Pairs = Vec<(String, String)>;

/// Named values in the order in which they are sent: a service may begin another element with a repeated key, or let the later
/// of two count that it takes for one name.
pub(super) fn pairs(
    log: &mut Log,
    at: &At,
    (old, new): (&Pairs, &Pairs),
    kind: Kind,
    says: impl Fn(&str, Option<String>) -> String,
) {
    let value =
        |pairs: &Pairs, key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let mut keys: Vec<&str> = old.iter().chain(new).map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let (before, after) = (value(old, key), value(new, key));
        other(log, (kind, &at.name(key)), (before.as_deref(), after.as_deref()), |after| says(key, after));
    }
    let in_both = |pairs: &Pairs, others: &Pairs| -> Vec<String> {
        let both = pairs.iter().filter(|(key, _)| value(others, key).is_some());
        both.map(|(key, _)| key.clone()).collect()
    };
    let (before, after) = (in_both(old, new), in_both(new, old));
    if before != after {
        let says = "keys are sent in another order, and a service may let another value count or put others together";
        log.now(kind, Direction::Unproven, at, says).between(Some(before.join(", ")), Some(after.join(", ")));
    }
}
