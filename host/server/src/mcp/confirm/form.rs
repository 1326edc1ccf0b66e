//! The form by which a client asks the person, and what she said in it.
//!
//! Refuses what would not be shown whole. INVARIANT: only a plain `true` of an accepted form is a yes.

use std::collections::BTreeMap;

use pinhole_manifest::visible::visible;
use pinhole_runtime::local::Confirmable;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, PrimitiveSchemaDefinition,
};
use serde_json::{Value, json};

/// The one field.
const FIELD: &str = "yes";
/// Longest message, in characters: clients cut what is longer, and a yes to what was cut is none.
const MESSAGE_CHARS_MAX: usize = 1_500;

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Nothing.
    Nothing,
}

/// The form for a write, or nothing where it would be too long to be shown whole.
pub(crate) fn form(confirmable: &Confirmable) -> Option<ElicitRequestParams> {
    let mut lines = vec![visible(&confirmable.confirm)];
    lines.push(format!("Account: {}", visible(confirmable.account.as_str())));
    for (name, value) in confirmable.args.as_object().into_iter().flatten() {
        lines.push(format!("{name} = {}", visible(&value.to_string())));
    }
    let message = lines.join("\n");
    if message.chars().count() > MESSAGE_CHARS_MAX {
        return None;
    }
    let field = json!({"type": "boolean", "title": "Do it", "default": false});
    let field: PrimitiveSchemaDefinition = serde_json::from_value(field).ok()?;
    let mut schema = ElicitationSchema::new(BTreeMap::from([(FIELD.to_owned(), field)]));
    schema.required = Some(vec![FIELD.to_owned()]);
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// What she said in it.
pub(crate) fn said(result: &ElicitResult) -> Said {
    match result.action {
        ElicitationAction::Accept => match result.content.as_ref().and_then(|content| content.get(FIELD)) {
            Some(Value::Bool(true)) => Said::Yes,
            _ => Said::No,
        },
        ElicitationAction::Decline => Said::No,
        _ => Said::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_true_of_an_accepted_form_is_a_yes() {
        let result = |action: &str, content: Value| -> ElicitResult {
            serde_json::from_value(json!({"action": action, "content": content})).unwrap()
        };
        assert_eq!(said(&result("accept", json!({"yes": true}))), Said::Yes);
        for content in
            [json!({"yes": "true"}), json!({"yes": 1}), json!({"yes": false}), json!({}), json!(true)]
        {
            assert_eq!(said(&result("accept", content.clone())), Said::No, "{content}");
        }
        assert_eq!(said(&result("decline", json!({"yes": true}))), Said::No);
        assert_eq!(said(&result("cancel", json!({"yes": true}))), Said::Nothing);
    }
}
