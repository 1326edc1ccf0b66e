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
