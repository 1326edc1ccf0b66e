//! A schema as it may be looked things up in.
//!
//! Refuses what leaves a question open: a name defined twice, a type that is named and not there, no query type.
//! INVARIANT: every type that a field, an argument or a union names is in `types`, and is of a kind that may stand there; the
//! query type is an object.

use std::collections::HashMap;

use graphql_tools::parser::parse_schema;
use graphql_tools::static_graphql::schema::{
    Definition, Document, EnumType, Field, InputObjectType, InputValue, ObjectType, TypeDefinition,
};

use super::{build, introspection, lex};
use crate::finding::quoted;

/// Most bytes of a schema's file: 16 MiB.
pub(super) const BYTES_MAX: usize = 16 << 20;
/// Most types of a schema. The validator finds a type by looking at all of them.
pub(super) const TYPES_MAX: usize = 20_000;

/// A GraphQL schema, read and found whole.
#[derive(Debug)]
pub struct Schema {
    document: Document,
    /// Where the type of each name stands in the document.
    types: HashMap<String, usize>,
    query: String,
    mutation: Option<String>,
}

/// Why a file is not taken as a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Larger than 16 MiB.
    #[error("the schema is larger than 16 MiB: cut out what the manifest does not use")]
    TooLarge,
    /// Not UTF-8.
    #[error("the schema is not UTF-8: save it in that encoding")]
    Encoding,
    /// More than 600,000 tokens.
    #[error("the schema has more than 600,000 tokens: cut out what the manifest does not use")]
    TooManyTokens,
    /// More than 20,000 types.
    #[error("the schema has more than 20,000 types: cut out what the manifest does not use")]
    TooManyTypes,
    /// Not GraphQL's schema language, or nested too deeply.
    #[error("the schema is not GraphQL's schema language: {0}")]
    Syntax(String),
    /// JSON, and not an answer to the introspection query.
    #[error(
        "the file is JSON and not the answer to GraphQL's introspection query ({0}): it holds `data.__schema`"
    )]
    Introspection(String),
    /// A type that is defined twice.
    #[error("the type `{0}` is defined twice: keep one")]
    TypeTwice(String),
    /// A type that is extended and not there.
    #[error("the type `{0}` is extended as what it is not, or is not there: add the file that defines it")]
    ExtendsNothing(String),
    /// A type that is named and not there.
    #[error("`{used_by}` names the type `{name}`, which is not there: add the file that defines it")]
    UnknownType {
        /// The type that is missing.
        name: String,
        /// Where it is named.
        used_by: String,
    },
    /// A type that stands where its kind cannot: an input object that comes back, or an object that is sent.
    #[error("`{used_by}` has the type `{name}`, which cannot stand there: correct the schema")]
    Misplaced {
        /// The type.
        name: String,
        /// Where it stands.
        used_by: String,
    },
    /// Two members of one name.
    #[error("`{of}` has `{name}` twice: keep one")]
    MemberTwice {
        /// The name.
        name: String,
        /// The type or field that has it.
        of: String,
    },
    /// No query type, or one that is not an object.
    #[error("the schema has no query type that is an object: it is no service's whole schema")]
    NoQuery,
}

impl Schema {
    /// Reads SDL, or the JSON answer to the introspection query (`{"data":{"__schema":…}}`, or `{"__schema":…}`).
    ///
    /// At most 16 MiB, 600,000 tokens, 20,000 types and 50 levels of brackets. The scalars and directives of the language
    /// are there whether the file names them or not.
    pub fn read(bytes: &[u8]) -> Result<Self, SchemaError> {
        if bytes.len() > BYTES_MAX {
            return Err(SchemaError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_not_utf8| SchemaError::Encoding)?;
        let document = if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            introspection::document(text)?
        } else {
            parse(&lex::prepared(text)?)?
        };
        let (document, roots) = build::whole(document)?;
        let mut types = HashMap::new();
        for (at, definition) in document.definitions.iter().enumerate() {
            if let Definition::TypeDefinition(one) = definition {
                types.insert(one.name().to_owned(), at);
            }
        }
        Ok(Self { document, types, query: roots.query, mutation: roots.mutation })
    }

    /// The whole, as the validator wants it.
    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The type of this name.
    pub(super) fn find(&self, name: &str) -> Option<&TypeDefinition> {
        match self.document.definitions.get(*self.types.get(name)?)? {
            Definition::TypeDefinition(one) => Some(one),
            _ => None,
        }
    }

    /// The type whose fields a query asks for.
    pub(super) fn query(&self) -> Option<&ObjectType> {
        self.object(&self.query)
    }

    /// The type whose fields a mutation asks for.
    pub(super) fn mutation(&self) -> Option<&ObjectType> {
        self.object(self.mutation.as_deref()?)
    }

    fn object(&self, name: &str) -> Option<&ObjectType> {
        match self.find(name)? {
            TypeDefinition::Object(one) => Some(one),
            _ => None,
        }
    }

    /// The fields of an object or interface.
    pub(super) fn fields(&self, name: &str) -> &[Field] {
        match self.find(name) {
            Some(TypeDefinition::Object(one)) => &one.fields,
            Some(TypeDefinition::Interface(one)) => &one.fields,
            _ => &[],
        }
    }

    /// A field of an object or interface.
    pub(super) fn field(&self, of: &str, name: &str) -> Option<&Field> {
        self.fields(of).iter().find(|field| field.name == name)
    }

    /// The input object of this name.
    pub(super) fn input(&self, name: &str) -> Option<&InputObjectType> {
        match self.find(name)? {
            TypeDefinition::InputObject(one) => Some(one),
            _ => None,
        }
    }

    /// The enum of this name.
    pub(super) fn choices(&self, name: &str) -> Option<&EnumType> {
        match self.find(name)? {
            TypeDefinition::Enum(one) => Some(one),
            _ => None,
        }
    }

    /// Whether a value of this type has fields of its own to select.
    pub(super) fn is_composite(&self, name: &str) -> bool {
        matches!(
            self.find(name),
            Some(TypeDefinition::Object(_) | TypeDefinition::Interface(_) | TypeDefinition::Union(_))
        )
    }
}

fn parse(text: &str) -> Result<Document, SchemaError> {
    let document = parse_schema::<String>(text).map_err(|error| {
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
        SchemaError::Syntax(quoted(&lines.join("; ")))
    })?;
    Ok(document.into_static())
}

/// Why something is deprecated, if it is.
pub(super) fn deprecation(directives: &[graphql_tools::static_graphql::schema::Directive]) -> Option<&str> {
    let found = directives.iter().find(|directive| directive.name == "deprecated")?;
    let reason = found.arguments.iter().find(|(name, _)| name == "reason");
    Some(match reason {
        Some((_, graphql_tools::static_graphql::schema::Value::String(text))) => text,
        _ => "",
    })
}

/// The member of this name.
pub(super) fn input_value<'a>(values: &'a [InputValue], name: &str) -> Option<&'a InputValue> {
    values.iter().find(|value| value.name == name)
}
