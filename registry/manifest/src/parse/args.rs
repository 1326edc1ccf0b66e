//! The args of an op: hands the schema to the compiler and gives each of its faults a code. DESIGN, "Manifest": args.

use super::reader::Value;
use crate::args::{SchemaFault, SchemaFaultKind};
use crate::diagnostic::Code;
use crate::model::ArgsSchema;

/// The compiled schema; without one an op takes nothing.
pub(super) fn args(value: Option<&Value<'_>>) -> Option<ArgsSchema> {
    let Some(value) = value else {
        let nothing =
            serde_json::json!({ "type": "object", "additionalProperties": false, "properties": {} });
        return crate::args::compile(&nothing).ok();
    };
    value.object()?;
    match crate::args::compile(&value.node.to_value()) {
        Ok(schema) => Some(schema),
        Err(faults) => {
            for SchemaFault { pointer, kind, message, help } in faults {
                value.faults.add_below(code(kind, &pointer), &value.at, &pointer, message, help);
            }
            None
        }
    }
}

fn code(kind: SchemaFaultKind, pointer: &str) -> Code {
    match kind {
        SchemaFaultKind::BadKeywordValue if pointer.ends_with("/description") => Code::ArgsDescription,
        SchemaFaultKind::OpenObject => Code::ArgsOpen,
        SchemaFaultKind::UnknownKeyword | SchemaFaultKind::MisplacedKeyword => Code::ArgsKeyword,
        SchemaFaultKind::NotAnObjectSchema | SchemaFaultKind::BadType => Code::ArgsType,
        SchemaFaultKind::BadKeywordValue => Code::ArgsValue,
        SchemaFaultKind::BadPattern => Code::ArgsPattern,
        SchemaFaultKind::UnknownFormat => Code::ArgsFormat,
        SchemaFaultKind::BadDefault => Code::ArgsDefault,
        SchemaFaultKind::RequiredUndeclared => Code::ArgsRequired,
        SchemaFaultKind::BadArgName => Code::ArgsName,
        SchemaFaultKind::NoDescription => Code::ArgsDescription,
        SchemaFaultKind::TooDeep | SchemaFaultKind::TooMany => Code::ArgsSize,
    }
}
