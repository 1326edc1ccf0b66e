//! Templates in the form in which two of them are compared: what they render to, whatever the args are.
//!
//! INVARIANT: two forms are equal only if both templates render to the same for all args of the new op.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::ids::ArgName;
use crate::model::{ArgsSchema, JsonTemplate, Piece, Template};

/// The args that the old op had and the new one has not, and that could be left out: a call of the new op is one of the
/// old in which they are absent.
#[derive(Debug, Default)]
pub(super) struct Gone(BTreeSet<ArgName>);

impl Gone {
    pub(super) fn between(old: &ArgsSchema, new: &ArgsSchema) -> Self {
        let gone = old.defs().iter().filter(|(name, def)| !def.always_present() && new.def(name).is_none());
        Self(gone.map(|(name, _)| name.clone()).collect())
    }

    /// Nothing is gone: the form of a template of the new op.
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    /// Whether a template is one of them alone, so that its place stays empty.
    pub(super) fn leaves_out(&self, template: &Template) -> bool {
        template.sole_arg().is_some_and(|arg| self.0.contains(arg))
    }
}

/// What a JSON template renders to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// This scalar, or an empty container.
    Literal(Value),
    /// The value of an arg.
    Arg(ArgName),
    /// A text with args in it.
    Text(Vec<Piece>),
    Array(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl Form {
    /// `None` where nothing is rendered.
    pub(super) fn of(template: &JsonTemplate, gone: &Gone) -> Option<Self> {
        Some(match template {
            JsonTemplate::Literal(value) => Self::Literal(value.clone()),
            JsonTemplate::Arg(arg) if gone.0.contains(arg) => return None,
            JsonTemplate::Arg(arg) => Self::Arg(arg.clone()),
            JsonTemplate::Text(text) => Self::Text(text.pieces().to_vec()),
            JsonTemplate::Array(elements) => {
                let elements: Vec<Self> = elements.iter().filter_map(|one| Self::of(one, gone)).collect();
                if elements.is_empty() {
                    Self::Literal(Value::Array(Vec::new()))
                } else {
                    Self::Array(elements)
                }
            }
            JsonTemplate::Object(members) => {
                let member =
                    |(key, value): &(String, JsonTemplate)| Some((key.clone(), Self::of(value, gone)?));
                let members: BTreeMap<String, Self> = members.iter().filter_map(member).collect();
                if members.is_empty() {
                    Self::Literal(Value::Object(Map::new()))
                } else {
                    Self::Object(members)
                }
            }
        })
    }

    /// As the manifest would have it, for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Literal(value @ (Value::Array(_) | Value::Object(_))) => value.to_string(),
            _ => self.value().to_string(),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Literal(Value::String(text)) => {
                Value::String(Template(vec![Piece::Literal(text.clone())]).to_string())
            }
            Self::Literal(value) => value.clone(),
            Self::Arg(arg) => Value::String(format!("{{{arg}}}")),
            Self::Text(pieces) => Value::String(Template(pieces.clone()).to_string()),
            Self::Array(elements) => elements.iter().map(Self::value).collect(),
            Self::Object(members) => members.iter().map(|(key, form)| (key.clone(), form.value())).collect(),
        }
    }
}
