//! The published JSON Schema (2020-12) of format 1: for editors, and for whoever writes a manifest with other tools.
//!
//! It says the shape: members, types, words, limits. What members say of each other only [`crate::read`] knows, so a file
//! that it takes may still not load. INVARIANT: whatever loads, it takes. DESIGN, "Manifest".

mod op;

use serde_json::{Map, Value, json};

use op::{args, module, op, page, pick, request, require};

/// A header's name.
const HEADER_NAME: &str = "^[a-z0-9-]{1,64}$";

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
                "propertyNames": { "pattern": HEADER_NAME },
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
                "maxProperties": 1000,
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
        "issuer": url("What the service calls itself in `iss` of its answer to the browser (RFC 9207)."),
        "scopes": scopes("Scopes for a connection whose cap is read."),
        "scopes_write": scopes("Scopes for a connection whose cap is write; absent: the same."),
        "client_auth": { "enum": ["post", "basic"], "default": "post", "description": "How the client shows its secret." },
        "pkce": flag("Whether the service takes part in PKCE; absent: it does.")
    });
    let properties = json!({
        "scheme": { "enum": ["bearer", "bare", "basic", "header"], "description": "Where the key stands in a request." },
        "header": { "type": "string", "pattern": HEADER_NAME, "description": "The header that holds the key; with the scheme `header` only." },
        "pat": object(&["help"], pat, "A personal access token, as the service offers it."),
        "oauth": object(&["authorize_url", "token_url"], oauth, "OAuth; these URLs may be on other hosts."),
        "viewer": { "type": "string", "description": "A read op without required args, which proves that a key works." },
        "account": reference("path")
    });
    object(&["scheme"], properties, "How a credential is put in, and how a person gets one.")
}
