//! Paths into an answer: conditions, messages, and the pick. DESIGN, "Pick".
//!
//! Refuses paths whose effect a reviewer could not say out loud. INVARIANT: where a part is `None` a fault was reported.

use super::reader::{Object, Value, clip, clip_line};
use crate::diagnostic::Code;
use crate::json::Node;
use crate::pick::{
    Condition, PathFault, Pick, PickFault, PickFaultKind, PickPart, Projection, SingularPath, Test,
};

/// Most values of an `in`.
const IN_MAX: usize = 50;

/// A path to at most one value.
pub(super) fn path(value: &Value<'_>) -> Option<SingularPath> {
    let text = value.text()?;
    match crate::pick::parse_singular(text) {
        Ok(path) => Some(path),
        Err(fault) => {
            let code = match fault {
                PathFault::IndexTooLarge => Code::PathIndex,
                fault if is_selector(fault) => Code::AnswerPathPlural,
                _ => Code::AnswerPath,
            };
            value.fault(code, fault.to_string(), "write a path to one value, such as `$.error.message`");
            None
        }
    }
}

/// Whether a path follows RFC 9535, and only its selectors have no place here.
fn is_selector(fault: PathFault) -> bool {
    matches!(
        fault,
        PathFault::Descendant
            | PathFault::Filter
            | PathFault::Slice
            | PathFault::Union
            | PathFault::NegativeIndex
            | PathFault::Wildcard
    )
}

/// The members `path` and one of `is`, `in`, `exists` of an object.
pub(super) fn condition(object: &mut Object<'_>) -> Option<Condition> {
    let path = object.required("path").and_then(|value| path(&value));
    let test = object.one_of(&["is", "in", "exists"]).and_then(|(name, value)| match name {
        "is" => scalar(&value).map(Test::Is),
        "in" => any_of(&value),
        _ => value.flag().map(Test::Exists),
    });
    Some(Condition { path: path?, test: test? })
}

fn scalar(value: &Value<'_>) -> Option<serde_json::Value> {
    match value.node {
        Node::Array(_) | Node::Object(_) => value.wrong("a single value"),
        scalar => Some(scalar.to_value()),
    }
}

fn any_of(value: &Value<'_>) -> Option<Test> {
    let elements = value.elements()?;
    if !(1..=IN_MAX).contains(&elements.len()) {
        value.fault(Code::OutOfRange, format!("there are {} values", elements.len()), "write 1 to 50 values");
    }
    let scalars: Vec<_> = elements.iter().map(scalar).collect();
    scalars.into_iter().collect::<Option<_>>().map(Test::In)
}

/// `"none"`, or a root and fields.
pub(super) fn pick(value: &Value<'_>) -> Option<Pick> {
    if let Node::String(word) = value.node {
        if word == "none" {
            return Some(Pick::None);
        }
        let message = format!("`{}` is not a pick", clip(word));
        value.fault(Code::UnknownWord, message, "write `\"none\"`, or `{\"fields\": […]}`");
        return None;
    }
    let mut object = value.object()?;
    let root = object.optional("root");
    let fields = object.required("fields");
    let projection = fields.and_then(|fields| projection(root.as_ref(), &fields));
    object.finish();
    projection.map(Pick::Fields)
}

fn projection(root: Option<&Value<'_>>, fields: &Value<'_>) -> Option<Projection> {
    let root_text = match root {
        Some(root) => Some(root.text()?),
        None => None,
    };
    let elements = fields.elements()?;
    let read: Vec<_> = elements.iter().map(field).collect();
    let texts = read.into_iter().collect::<Option<Vec<_>>>()?;
    match crate::pick::parse_projection(root_text, &texts) {
        Ok(projection) => Some(projection),
        Err(faults) => {
            for PickFault { at, kind } in faults {
                let element = |at: usize| elements.get(at).unwrap_or(fields);
                let place = match at {
                    PickPart::Root => root.unwrap_or(fields),
                    PickPart::Fields => fields,
                    PickPart::Field(at) | PickPart::Alias(at) => element(at),
                };
                let (code, help) = pick_code(&kind);
                place.fault(code, clip_line(&kind.to_string()), help);
            }
            None
        }
    }
}

fn field<'a>(value: &Value<'a>) -> Option<(&'a str, Option<&'a str>)> {
    if let Node::String(path) = value.node {
        return Some((path, None));
    }
    let Node::Object(_) = value.node else { return value.wrong("a path, or an object with `path` and `as`") };
    let mut object = value.object()?;
    let path = object.required("path").and_then(|value| value.text());
    let alias = object.required("as").and_then(|value| value.text());
    object.finish();
    Some((path?, Some(alias?)))
}

fn pick_code(kind: &PickFaultKind) -> (Code, &'static str) {
    match kind {
        PickFaultKind::Path(PathFault::TooLong | PathFault::TooManySteps) => {
            (Code::PickSize, "write a shorter path")
        }
        PickFaultKind::Path(PathFault::IndexTooLarge) => (Code::PathIndex, "count from 0 to 999"),
        PickFaultKind::Path(PathFault::Descendant) => {
            (Code::PickDescendant, "write a path such as `user.login`")
        }
        PickFaultKind::Path(fault) if is_selector(*fault) => {
            (Code::PickSelector, "write names, `[0]` and `[*]`, such as `labels[*].name`")
        }
        PickFaultKind::NoFields | PickFaultKind::TooManyFields => {
            (Code::PickSize, "write 1 to 200 fields, or `\"none\"`")
        }
        PickFaultKind::IndexWithoutAs | PickFaultKind::BadAlias => {
            (Code::PickAlias, "write `{\"path\": \"tags[0]\", \"as\": \"first_tag\"}`")
        }
        PickFaultKind::Collision { .. } => {
            (Code::PickCollision, "keep one of the two, or give one a name with `as`")
        }
        PickFaultKind::Repeated { .. } => (Code::PickRepeated, "keep one of the two"),
        PickFaultKind::Path(_) => {
            (Code::PickSyntax, "write a path such as `user.login`, odd names as `['odd.name']`")
        }
    }
}
