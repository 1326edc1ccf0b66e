//! How further pages are found, and what a module may ask for. DESIGN, "Manifest": `page`, `module`.

use super::request::Method;
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
