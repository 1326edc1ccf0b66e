//! One document: valid by the schema or not, and what in it is deprecated.
//!
//! The library's rules decide; none is left out. What is deprecated no rule says, so a walk over the document does.

use std::collections::HashMap;

use graphql_tools::parser::parse_query;
use graphql_tools::static_graphql::query::{
    Definition, Document, FragmentDefinition, OperationDefinition, Selection, SelectionSet, Type,
    TypeCondition, Value, VariableDefinition,
};
use graphql_tools::validation::rules::default_rules_validation_plan;
use graphql_tools::validation::validate::validate;

use super::super::schema::{Schema, deprecation, input_value};
use super::Found;
use crate::finding::{FindingCode, quoted};

/// Most fields and fragments that a document asks for. The library compares each with each that has the same name.
const SELECTIONS_MAX: usize = 1_000;

/// Most errors of a document that are looked at.
const ERRORS_MAX: usize = 500;

/// A document of a manifest, which has been read: one operation, and fragments that do not spread themselves.
pub(super) struct Parsed {
    document: Document,
    /// The type that its operation starts at.
    pub(super) root: String,
}

impl Parsed {
    /// Parses a document; `None` where the schema has no root for it. A manifest's documents have been parsed before.
    pub(super) fn new(text: &str, schema: &Schema) -> Option<Self> {
        let document = parse_query::<String>(text).ok()?.into_static();
        let root = match operation(&document)? {
            OperationDefinition::Mutation(_) => schema.mutation().map(|one| one.name.clone()),
            _ => schema.query().map(|one| one.name.clone()),
        };
        // A document without a root is checked all the same: every field of it is unknown.
        Some(Self { root: root.unwrap_or_default(), document })
    }

    pub(super) fn variables(&self) -> &[VariableDefinition] {
        operation(&self.document).map_or(&[], OperationDefinition::variable_definitions)
    }

    pub(super) fn selection(&self) -> Option<&SelectionSet> {
        operation(&self.document).map(OperationDefinition::selection_set)
    }

    fn selections(&self) -> usize {
        let sets = self.document.definitions.iter().map(|definition| match definition {
            Definition::Operation(one) => one.selection_set(),
            Definition::Fragment(one) => &one.selection_set,
        });
        sets.fold(0, |sum, set| sum.saturating_add(count(set)))
    }

    pub(super) fn fragments(&self) -> HashMap<&str, &FragmentDefinition> {
        let fragments = self.document.definitions.iter().filter_map(|definition| match definition {
            Definition::Fragment(one) => Some((one.name.as_str(), one)),
            Definition::Operation(_) => None,
        });
        fragments.collect()
    }
}

/// Brackets nest 50 deep at most, so it may recurse.
fn count(set: &SelectionSet) -> usize {
    set.items.iter().fold(0, |sum, item| {
        let below = match item {
            Selection::Field(field) => count(&field.selection_set),
            Selection::InlineFragment(one) => count(&one.selection_set),
            Selection::FragmentSpread(_) => 0,
        };
        sum.saturating_add(below).saturating_add(1)
    })
}

fn operation(document: &Document) -> Option<&OperationDefinition> {
    document.definitions.iter().find_map(|definition| match definition {
        Definition::Operation(one) => Some(one),
        Definition::Fragment(_) => None,
    })
}

/// Holds a document against the schema.
pub(super) fn check(parsed: &Parsed, schema: &Schema, pointer: &str, found: &mut Found<'_>) {
    if parsed.root.is_empty() {
        let help = "leave the op out, or take the schema that has them";
        found.add(FindingCode::DocumentInvalid, pointer, "the schema has no mutations", help);
        return;
    }
    if parsed.selections() > SELECTIONS_MAX {
        let message =
            format!("the document asks for more than {SELECTIONS_MAX} fields, and is not looked at");
        found.add(FindingCode::DocumentInvalid, pointer, message, "ask for less in one document");
        return;
    }
    let plan = default_rules_validation_plan();
    // Fields that are in each other's way are as many as their pairs.
    for error in validate(schema.document(), &parsed.document, &plan).into_iter().take(ERRORS_MAX) {
        let code = match error.error_code {
            "FieldsOnCorrectType" => FindingCode::FieldUnknown,
            "KnownArgumentNames" => FindingCode::ArgumentUnknown,
            "ProvidedRequiredArguments" => FindingCode::ArgumentMissing,
            "VariablesAreInputTypes" | "VariablesInAllowedPosition" => FindingCode::VariableType,
            _ => FindingCode::DocumentInvalid,
        };
        let message = quoted(error.message.trim_end_matches('.'));
        found.add(code, pointer, message, "correct the document by the service's schema");
    }
    let mut walk = Walk { schema, pointer, found };
    for definition in &parsed.document.definitions {
        match definition {
            Definition::Operation(one) => walk.selection(one.selection_set(), &parsed.root),
            Definition::Fragment(one) => {
                let TypeCondition::On(parent) = &one.type_condition;
                walk.selection(&one.selection_set, parent);
            }
        }
    }
}

/// A walk over everything that a document names. Brackets nest 50 deep at most, so it may recurse.
struct Walk<'w, 'f, 'o> {
    schema: &'w Schema,
    pointer: &'w str,
    found: &'f mut Found<'o>,
}

impl Walk<'_, '_, '_> {
    fn selection(&mut self, selection: &SelectionSet, parent: &str) {
        for item in &selection.items {
            match item {
                Selection::Field(field) => {
                    let schema = self.schema;
                    let Some(known) = schema.field(parent, &field.name) else { continue };
                    let called = format!("{parent}.{}", field.name);
                    self.deprecated(&format!("the field `{called}`"), deprecation(&known.directives));
                    for (name, value) in &field.arguments {
                        let Some(argument) = input_value(&known.arguments, name) else { continue };
                        let what = format!("the argument `{name}` of `{called}`");
                        self.deprecated(&what, deprecation(&argument.directives));
                        self.value(value, &argument.value_type);
                    }
                    self.selection(&field.selection_set, known.field_type.inner_type());
                }
                Selection::InlineFragment(one) => match &one.type_condition {
                    Some(TypeCondition::On(narrower)) => self.selection(&one.selection_set, narrower),
                    None => self.selection(&one.selection_set, parent),
                },
                // A fragment is walked through where it is defined.
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn value(&mut self, value: &Value, wanted: &Type) {
        let named = wanted.inner_type();
        match value {
            Value::Enum(choice) => {
                let known = self.schema.choices(named);
                let known = known.and_then(|one| one.values.iter().find(|value| value.name == *choice));
                let reason = known.and_then(|known| deprecation(&known.directives));
                self.deprecated(&format!("the value `{choice}` of `{named}`"), reason);
            }
            Value::List(values) => values.iter().for_each(|value| self.value(value, wanted)),
            Value::Object(members) => {
                let Some(input) = self.schema.input(named) else { return };
                for (name, value) in members {
                    let Some(member) = input_value(&input.fields, name) else { continue };
                    let what = format!("the member `{name}` of `{named}`");
                    self.deprecated(&what, deprecation(&member.directives));
                    self.value(value, &member.value_type);
                }
            }
            _ => {}
        }
    }

    fn deprecated(&mut self, what: &str, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.found.deprecated(self.pointer, what, reason);
        }
    }
}
