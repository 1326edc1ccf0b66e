//! What is sent: a method, a path, query, headers and a body, with placeholders. DESIGN, "Manifest": placeholders.

use crate::ids::ArgName;

/// The request of a declarative op.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// The path on the service's host.
    pub path: PathTemplate,
    /// The query, in the manifest's order of keys.
    pub query: Vec<QueryParam>,
    /// Headers of this op alone; names in lower case.
    pub headers: Vec<(String, Template)>,
    /// The body.
    pub body: Body,
}

/// The HTTP methods that an op may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the methods of RFC 9110")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// The method as it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the method only looks (RFC 9110, section 9.2.1).
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}

/// A path of fixed and filled segments; `/` alone has one empty literal segment.
#[derive(Debug)]
pub struct PathTemplate(pub(crate) Vec<Template>);

impl PathTemplate {
    /// The segments between the slashes, in order. A segment is encoded as one, whatever its args hold.
    pub fn segments(&self) -> &[Template] {
        &self.0
    }
}

/// Whether a server may take a segment for `.` or `..`: as it stands, percent-encoded once or more often, or before
/// parameters (`;`). The segment may be literal text of a manifest or one that was filled, encoded or not.
pub fn is_dot_segment(text: &str) -> bool {
    let decoded = decoded(text);
    matches!(decoded.split(|byte| *byte == b';').next(), Some(b"." | b".."))
}

/// The bytes that are left when nothing can be percent-decoded any more, in time linear in the text.
///
/// Each byte is put behind what is decoded already, and an escape that is whole then becomes its byte, which may make
/// another whole. No two escapes share a character, so this is what decoding the whole text again and again comes to.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut done: Vec<u8> = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        done.push(byte);
        while let [.., b'%', high, low] = done.as_slice()
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            done.truncate(done.len().saturating_sub(3));
            done.push(high << 4 | low);
        }
    }
    done
}

/// A text with placeholders. `{{` and `}}` in the manifest stand for the braces themselves.
#[derive(Debug)]
pub struct Template(pub(crate) Vec<Piece>);

/// A part of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is.
    Literal(String),
    /// The value of an arg.
    Arg(ArgName),
}

impl Template {
    /// The parts, in order; no two literals touch.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The arg, where the template is exactly one placeholder. Only such a template may name an optional arg or one that
    /// is not a scalar.
    pub fn sole_arg(&self) -> Option<&ArgName> {
        match self.0.as_slice() {
            [Piece::Arg(name)] => Some(name),
            _ => None,
        }
    }
}

/// One query parameter.
#[derive(Debug)]
#[non_exhaustive]
pub struct QueryParam {
    /// The key, before encoding.
    pub key: String,
    /// The value; left out when it is one absent optional arg.
    pub value: Template,
    /// What joins the elements of an array; without it the key is repeated.
    pub join: Option<String>,
}

/// The body of a request.
#[derive(Debug)]
pub enum Body {
    /// None.
    None,
    /// `application/json`.
    Json(JsonTemplate),
    /// `application/x-www-form-urlencoded`; keys may be bracketed.
    Form(Vec<(String, JsonTemplate)>),
    /// A GraphQL document and its variables, posted as JSON.
    Graphql {
        /// One operation, exactly as the manifest has it; nothing is ever spliced into it.
        document: String,
        /// An object.
        variables: JsonTemplate,
    },
}

/// A JSON value with placeholders.
#[derive(Debug)]
pub enum JsonTemplate {
    /// A value as it is (a scalar without placeholders, or an empty container).
    Literal(serde_json::Value),
    /// The value of an arg with its JSON type; a member that holds it is left out when the arg is absent.
    Arg(ArgName),
    /// A text with required scalar args in it.
    Text(Template),
    /// An array.
    Array(Vec<Self>),
    /// An object, in the manifest's order of keys.
    Object(Vec<(String, Self)>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_are_seen_however_they_are_written() {
        for text in [
            ".",
            "..",
            "%2e",
            "%2E%2e",
            ".%252e",
            "%25%32%65.",
            "%%32e",
            "..;a=1",
            "%2e%3Bx",
            "..%253b",
            ".%252525252e",
        ] {
            assert!(is_dot_segment(text), "{text}");
        }
        for text in ["", "...", "a..", ".a", "%2f", "..a;b", ";..", "%", "%2", "%2g", "%25", "..%20", "a;.."]
        {
            assert!(!is_dot_segment(text), "{text}");
        }
    }

    #[test]
    fn decoding_is_linear_and_leaves_nothing_to_decode() {
        // One round of decoding the whole text takes away one `25`: half a million rounds here.
        let text = format!(".%{}2e", "25".repeat(500_000));
        assert_eq!(decoded(&text), b"..");
        for text in ["%2525252e", "%25%32%35", "%e4%bd%a0", "%zz%2", "a%00b"] {
            let once = decoded(text);
            let Ok(again) = std::str::from_utf8(&once) else { continue };
            assert_eq!(decoded(again), once, "{text}");
        }
    }
}
