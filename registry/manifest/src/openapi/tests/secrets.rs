//! What a draft lets through of operations whose answers hold secrets, and what it says of it.

use super::*;

/// A read of this id and summary with these members in its answer.
fn reading(id: &str, summary: &str, members: &[&str]) -> Draft {
    let text = |name: &&str| ((*name).to_owned(), json!({ "type": "string" }));
    let members: Map<String, Value> = members.iter().map(text).collect();
    read_of(id, summary, members.into())
}

fn read_of(id: &str, summary: &str, members: Value) -> Draft {
    let operation = json!({ "operationId": id, "summary": summary, "responses": answers(members) });
    drafted(described(json!({ "/things": { "get": operation } })))
}

fn fields(draft: &Draft) -> Vec<String> {
    let op = ops(draft).into_iter().next().unwrap().1;
    op["pick"]["fields"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

fn noted<'d>(draft: &'d Draft, tail: &str) -> Vec<&'d str> {
    let here = draft.notes.iter().filter(|note| note.op.is_some() && note.pointer.ends_with(tail));
    here.map(|note| note.message.as_str()).collect()
}

#[test]
fn what_may_be_a_secret_is_left_out_of_a_pick_and_named() {
    for name in [
        "auth",
        "key",
        "mobileKey",
        "host_key",
        "encoded_jit_config",
        "activation_code",
        "conference_code",
        "invite_code",
        "dsn",
        "connection_string",
        "session",
        "bearer",
        "signature",
        "pin",
        "ssn",
    ] {
        let draft = reading("getThing", "Get a thing.", &["id", name]);
        assert_eq!(fields(&draft), ["id"], "{name}");
        let named = noted(&draft, "/pick").iter().any(|note| note.contains(&format!("`{name}`")));
        assert!(named, "{name}: {:?}", draft.notes);
    }
}

#[test]
fn what_only_looks_like_a_secret_is_picked_and_not_noted() {
    let near = ["country_code", "keyboard", "monkey", "primary_language", "status_code", "value"];
    let draft = reading("getThing", "Get a thing.", &near);
    let mut fields = fields(&draft);
    fields.sort();
    assert_eq!(fields, near);
    assert!(noted(&draft, "/pick").is_empty() && noted(&draft, "/get_thing").is_empty(), "{:?}", draft.notes);
}

#[test]
fn what_lies_deep_is_named_by_its_path() {
    let key = json!({ "type": "object", "properties": { "id": { "type": "string" }, "key": { "type": "string" } } });
    let auth = json!({ "type": "array", "items": { "type": "object", "properties": {
        "name": { "type": "string" }, "auth": { "type": "string" }
    } } });
    let deep = json!({ "type": "object", "properties": { "auths": auth, "namespace": key } });
    let draft = read_of("getThing", "Get a thing.", json!({ "deep": deep }));
    assert_eq!(fields(&draft), ["deep.auths[*].name", "deep.namespace.id"]);
    let notes = noted(&draft, "/pick");
    assert!(notes[0].contains("`deep.auths[*].auth`, `deep.namespace.key`"), "{notes:?}");
}

#[test]
fn an_operation_that_speaks_of_secrets_says_so_and_keeps_its_bare_values() {
    let bare = ["config", "content", "data", "name", "value"];
    for (id, summary) in [
        ("listEnv", "List all."),
        ("x", "Reads the environment variables."),
        ("x", "Create an API key"),
        ("x", "Read a secret."),
        ("getCredentials", "Get them."),
        ("resetPassword", "Set it."),
        ("createToken", "Create it."),
    ] {
        let draft = reading(id, summary, &bare);
        assert_eq!(fields(&draft), ["name"], "{id} {summary}");
        let notes: Vec<_> = draft.notes.iter().filter(|note| note.message.contains("speaks of")).collect();
        assert_eq!(notes.len(), 1, "{id} {summary}");
        assert!(notes[0].op.is_some());
    }
    assert_eq!(fields(&reading("getThing", "Get a thing.", &bare)).len(), bare.len());
}

#[test]
fn the_values_below_what_is_named_for_secrets_are_left_out_anywhere() {
    let env = json!({ "type": "array", "items": { "type": "object", "properties": {
        "name": { "type": "string" }, "value": { "type": "string" }
    } } });
    let draft =
        read_of("getThing", "Get a thing.", json!({ "id": { "type": "string" }, "env": env.clone() }));
    assert_eq!(fields(&draft), ["id", "env[*].name"]);
    let draft = read_of("getThing", "Get a thing.", json!({ "env": env }));
    assert_eq!(fields(&draft), ["name"], "the list is the root");
}

#[test]
fn an_answer_of_secrets_alone_is_refused_and_names_them() {
    let operation =
        json!({ "operationId": "getThing", "responses": answers(json!({ "key": { "type": "string" } })) });
    let good = json!({ "operationId": "fine", "responses": answers(json!({ "id": { "type": "string" } })) });
    let draft = drafted(described(json!({ "/a": { "get": operation }, "/b": { "get": good } })));
    assert_eq!(reasons(&draft), ["nothing_to_pick"]);
    assert!(draft.refused[0].message.contains("`key`"), "{}", draft.refused[0].message);
}

#[test]
fn an_arg_that_may_be_of_several_types_is_noted() {
    let several = json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] });
    let any = json!({ "anyOf": [{ "type": "string" }, { "type": "boolean" }] });
    let number = json!({ "anyOf": [{ "type": "number" }, { "type": "integer" }] });
    let inner = json!({ "type": "object", "properties": { "deep": several } });
    let body = |members: Value| {
        let schema = json!({ "type": "object", "properties": members });
        let operation = json!({
            "operationId": "addBook", "responses": { "204": { "description": "done" } },
            "requestBody": { "content": { "application/json": { "schema": schema } } }
        });
        drafted(described(json!({ "/books": { "post": operation } })))
    };
    let draft = body(json!({ "shelf": several, "any": any, "count": number }));
    assert_eq!(ops(&draft)["add_book"]["args"]["properties"]["shelf"]["type"], "string");
    let note = noted(&draft, "/properties/shelf");
    assert!(note[0].contains("`integer` too") && note[0].contains("takes `string`"), "{note:?}");
    assert_eq!(noted(&draft, "/properties/any").len(), 1);
    assert!(noted(&draft, "/properties/count").is_empty(), "an integer is a number");
    let draft = body(json!({ "inner": inner }));
    assert!(noted(&draft, "/args").iter().any(|note| note.contains("several types")), "{:?}", draft.notes);
}

#[test]
fn the_summary_of_a_service_has_no_heading() {
    let mut root = described(json!({ "/things": { "get": {
        "operationId": "x", "responses": answers(json!({ "id": { "type": "string" } }))
    } } }));
    root["info"]["description"] = json!("# Introduction\n\nThe books of a library. And more.\n");
    let manifest: Value = serde_json::from_str(&drafted(root).manifest).unwrap();
    assert_eq!(manifest["summary"], "Draft: The books of a library.");
}
