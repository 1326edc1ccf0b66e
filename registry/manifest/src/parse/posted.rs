//! What a body must not bring about, seen from the path and the args. DESIGN, "Manifest": request.
//!
//! Refuses a GraphQL endpoint that is sent anything but a document of the file, since a bot could post a mutation as a
//! read; and an arg that is a whole JSON body and could say another method.

use super::names;
use super::reader::{At, Faults};
use super::request::RequestDraft;
use crate::args::Shape;
use crate::diagnostic::Code;
use crate::model::{ArgsSchema, Body, JsonTemplate, Method, ModuleSegment, Piece, Template, decoded};

/// What is sent beside the path, without a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing that could be a document.
    Nothing,
    /// A body, or a query.
    Something,
}

impl Sent {
    pub(super) fn by(method: Method, has_body: bool, has_query: bool) -> Self {
        if has_body || has_query || !method.is_safe() { Self::Something } else { Self::Nothing }
    }
}

/// Reports a request that sends something to a GraphQL endpoint without a document of the file.
pub(super) fn check_plain(draft: &RequestDraft, faults: &Faults) {
    let (Some(method), Some(path), Some(body)) = (draft.method, &draft.path, &draft.body.body) else {
        return;
    };
    let sent = Sent::by(method, !matches!(body, Body::None), !draft.query.is_empty());
    let start = |segment: &Template| match segment.pieces() {
        [] => Some(String::new()),
        [Piece::Literal(text), ..] => Some(text.clone()),
        [Piece::Arg(_), ..] => None,
    };
    if !draft.body.is_graphql && sent == Sent::Something {
        check_segments(path.segments().iter().map(start), &draft.at.name("path"), faults);
    }
}

/// The same of a line of a module; `at` is its path's place.
pub(super) fn check_plain_line(path: &[ModuleSegment], sent: Sent, at: &At, faults: &Faults) {
    let start = |segment: &ModuleSegment| match segment {
        ModuleSegment::Literal(text) => Some(text.clone()),
        ModuleSegment::Arg(_) | ModuleSegment::Any => None,
    };
    if sent == Sent::Something {
        check_segments(path.iter().map(start), at, faults);
    }
}

/// `segments` are the literals that the segments start with.
fn check_segments(segments: impl Iterator<Item = Option<String>>, at: &At, faults: &Faults) {
    let last = segments.filter(|start| start.as_deref() != Some("")).last().flatten();
    if last.is_some_and(|start| is_graphql(&start)) {
        let message = "what is sent to a GraphQL endpoint is not a document of this file";
        faults.add(Code::GraphqlPlain, at, message, "write the document in `graphql`");
    }
}

/// Whether a segment is that of a GraphQL endpoint: `graphql` in any case and encoding, with or without what looks like a
/// file's ending or parameters behind it.
pub fn is_graphql(segment: &str) -> bool {
    let decoded = decoded(segment);
    decoded
        .split(|byte| b";.".contains(byte))
        .next()
        .is_some_and(|stem| stem.eq_ignore_ascii_case(b"graphql"))
}

/// Reports an arg that is a whole JSON body and declares a member by which a service takes another method.
pub(super) fn check_whole_body(draft: &RequestDraft, args: &ArgsSchema, faults: &Faults) {
    let Some(Body::Json(JsonTemplate::Arg(arg))) = &draft.body.body else { return };
    let members = args.shape.members.get(arg.as_str()).into_iter().flat_map(Shape::names);
    for member in members.filter(|member| names::is_method_key(member)) {
        let message =
            format!("the body `{{{arg}}}` may hold `{member}`, which makes a service take another method");
        faults.add(Code::KeyOverride, &draft.at.name("json"), message, "leave that member out of the arg");
    }
}

#[cfg(test)]
mod tests {
    use super::is_graphql;

    #[test]
    fn graphql_endpoints_are_known_by_their_last_segment() {
        for segment in ["graphql", "GraphQL", "graphql.json", "graphql;a=b", "%67raphql", "%2567raphql.php"] {
            assert!(is_graphql(segment), "{segment}");
        }
        for segment in ["", "graphql-docs", "graphqls", "a.graphql", "graph"] {
            assert!(!is_graphql(segment), "{segment}");
        }
    }
}
