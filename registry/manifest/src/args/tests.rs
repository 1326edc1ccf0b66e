//! Schemas that are taken and those that are not; args in and out of their normal form.

mod limits;
mod normal;
mod schema;

use serde_json::{Map, Value, json};

use super::compile;
use crate::model::{ArgFault, Args, ArgsSchema};

/// Compiles args of these properties.
fn args(properties: &Value, required: &[&str]) -> ArgsSchema {
    let schema = json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties});
    compile(&schema).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The normal form through both ways in, which must agree.
fn normal(schema: &ArgsSchema, value: &Value) -> Result<Args, Vec<ArgFault>> {
    let by_value = schema.normalise(map(value));
    let by_text = schema.parse_text(&value.to_string());
    assert_eq!(by_value.is_ok(), by_text.is_ok(), "{value}: {by_value:?} {by_text:?}");
    if let (Ok(a), Ok(b)) = (&by_value, &by_text) {
        assert_eq!(a, b, "{value}");
    }
    by_value
}

fn pointers(result: Result<Args, Vec<ArgFault>>) -> Vec<String> {
    result.unwrap_err().into_iter().map(|fault| fault.pointer).collect()
}
