//! Descriptions with parts of them replaced by anything: nothing panics, and what is drafted loads.

use proptest::prelude::*;

use super::*;

/// A description that has something of everything.
fn rich() -> Value {
    let mut root = described(json!({
        "/books": {
            "parameters": [{ "name": "x-shelf", "in": "header", "schema": { "type": "string" } }],
            "get": {
                "operationId": "listBooks",
                "parameters": [
                    { "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 1 } },
                    { "name": "sort", "in": "query", "schema": { "type": "string", "enum": ["a", "b"], "default": "a" } },
                    { "$ref": "#/components/parameters/limit" }
                ],
                "responses": { "200": { "headers": { "Link": {} }, "content": { "application/json": { "schema": { "type": "array", "items": { "$ref": "#/components/schemas/Book" } } } } } }
            },
            "post": {
                "operationId": "addBook",
                "requestBody": { "$ref": "#/components/requestBodies/book" },
                "responses": { "201": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Book" } } } }, "400": { "content": { "application/json": { "schema": { "type": "object", "properties": { "message": { "type": "string" } } } } } } }
            }
        },
        "/books/{id}.json": { "delete": { "parameters": [{ "name": "id", "in": "path", "schema": { "type": "string" } }], "responses": { "204": {} } } }
    }));
    root["components"]["schemas"]["Book"] = json!({
        "allOf": [{ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" }, "next": { "$ref": "#/components/schemas/Book" } } },
                  { "oneOf": [{ "properties": { "title": { "type": ["string", "null"], "maxLength": 10 } } }, { "type": "null" }] }],
        "additionalProperties": { "type": "string" }
    });
    root["components"]["parameters"] = json!({ "limit": { "name": "limit", "in": "query", "description": "How many (max 100).", "schema": { "type": "integer" } } });
    root["components"]["requestBodies"] = json!({ "book": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Book" } } } } });
    root
}

/// Every place in a document.
fn places(value: &Value, before: &str, found: &mut Vec<String>) {
    found.push(before.to_owned());
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            places(member, &format!("{before}/{}", name.replace('~', "~0").replace('/', "~1")), found);
        }),
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(at, one)| places(one, &format!("{before}/{at}"), found));
        }
        _ => {}
    }
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!({ "$ref": "#/paths/~1books" })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "https://elsewhere.pinhole.dev/a.json" })),
        Just(json!("{id}{")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(
                ("(type|properties|items|allOf|required|enum|name|in|schema|[a-z{}/~]{0,5})", inner),
                0..4
            )
            .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Drafts and verifies, and holds what comes out to what is promised.
fn try_all(root: Value) -> Result<(), TestCaseError> {
    let Ok(description) = Description::new(root) else { return Ok(()) };
    if let Ok(draft) = draft(&description, &all()) {
        let manifest = crate::read(draft.manifest.as_bytes()).manifest;
        prop_assert!(manifest.is_some(), "{}", draft.manifest);
        let found = verify(&manifest.unwrap(), &description);
        let wrong = found.iter().find(|one| one.severity == crate::diagnostic::Severity::Error);
        prop_assert!(wrong.is_none(), "{}\n{}", wrong.unwrap(), draft.manifest);
    }
    Ok(())
}

#[test]
fn the_description_that_is_mutated_is_drafted_whole() {
    let draft = drafted(rich());
    assert_eq!(ops(&draft).len(), 3, "{:?}", draft.refused);
    try_all(rich()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn a_description_with_parts_replaced_is_judged_without_panic(
        replaced in prop::collection::vec((any::<prop::sample::Index>(), anything()), 1..4)
    ) {
        let mut root = rich();
        for (index, value) in replaced {
            let mut found = Vec::new();
            places(&root, "", &mut found);
            let place = found[index.index(found.len())].clone();
            *root.pointer_mut(&place).unwrap() = value;
        }
        try_all(root)?;
    }

    #[test]
    fn any_bytes_are_judged_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let judged = Description::parse(&bytes);
        prop_assert!(judged.is_err());
    }
}
