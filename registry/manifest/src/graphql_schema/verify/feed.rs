//! What the variables of a document are fed, held against the types that it declares.
//!
//! A single value where a list is wanted is refused, though services take it for a list of one: an author who writes it
//! meant something else. INVARIANT: what passes is taken by the service's own coercion, custom scalars aside, of which a
//! schema says nothing. GraphQL, September 2025, section 6.1.2.

use graphql_tools::static_graphql::query::Type;
use graphql_tools::static_graphql::schema::{InputValue, TypeDefinition};
use serde_json::Value;

use super::super::schema::{Schema, deprecation, input_value};
use super::document::Parsed;
use super::{Found, nullable, push};
use crate::finding::FindingCode;
use crate::model::{ArgDef, JsonTemplate, Op};

const VARIABLES: &str = "/request/graphql/variables";
const HELP: &str = "write what the service's schema wants, or change the document's variable";

/// Holds what is fed against what is declared.
pub(super) fn check(
    parsed: &Parsed,
    op: &Op,
    variables: &JsonTemplate,
    schema: &Schema,
    found: &mut Found<'_>,
) {
    let JsonTemplate::Object(members) = variables else { return };
    let mut feed = Feed { op, schema, found };
    for (name, template) in members {
        if let Some(variable) = parsed.variables().iter().find(|variable| variable.name == *name) {
            feed.template(template, &variable.var_type, &push(VARIABLES, name));
        }
    }
}

/// What is fed, and what is wrong with it.
pub(super) struct Feed<'w, 'f, 'o> {
    op: &'w Op,
    pub(super) schema: &'w Schema,
    pub(super) found: &'f mut Found<'o>,
}

impl<'w> Feed<'w, '_, '_> {
    pub(super) fn wrong(&mut self, pointer: &str, what: &str, wanted: &Type) {
        let message = format!("{what} stands where `{wanted}` is wanted");
        self.found.add(FindingCode::ArgType, pointer, message, HELP);
    }

    fn template(&mut self, template: &JsonTemplate, wanted: &Type, pointer: &str) {
        match (template, nullable(wanted)) {
            (JsonTemplate::Arg(name), _) => {
                let at = push("/properties", name.as_str());
                if let Some(arg) = self.op.args.json().pointer(&at) {
                    self.arg(arg, wanted, &format!("/args{at}"));
                }
            }
            (JsonTemplate::Literal(Value::Null), _) if matches!(wanted, Type::NonNullType(_)) => {
                self.wrong(pointer, "null", wanted);
            }
            (JsonTemplate::Literal(value), _) => self.literal(value, wanted, pointer),
            (JsonTemplate::Text(_), kind) => self.text(kind, pointer),
            (JsonTemplate::Array(elements), Type::ListType(inner)) => {
                for (at, element) in elements.iter().enumerate() {
                    self.template(element, inner, &push(pointer, &at.to_string()));
                }
            }
            (JsonTemplate::Array(_), kind) => self.unless_open(kind, "a list", pointer),
            (JsonTemplate::Object(members), kind) => {
                let Some(fields) = self.input(kind) else {
                    self.unless_open(kind, "an object", pointer);
                    return;
                };
                for (name, template) in members {
                    let at = push(pointer, name);
                    let Some(field) = self.member(fields, name, kind, &at) else { continue };
                    if field.is_required() && self.may_be_absent(template) {
                        self.absent(&at, name, kind);
                    }
                    self.template(template, &field.value_type, &at);
                }
                self.missing(fields, |name| members.iter().any(|(member, _)| member == name), kind, pointer);
            }
        }
    }

    /// Whether a member that is fed so is left out of some calls.
    fn may_be_absent(&self, template: &JsonTemplate) -> bool {
        let JsonTemplate::Arg(name) = template else { return false };
        !self.op.args.def(name).is_some_and(ArgDef::always_present)
    }

    pub(super) fn input(&self, kind: &Type) -> Option<&'w [InputValue]> {
        let Type::NamedType(name) = kind else { return None };
        self.schema.input(name).map(|input| input.fields.as_slice())
    }

    pub(super) fn member<'s>(
        &mut self,
        fields: &'s [InputValue],
        name: &str,
        of: &Type,
        pointer: &str,
    ) -> Option<&'s InputValue> {
        let field = input_value(fields, name);
        match field.map(|field| deprecation(&field.directives)) {
            None => {
                let message = format!("`{of}` has no member `{}`", crate::finding::quoted(name));
                self.found.add(FindingCode::MemberUnknown, pointer, message, HELP);
            }
            Some(Some(reason)) => {
                self.found.deprecated(pointer, &format!("the member `{name}` of `{of}`"), reason);
            }
            Some(None) => {}
        }
        field
    }

    pub(super) fn absent(&mut self, pointer: &str, name: &str, of: &Type) {
        let message = format!("`{of}` requires `{name}`, and the arg may be absent");
        self.found.add(
            FindingCode::ArgOptional,
            pointer,
            message,
            "make the arg required, or give it a default",
        );
    }

    pub(super) fn missing(
        &mut self,
        fields: &[InputValue],
        there: impl Fn(&str) -> bool,
        of: &Type,
        pointer: &str,
    ) {
        for field in fields.iter().filter(|field| field.is_required() && !there(&field.name)) {
            let message = format!("`{of}` requires `{}`, which is not sent", field.name);
            self.found.add(FindingCode::MemberMissing, pointer, message, "feed it an arg or a fixed value");
        }
    }

    /// Reports what stands there, unless a custom scalar is wanted, of which a schema says nothing.
    fn unless_open(&mut self, wanted: &Type, what: &str, pointer: &str) {
        if !self.is_open(wanted) {
            self.wrong(pointer, what, wanted);
        }
    }

    pub(super) fn is_open(&self, kind: &Type) -> bool {
        let Type::NamedType(name) = kind else { return false };
        matches!(self.schema.find(name), Some(TypeDefinition::Scalar(_))) && !is_built_in(name)
    }

    /// A text that is made of args.
    fn text(&mut self, wanted: &Type, pointer: &str) {
        let Type::NamedType(name) = wanted else { return self.wrong(pointer, "a text", wanted) };
        if self.schema.choices(name).is_some() {
            let message = format!("a text made of args may be none of the values of `{name}`");
            let help = "feed it one arg that lists the values";
            self.found.add(FindingCode::ArgValues, pointer, message, help);
        } else if !matches!(name.as_str(), "String" | "ID") {
            self.unless_open(wanted, "a text", pointer);
        }
    }

    fn literal(&mut self, value: &Value, wanted: &Type, pointer: &str) {
        match (value, nullable(wanted)) {
            (Value::Null, _) if matches!(wanted, Type::NonNullType(_)) => self.wrong(pointer, "null", wanted),
            (Value::Null, _) => {}
            (Value::Array(elements), Type::ListType(inner)) => {
                for (at, element) in elements.iter().enumerate() {
                    self.literal(element, inner, &push(pointer, &at.to_string()));
                }
            }
            (Value::Object(members), kind) if self.input(kind).is_some() => {
                let fields = self.input(kind).unwrap_or_default();
                for (name, value) in members {
                    let at = push(pointer, name);
                    if let Some(field) = self.member(fields, name, kind, &at) {
                        self.literal(value, &field.value_type, &at);
                    }
                }
                self.missing(fields, |name| members.contains_key(name), kind, pointer);
            }
            (_, Type::NamedType(name)) => self.scalar(value, name, wanted, pointer),
            (value, _) => self.wrong(pointer, what(value), wanted),
        }
    }

    fn scalar(&mut self, value: &Value, name: &str, wanted: &Type, pointer: &str) {
        if let Some(known) = self.schema.choices(name) {
            let Some(choice) = value.as_str() else { return self.wrong(pointer, what(value), wanted) };
            let listed: Vec<_> =
                known.values.iter().map(|one| (one.name.as_str(), &one.directives)).collect();
            return self.choice(choice, name, &listed, pointer);
        }
        let fits = match name {
            "String" => value.is_string(),
            "ID" => value.is_string() || value.is_i64(),
            "Int" => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            "Float" => value.is_number(),
            "Boolean" => value.is_boolean(),
            _ => self.is_open(nullable(wanted)),
        };
        if !fits {
            self.wrong(pointer, what(value), wanted);
        }
    }

    pub(super) fn choice(
        &mut self,
        choice: &str,
        name: &str,
        listed: &[(&str, &Vec<graphql_tools::static_graphql::schema::Directive>)],
        pointer: &str,
    ) {
        match listed.iter().find(|(known, _)| *known == choice) {
            None => {
                let message = format!("`{}` is not a value of `{name}`", crate::finding::quoted(choice));
                self.found.add(FindingCode::ArgValues, pointer, message, "take one that the schema lists");
            }
            Some((_, directives)) => {
                if let Some(reason) = deprecation(directives) {
                    self.found.deprecated(pointer, &format!("the value `{choice}` of `{name}`"), reason);
                }
            }
        }
    }
}

fn is_built_in(name: &str) -> bool {
    matches!(name, "Boolean" | "Float" | "ID" | "Int" | "String")
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
