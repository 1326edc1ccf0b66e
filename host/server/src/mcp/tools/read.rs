//! Reading what a model gives: which arguments are the op's, which are this door's, and what was plainly meant.
//!
//! Models write numbers, truth values, lists and objects as text, leave `arguments` out and put `null` where they mean
//! nothing. Where the op's schema leaves no doubt that is set right; everything else is left for the op's own parser to
//! refuse. INVARIANT: a call that the op takes as it is stays as it is, and no digit of a number is lost on the way.

use pinhole_grant::Label;
use pinhole_manifest::Access;
use pinhole_runtime::local::Yes;
use rmcp::model::JsonObject;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::{ArgumentError, ToolCall};
use super::offer::ConfirmArg;
use super::op::OpTool;
use super::{Toolbox, fixed};

/// Reads the arguments of an op's own tool.
pub(super) fn own(tool: OpTool<'_>, mut given: JsonObject) -> Result<ToolCall<'_>, ArgumentError> {
    let extras = tool.extras();
    let own = |name: &String| tool.op().args.defs().contains_key(name.as_str());
    let unknown: Vec<String> = given
        .keys()
        .filter(|name| !own(name) && !extras.names().any(|extra| extra == *name))
        .cloned()
        .collect();
    if !unknown.is_empty() {
        let known = tool.op().args.defs().keys().map(ToString::to_string);
        let known = known.chain(extras.names().map(str::to_owned)).collect();
        return Err(ArgumentError::Unknown { names: unknown, known });
    }
    let mut take = |name: &Option<String>| name.as_ref().and_then(|name| given.remove(name));
    let (connection, next, confirm) = (take(&extras.connection), take(&extras.next), take(&extras.confirm));
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    let connection = chosen(&tool, &name(&extras.connection), connection)?;
    let next = text(&name(&extras.next), next)?.filter(|next| !next.is_empty());
    let yes = yes(&tool, &name(&extras.confirm), confirm)?;
    let args = coerced(tool.op().args.json(), &Value::Object(given));
    Ok(ToolCall { tool, args, connection, next, yes })
}

/// Who asks for an op by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A tool that runs every op of an access.
    Run(Access),
    /// The tool that explains a call.
    Explain,
}

/// Reads the arguments of a tool that takes any op.
pub(super) fn of_any_op<'c>(
    toolbox: &Toolbox<'c>,
    by: By,
    given: Option<JsonObject>,
) -> Result<ToolCall<'c>, ArgumentError> {
    let mut given = Given::new(given, fixed::taken(by, toolbox.offer.confirm_arg()))?;
    let name = given.text("op")?.ok_or_else(|| ArgumentError::Missing { name: "op".to_owned() })?;
    let tool = toolbox.named(&name).ok_or(ArgumentError::NoSuchOp { given: name })?;
    if let By::Run(access) = by
        && access != tool.op().access
    {
        let tool_name = if tool.op().access == Access::Read { fixed::RUN_READ } else { fixed::RUN_WRITE };
        return Err(ArgumentError::OtherTool { op: tool.id(), tool: tool_name });
    }
    let connection = chosen(&tool, "connection", given.take("connection"))?;
    let next = given.text("next")?.filter(|next| !next.is_empty());
    if next.is_some() && tool.op().page.is_none() {
        return Err(ArgumentError::NoPages { op: tool.id() });
    }
    let yes = yes(&tool, "confirm", given.take("confirm"))?;
    let args = match given.take("args") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(args @ Value::Object(_)) => coerced(tool.op().args.json(), &args),
        // As it was written: the op's parser also sees a key that stands twice.
        Some(Value::String(text)) if is_json(&text, '{') => text,
        Some(_) => return Err(ArgumentError::Kind { name: "args".to_owned(), wanted: "an object" }),
    };
    Ok(ToolCall { tool, args, connection, next, yes })
}

/// The arguments of a tool that takes these and no others.
#[derive(Debug)]
pub(super) struct Given(JsonObject);

impl Given {
    pub(super) fn new(given: Option<JsonObject>, known: &[&str]) -> Result<Self, ArgumentError> {
        let given = given.unwrap_or_default();
        let names: Vec<String> =
            given.keys().filter(|name| !known.contains(&name.as_str())).cloned().collect();
        if names.is_empty() {
            return Ok(Self(given));
        }
        Err(ArgumentError::Unknown { names, known: known.iter().map(|name| (*name).to_owned()).collect() })
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, ArgumentError> {
        text(name, self.take(name))
    }

    /// A count of at least 1.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>, ArgumentError> {
        let count = match self.take(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        };
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
        count.map(Some).ok_or_else(|| kind(name, "a whole number from 1"))
    }
}

fn kind(name: &str, wanted: &'static str) -> ArgumentError {
    ArgumentError::Kind { name: name.to_owned(), wanted }
}

fn text(name: &str, value: Option<Value>) -> Result<Option<String>, ArgumentError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(kind(name, "a text")),
    }
}

/// The connection that is meant: the one there is, or the one that is named.
fn chosen(tool: &OpTool<'_>, name: &str, given: Option<Value>) -> Result<Label, ArgumentError> {
    let labels = tool.labels();
    let all = || labels.iter().map(ToString::to_string).collect();
    match (text(name, given)?, labels.as_slice()) {
        (None, [one]) => Ok((*one).clone()),
        (None, _) => Err(ArgumentError::WhichConnection { name: name.to_owned(), labels: all() }),
        (Some(given), _) => {
            let found = labels.iter().find(|label| label.as_str() == given);
            found
                .map(|label| (*label).clone())
                .ok_or_else(|| ArgumentError::NoSuchConnection { given, labels: all() })
        }
    }
}

/// Whether the person said yes in her client. Without the operator's word there is no such argument.
fn yes(tool: &OpTool<'_>, name: &str, given: Option<Value>) -> Result<Yes, ArgumentError> {
    let confirmed = match given {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(Value::String(text)) if text == "true" || text == "false" => text == "true",
        Some(_) => return Err(kind(name, "true or false")),
    };
    let offered = tool.confirm_arg() == ConfirmArg::Reversible;
    Ok(if confirmed && offered { Yes::InTheClient } else { Yes::Approval })
}

/// A value as JSON text, with what a schema leaves no doubt about set right.
fn coerced(schema: &Value, given: &Value) -> String {
    let mut text = String::new();
    write(schema, given, &mut text);
    text
}

/// Follows the schema, which is shallow, not the value.
fn write(schema: &Value, given: &Value, text: &mut String) {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    match (kind, given) {
        ("object", Value::Object(members)) => {
            text.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                push_json(&Value::String(name.clone()), text);
                text.push(':');
                let own = schema.get("properties").and_then(|properties| properties.get(name));
                write(own.unwrap_or(&Value::Null), member, text);
            }
            text.push('}');
        }
        ("array", Value::Array(elements)) => {
            text.push('[');
            for (place, element) in elements.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write(schema.get("items").unwrap_or(&Value::Null), element, text);
            }
            text.push(']');
        }
        (kind, Value::String(given)) if is_written(kind, given) => text.push_str(given),
        _ => push_json(given, text),
    }
}

fn push_json(value: &Value, text: &mut String) {
    // A value has nothing that JSON lacks.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}

/// Whether a text is exactly the JSON of a value of this kind. It then goes on as it was written, with every digit and every
/// key that stands twice, for the op's parser to judge.
fn is_written(kind: &str, text: &str) -> bool {
    match kind {
        "integer" | "number" => text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && is_whole(text),
        "boolean" => text == "true" || text == "false",
        "array" => is_json(text, '['),
        "object" => is_json(text, '{'),
        _ => false,
    }
}

/// Whether a text is JSON that opens with this bracket, whatever white space is around it.
fn is_json(text: &str, opens: char) -> bool {
    text.trim_start().starts_with(opens) && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Whether a text is a JSON value from its first to its last character.
fn is_whole(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok_and(|raw| raw.get() == text)
}

#[cfg(test)]
mod tests;
