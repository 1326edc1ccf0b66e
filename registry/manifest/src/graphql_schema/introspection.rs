//! The answer to GraphQL's introspection query, made into the definitions that SDL would have.
//!
//! Takes what is missing in the answers of older services as absent. Refuses names that are none and references that the
//! query did not follow to their end. GraphQL, September 2025, section 4.

use graphql_tools::static_graphql::schema::{
    Definition, Directive, DirectiveDefinition, Document, EnumType, EnumValue, Field, InputObjectType,
    InputValue, InterfaceType, ObjectType, ScalarType, SchemaDefinition, Type, TypeDefinition, UnionType,
    Value,
};
use serde::Deserialize;

use super::schema::SchemaError;
use crate::finding::quoted;

#[derive(Deserialize)]
struct Answer {
    data: Option<Data>,
    #[serde(rename = "__schema")]
    schema: Option<SchemaRow>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(rename = "__schema")]
    schema: Option<SchemaRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaRow {
    query_type: Option<NameRow>,
    mutation_type: Option<NameRow>,
    types: Vec<TypeRow>,
    directives: Option<Vec<DirectiveRow>>,
}

#[derive(Deserialize)]
struct NameRow {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeRow {
    kind: String,
    name: String,
    description: Option<String>,
    fields: Option<Vec<FieldRow>>,
    input_fields: Option<Vec<ValueRow>>,
    interfaces: Option<Vec<NameRow>>,
    possible_types: Option<Vec<NameRow>>,
    enum_values: Option<Vec<ChoiceRow>>,
    is_one_of: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FieldRow {
    name: String,
    description: Option<String>,
    args: Option<Vec<ValueRow>>,
    #[serde(rename = "type")]
    kind: Reference,
    is_deprecated: Option<bool>,
    deprecation_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ValueRow {
    name: String,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Reference,
    default_value: Option<String>,
    is_deprecated: Option<bool>,
    deprecation_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChoiceRow {
    name: String,
    description: Option<String>,
    is_deprecated: Option<bool>,
    deprecation_reason: Option<String>,
}

#[derive(Deserialize)]
struct DirectiveRow {
    name: String,
    locations: Vec<String>,
    args: Option<Vec<ValueRow>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    kind: String,
    name: Option<String>,
    of_type: Option<Box<Self>>,
}

/// Reads the answer. JSON nests 128 deep at most.
pub(super) fn document(text: &str) -> Result<Document, SchemaError> {
    let text = text.trim_start_matches('\u{feff}');
    let answer: Answer = serde_json::from_str(text).map_err(|error| fault(&error.to_string()))?;
    let schema = answer.schema.or_else(|| answer.data?.schema).ok_or_else(|| fault("there is none"))?;
    let root = |row: Option<NameRow>| row.map(|row| name(row.name)).transpose();
    let mut definitions = vec![Definition::SchemaDefinition(SchemaDefinition {
        query: root(schema.query_type)?,
        mutation: root(schema.mutation_type)?,
        ..SchemaDefinition::default()
    })];
    for row in schema.types {
        definitions.push(Definition::TypeDefinition(type_definition(row)?));
    }
    for row in schema.directives.into_iter().flatten() {
        let mut directive = DirectiveDefinition::new(name(row.name)?);
        directive.arguments = values(row.args)?;
        // Locations that came after the parser are of no document of a manifest.
        directive.locations = row.locations.iter().filter_map(|location| location.parse().ok()).collect();
        // A document says so where it repeats one that may not be; whether it may be, older services do not say.
        directive.repeatable = true;
        definitions.push(Definition::DirectiveDefinition(directive));
    }
    Ok(Document { definitions })
}

fn fault(why: &str) -> SchemaError {
    SchemaError::Introspection(quoted(why))
}

/// A name as the language has it.
fn name(text: String) -> Result<String, SchemaError> {
    let good = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if good { Ok(text) } else { Err(fault(&format!("`{text}` is not a name"))) }
}

fn names(rows: Option<Vec<NameRow>>) -> Result<Vec<String>, SchemaError> {
    rows.into_iter().flatten().map(|row| name(row.name)).collect()
}

fn type_definition(row: TypeRow) -> Result<TypeDefinition, SchemaError> {
    let called = name(row.name)?;
    let description = row.description;
    Ok(match row.kind.as_str() {
        "SCALAR" => TypeDefinition::Scalar(ScalarType { description, ..ScalarType::new(called) }),
        "OBJECT" => TypeDefinition::Object(ObjectType {
            description,
            implements_interfaces: names(row.interfaces)?,
            fields: fields(row.fields)?,
            ..ObjectType::new(called)
        }),
        "INTERFACE" => TypeDefinition::Interface(InterfaceType {
            description,
            implements_interfaces: names(row.interfaces)?,
            fields: fields(row.fields)?,
            ..InterfaceType::new(called)
        }),
        "UNION" => TypeDefinition::Union(UnionType {
            description,
            types: names(row.possible_types)?,
            ..UnionType::new(called)
        }),
        "ENUM" => TypeDefinition::Enum(EnumType {
            description,
            values: row.enum_values.into_iter().flatten().map(choice).collect::<Result<_, _>>()?,
            ..EnumType::new(called)
        }),
        "INPUT_OBJECT" => TypeDefinition::InputObject(InputObjectType {
            description,
            fields: values(row.input_fields)?,
            directives: row.is_one_of.unwrap_or_default().then(|| directive("oneOf")).into_iter().collect(),
            ..InputObjectType::new(called)
        }),
        other => return Err(fault(&format!("`{called}` is of the kind `{other}`"))),
    })
}

fn fields(rows: Option<Vec<FieldRow>>) -> Result<Vec<Field>, SchemaError> {
    let field = |row: FieldRow| {
        Ok(Field {
            position: graphql_tools::parser::Pos::default(),
            description: row.description,
            name: name(row.name)?,
            arguments: values(row.args)?,
            field_type: reference(row.kind)?,
            directives: deprecated(row.is_deprecated, row.deprecation_reason),
        })
    };
    rows.into_iter().flatten().map(field).collect()
}

fn values(rows: Option<Vec<ValueRow>>) -> Result<Vec<InputValue>, SchemaError> {
    let value = |row: ValueRow| {
        Ok(InputValue {
            position: graphql_tools::parser::Pos::default(),
            description: row.description,
            name: name(row.name)?,
            value_type: reference(row.kind)?,
            // That there is one is all that is asked of a default.
            default_value: row.default_value.map(|_text| Value::Null),
            directives: deprecated(row.is_deprecated, row.deprecation_reason),
        })
    };
    rows.into_iter().flatten().map(value).collect()
}

fn choice(row: ChoiceRow) -> Result<EnumValue, SchemaError> {
    Ok(EnumValue {
        description: row.description,
        directives: deprecated(row.is_deprecated, row.deprecation_reason),
        ..EnumValue::new(name(row.name)?)
    })
}

fn directive(name: &str) -> Directive {
    Directive {
        position: graphql_tools::parser::Pos::default(),
        name: name.to_owned(),
        arguments: Vec::new(),
    }
}

fn deprecated(is: Option<bool>, reason: Option<String>) -> Vec<Directive> {
    if is != Some(true) {
        return Vec::new();
    }
    let arguments = reason.map(|reason| ("reason".to_owned(), Value::String(reason)));
    vec![Directive { arguments: arguments.into_iter().collect(), ..directive("deprecated") }]
}

fn reference(row: Reference) -> Result<Type, SchemaError> {
    let inner = |of: Option<Box<Reference>>| match of {
        Some(of) => reference(*of).map(Box::new),
        None => Err(fault("a type is nested deeper than the query asked: ask for more `ofType`")),
    };
    Ok(match row.kind.as_str() {
        "NON_NULL" => Type::NonNullType(inner(row.of_type)?),
        "LIST" => Type::ListType(inner(row.of_type)?),
        _ => Type::NamedType(name(row.name.ok_or_else(|| fault("a type has no name"))?)?),
    })
}
