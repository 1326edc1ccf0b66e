//! Linear's schema: every document is valid by it, what the variables hold has its types, and what is picked is asked for.

use std::collections::BTreeMap;

use graphql_tools::parser::{parse_query, parse_schema};
use graphql_tools::static_graphql::query::{
    self, Definition, OperationDefinition, Selection, SelectionSet, VariableDefinition,
};
use graphql_tools::static_graphql::schema::{self, TypeDefinition};
use graphql_tools::validation::rules::default_rules_validation_plan;
use graphql_tools::validation::validate::{ValidationPlan, validate};
use pinhole_tests::shared;
use serde_json::Value;

use crate::{fields, manifest, ops};

/// Linear's schema, and the rules of GraphQL.
struct Described {
    schema: schema::Document,
    plan: ValidationPlan,
}

fn described(test: &str) -> Option<Described> {
    let mut published = std::fs::read_to_string(shared(test, "data/linear/schema.graphql")?).expect("text");
    // The library knows no scalars by itself, and a schema does not name those of the language.
    published.push_str("\nscalar Boolean scalar Float scalar ID scalar Int scalar String");
    let schema = parse_schema::<String>(&published).expect("a schema").into_static();
    Some(Described { schema, plan: default_rules_validation_plan() })
}

impl Described {
    fn faults(&self, document: &str) -> Vec<String> {
        let document = parse_query::<String>(document).expect("a document").into_static();
        let errors = validate(&self.schema, &document, &self.plan);
        errors.into_iter().map(|error| error.message).collect()
    }

    fn find(&self, name: &str) -> Option<&TypeDefinition> {
        self.schema.definitions.iter().find_map(|definition| match definition {
            schema::Definition::TypeDefinition(found) if type_name(found) == name => Some(found),
            _ => None,
        })
    }

    /// What is wrong with a template of variables where a value of this type is wanted.
    fn mismatch(&self, template: &Value, wanted: &schema::Type, args: &Value) -> Option<String> {
        let arg = template.as_str().and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
        match (arg, template.as_object()) {
            (Some(arg), _) => self.unfit(&args["properties"][arg], wanted).map(|why| format!("{arg}: {why}")),
            (None, Some(members)) => {
                self.members(members, wanted, |value, wanted| self.mismatch(value, wanted, args))
            }
            (None, None) => Some(format!("{template} is neither an arg nor an object")),
        }
    }

    /// Why what an arg may be is not what is wanted.
    fn unfit(&self, arg: &Value, wanted: &schema::Type) -> Option<String> {
        let named = match wanted {
            schema::Type::NonNullType(inner) => return self.unfit(arg, inner),
            schema::Type::ListType(inner) if arg["type"] == "array" => {
                return self.unfit(&arg["items"], inner);
            }
            schema::Type::ListType(_) => return Some("a list is wanted".to_owned()),
            schema::Type::NamedType(name) => name,
        };
        let kind = arg["type"].as_str().unwrap_or("nothing");
        let fits = match (kind, named.as_str()) {
            ("object", _) => {
                let members = arg["properties"].as_object().expect("properties");
                return self.members(members, wanted, |value, wanted| self.unfit(value, wanted));
            }
            ("string", "TimelessDate") => arg["format"] == "date",
            ("string", "DateTime" | "DateTimeOrDuration") => arg["format"] == "date-time",
            ("string", "String" | "ID") | ("integer", "Int" | "Float") | ("boolean", "Boolean") => true,
            _ => false,
        };
        if fits { None } else { Some(format!("{kind} where {named} is wanted")) }
    }

    /// What is wrong with a value where one of this type is wanted.
    fn unlike(&self, value: &Value, wanted: &schema::Type) -> Option<String> {
        match (value, wanted) {
            (Value::Null, schema::Type::NonNullType(_)) => Some(format!("null where {wanted} is wanted")),
            (_, schema::Type::NonNullType(inner)) => self.unlike(value, inner),
            (Value::Null, _) => None,
            (Value::Object(members), _) => {
                self.members(members, wanted, |value, wanted| self.unlike(value, wanted))
            }
            (_, schema::Type::NamedType(name)) => {
                let fits = match name.as_str() {
                    "String" | "ID" => value.is_string(),
                    "Int" => value.is_i64(),
                    "Float" => value.is_number(),
                    "Boolean" => value.is_boolean(),
                    _ => false,
                };
                if fits { None } else { Some(format!("{value} where {name} is wanted")) }
            }
            (_, schema::Type::ListType(_)) => Some("a list is wanted".to_owned()),
        }
    }

    fn members(
        &self,
        members: &serde_json::Map<String, Value>,
        wanted: &schema::Type,
        look: impl Fn(&Value, &schema::Type) -> Option<String>,
    ) -> Option<String> {
        let mut name = wanted;
        while let schema::Type::NonNullType(inner) = name {
            name = inner;
        }
        let schema::Type::NamedType(name) = name else {
            return Some("an object where a list is wanted".to_owned());
        };
        let Some(TypeDefinition::InputObject(input)) = self.find(name) else {
            return Some(format!("an object where {name} is wanted"));
        };
        let known: BTreeMap<_, _> =
            input.fields.iter().map(|field| (field.name.as_str(), &field.value_type)).collect();
        members.iter().find_map(|(member, value)| match known.get(member.as_str()) {
            Some(wanted) => look(value, wanted).map(|why| format!("{member}.{why}")),
            None => Some(format!("{name} has no {member}")),
        })
    }
}

fn type_name(definition: &TypeDefinition) -> &str {
    match definition {
        TypeDefinition::Scalar(one) => &one.name,
        TypeDefinition::Object(one) => &one.name,
        TypeDefinition::Interface(one) => &one.name,
        TypeDefinition::Union(one) => &one.name,
        TypeDefinition::Enum(one) => &one.name,
        TypeDefinition::InputObject(one) => &one.name,
    }
}

fn operation(document: &str) -> (Vec<VariableDefinition>, SelectionSet) {
    let document: query::Document = parse_query::<String>(document).expect("a document").into_static();
    match document.definitions.into_iter().next().expect("an operation") {
        Definition::Operation(OperationDefinition::Query(one)) => {
            (one.variable_definitions, one.selection_set)
        }
        Definition::Operation(OperationDefinition::Mutation(one)) => {
            (one.variable_definitions, one.selection_set)
        }
        other => panic!("another operation: {other:?}"),
    }
}

/// Whether a path of the answer is asked for by the document, as a value and not as an object.
fn asked_for(selections: &SelectionSet, path: &[&str]) -> bool {
    let Some((step, rest)) = path.split_first() else { return selections.items.is_empty() };
    selections.items.iter().any(|item| match item {
        Selection::Field(field) if field.alias.as_ref().unwrap_or(&field.name) == step => {
            asked_for(&field.selection_set, rest)
        }
        _ => false,
    })
}

fn document(op: &Value) -> &str {
    op["request"]["graphql"]["query"].as_str().expect("a document")
}

/// The documents that an op's module may post.
fn module_documents(op: &Value) -> impl Iterator<Item = &str> {
    let lines = op["module"]["requests"].as_array().into_iter().flatten();
    lines.map(|line| line["graphql"].as_str().expect("a document"))
}

/// The ops with a request of their own.
fn declared(manifest: &Value) -> impl Iterator<Item = (&String, &Value)> {
    ops(manifest).filter(|(_, op)| op["module"].is_null())
}

/// The names on the way from the top of the answer to a picked field.
fn way<'a>(op: &'a Value, field: &'a str) -> Vec<&'a str> {
    let root = op["pick"]["root"].as_str().expect("a root").split('.').skip(2);
    root.chain(field.split('.')).map(|step| step.trim_end_matches("[*]")).collect()
}

#[test]
fn every_document_is_valid_by_linears_schema() {
    let Some(described) = described("every_document_is_valid_by_linears_schema") else { return };
    let manifest = manifest("linear");
    for (name, op) in declared(&manifest) {
        assert_eq!(described.faults(document(op)), Vec::<String>::new(), "{name}");
    }
    let mut of_modules = 0;
    for (name, op) in ops(&manifest) {
        for document in module_documents(op) {
            assert_eq!(described.faults(document), Vec::<String>::new(), "{name}: {document}");
            of_modules += 1;
        }
    }
    assert!(of_modules >= 3, "only {of_modules} documents of modules");
}

#[test]
fn a_field_of_another_name_is_noticed() {
    let Some(described) = described("a_field_of_another_name_is_noticed") else { return };
    let mut renamed = 0;
    let manifest = manifest("linear");
    for (name, op) in declared(&manifest) {
        for field in fields(op) {
            let last = *way(op, field).last().expect("a name");
            let other = document(op).replace(&format!(" {last} "), &format!(" {last}Renamed "));
            assert_ne!(other, document(op), "{name}: {last} is not in the document");
            assert!(!described.faults(&other).is_empty(), "{name}: {last} was renamed, and nobody noticed");
            renamed += 1;
        }
    }
    assert!(renamed > 100, "only {renamed} names were changed");
    for (name, op) in ops(&manifest) {
        for document in module_documents(op) {
            let words =
                document.split(' ').skip(1).filter(|word| word.bytes().all(|b| b.is_ascii_alphabetic()));
            for word in words {
                let other = document.replace(&format!(" {word} "), &format!(" {word}Renamed "));
                assert_ne!(other, document, "{name}: {word} was not changed");
                assert!(
                    !described.faults(&other).is_empty(),
                    "{name}: {word} was renamed, and nobody noticed"
                );
            }
        }
    }
}

#[test]
fn what_the_variables_hold_has_the_types_that_linear_wants() {
    let Some(described) = described("what_the_variables_hold_has_the_types_that_linear_wants") else {
        return;
    };
    let manifest = manifest("linear");
    for (name, op) in declared(&manifest) {
        for variable in operation(document(op)).0 {
            // The page's own variable is fed by the runtime.
            let Some(template) = op["request"]["graphql"]["variables"].get(&variable.name) else {
                assert_eq!(op["page"]["variable"], variable.name, "{name}: nobody feeds {}", variable.name);
                continue;
            };
            let mismatch = described.mismatch(template, &variable.var_type, &op["args"]);
            assert_eq!(mismatch, None, "{name}: {}", variable.name);
        }
    }
    let op = &manifest["ops"]["create_issue"];
    let (variables, _) = operation(document(op));
    let mut template = op["request"]["graphql"]["variables"]["input"].clone();
    template["labelIds"] = "{title}".into();
    let wrong = described.mismatch(&template, &variables[0].var_type, &op["args"]);
    assert!(wrong.is_some_and(|why| why.contains("a list is wanted")), "a text for a list was not noticed");
    template["labelIds"] = "{label_ids}".into();
    template["stateID"] = "{state_id}".into();
    let wrong = described.mismatch(&template, &variables[0].var_type, &op["args"]);
    assert!(wrong.is_some_and(|why| why.contains("no stateID")), "a member of another name was not noticed");
}

/// The variables that the module of this op posted in its cases, each with its document.
fn posted(op: &str) -> Vec<(String, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../manifests/linear/cases");
    let files = std::fs::read_dir(folder).expect("cases").map(|entry| entry.expect("an entry").path());
    let of_the_op = |path: &std::path::PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(&format!("{op}.")))
    };
    let cases = files.filter(of_the_op).map(|path| std::fs::read(path).expect("a case"));
    let cases = cases.map(|bytes| serde_json::from_slice::<Value>(&bytes).expect("JSON"));
    let bodies = |case: Value| {
        let exchanges = case["exchanges"].as_array().expect("exchanges").clone();
        exchanges.into_iter().map(|exchange| exchange["request"]["body"].clone()).collect::<Vec<_>>()
    };
    let posted = cases.flat_map(bodies);
    posted
        .map(|body| (body["query"].as_str().expect("a document").to_owned(), body["variables"].clone()))
        .collect()
}

#[test]
fn what_modules_post_has_the_types_that_linear_wants() {
    let Some(described) = described("what_modules_post_has_the_types_that_linear_wants") else { return };
    let posted = posted("cycle_report");
    let documents: std::collections::BTreeSet<&str> =
        posted.iter().map(|(document, _)| document.as_str()).collect();
    assert_eq!(documents, module_documents(&manifest("linear")["ops"]["cycle_report"]).collect());
    let mut wrong = 0;
    for (document, variables) in &posted {
        let declared = operation(document).0;
        let known = |name: &String| declared.iter().any(|variable| variable.name == *name);
        assert!(variables.as_object().expect("variables").keys().all(known), "{variables} in {document}");
        for variable in &declared {
            let value = &variables[&variable.name];
            assert_eq!(described.unlike(value, &variable.var_type), None, "{} in {document}", variable.name);
            let other = serde_json::json!({ "no_such_member": 1 });
            wrong += usize::from(described.unlike(&other, &variable.var_type).is_some());
        }
    }
    assert!(wrong > posted.len(), "wrong values were not noticed");
}

#[test]
fn what_is_picked_is_asked_for() {
    for (name, op) in declared(&manifest("linear")) {
        let (_, selections) = operation(document(op));
        let mut paths: Vec<Vec<&str>> = fields(op).into_iter().map(|field| way(op, field)).collect();
        if let Some(info) = op["page"]["info"].as_str() {
            for member in ["hasNextPage", "endCursor"] {
                paths.push(info.split('.').skip(2).chain([member]).collect());
            }
        }
        for path in paths {
            assert!(asked_for(&selections, &path), "{name} does not ask for {path:?}");
            let short = &path[..path.len() - 1];
            assert!(!asked_for(&selections, short), "{name}: an object counts as a value at {path:?}");
        }
    }
}
