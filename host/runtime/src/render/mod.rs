//! A request out of a manifest's templates and the normalised args of a call.
//!
//! Refuses every value that would change what the request is rather than what it says: an empty or dotted path segment,
//! a control character in a path, anything but visible text in a header. Knows no credential: the header that carries it
//! is put in later, by whoever opened the grant.
//!
//! INVARIANT: a rendered path has exactly as many segments as its template, and each decodes to what the template and the
//! args say (RFC 3986, sections 2.3 and 3.3). No value reaches another endpoint. DESIGN, "Manifest": placeholders.

mod body;
mod fill;
mod headers;
mod page;
mod target;

use pinhole_manifest::model::{Args, Method, Request};
use pinhole_manifest::{ArgName, Manifest};

use self::body::Content;
pub(crate) use self::fill::scalar;
pub use self::fill::{fill_confirm, fill_json, fill_text};
pub use self::page::{Change, Narrowed};
pub use self::target::encoded_segment;

/// Longest path and query together, in bytes as sent: 8 KiB, which servers and proxies commonly take.
pub const TARGET_BYTES_MAX: usize = 8 << 10;
/// Longest value of one header, in bytes: 8 KiB.
pub const HEADER_BYTES_MAX: usize = 8 << 10;
/// Longest request body, in bytes: 1 MiB.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// A request that is ready to send but for the host and the credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The HTTP method.
    pub method: Method,
    /// Path and query: ASCII, starts with `/`, at most [`TARGET_BYTES_MAX`] bytes.
    pub target: String,
    /// The manifest's headers, the op's, and `content-type` where there is a body. Names are in lower case and stand once.
    /// The credential is not among them.
    pub headers: Vec<(String, String)>,
    /// The body, at most [`BODY_BYTES_MAX`] bytes.
    pub body: Option<Vec<u8>>,
}

impl Rendered {
    /// The body, for whoever looks at it: JSON as JSON, a form as text.
    pub fn shown_body(&self) -> Option<serde_json::Value> {
        let body = self.body.as_deref()?;
        let form = |_not_json| String::from_utf8_lossy(body).into_owned().into();
        Some(serde_json::from_slice(body).unwrap_or_else(form))
    }
}

/// The parts of a request that have a greatest length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Path and query.
    Target,
    /// The value of one header.
    Header,
    /// The body.
    Body,
}

impl Part {
    /// Most bytes it may have.
    pub fn limit(self) -> usize {
        match self {
            Self::Target => TARGET_BYTES_MAX,
            Self::Header => HEADER_BYTES_MAX,
            Self::Body => BODY_BYTES_MAX,
        }
    }

    fn check(self, bytes: usize) -> Result<(), RenderError> {
        if bytes > self.limit() { Err(RenderError::TooLong { part: self, bytes }) } else { Ok(()) }
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Target => "path and query",
            Self::Header => "header value",
            Self::Body => "body",
        })
    }
}

/// Why a request could not be rendered. Names the arg and the rule, never the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A path segment would be empty, and so the path another one.
    #[error("`{arg}` leaves its path segment empty")]
    EmptySegment {
        /// The first arg in the segment.
        arg: ArgName,
    },
    /// A path segment would be `.` or `..`, which every URL reader resolves away.
    #[error("`{arg}` makes its path segment `.` or `..`")]
    DotSegment {
        /// The first arg in the segment.
        arg: ArgName,
    },
    /// A C0 or C1 control character, NUL or DEL stands in a value for the path.
    #[error("`{arg}` has a control character, which a path never takes")]
    ControlCharacter {
        /// The arg.
        arg: ArgName,
    },
    /// A header value would be empty, have space at an end, or anything in it but visible ASCII, space and tab.
    #[error("`{arg}` is not a header value: visible ASCII, with space or tab only inside")]
    HeaderValue {
        /// The arg; the first of the header if the fault is at an end of the whole value.
        arg: ArgName,
    },
    /// A `null`, array or object where a single text, number or truth value is wanted.
    #[error("`{arg}` is not a single text, number or truth value")]
    NotScalar {
        /// The arg.
        arg: ArgName,
    },
    /// An element of a joined array holds the text that joins, and would be read as two.
    #[error("an element of `{arg}` holds the separator that joins its elements")]
    SeparatorInElement {
        /// The arg.
        arg: ArgName,
    },
    /// A value that cannot be written as form pairs: a `null`, an array in an array, or a bracket in a member's name.
    #[error("the form field `{key}` got a value that a form cannot carry")]
    FormShape {
        /// The key as the manifest has it.
        key: String,
    },
    /// A placeholder that needs a value has none.
    #[error("`{arg}` has no value")]
    Missing {
        /// The arg.
        arg: ArgName,
    },
    /// A part of the request is too long.
    #[error("the {part} has {bytes} bytes; the most is {}", part.limit())]
    TooLong {
        /// The part.
        part: Part,
        /// How long it is, in bytes.
        bytes: usize,
    },
    /// A further page leads elsewhere than to the op's own path or one of the manifest's shapes, or changes what the op's
    /// own query or the grant says.
    #[error("the next page is not one that the op and the grant lead to")]
    PageAstray,
    /// A JSON body could not be written.
    #[error("the body could not be written as JSON")]
    Unwritable,
}

/// Fills the request of an op. Pure: the same manifest and args give the same bytes.
pub fn render(manifest: &Manifest, request: &Request, args: &Args) -> Result<Rendered, RenderError> {
    render_page(manifest, request, args, &Change::Nothing)
}

/// The same for a further page.
pub fn render_page(
    manifest: &Manifest,
    request: &Request,
    args: &Args,
    change: &Change<'_>,
) -> Result<Rendered, RenderError> {
    let mut own = target::path(&request.path, args)?;
    target::append_query(&mut own, &request.query, args)?;
    let target = change.target(own, request)?;
    Part::Target.check(target.len())?;
    let content = body::render(&request.body, args, change)?;
    let content_type = content.as_ref().map(|content| content.media_type);
    let headers = headers::render(manifest.headers(), &request.headers, content_type, args)?;
    let body = content.map(|Content { bytes, .. }| bytes);
    Part::Body.check(body.as_ref().map_or(0, Vec::len))?;
    Ok(Rendered { method: request.method, target, headers, body })
}

#[cfg(test)]
mod tests;
