//! Bodies: types, what is left out, brackets, and a document that nobody touches.

use super::*;

fn body(op: &Value, args: Value) -> Result<(Option<Vec<u8>>, Option<String>), RenderError> {
    let request = rendered(&manifest(op), args)?;
    let media_type = request.headers.into_iter().find(|(name, _)| name == "content-type");
    Ok((request.body, media_type.map(|(_, value)| value)))
}

fn posted(args: &Value, mut request: Value) -> Value {
    request["method"] = json!("POST");
    request["path"] = json!("/");
    json!({ "access": "write", "args": args, "request": request })
}

#[test]
fn json_keeps_types_and_leaves_out_what_is_absent() {
    let args = json!({
        "type": "object", "additionalProperties": false, "required": ["t", "n"],
        "properties": {
            "t": { "type": "string", "description": "A text." },
            "n": { "type": "integer", "description": "A number." },
            "b": { "type": "boolean", "description": "A truth value." },
            "l": { "type": "array", "items": { "type": "string" }, "description": "A list." },
        },
    });
    let op = posted(
        &args,
        json!({ "json": {
            "n": "{n}", "b": "{b}", "l": "{l}", "text": "{t} #{n} {{t}}", "in": { "b": "{b}" },
            "list": ["{b}", "{t}", 1, null], "fixed": { "deep": [true] }, "empty": {},
        } }),
    );
    let parsed = |args| {
        let (bytes, media_type) = body(&op, args).unwrap();
        assert_eq!(media_type.as_deref(), Some("application/json"));
        serde_json::from_slice::<Value>(&bytes.unwrap()).unwrap()
    };
    let fixed = json!({ "deep": [true] });
    assert_eq!(
        parsed(json!({ "t": "\"},\r\n{n}\0", "n": 3, "b": null })),
        json!({
            "n": 3, "text": "\"},\r\n{n}\0 #3 {t}", "in": {}, "list": ["\"},\r\n{n}\0", 1, null], "fixed": fixed, "empty": {},
        })
    );
    assert_eq!(
        parsed(json!({ "t": "", "n": 0, "b": false, "l": [] })),
        json!({
            "n": 0, "b": false, "l": [], "text": " #0 {t}", "in": { "b": false }, "list": [false, "", 1, null],
            "fixed": fixed, "empty": {},
        })
    );
    let long = json!({ "t": "x".repeat(700_000), "n": 1 });
    assert!(matches!(body(&op, long), Err(RenderError::TooLong { part: Part::Body, .. })));
}

#[test]
fn a_form_has_brackets_and_no_other_structure() {
    let args = json!({
        "type": "object", "additionalProperties": false, "required": [],
        "properties": {
            "t": { "type": "string", "description": "A text." },
            "l": { "type": "array", "items": { "type": "string" }, "description": "A list." },
            "o": {
                "type": "object", "additionalProperties": false, "required": [], "description": "An object.",
                "properties": {
                    "a": { "type": "string" },
                    "l": { "type": "array", "items": { "type": "integer" } },
                    "o": {
                        "type": "array",
                        "items": {
                            "type": "object", "additionalProperties": false, "required": [],
                            "properties": { "p": { "type": "boolean" } },
                        },
                    },
                },
            },
        },
    });
    let op = posted(&args, json!({ "form": { "meta[t]": "{t}", "l[]": "{l}", "o": "{o}", "fixed": "a b" } }));
    let pairs = |args| {
        let (bytes, media_type) = body(&op, args).unwrap();
        assert_eq!(media_type.as_deref(), Some("application/x-www-form-urlencoded"));
        let mut pairs: Vec<(String, String)> =
            url::form_urlencoded::parse(&bytes.unwrap()).into_owned().collect();
        pairs.sort();
        pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(pairs(json!({})), ["fixed=a b"]);
    assert_eq!(
        pairs(json!({
            "t": "x&y=z\r\n+ %41", "l": ["1", "2"],
            "o": { "a": "b", "l": [1, 2], "o": [{ "p": true }, { "p": false }] },
        })),
        [
            "fixed=a b",
            "l[]=1",
            "l[]=2",
            "meta[t]=x&y=z\r\n+ %41",
            "o[a]=b",
            "o[l][]=1",
            "o[l][]=2",
            "o[o][0][p]=true",
            "o[o][1][p]=false",
        ]
    );
}

#[test]
fn a_form_refuses_what_it_cannot_carry() {
    let nested = json!({ "type": "array", "items": { "type": "array", "items": { "type": "string" } } });
    let op = posted(&schema(&nested, &[], &["x"]), json!({ "form": { "k": "{x}" } }));
    assert_eq!(body(&op, json!({ "x": [["a"]] })), Err(RenderError::FormShape { key: "k".to_owned() }));
}

#[test]
fn a_graphql_document_is_never_touched() {
    let document = "mutation Do($t: String!, $n: Int) { act(text: $t, n: $n) { id } }";
    let args = json!({
        "type": "object", "additionalProperties": false, "required": ["t"],
        "properties": {
            "t": { "type": "string", "description": "A text." },
            "n": { "type": "integer", "description": "A number." },
        },
    });
    let request = json!({ "graphql": { "query": document, "variables": { "t": "{t}", "n": "{n}" } } });
    let op = posted(&args, request);
    let value = "\") { id } } mutation { drop { id } } #";
    let (bytes, media_type) = body(&op, json!({ "t": value })).unwrap();
    assert_eq!(media_type.as_deref(), Some("application/json"));
    assert_eq!(
        serde_json::from_slice::<Value>(&bytes.unwrap()).unwrap(),
        json!({ "query": document, "variables": { "t": value } })
    );
}

#[test]
fn no_body_has_no_content_type() {
    assert_eq!(
        body(&json!({ "request": { "method": "GET", "path": "/" } }), json!({})).unwrap(),
        (None, None)
    );
}
