//! What an answer says of the page behind it.
//!
//! INVARIANT: a place comes out only where one can be read without doubt; whatever is odd is told apart from an end, so
//! that nobody takes a broken list for a whole one. DESIGN, "Manifest": `page`.

use http::HeaderMap;
use pinhole_manifest::ApiHost;
use pinhole_manifest::model::Page;
use pinhole_manifest::pick::{SingularPath, SingularStep};

use super::{Place, link};
use crate::outcome::Unfollowed;
use crate::project::{self, Tree};

/// Longest cursor, in bytes.
const CURSOR_BYTES_MAX: usize = 4 << 10;

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::call) enum Said {
    /// There is no further page, or the op has none at all.
    Nothing,
    /// There is one, here.
    At(Place),
    /// Pages are numbered, and only the result says whether this was the last.
    Numbered,
    /// There is one or may be one, and this is why nobody asks for it.
    Odd(Unfollowed),
}

/// Reads what the answer to a request for `target` says.
pub(in crate::call) fn say(
    page: Option<&Page>,
    host: &ApiHost,
    target: &str,
    headers: &HeaderMap,
    document: Option<&Tree>,
) -> Said {
    match page {
        None => Said::Nothing,
        Some(Page::Number { .. }) => Said::Numbered,
        Some(Page::Link { .. }) => match link::next(headers) {
            Ok(None) => Said::Nothing,
            Ok(Some(next)) => link::target(host, target, &next)
                .map_or(Said::Odd(Unfollowed::Elsewhere), |next| Said::At(Place::Link(next))),
            Err(link::Unreadable) => Said::Odd(Unfollowed::Unreadable),
        },
        Some(Page::Cursor { next, .. }) => match at(document, next.steps()) {
            Err(odd) => Said::Odd(odd),
            Ok(None | Some(Tree::Null | Tree::Bool(false))) => Said::Nothing,
            Ok(Some(Tree::String(text))) if text.is_empty() => Said::Nothing,
            Ok(Some(value)) => cursor(value)
                .map_or(Said::Odd(Unfollowed::Unreadable), |cursor| Said::At(Place::Cursor(cursor))),
        },
        Some(Page::Relay { info, .. }) => relay(info, document),
    }
}

fn relay(info: &SingularPath, document: Option<&Tree>) -> Said {
    match at(document, &member(info, "hasNextPage")) {
        Err(odd) => Said::Odd(odd),
        Ok(None | Some(Tree::Null | Tree::Bool(false))) => Said::Nothing,
        Ok(Some(Tree::Bool(true))) => match at(document, &member(info, "endCursor")) {
            Err(odd) => Said::Odd(odd),
            Ok(None | Some(Tree::Null)) => Said::Odd(Unfollowed::NoCursor),
            Ok(Some(Tree::String(text))) if text.is_empty() => Said::Odd(Unfollowed::NoCursor),
            Ok(Some(value)) => cursor(value)
                .map_or(Said::Odd(Unfollowed::Unreadable), |cursor| Said::At(Place::Relay(cursor))),
        },
        Ok(Some(_)) => Said::Odd(Unfollowed::Unreadable),
    }
}

/// A text or a number, as text. A control character is no part of one.
fn cursor(value: &Tree) -> Option<String> {
    let text = match value {
        Tree::String(text) => text.as_str(),
        Tree::Number(digits) => digits.as_str(),
        Tree::Null | Tree::Bool(_) | Tree::Array(_) | Tree::Object(_) => return None,
    };
    let good = text.len() <= CURSOR_BYTES_MAX && !text.chars().any(char::is_control);
    good.then(|| text.to_owned())
}

/// The value at these steps; a member on the way that stands twice could be either.
fn at<'t>(document: Option<&'t Tree>, steps: &[SingularStep]) -> Result<Option<&'t Tree>, Unfollowed> {
    let Some(document) = document else { return Ok(None) };
    project::find_at(document, steps, "").map_err(|_twice| Unfollowed::Unreadable)
}

/// What is looked at in an answer.
pub(in crate::call) fn looked_at(page: &Page) -> Vec<Vec<SingularStep>> {
    match page {
        Page::Link { .. } | Page::Number { .. } => Vec::new(),
        Page::Cursor { next, .. } => vec![next.steps().to_vec()],
        Page::Relay { info, .. } => vec![member(info, "hasNextPage"), member(info, "endCursor")],
    }
}

fn member(info: &SingularPath, name: &str) -> Vec<SingularStep> {
    let mut steps = info.steps().to_vec();
    steps.push(SingularStep::Name(name.to_owned()));
    steps
}
