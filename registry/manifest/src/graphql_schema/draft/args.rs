//! The args of an op, and what the document's variables are fed of them.
//!
//! A required input object is taken apart, so that its members are args of their own and a confirm line can name them.
//! INVARIANT: each arg feeds exactly one place; each variable is declared, passed and fed.

use graphql_tools::static_graphql::schema::{Field, InputValue, Type};
use serde_json::{Map, Value};

use super::super::Schema;
use super::input::{Input, is_offered};
use super::pages::{self, Connection, plain};
use crate::args::ARGS_MAX;
use crate::draft::{RefusedReason, texts, words};
use crate::finding::quoted;

/// Longest description of an arg, in characters.
const TEXT_MAX: usize = 300;
/// Longest name of an arg, in characters.
const NAME_MAX: usize = 64;
/// How many of a list a page holds, by default and at most.
const PAGE: (u32, u32) = (50, 100);

/// The args of one op.
pub(super) struct Args {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The document's variables, declared.
    pub(super) declared: Vec<String>,
    /// The field's arguments, each passed its variable.
    pub(super) passed: Vec<String>,
    /// What the variables are fed.
    pub(super) variables: Map<String, Value>,
    /// Required args that are single values, in the schema's order.
    pub(super) confirmable: Vec<String>,
    /// What a person must look at.
    pub(super) notes: Vec<(&'static str, String)>,
}

type Refusal = (RefusedReason, String);

impl Args {
    /// Drafts the args for the arguments of a field.
    pub(super) fn draft(
        schema: &Schema,
        field: &Field,
        page: Option<&Connection<'_>>,
    ) -> Result<Self, Refusal> {
        let mut args = Self {
            properties: Map::new(),
            required: Vec::new(),
            declared: Vec::new(),
            passed: Vec::new(),
            variables: Map::new(),
            confirmable: Vec::new(),
            notes: Vec::new(),
        };
        let mut input = Input::new(schema);
        let mut left_out = Vec::new();
        let mut arguments: Vec<&InputValue> = field.arguments.iter().collect();
        // What is required first: there may be no room for the rest.
        arguments.sort_by_key(|argument| !argument.is_required());
        for argument in arguments {
            if page.is_some() && pages::is_paging(&argument.name) {
                if argument.name == pages::AFTER {
                    args.declare(argument);
                }
                continue;
            }
            if !argument.is_required() && !is_offered(argument) {
                continue;
            }
            let outcome = args.argument(schema, &mut input, argument, page.is_some());
            match outcome {
                Ok(()) => {}
                Err(refusal) if argument.is_required() => return Err(refusal),
                Err(_) => left_out.push(argument.name.clone()),
            }
        }
        args.note(&input, &left_out);
        Ok(args)
    }

    /// The `args` of the op.
    pub(super) fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("additionalProperties".into(), false.into());
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.as_slice().into());
        }
        schema.insert("properties".into(), Value::Object(self.properties.clone()));
        Value::Object(schema)
    }

    fn declare(&mut self, argument: &InputValue) {
        // A value that has a default may be left out, and then its variable may be too.
        let kind = match &argument.value_type {
            Type::NonNullType(inner) if !argument.is_required() => inner,
            whole => whole,
        };
        self.declared.push(format!("${}: {kind}", argument.name));
        self.passed.push(format!("{0}: ${0}", argument.name));
    }

    fn argument(
        &mut self,
        schema: &Schema,
        input: &mut Input<'_>,
        argument: &InputValue,
        is_paged: bool,
    ) -> Result<(), Refusal> {
        let object = plain(&argument.value_type).and_then(|name| schema.input(name));
        if let Some(object) = object.filter(|_| argument.is_required()) {
            let members = self.members(input, &object.fields, &argument.name)?;
            self.variables.insert(argument.name.clone(), members);
        } else {
            let is_first = is_paged && argument.name == "first" && argument.value_type.inner_type() == "Int";
            let name = if is_first {
                let (usual, most) = PAGE;
                let mut first = Map::new();
                first.insert("type".into(), "integer".into());
                first.insert("minimum".into(), 1.into());
                first.insert("maximum".into(), most.into());
                if !argument.is_required() {
                    first.insert("default".into(), usual.into());
                }
                self.add(argument, first, "")?
            } else {
                let value =
                    input.arg(&argument.value_type).map_err(|why| inexpressible(&argument.name, &why))?;
                self.add(argument, value, "")?
            };
            self.variables.insert(argument.name.clone(), format!("{{{name}}}").into());
        }
        self.declare(argument);
        Ok(())
    }

    /// The members of an input object as args of their own: the template that puts them together again.
    fn members(&mut self, input: &mut Input<'_>, fields: &[InputValue], of: &str) -> Result<Value, Refusal> {
        let mut template = Map::new();
        let mut members: Vec<&InputValue> = fields.iter().collect();
        members.sort_by_key(|field| !field.is_required());
        for field in members {
            if !field.is_required() && !is_offered(field) {
                continue;
            }
            let value = input.arg(&field.value_type).map_err(|why| inexpressible(&field.name, &why));
            match value.and_then(|value| self.add(field, value, of)) {
                Ok(name) => {
                    template.insert(field.name.clone(), format!("{{{name}}}").into());
                }
                Err(refusal) if field.is_required() => return Err(refusal),
                Err(_) => input.left_out = input.left_out.saturating_add(1),
            }
        }
        Ok(Value::Object(template))
    }

    /// Adds an arg and gives its name; `of` goes before a name that is taken.
    fn add(
        &mut self,
        value: &InputValue,
        mut schema: Map<String, Value>,
        of: &str,
    ) -> Result<String, Refusal> {
        if self.properties.len() >= ARGS_MAX {
            let message = format!("an op has at most {ARGS_MAX} args");
            return Err((RefusedReason::TooManyArgs, message));
        }
        let is_used = |name: &str| self.properties.contains_key(name);
        let plain = words::snake(&words::words(&value.name), NAME_MAX, "arg");
        let longer = || words::snake(&words::words(&format!("{of}_{}", value.name)), NAME_MAX, "arg");
        let name = if is_used(&plain) { longer() } else { plain };
        let name = words::unused(name, NAME_MAX, is_used)
            .ok_or_else(|| (RefusedReason::TooManyArgs, "no name is left for an arg".to_owned()))?;
        let text = value.description.as_deref().and_then(|text| texts::line(text, TEXT_MAX));
        let text = text.unwrap_or_else(|| format!("The {}.", words::words(&value.name).join(" ")));
        schema.insert("description".into(), text.into());
        let is_single = !matches!(schema.get("type").and_then(Value::as_str), Some("array" | "object"));
        if value.is_required() {
            self.required.push(name.clone());
            if is_single {
                self.confirmable.push(name.clone());
            }
        }
        self.properties.insert(name.clone(), schema.into());
        Ok(name)
    }

    fn note(&mut self, input: &Input<'_>, left_out: &[String]) {
        if !left_out.is_empty() {
            let names = left_out.iter().take(10).map(|name| format!("`{}`", quoted(name)));
            let names = names.collect::<Vec<_>>().join(", ");
            self.notes.push(("/args", format!("arguments that args cannot say are left out: {names}")));
        }
        if input.left_out > 0 {
            let message = format!("{} optional members of what is sent are left out", input.left_out);
            self.notes.push(("/args", message));
        }
        for scalar in input.texts.iter().take(10) {
            let message =
                format!("`{}` is taken for a text: the schema does not say what it is", quoted(scalar));
            self.notes.push(("/args", message));
        }
    }
}

fn inexpressible(name: &str, why: &str) -> Refusal {
    (
        RefusedReason::ArgInexpressible,
        format!("`{}` is required, and args cannot say it: {why}", quoted(name)),
    )
}
