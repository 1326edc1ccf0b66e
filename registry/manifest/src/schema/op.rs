//! The part of the published schema that is about one op. DESIGN, "Manifest": an op, and "Pick".

use serde_json::{Map, Value, json};

use super::{HEADER_NAME, flag, line, list, object, reference};
use crate::args::ARGS_MAX;
use crate::model::{RESPONSE_BYTES_MAX, RESULT_BYTES_MAX, TIMEOUT_MS_MAX};
use crate::pick::FIELDS_MAX;

pub(super) fn op() -> Value {
    let limits = json!({
        "response_bytes": { "type": "integer", "minimum": 1, "maximum": RESPONSE_BYTES_MAX },
        "result_bytes": { "type": "integer", "minimum": 1, "maximum": RESULT_BYTES_MAX },
        "timeout_ms": { "type": "integer", "minimum": 1, "maximum": TIMEOUT_MS_MAX }
    });
    let header = json!({ "header": { "type": "string", "pattern": HEADER_NAME } });
    let properties = json!({
        "access": { "enum": ["read", "write"], "description": "Whether it looks or changes." },
        "summary": line(300, "A sentence for people and models."),
        "args": reference("args"),
        "confirm": line(300, "What a person is asked before a write; placeholders are required args."),
        "effect": { "enum": ["create", "update", "delete", "send", "spend"], "description": "What a write does." },
        "irreversible": flag("Whether a write cannot be taken back."),
        "idempotency": object(&["header"], header, "The header by which the service knows a repeated write."),
        "require": list(reference("require"), 10, "What must hold before a write is sent."),
        "request": reference("request"),
        "module": reference("module"),
        "page": reference("page"),
        "pick": reference("pick"),
        "limits": object(&[], limits, "Sizes and times of the op.")
    });
    let mut op = object(&["access", "summary", "pick"], properties, "One operation.");
    if let Value::Object(op) = &mut op {
        op.insert("oneOf".into(), json!([{ "required": ["request"] }, { "required": ["module"] }]));
        let write = json!({ "properties": { "access": { "const": "write" } } });
        op.insert("if".into(), write);
        op.insert("then".into(), json!({ "required": ["confirm", "effect"] }));
    }
    op
}

pub(super) fn args() -> Value {
    let properties = json!({
        "type": { "const": "object" },
        "additionalProperties": { "const": false },
        "required": { "type": "array", "items": { "type": "string" } },
        "properties": {
            "type": "object",
            "maxProperties": ARGS_MAX,
            "propertyNames": { "pattern": "^[a-z][a-z0-9_]{0,63}$" },
            "additionalProperties": {
                "type": "object",
                "required": ["type", "description"],
                "properties": {
                    "type": { "enum": ["string", "integer", "number", "boolean", "array", "object"] },
                    "description": line(500, "What the arg is for.")
                }
            }
        }
    });
    let description = "What the op takes: a closed subset of JSON Schema 2020-12.";
    object(&["type", "additionalProperties"], properties, description)
}

pub(super) fn request() -> Value {
    let joined = json!({ "value": reference("template"), "join": { "type": "string", "minLength": 1, "maxLength": 4 } });
    let param = json!({ "anyOf": [
        reference("template"),
        object(&["value", "join"], joined, "An array arg, joined to one value.")
    ] });
    let graphql = json!({
        "query": { "type": "string", "description": "One operation: a query for a read, a mutation for a write." },
        "variables": { "type": "object", "description": "What its variables are fed." }
    });
    let properties = json!({
        "method": reference("method"),
        "path": { "type": "string", "pattern": "^/", "maxLength": 1024, "description": "The path, with `{arg}` in its segments." },
        "query": { "type": "object", "additionalProperties": param },
        "headers": { "type": "object", "propertyNames": { "pattern": HEADER_NAME }, "additionalProperties": reference("template") },
        "json": { "description": "A JSON body; a value that is `{arg}` alone keeps the arg's type." },
        "form": { "type": "object", "description": "A form body." },
        "graphql": object(&["query"], graphql, "A GraphQL document and its variables."),
        "reads": { "const": true, "description": "Beside a POST that only searches." }
    });
    let mut request = object(&["method", "path"], properties, "What is sent.");
    if let Value::Object(request) = &mut request {
        let several = json!([{ "required": ["json", "form"] }, { "required": ["json", "graphql"] }, { "required": ["form", "graphql"] }]);
        request.insert("not".into(), json!({ "anyOf": several }));
    }
    request
}

pub(super) fn module() -> Value {
    let names = |what: &str| list(json!({ "type": "string" }), 50, what);
    let line = json!({
        "method": reference("method"),
        "path": { "type": "string", "pattern": "^/", "description": "`{arg}` is that arg's value, `{*}` any one segment." },
        "query": names("The query keys that it may use."),
        "headers": list(json!({ "type": "string", "pattern": HEADER_NAME }), 50, "The headers that it may set."),
        "graphql": { "type": "string", "description": "The one document that it may post." },
        "reads": { "const": true, "description": "Beside a POST that only searches." }
    });
    let requests =
        list(object(&["method", "path"], line, "A request that the module may make."), 50, "All of them.");
    let properties = json!({
        "file": { "type": "string", "pattern": "^modules/[a-z0-9_-]+[.]wasm$" },
        "sha256": { "type": "string", "pattern": "^(sha256:)?[0-9a-f]{64}$" },
        "requests": requests
    });
    object(&["file", "sha256", "requests"], properties, "A Wasm component that computes the op.")
}

pub(super) fn page() -> Value {
    let style = |word: &str, required: &[&str], rest: Value| {
        let mut properties = Map::new();
        properties.insert("style".into(), json!({ "const": word }));
        if let Value::Object(rest) = rest {
            properties.extend(rest);
        }
        let mut names = vec!["style"];
        names.extend(required);
        object(&names, Value::Object(properties), "How further pages are found.")
    };
    let text = json!({ "type": "string" });
    let paths = list(
        json!({ "type": "string", "pattern": "^/" }),
        20,
        "Further path shapes; `{*}` is any one segment.",
    );
    json!({ "oneOf": [
        style("link", &[], json!({ "paths": paths })),
        style("cursor", &["next", "query"], json!({ "next": reference("path"), "query": text })),
        style("page", &["query"], json!({ "query": text })),
        style("relay", &["info", "variable"], json!({ "info": reference("path"), "variable": text }))
    ] })
}

pub(super) fn pick() -> Value {
    let path = json!({ "type": "string", "minLength": 1, "maxLength": 512 });
    let named =
        json!({ "path": path, "as": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$" } });
    let field = json!({ "anyOf": [path, object(&["path", "as"], named, "A field that stands flat, under this name.")] });
    let fields = json!({
        "root": { "type": "string", "pattern": "^[$]", "maxLength": 512, "description": "Where the fields start; `$` if absent." },
        "fields": { "type": "array", "minItems": 1, "maxItems": FIELDS_MAX, "items": field }
    });
    json!({ "anyOf": [{ "const": "none" }, object(&["fields"], fields, "Which fields come back.")] })
}

pub(super) fn require() -> Value {
    json!({
        "type": "object",
        "unevaluatedProperties": false,
        "required": ["op", "else"],
        "properties": {
            "op": { "type": "string", "description": "A read op of this manifest with one request." },
            "args": { "type": "object", "description": "Its args, fed from the write's." },
            "else": line(300, "What is said where it does not hold.")
        },
        "$ref": "#/$defs/condition"
    })
}
