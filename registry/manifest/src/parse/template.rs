//! Texts and JSON values with placeholders, and the args that they name. DESIGN, "Manifest": placeholders.
//!
//! Reports broken braces here; whether an arg is declared and fits its place is judged in `uses`. INVARIANT: each
//! placeholder of a template that comes out has been noted.

use super::names::{self, is_method_key};
use super::reader::{Value, clip};
use super::uses::{Place, Uses};
use crate::diagnostic::Code;
use crate::json::Node;
use crate::model::{JsonTemplate, Piece, Template};
use crate::template::TemplateFault;

/// A text with placeholders, in one place.
pub(super) fn text(value: &Value<'_>, text: &str, place: Place, uses: &mut Uses) -> Option<Template> {
    match crate::template::parse(text) {
        Ok(template) => {
            let sole = template.sole_arg().is_some();
            for piece in template.pieces() {
                if let Piece::Arg(arg) = piece {
                    uses.note(arg.clone(), value.at.clone(), place.of(sole));
                }
            }
            Some(template)
        }
        Err(fault) => {
            uses.incomplete();
            report(value, &fault);
            None
        }
    }
}

fn report(value: &Value<'_>, fault: &TemplateFault) {
    match fault {
        TemplateFault::Unclosed => {
            value.fault(
                Code::PlaceholderUnclosed,
                "a `{` is not closed",
                "write `}` behind it, or `{{` for the brace itself",
            );
        }
        TemplateFault::Unopened => {
            value.fault(
                Code::PlaceholderUnopened,
                "a `}` has no `{`",
                "write `{` before it, or `}}` for the brace itself",
            );
        }
        TemplateFault::BadName(name) => {
            let message = format!("`{}` is not the name of an arg", clip(name));
            value.fault(
                Code::PlaceholderName,
                message,
                "write `{arg}`, or `{{` and `}}` for the braces themselves",
            );
        }
    }
}

/// A JSON value with placeholders.
pub(super) fn json(value: &Value<'_>, uses: &mut Uses) -> Option<JsonTemplate> {
    match value.node {
        Node::String(content) => {
            let template = text(value, content, Place::Value, uses)?;
            Some(match template.pieces() {
                [] => JsonTemplate::Literal("".into()),
                [Piece::Literal(literal)] => JsonTemplate::Literal(literal.as_str().into()),
                [Piece::Arg(arg)] => JsonTemplate::Arg(arg.clone()),
                _ => JsonTemplate::Text(template),
            })
        }
        Node::Array(elements) if !elements.is_empty() => {
            let elements = value.elements()?;
            let built: Vec<_> = elements.iter().map(|element| json(element, uses)).collect();
            built.into_iter().collect::<Option<_>>().map(JsonTemplate::Array)
        }
        Node::Object(members) if !members.is_empty() => {
            let entries = value.entries()?;
            let built: Vec<_> =
                entries.iter().map(|(key, entry)| Some(((*key).to_owned(), json(entry, uses)?))).collect();
            built.into_iter().collect::<Option<_>>().map(JsonTemplate::Object)
        }
        other => Some(JsonTemplate::Literal(other.to_value())),
    }
}

/// The members of a form: keys in the manifest's order, each with a value.
pub(super) fn form(value: &Value<'_>, uses: &mut Uses) -> Option<Vec<(String, JsonTemplate)>> {
    let entries = value.entries()?;
    let built: Vec<_> = entries
        .iter()
        .map(|(key, entry)| {
            let named = names::key(entry, key);
            let template = json(entry, uses)?;
            named.then(|| ((*key).to_owned(), template))
        })
        .collect();
    built.into_iter().collect()
}

/// A JSON body, whose own keys must not make the service take another method.
pub(super) fn json_body(value: &Value<'_>, uses: &mut Uses) -> Option<JsonTemplate> {
    if let Node::Object(_) = value.node {
        for (key, entry) in value.entries()? {
            if is_method_key(key) {
                names::key(&entry, key);
            }
        }
    }
    json(value, uses)
}
