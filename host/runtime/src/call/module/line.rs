//! Which line of the manifest a module's request is, if it is one. Decided before anything is rendered.
//!
//! Refuses whatever is not the path of a declared line, segment by segment, with declared query keys, headers and
//! documents alone. INVARIANT: what comes out is rendered from the line; of the module's own spelling nothing is left but
//! values, each in the place that the line gives it. DESIGN, "Manifest": `module`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use pinhole_manifest::ArgName;
use pinhole_manifest::model::{
    Args, LineValues, ModuleRequest, ModuleSegment, Request, is_dot_segment, is_graphql_segment,
    is_method_key,
};
use serde_json::Value;

use super::super::receipt::shape_of_line;
use crate::render::{encoded_segment, scalar};
use crate::sandbox::GuestRequest;

/// Most pairs of a query.
const PAIRS_MAX: usize = 200;

/// The lines of an op, with what a call fixes of them.
pub(super) struct Lines<'a> {
    /// The manifest's lines.
    pub(super) requests: &'a [ModuleRequest],
    /// The args of the call.
    pub(super) args: &'a Args,
    /// The args that the grant narrows.
    pub(super) narrowed: Vec<&'a ArgName>,
}

/// Why a request is none of the declared ones. The words are our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Mismatch {
    #[error("a path starts with one `/`; the host is not the module's to name")]
    NotAPath,
    #[error("two slashes name another host")]
    OtherHost,
    #[error("a segment of the path is empty")]
    EmptySegment,
    #[error("a segment of the path is `.` or `..`")]
    DotSegment,
    #[error("the path holds a character that has no place in one, or a broken escape")]
    PathCharacter,
    #[error("no line of the manifest has this method and path")]
    NoLine,
    #[error("the path names another value than the call's arg")]
    OtherArg,
    #[error("the grant narrows args, and the line leaves a segment or a narrowed arg open")]
    Narrowed,
    #[error("a query key is not one that the line lists, or there are too many")]
    QueryKey,
    #[error(
        "a header is not one that the line lists, stands twice, or has a value that is not visible ASCII"
    )]
    Header,
    #[error("the body is not JSON, has a member that says a method, or the line takes none")]
    Body,
    #[error("what is posted is not the document of the line with its variables")]
    Document,
}

impl Lines<'_> {
    /// The request that a module's comes to, and its path as the manifest has it.
    pub(super) fn matched(&self, asked: &GuestRequest) -> Result<(Request, String), Mismatch> {
        let segments = segments(&asked.path)?;
        let mut nearest = Mismatch::NoLine;
        for line in self.requests.iter().filter(|line| line.method == asked.method) {
            match self.on(line, &segments, asked) {
                Ok(request) => return Ok((request, shape_of_line(line))),
                // The line that came furthest says best what is wrong.
                Err(mismatch) => nearest = further(nearest, mismatch),
            }
        }
        Err(nearest)
    }

    fn on(
        &self,
        line: &ModuleRequest,
        segments: &[Segment<'_>],
        asked: &GuestRequest,
    ) -> Result<Request, Mismatch> {
        let wild = self.path(line, segments)?;
        if !self.narrowed.is_empty() && self.leaves_open(line) {
            return Err(Mismatch::Narrowed);
        }
        let values = LineValues {
            wild,
            query: query(line, &asked.query)?,
            headers: headers(line, &asked.headers)?,
            body: body(line, asked.body.as_deref())?,
        };
        line.with(values).ok_or(Mismatch::NoLine)
    }

    /// The texts of the `{*}`, encoded.
    fn path(&self, line: &ModuleRequest, segments: &[Segment<'_>]) -> Result<Vec<String>, Mismatch> {
        if line.path.len() != segments.len() {
            return Err(Mismatch::NoLine);
        }
        let mut wild = Vec::new();
        let mut other_arg = false;
        for (wanted, segment) in line.path.iter().zip(segments) {
            match wanted {
                ModuleSegment::Literal(text) => {
                    if percent_decode_str(text).ne(segment.decoded.bytes()) {
                        return Err(Mismatch::NoLine);
                    }
                }
                // Not yet a mismatch: a literal behind it may say that this is another line altogether.
                ModuleSegment::Arg(name) => other_arg |= !self.is_arg(name, &segment.decoded),
                ModuleSegment::Any => wild.push(segment.wild()?),
            }
        }
        if other_arg {
            return Err(Mismatch::OtherArg);
        }
        let named = segments.iter().rev().find(|segment| !segment.raw.is_empty());
        // What is sent to such an endpoint is a document of the manifest, or a value could choose it.
        if line.graphql.is_none() && named.is_some_and(|segment| is_graphql_segment(segment.raw)) {
            return Err(Mismatch::Document);
        }
        Ok(wild)
    }

    fn is_arg(&self, name: &ArgName, text: &str) -> bool {
        self.args.get(name).and_then(scalar).is_some_and(|value| value == text)
    }

    /// Whether a line could reach beyond what the grant narrows.
    fn leaves_open(&self, line: &ModuleRequest) -> bool {
        let pins = |arg: &ArgName| {
            line.path.iter().any(|segment| matches!(segment, ModuleSegment::Arg(name) if name == arg))
        };
        line.path.contains(&ModuleSegment::Any) || !self.narrowed.iter().all(|arg| pins(arg))
    }
}

fn further(a: Mismatch, b: Mismatch) -> Mismatch {
    let rank = |mismatch| match mismatch {
        Mismatch::NoLine => 0,
        Mismatch::OtherArg => 1,
        _ => 2,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// A segment of a path: as the module wrote it, and what it says.
struct Segment<'a> {
    raw: &'a str,
    decoded: Cow<'a, str>,
}

impl Segment<'_> {
    /// As the text of a `{*}`: one segment to every reader, with nothing hidden in it.
    fn wild(&self) -> Result<String, Mismatch> {
        // Some servers drop what stands behind a `;`.
        if self.decoded.is_empty() || self.decoded.starts_with(';') {
            return Err(Mismatch::EmptySegment);
        }
        if self.decoded.contains(['/', '\\', '%']) {
            return Err(Mismatch::PathCharacter);
        }
        Ok(encoded_segment(&self.decoded))
    }
}

fn segments(path: &str) -> Result<Vec<Segment<'_>>, Mismatch> {
    if path.starts_with("//") || path.starts_with("/\\") {
        return Err(Mismatch::OtherHost);
    }
    let inner = path.strip_prefix('/').ok_or(Mismatch::NotAPath)?;
    let raw: Vec<&str> = inner.split('/').collect();
    let last = raw.len().saturating_sub(1);
    raw.into_iter().enumerate().map(|(place, raw)| segment(raw, place == last)).collect()
}

fn segment(raw: &str, may_be_empty: bool) -> Result<Segment<'_>, Mismatch> {
    // RFC 3986, section 3.3: `pchar`.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte);
    if !raw.bytes().all(plain) || !escapes_are_whole(raw) {
        return Err(Mismatch::PathCharacter);
    }
    if raw.is_empty() && !may_be_empty {
        return Err(Mismatch::EmptySegment);
    }
    if is_dot_segment(raw) {
        return Err(Mismatch::DotSegment);
    }
    let decoded = percent_decode_str(raw).decode_utf8().map_err(|_not_utf8| Mismatch::PathCharacter)?;
    if decoded.chars().any(char::is_control) {
        return Err(Mismatch::PathCharacter);
    }
    Ok(Segment { raw, decoded })
}

fn escapes_are_whole(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|rest| rest.get(..2).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())))
}

fn query(line: &ModuleRequest, asked: &[(String, String)]) -> Result<Vec<(String, String)>, Mismatch> {
    let listed = |key: &String| line.query.contains(key) && !is_method_key(key);
    let good = asked.len() <= PAIRS_MAX && asked.iter().all(|(key, _)| listed(key));
    if good { Ok(asked.to_vec()) } else { Err(Mismatch::QueryKey) }
}

fn headers(line: &ModuleRequest, asked: &[(String, String)]) -> Result<Vec<(String, String)>, Mismatch> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in asked {
        let name = name.to_ascii_lowercase();
        let shown = !value.is_empty() && value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
        // Readers trim a value: what was sent and what was read would differ.
        let whole = value.trim_matches([' ', '\t']) == value;
        let again = headers.iter().any(|(other, _)| *other == name);
        if !line.headers.contains(&name) || again || !shown || !whole {
            return Err(Mismatch::Header);
        }
        headers.push((name, value.clone()));
    }
    Ok(headers)
}

/// The body, or the variables of the line's document.
fn body(line: &ModuleRequest, asked: Option<&str>) -> Result<Option<Value>, Mismatch> {
    let Some(document) = &line.graphql else {
        let Some(text) = asked else { return Ok(None) };
        let value: Value = serde_json::from_str(text).map_err(|_not_json| Mismatch::Body)?;
        let says_method =
            value.as_object().is_some_and(|members| members.keys().any(|key| is_method_key(key)));
        return if line.method.is_safe() || says_method { Err(Mismatch::Body) } else { Ok(Some(value)) };
    };
    let posted = asked.and_then(|text| serde_json::from_str(text).ok());
    let Some(Value::Object(mut members)) = posted else { return Err(Mismatch::Document) };
    if members.remove("query").as_ref().and_then(Value::as_str) != Some(document) {
        return Err(Mismatch::Document);
    }
    let variables = members.remove("variables");
    let fit = variables.as_ref().is_none_or(Value::is_object) && members.is_empty();
    if fit { Ok(variables) } else { Err(Mismatch::Document) }
}

#[cfg(test)]
mod tests;
