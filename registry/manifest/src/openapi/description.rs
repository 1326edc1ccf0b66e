//! The document as a whole: what it is, and the operations in it.
//!
//! Refuses what is no OpenAPI 3.0 or 3.1 and no Swagger 2.0 document. Judges no operation: each is read when it is asked
//! for. INVARIANT: no member is taken to be there, or to be of a type, because it should be.

use serde_json::{Map, Value};

use super::reader::Reader;

/// Most bytes of a description: 64 MiB.
pub(crate) const SIZE_MAX: usize = 64 << 20;
/// Most operations that are looked at.
pub(super) const OPERATIONS_MAX: usize = 50_000;

/// The methods that an operation may stand under.
const METHODS: [(&str, &str); 8] = [
    ("get", "GET"),
    ("head", "HEAD"),
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("delete", "DELETE"),
    ("options", "OPTIONS"),
    ("trace", "TRACE"),
];

/// Which words a description uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Swagger2,
    OpenApi3,
}

/// A provider's description of its API.
#[derive(Debug)]
pub struct Description {
    root: Value,
    dialect: Dialect,
}

/// Why a document is not a description that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// It is larger than 64 MiB.
    #[error("a description has at most 64 MiB: take the one of a single API")]
    TooLarge,
    /// It is not JSON.
    #[error("not JSON: {0}; convert it, or look at where it was cut off")]
    Syntax(String),
    /// It has neither `openapi` nor `swagger`, or no `paths`.
    #[error("neither an OpenAPI nor a Swagger description: it has `openapi` or `swagger`, and `paths`")]
    Unknown,
    /// Another version than 3.0, 3.1 or 2.0.
    #[error("the version `{0}` cannot be read: take a description in OpenAPI 3.0 or 3.1, or Swagger 2.0")]
    Version(String),
}

impl Description {
    /// Takes a document that has been parsed.
    pub fn new(root: Value) -> Result<Self, DescriptionError> {
        let version = |name: &str| match root.get(name)? {
            Value::String(text) => Some(text.clone()),
            // `swagger: 2.0` in YAML is a number.
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let shown = |text: &str| crate::finding::quoted(text);
        let dialect = match (version("openapi"), version("swagger")) {
            (Some(text), _) if text == "3" || text.starts_with("3.0") || text.starts_with("3.1") => {
                Dialect::OpenApi3
            }
            (None, Some(text)) if text == "2" || text.starts_with("2.0") => Dialect::Swagger2,
            (Some(text), _) | (None, Some(text)) => return Err(DescriptionError::Version(shown(&text))),
            (None, None) => return Err(DescriptionError::Unknown),
        };
        if !root.get("paths").is_some_and(Value::is_object) {
            return Err(DescriptionError::Unknown);
        }
        Ok(Self { root, dialect })
    }

    /// Reads a document in JSON, at most 64 MiB.
    pub fn parse(bytes: &[u8]) -> Result<Self, DescriptionError> {
        if bytes.len() > SIZE_MAX {
            return Err(DescriptionError::TooLarge);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let root = serde_json::from_slice(bytes)
            .map_err(|error| DescriptionError::Syntax(crate::finding::quoted(&error.to_string())))?;
        Self::new(root)
    }

    /// How many operations it has.
    pub fn operations(&self) -> usize {
        self.listed().len()
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.root)
    }

    /// The operations, in the order of the document's paths.
    pub(super) fn listed(&self) -> Vec<Operation<'_>> {
        let reader = self.reader();
        let paths = self.root.get("paths").and_then(Value::as_object);
        let mut found = Vec::new();
        for (path, item) in paths.into_iter().flatten() {
            reader.begin();
            let Ok(Some(item)) = reader.object(item) else { continue };
            for (word, method) in METHODS {
                if let Some(node) = item.get(word).and_then(Value::as_object) {
                    found.push(Operation { method, path, item, node });
                }
            }
            if found.len() >= OPERATIONS_MAX {
                break;
            }
        }
        found
    }
}

/// One operation, not yet looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation<'d> {
    /// In capitals.
    pub(super) method: &'static str,
    pub(super) path: &'d str,
    /// What all operations of the path share.
    pub(super) item: &'d Map<String, Value>,
    pub(super) node: &'d Map<String, Value>,
}

impl<'d> Operation<'d> {
    /// Its `operationId`, if it has one.
    pub(super) fn id(&self) -> Option<&'d str> {
        self.node.get("operationId").and_then(Value::as_str)
    }

    /// As people name it, in visible form.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.method, crate::finding::quoted(self.path))
    }

    /// Whether the description says not to use it any more.
    pub(super) fn is_deprecated(&self) -> bool {
        self.node.get("deprecated") == Some(&Value::Bool(true))
    }
}
