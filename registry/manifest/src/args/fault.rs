//! What is wrong with an op's `args`.

/// One fault of an args schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct SchemaFault {
    /// Where, as a JSON Pointer (RFC 6901) into the schema; empty for the schema as a whole. For something that is
    /// missing: where it should stand in.
    pub pointer: String,
    /// What kind of fault.
    pub kind: SchemaFaultKind,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// What kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub(crate) enum SchemaFaultKind {
    /// The schema, or one inside it, is not what it must be: an object with `"type": "object"` at the top.
    NotAnObjectSchema,
    /// An object schema without `"additionalProperties": false`.
    OpenObject,
    /// A keyword outside the closed subset.
    UnknownKeyword,
    /// A keyword that says nothing of values of this type.
    MisplacedKeyword,
    /// No `type`, several, or one outside the six.
    BadType,
    /// A keyword whose value is not what it must be, or two that leave nothing to match.
    BadKeywordValue,
    /// A pattern that is not a linear regular expression.
    BadPattern,
    /// A format outside the five.
    UnknownFormat,
    /// A default that the arg's own schema refuses, or one beside `required`.
    BadDefault,
    /// A required name that is not declared, or is named twice.
    RequiredUndeclared,
    /// A name that does not follow the grammar.
    BadArgName,
    /// No description at the top level.
    NoDescription,
    /// Nested too deeply.
    TooDeep,
    /// Too many args or members.
    TooMany,
}
