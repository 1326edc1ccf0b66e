//! How further pages are found. DESIGN, "Manifest": `page`.
//!
//! Fewer pages are narrower: each of them could be asked for before.

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::code;
use crate::model::{Page, PathPattern, PatternSegment};
use crate::pick::SingularPath;

pub(super) fn compare(log: &mut Log, at: &At, old: Option<&Page>, new: Option<&Page>) {
    match (old, new) {
        (None, None) => {}
        (None, Some(page)) => {
            let says = format!("an agent can go on beyond the first page, {}", way(page));
            log.now(Kind::Page, Direction::Widens, at, says);
            if let Page::Link { paths } = page {
                more_paths(log, at, &[], paths);
            }
        }
        (Some(_), None) => {
            log.was(Kind::Page, Direction::Narrows, at, "nothing beyond the first page can be asked for");
        }
        (Some(Page::Link { paths: before }), Some(Page::Link { paths: after })) => {
            more_paths(log, at, before, after);
            fewer_paths(log, at, before, after);
        }
        (Some(before), Some(after)) => {
            if !is_alike(before, after) {
                let says = format!("further pages are found another way, {}", way(after));
                log.now(Kind::Page, Direction::Unproven, at, says)
                    .between(Some(way(before)), Some(way(after)));
            }
            if let Page::Link { paths } = after {
                more_paths(log, at, &[], paths);
            }
        }
    }
}

/// Whether two pages differ in their path shapes at most.
fn is_alike(one: &Page, other: &Page) -> bool {
    match (one, other) {
        (Page::Link { .. }, Page::Link { .. }) => true,
        (Page::Cursor { next: a, query: key_a }, Page::Cursor { next: b, query: key_b }) => {
            a.steps() == b.steps() && key_a == key_b
        }
        (Page::Number { query: a }, Page::Number { query: b }) => a == b,
        (Page::Relay { info: a, variable: fed_a }, Page::Relay { info: b, variable: fed_b }) => {
            a.steps() == b.steps() && fed_a == fed_b
        }
        _ => false,
    }
}

/// For people.
fn way(page: &Page) -> String {
    let at = |path: &SingularPath| code(&path.to_string());
    match page {
        Page::Link { .. } => "by the links of the answer".to_owned(),
        Page::Cursor { next, query } => format!("by what stands at {}, as {}", at(next), code(query)),
        Page::Number { query } => format!("by its number, as {}", code(query)),
        Page::Relay { info, variable } => {
            format!("by the `pageInfo` at {}, as the variable {}", at(info), code(variable))
        }
    }
}

fn more_paths(log: &mut Log, at: &At, old: &[PathPattern], new: &[PathPattern]) {
    for (index, path) in new.iter().enumerate() {
        if !old.iter().any(|known| covers(known, path)) {
            let says = format!("a link to a further page is followed to {}", code(&shown(path)));
            log.now(Kind::PagePath, Direction::Widens, &at.name("paths").index(index), says)
                .between(None::<&str>, Some(shown(path)));
        }
    }
}

fn fewer_paths(log: &mut Log, at: &At, old: &[PathPattern], new: &[PathPattern]) {
    for (index, path) in old.iter().enumerate() {
        if !new.iter().any(|left| covers(left, path)) {
            let says = format!("no link is followed to every {} any more", code(&shown(path)));
            log.was(Kind::PagePath, Direction::Narrows, &at.name("paths").index(index), says)
                .between(Some(shown(path)), None::<&str>);
        }
    }
}

fn covers(known: &PathPattern, path: &PathPattern) -> bool {
    let (known, path) = (known.segments(), path.segments());
    let each = |(known, one): (&PatternSegment, &PatternSegment)| match (known, one) {
        // A `{*}` takes no empty segment, and few escapes.
        (PatternSegment::Any, PatternSegment::Literal(text)) => is_wordlike(text),
        (known, one) => known == one,
    };
    known.len() == path.len() && known.iter().zip(path).all(each)
}

fn is_wordlike(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn shown(path: &PathPattern) -> String {
    let segment = |segment: &PatternSegment| match segment {
        PatternSegment::Literal(text) => format!("/{text}"),
        PatternSegment::Any => "/{*}".to_owned(),
    };
    path.segments().iter().map(segment).collect()
}
