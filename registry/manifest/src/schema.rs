//! The published JSON Schema (2020-12) of format 1: for editors, and for whoever writes a manifest with other tools.
//!
//! It says the shape: members, types, words, limits. What members say of each other only [`crate::read`] knows, so a file
//! that it takes may still not load. INVARIANT: whatever loads, it takes. DESIGN, "Manifest".

use serde_json::{Map, Value, json};

use crate::args::ARGS_MAX;
use crate::model::{RESPONSE_BYTES_MAX, RESULT_BYTES_MAX, TIMEOUT_MS_MAX};
use crate::pick::FIELDS_MAX;

/// The schema of `manifest.json`.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pinhole service manifest, format 1",
        "description": "What a bot may do with one service: its one host, how a credential is put in, and a closed list of ops.",
        "type": "object",
        "additionalProperties": false,
        "required": ["pinhole", "id", "version", "name", "summary", "host", "auth", "ops"],
        "properties": {
            "pinhole": { "const": 1, "description": "The format." },
            "id": { "type": "string", "pattern": "^[a-z][a-z0-9]{1,23}$", "description": "The service, such as `github`." },
            "version": { "type": "string", "maxLength": 64, "description": "The manifest's own semantic version." },
            "name": line(60, "The service's name for people."),
            "summary": line(300, "What the service offers here."),
            "docs": url("The service's own documentation."),
            "verified": {
                "type": "string",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                "description": "The day on which somebody tried it on the live service; absent if nobody did."
            },
            "host": {
                "type": "string",
                "maxLength": 253,
                "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$",
                "description": "ONE public DNS name, without scheme, port and path."
            },
            "headers": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Headers of every request; names in lower case."
            },
            "auth": reference("auth"),
            "failure": {
                "description": "When an answer with a 2xx status is a failure all the same.",
                "type": "object",
                "unevaluatedProperties": false,
                "properties": { "message": reference("path") },
                "$ref": "#/$defs/condition"
            },
            "error": object(&["message"], json!({ "message": reference("path") }), "Where a 4xx or 5xx body keeps its text."),
            "ops": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 200,
                "propertyNames": { "pattern": "^[a-z][a-z0-9_]{0,39}$" },
                "additionalProperties": reference("op"),
                "description": "The ops, by their ids."
            }
        },
        "$defs": defs()
    })
}

fn defs() -> Value {
    json!({
        "path": { "type": "string", "pattern": "^[$]", "maxLength": 512, "description": "JSONPath (RFC 9535) to at most one value." },
        "condition": condition(),
        "auth": auth(),
        "op": op(),
        "args": args(),
        "request": request(),
        "module": module(),
        "page": page(),
        "pick": pick(),
        "require": require(),
        "method": { "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
        "template": { "type": "string", "description": "Text; `{arg}` is an arg, `{{` and `}}` are the braces themselves." }
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn line(most: usize, description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "description": description })
}

fn url(description: &str) -> Value {
    json!({ "type": "string", "pattern": "^[hH][tT][tT][pP][sS]:", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// An object that takes no member but these.
#[expect(clippy::needless_pass_by_value, reason = "callers build the value in place")]
fn object(required: &[&str], properties: Value, description: &str) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
        "description": description
    })
}

fn list(items: Value, most: usize, description: &str) -> Value {
    let mut list = Map::new();
    list.insert("type".into(), "array".into());
    list.insert("maxItems".into(), most.into());
    list.insert("items".into(), items);
    list.insert("description".into(), description.into());
    Value::Object(list)
}

fn condition() -> Value {
    let scalar = json!({ "type": ["string", "number", "boolean", "null"] });
    json!({
        "type": "object",
        "required": ["path"],
        "properties": {
            "path": reference("path"),
            "is": scalar,
            "in": { "type": "array", "minItems": 1, "maxItems": 50, "items": scalar },
            "exists": { "type": "boolean" }
        },
        "oneOf": [{ "required": ["is"] }, { "required": ["in"] }, { "required": ["exists"] }],
        "description": "A value of an answer and what it must be."
    })
}

fn auth() -> Value {
    let scopes = |what: &str| list(json!({ "type": "string", "minLength": 1, "maxLength": 128 }), 64, what);
    let pat = json!({
        "help": line(500, "What to tick on the service's page."),
        "help_url": url("The page where a token is made."),
        "pattern": { "type": "string", "maxLength": 512, "description": "What a token looks like." }
    });
    let oauth = json!({
        "authorize_url": url("Where the person says yes."),
        "token_url": url("Where a code or a refresh token becomes a pair."),
        "revoke_url": url("Where a token is given back."),
        "device_url": url("Where the device flow starts (RFC 8628)."),
        "scopes": scopes("Scopes for a connection whose cap is read."),
        "scopes_write": scopes("Scopes for a connection whose cap is write; absent: the same."),
        "client_auth": { "enum": ["post", "basic"], "default": "post", "description": "How the client shows its secret." },
        "pkce": flag("Whether the service takes part in PKCE; absent: it does.")
    });
    let properties = json!({
        "scheme": { "enum": ["bearer", "bare", "basic", "header"], "description": "Where the key stands in a request." },
        "header": { "type": "string", "description": "The header that holds the key; with the scheme `header` only." },
        "pat": object(&["help"], pat, "A personal access token, as the service offers it."),
        "oauth": object(&["authorize_url", "token_url"], oauth, "OAuth; these URLs may be on other hosts."),
        "viewer": { "type": "string", "description": "A read op without required args, which proves that a key works." },
        "account": reference("path")
    });
    object(&["scheme"], properties, "How a credential is put in, and how a person gets one.")
}

fn op() -> Value {
    let limits = json!({
        "response_bytes": { "type": "integer", "minimum": 1, "maximum": RESPONSE_BYTES_MAX },
        "result_bytes": { "type": "integer", "minimum": 1, "maximum": RESULT_BYTES_MAX },
        "timeout_ms": { "type": "integer", "minimum": 1, "maximum": TIMEOUT_MS_MAX }
    });
    let header = json!({ "header": { "type": "string" } });
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

fn args() -> Value {
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

fn request() -> Value {
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
        "headers": { "type": "object", "additionalProperties": reference("template") },
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

fn module() -> Value {
    let names = |what: &str| list(json!({ "type": "string" }), 50, what);
    let line = json!({
        "method": reference("method"),
        "path": { "type": "string", "pattern": "^/", "description": "`{arg}` is that arg's value, `{*}` any one segment." },
        "query": names("The query keys that it may use."),
        "headers": names("The headers that it may set."),
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

fn page() -> Value {
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

fn pick() -> Value {
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

fn require() -> Value {
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
