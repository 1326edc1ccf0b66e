//! How further pages are found, and what a module may ask for. DESIGN, "Manifest": `page`, `module`.

use serde_json::Value;

use super::request::{Body, JsonTemplate, Method, PathTemplate, Piece, QueryParam, Request, Template};
use crate::digest::Digest;
use crate::ids::ArgName;
use crate::pick::SingularPath;

/// How further pages are found.
#[derive(Debug)]
pub enum Page {
    /// A `Link` header (RFC 8288) with `rel="next"`, followed on the op's own path shape or one of these.
    Link {
        /// Further path shapes.
        paths: Vec<PathPattern>,
    },
    /// A cursor in the answer that becomes a query parameter.
    Cursor {
        /// Where the answer keeps it.
        next: SingularPath,
        /// The query parameter.
        query: String,
    },
    /// A page number, from 1.
    Number {
        /// The query parameter.
        query: String,
    },
    /// A Relay connection: `pageInfo` with `hasNextPage` and `endCursor`.
    Relay {
        /// Where the answer keeps the `pageInfo`.
        info: SingularPath,
        /// The variable that takes the cursor.
        variable: String,
    },
}

/// A path whose `{*}` segments may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern(pub(crate) Vec<PatternSegment>);

impl PathPattern {
    /// The segments, without the slashes.
    pub fn segments(&self) -> &[PatternSegment] {
        &self.0
    }
}

/// One segment of a [`PathPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternSegment {
    /// Exactly this text.
    Literal(String),
    /// Any one segment.
    Any,
}

/// A Wasm component that computes an op.
#[derive(Debug)]
#[non_exhaustive]
pub struct Module {
    /// The file, relative to the manifest's folder.
    pub file: String,
    /// The digest of the file's exact bytes.
    pub sha256: Digest,
    /// Every request that the module may make.
    pub requests: Vec<ModuleRequest>,
}

/// A request that a module may make.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModuleRequest {
    /// Its method.
    pub method: Method,
    /// Its path, a segment at a time.
    pub path: Vec<ModuleSegment>,
    /// The query keys that it may use.
    pub query: Vec<String>,
    /// The headers that it may set, in lower case.
    pub headers: Vec<String>,
    /// The one GraphQL document that it may post.
    pub graphql: Option<String>,
}

/// What a module's request adds to the line that it matches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineValues {
    /// The text of each `{*}`, in order, percent-encoded as it is to be sent.
    pub wild: Vec<String>,
    /// The query, not encoded.
    pub query: Vec<(String, String)>,
    /// Headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; for a line with a GraphQL document, its variables.
    pub body: Option<Value>,
}

impl ModuleRequest {
    /// The request that this line comes to with such values, to be rendered like any other; `None` if there are not as
    /// many texts as `{*}`. The values have been held against the line.
    pub fn with(&self, values: LineValues) -> Option<Request> {
        let literal = |text: String| Template(vec![Piece::Literal(text)]);
        let mut wild = values.wild.into_iter();
        let segments: Option<Vec<Template>> = self
            .path
            .iter()
            .map(|segment| match segment {
                ModuleSegment::Literal(text) => Some(literal(text.clone())),
                ModuleSegment::Arg(name) => Some(Template(vec![Piece::Arg(name.clone())])),
                ModuleSegment::Any => wild.next().map(literal),
            })
            .collect();
        let path = PathTemplate(segments.filter(|_| wild.next().is_none())?);
        let body = match (&self.graphql, values.body) {
            (Some(document), variables) => {
                let variables = variables.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
                Body::Graphql { document: document.clone(), variables: JsonTemplate::Literal(variables) }
            }
            (None, Some(body)) => Body::Json(JsonTemplate::Literal(body)),
            (None, None) => Body::None,
        };
        let query = |(key, value)| QueryParam { key, value: literal(value), join: None };
        Some(Request {
            method: self.method,
            path,
            query: values.query.into_iter().map(query).collect(),
            headers: values.headers.into_iter().map(|(name, value)| (name, literal(value))).collect(),
            body,
        })
    }
}

/// One segment of a module request's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleSegment {
    /// Exactly this text.
    Literal(String),
    /// The value of this arg.
    Arg(ArgName),
    /// Any one segment; refused when the grant has a `where`.
    Any,
}
