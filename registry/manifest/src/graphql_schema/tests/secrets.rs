//! What a draft selects of types that hold secrets, and what it says of it.

use serde_json::Value;

use super::super::{Schema, Wanted};
use super::drafting::drafted;
use crate::draft::Draft;

fn of(schema: &str) -> (Draft, Value) {
    let schema = Schema::read(schema.as_bytes()).unwrap();
    let draft = drafted(&schema, Wanted::All).unwrap();
    let ops = serde_json::from_str::<Value>(&draft.manifest).unwrap()["ops"].clone();
    (draft, ops)
}

fn message<'d>(draft: &'d Draft, pointer: &str) -> &'d str {
    &draft.notes.iter().find(|note| note.pointer == pointer).unwrap().message
}

#[test]
fn what_may_be_a_secret_is_not_selected_and_is_named() {
    let (draft, ops) =
        of("type Query { thing: Thing } type Thing { id: ID hostKey: String inviteCode: String \
         countryCode: String monkey: String hasKey: Boolean value: String inner: [Inner] } \
         type Inner { name: String auth: String }");
    let fields = &ops["thing"]["pick"]["fields"];
    let kept = ["id", "countryCode", "monkey", "hasKey", "value", "inner[*].name"];
    assert_eq!(fields, &serde_json::json!(kept));
    let note = message(&draft, "/ops/thing/pick");
    assert!(note.contains("`hostKey`, `inviteCode`, `inner[*].auth`"), "{note}");
    assert!(!draft.notes.iter().any(|note| note.message.contains("speaks of")));
}

#[test]
fn an_operation_that_speaks_of_secrets_says_so_and_keeps_its_bare_values() {
    let (draft, ops) = of(
        "type Query { variables: [Thing] projectKey: String readEnv: String keyCount: Int other: Thing } \
         type Thing { name: String value: String content: String }",
    );
    assert_eq!(ops["variables"]["pick"]["fields"], serde_json::json!(["name"]));
    assert_eq!(ops["other"]["pick"]["fields"], serde_json::json!(["name", "value", "content"]));
    assert!(message(&draft, "/ops/variables").contains("speaks of `variables`"));
    for bare in ["project_key", "read_env"] {
        assert!(ops.get(bare).is_none(), "{bare}: a bare text is the secret itself");
    }
    assert!(ops.get("key_count").is_some());
}
