//! From the definitions of a file to a whole schema: extensions merged, the language's own scalars and directives added,
//! every name that is used looked up.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use graphql_tools::parser::parse_schema;
use graphql_tools::parser::schema::TypeExtension;
use graphql_tools::static_graphql::schema::{
    Definition, Document, Field, InputValue, InterfaceType, ObjectType, TypeDefinition,
};

use super::schema::{SchemaError, TYPES_MAX};
use crate::finding::quoted;

/// What a schema need not name (GraphQL, September 2025, sections 3.5 and 3.13).
const LANGUAGE: &str = "scalar Boolean scalar Float scalar ID scalar Int scalar String
directive @include(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT";

/// The names of the types that operations start at.
#[derive(Debug)]
pub(super) struct Roots {
    pub(super) query: String,
    pub(super) mutation: Option<String>,
}

/// Makes the definitions whole.
pub(super) fn whole(document: Document) -> Result<(Document, Roots), SchemaError> {
    let mut extensions = Vec::new();
    let mut definitions = Vec::new();
    let mut types = HashMap::new();
    for definition in document.definitions {
        match definition {
            Definition::TypeExtension(one) => extensions.push(one),
            // Introspection's own types: no document of a manifest needs them.
            Definition::TypeDefinition(one) if one.name().starts_with("__") => {}
            Definition::TypeDefinition(one) => {
                if types.insert(one.name().to_owned(), definitions.len()).is_some() {
                    return Err(SchemaError::TypeTwice(quoted(one.name())));
                }
                definitions.push(Definition::TypeDefinition(one));
            }
            other => definitions.push(other),
        }
    }
    for extension in extensions {
        let name = extended(&extension).to_owned();
        let target = types.get(&name).and_then(|at| definitions.get_mut(*at));
        let Some(Definition::TypeDefinition(target)) = target else {
            return Err(SchemaError::ExtendsNothing(quoted(&name)));
        };
        extend(target, extension).ok_or_else(|| SchemaError::ExtendsNothing(quoted(&name)))?;
    }
    for definition in &mut definitions {
        if let Definition::TypeDefinition(TypeDefinition::Object(ObjectType { fields, .. })) = definition {
            drop_repeated(fields);
        }
        if let Definition::TypeDefinition(TypeDefinition::Interface(InterfaceType { fields, .. })) =
            definition
        {
            drop_repeated(fields);
        }
    }
    add_language(&mut definitions, &types);
    let document = Document { definitions };
    let roots = check(&document)?;
    Ok((document, roots))
}

/// Takes out a field that says again what one before it says: GitHub's own schema has such.
fn drop_repeated(fields: &mut Vec<Field>) {
    let says = |field: &Field| {
        let arguments = field.arguments.iter().map(|one| (one.name.clone(), one.value_type.to_string()));
        (field.field_type.to_string(), arguments.collect::<Vec<_>>())
    };
    let mut known = HashMap::new();
    fields.retain(|field| match known.entry(field.name.clone()) {
        Entry::Vacant(slot) => {
            slot.insert(says(field));
            true
        }
        Entry::Occupied(said) => *said.get() != says(field),
    });
}

fn add_language(definitions: &mut Vec<Definition<'static, String>>, types: &HashMap<String, usize>) {
    let Ok(language) = parse_schema::<String>(LANGUAGE) else { return };
    let directives: HashSet<String> = definitions
        .iter()
        .filter_map(|definition| match definition {
            Definition::DirectiveDefinition(one) => Some(one.name.clone()),
            _ => None,
        })
        .collect();
    definitions.extend(language.into_static().definitions.into_iter().filter(
        |definition| match definition {
            Definition::TypeDefinition(one) => !types.contains_key(one.name()),
            Definition::DirectiveDefinition(one) => !directives.contains(&one.name),
            _ => false,
        },
    ));
}

fn extended<'e>(extension: &'e TypeExtension<'static, String>) -> &'e str {
    match extension {
        TypeExtension::Scalar(one) => &one.name,
        TypeExtension::Object(one) => &one.name,
        TypeExtension::Interface(one) => &one.name,
        TypeExtension::Union(one) => &one.name,
        TypeExtension::Enum(one) => &one.name,
        TypeExtension::InputObject(one) => &one.name,
    }
}

/// Puts an extension into its type; `None` where the type is of another kind.
fn extend(target: &mut TypeDefinition, extension: TypeExtension<'static, String>) -> Option<()> {
    match (target, extension) {
        (TypeDefinition::Scalar(to), TypeExtension::Scalar(from)) => to.directives.extend(from.directives),
        (TypeDefinition::Object(to), TypeExtension::Object(from)) => {
            to.implements_interfaces.extend(from.implements_interfaces);
            to.directives.extend(from.directives);
            to.fields.extend(from.fields);
        }
        (TypeDefinition::Interface(to), TypeExtension::Interface(from)) => {
            to.implements_interfaces.extend(from.implements_interfaces);
            to.directives.extend(from.directives);
            to.fields.extend(from.fields);
        }
        (TypeDefinition::Union(to), TypeExtension::Union(from)) => to.types.extend(from.types),
        (TypeDefinition::Enum(to), TypeExtension::Enum(from)) => to.values.extend(from.values),
        (TypeDefinition::InputObject(to), TypeExtension::InputObject(from)) => to.fields.extend(from.fields),
        _ => return None,
    }
    Some(())
}

/// Looks every name up, and finds where operations start.
fn check(document: &Document) -> Result<Roots, SchemaError> {
    let types: HashMap<&str, &TypeDefinition> = document
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            Definition::TypeDefinition(one) => Some((one.name(), one)),
            _ => None,
        })
        .collect();
    if types.len() > TYPES_MAX {
        return Err(SchemaError::TooManyTypes);
    }
    let names = Names(&types);
    for definition in &document.definitions {
        match definition {
            Definition::TypeDefinition(one) => names.of_type(one)?,
            Definition::DirectiveDefinition(one) => names.of_values(&one.arguments, &one.name)?,
            _ => {}
        }
    }
    let object = |name: &&String| matches!(types.get(name.as_str()), Some(TypeDefinition::Object(_)));
    let query = document.query_type_name().filter(object).ok_or(SchemaError::NoQuery)?;
    Ok(Roots { query: query.clone(), mutation: document.mutation_type_name().filter(object).cloned() })
}

struct Names<'n>(&'n HashMap<&'n str, &'n TypeDefinition>);

impl Names<'_> {
    /// Whether the type is there, and of a kind that may stand there.
    fn known(&self, name: &str, used_by: &str, may: fn(&TypeDefinition) -> bool) -> Result<(), SchemaError> {
        match self.0.get(name) {
            None => Err(SchemaError::UnknownType { name: quoted(name), used_by: quoted(used_by) }),
            Some(found) if may(found) => Ok(()),
            Some(_) => Err(SchemaError::Misplaced { name: quoted(name), used_by: quoted(used_by) }),
        }
    }

    fn of_type(&self, definition: &TypeDefinition) -> Result<(), SchemaError> {
        let name = definition.name();
        let (fields, interfaces) = match definition {
            TypeDefinition::Object(one) => (&one.fields, &one.implements_interfaces),
            TypeDefinition::Interface(one) => (&one.fields, &one.implements_interfaces),
            TypeDefinition::Union(one) => {
                let object = |kind: &TypeDefinition| matches!(kind, TypeDefinition::Object(_));
                return one.types.iter().try_for_each(|one| self.known(one, name, object));
            }
            TypeDefinition::InputObject(one) => return self.of_values(&one.fields, name),
            TypeDefinition::Enum(one) => return once(one.values.iter().map(|value| &value.name), name),
            TypeDefinition::Scalar(_) => return Ok(()),
        };
        let interface = |kind: &TypeDefinition| matches!(kind, TypeDefinition::Interface(_));
        interfaces.iter().try_for_each(|one| self.known(one, name, interface))?;
        once(fields.iter().map(|field| &field.name), name)?;
        let comes_back = |kind: &TypeDefinition| !matches!(kind, TypeDefinition::InputObject(_));
        for field in fields {
            let used_by = format!("{name}.{}", field.name);
            self.known(field.field_type.inner_type(), &used_by, comes_back)?;
            self.of_values(&field.arguments, &used_by)?;
        }
        Ok(())
    }

    fn of_values(&self, values: &[InputValue], used_by: &str) -> Result<(), SchemaError> {
        let is_sent = |kind: &TypeDefinition| {
            matches!(
                kind,
                TypeDefinition::Scalar(_) | TypeDefinition::Enum(_) | TypeDefinition::InputObject(_)
            )
        };
        once(values.iter().map(|value| &value.name), used_by)?;
        values.iter().try_for_each(|value| {
            self.known(value.value_type.inner_type(), &format!("{used_by}.{}", value.name), is_sent)
        })
    }
}

/// Whether each name is there once.
fn once<'n>(names: impl Iterator<Item = &'n String>, of: &str) -> Result<(), SchemaError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(SchemaError::MemberTwice { name: quoted(name), of: quoted(of) });
        }
    }
    Ok(())
}
