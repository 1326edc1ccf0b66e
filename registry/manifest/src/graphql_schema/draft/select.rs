//! What of an answer is selected and picked: values of the type itself, and a few of what it leads to.
//!
//! Leaves out what sounds like a secret or like a link for machines, what is deprecated, and fields that want arguments.
//! INVARIANT: what is picked is selected, each path once; selections nest three deep at most.

use graphql_tools::static_graphql::schema::{Field, InputValue, Type, TypeDefinition};
use serde_json::{Value, json};

use super::super::Schema;
use super::super::schema::deprecation;
use super::pages::{Connection, listed, plain};
use crate::draft::secrets::{Held, Topic, may_be_secret};
use crate::draft::words::is_noise;

/// Most values of the type itself.
const OWN_MAX: usize = 40;
/// Most values of what it leads to, where it has values of its own.
const BRIEF_MAX: usize = 4;
/// Most values of what it leads to, where it has hardly any.
const WHOLE_MAX: usize = 20;
/// A type with fewer values of its own is a wrapper around what it leads to.
const WRAPPER: usize = 4;
/// Most paths of a pick here; a manifest may have 200.
const PATHS_MAX: usize = 80;
/// Values by which a reader knows a thing, the best first.
const TELLING: &[&str] = &[
    "id",
    "identifier",
    "number",
    "key",
    "slug",
    "login",
    "name",
    "displayName",
    "title",
    "state",
    "status",
    "type",
    "email",
    "code",
    "url",
];

/// What is selected and picked.
pub(super) struct Picked {
    /// The selection behind the field, brackets and all; empty for a value.
    pub(super) selection: String,
    /// The `pick` of the op.
    pub(super) pick: Value,
    /// The paths of what sounds like a secret.
    pub(super) left_out: Vec<String>,
}

/// Looks for what to pick of the answer of a field.
pub(super) fn picked(
    schema: &Schema,
    field: &Field,
    page: Option<&Connection<'_>>,
    topic: Topic,
) -> Option<Picked> {
    let mut select = Select { schema, left_out: Vec::new() };
    if let Some(page) = page {
        let node = select.body(page.node, topic)?;
        return Some(Picked {
            selection: page.around(&node.text()),
            pick: json!({ "root": page.root(), "fields": node.paths }),
            left_out: select.left_out,
        });
    }
    let of = plain(&field.field_type).or_else(|| listed(&field.field_type))?;
    if select.is_value(&field.field_type) {
        // The answer of an operation on secrets is a secret, whatever it is called.
        let held = held(&field.field_type);
        if may_be_secret(&field.name, held, topic) || may_be_secret("value", held, topic) {
            return None;
        }
        let pick = json!({ "root": "$.data", "fields": [field.name] });
        return Some(Picked { selection: String::new(), pick, left_out: Vec::new() });
    }
    let body = select.body(of, topic)?;
    Some(Picked {
        selection: format!(" {}", body.text()),
        pick: json!({ "root": format!("$.data.{}", field.name), "fields": body.paths }),
        left_out: select.left_out,
    })
}

/// The name of the type alone, where an answer has nothing else: that it came is what a caller learns.
pub(super) fn type_alone(schema: &Schema, field: &Field) -> Option<Picked> {
    let of = plain(&field.field_type).or_else(|| listed(&field.field_type))?;
    schema.is_composite(of).then(|| Picked {
        selection: " { __typename }".to_owned(),
        pick: json!({ "root": format!("$.data.{}", field.name), "fields": ["__typename"] }),
        left_out: Vec::new(),
    })
}

/// A selection, and the paths that it opens.
#[derive(Default)]
struct Body {
    parts: Vec<String>,
    paths: Vec<String>,
}

impl Body {
    fn text(&self) -> String {
        format!("{{ {} }}", self.parts.join(" "))
    }

    fn some(self) -> Option<Self> {
        (!self.paths.is_empty()).then_some(self)
    }
}

struct Select<'s> {
    schema: &'s Schema,
    left_out: Vec<String>,
}

impl Select<'_> {
    /// A scalar or a list of scalars, as far as the schema says.
    fn is_value(&self, kind: &Type) -> bool {
        let Some(of) = plain(kind).or_else(|| listed(kind)) else { return false };
        match self.schema.find(of) {
            Some(TypeDefinition::Scalar(_)) => !holds_anything(of),
            Some(TypeDefinition::Enum(_)) => true,
            _ => false,
        }
    }

    /// Whether a field is one to select, by its name and what it asks.
    fn is_fit(&mut self, field: &Field, before: &str, topic: Topic) -> bool {
        let is_value = self.is_value(&field.field_type);
        if is_value && may_be_secret(&field.name, held(&field.field_type), topic) {
            let path = format!("{before}{}", field.name);
            if !self.left_out.contains(&path) {
                self.left_out.push(path);
            }
            return false;
        }
        let noise = field.name != "url" && (is_noise(&field.name) || field.name.ends_with("Path"));
        !noise
            && !is_echo(&field.name)
            && !field.name.starts_with("__")
            && deprecation(&field.directives).is_none()
            && !field.arguments.iter().any(InputValue::is_required)
    }

    /// The values of a type, and a few of what it leads to.
    fn body(&mut self, of: &str, topic: Topic) -> Option<Body> {
        if let Some(TypeDefinition::Union(union)) = self.schema.find(of) {
            return self.union(&union.types, topic);
        }
        let fields = self.schema.fields(of);
        let own = fields.iter().filter(|field| self.is_value(&field.field_type)).count();
        let most = if own < WRAPPER { WHOLE_MAX } else { BRIEF_MAX };
        let mut body = Body::default();
        let mut values = 0_usize;
        for field in fields {
            let is_value = self.is_value(&field.field_type);
            if is_value && values >= OWN_MAX || !self.is_fit(field, "", topic) {
                continue;
            }
            if is_value {
                values = values.saturating_add(1);
                body.parts.push(field.name.clone());
                body.paths.push(field.name.clone());
            } else if let Some(inner) = self.inner(field, most, topic)
                && body.paths.len().saturating_add(inner.paths.len()) <= PATHS_MAX
            {
                let each = if listed(&field.field_type).is_some() { "[*]" } else { "" };
                body.parts.push(format!("{} {}", field.name, inner.text()));
                body.paths.extend(inner.paths.iter().map(|path| format!("{}{each}.{path}", field.name)));
            }
        }
        body.some()
    }

    /// What a field leads to: its values, the telling ones where only a few are wanted.
    fn inner(&mut self, field: &Field, most: usize, topic: Topic) -> Option<Body> {
        let of = plain(&field.field_type).or_else(|| listed(&field.field_type))?;
        if !matches!(self.schema.find(of), Some(TypeDefinition::Object(_) | TypeDefinition::Interface(_))) {
            return None;
        }
        let mut fit: Vec<&Field> = Vec::new();
        let each = if listed(&field.field_type).is_some() { "[*]" } else { "" };
        let (before, topic) = (format!("{}{each}.", field.name), topic.below(&field.name));
        for field in self.schema.fields(of) {
            if self.is_value(&field.field_type) && self.is_fit(field, &before, topic) {
                fit.push(field);
            }
        }
        let names = telling(fit, most);
        Body { parts: names.clone(), paths: names }.some()
    }

    /// A few values of each type of a union. A field that two types have with different types cannot be asked for.
    fn union(&mut self, types: &[String], topic: Topic) -> Option<Body> {
        let schema = self.schema;
        let mut body = Body::default();
        for of in types.iter().take(20) {
            let mut fit = Vec::new();
            for field in schema.fields(of) {
                let same = |other: &String| {
                    schema.field(other, &field.name).is_none_or(|other| other.field_type == field.field_type)
                };
                if self.is_value(&field.field_type) && self.is_fit(field, "", topic) && types.iter().all(same)
                {
                    fit.push(field);
                }
            }
            let names = telling(fit, BRIEF_MAX);
            if !names.is_empty() {
                body.parts.push(format!("... on {of} {{ {} }}", names.join(" ")));
                for name in names {
                    if !body.paths.contains(&name) {
                        body.paths.push(name);
                    }
                }
            }
        }
        body.parts.insert(0, "__typename".to_owned());
        body.paths.insert(0, "__typename".to_owned());
        (body.paths.len() > 1).then_some(body)
    }
}

/// What a scalar holds, by the names that the language gives its own.
fn held(kind: &Type) -> Held {
    match plain(kind).or_else(|| listed(kind)) {
        Some("Boolean") => Held::Flag,
        Some("Int" | "Float") => Held::Number,
        _ => Held::Text,
    }
}

/// The names of so many fields, the telling ones where not all have room.
fn telling(mut fields: Vec<&Field>, most: usize) -> Vec<String> {
    if fields.len() > most {
        let rank = |name: &str| TELLING.iter().position(|one| *one == name).unwrap_or(TELLING.len());
        fields.sort_by_key(|field| rank(&field.name));
        fields.truncate(most);
    }
    fields.into_iter().map(|field| field.name.clone()).collect()
}

/// Whether a name is Relay's for a text that a client sends and gets back, of which no caller needs to know.
pub(super) fn is_echo(name: &str) -> bool {
    name == "clientMutationId"
}

/// Whether a scalar of this name is likely no single value.
pub(super) fn holds_anything(scalar: &str) -> bool {
    let lower = scalar.to_ascii_lowercase();
    lower.contains("json")
        || lower.contains("upload")
        || matches!(lower.as_str(), "object" | "map" | "any" | "_any")
}
