//! How the sidecar is spoken to: its OpenAPI 3.1 description.
//!
//! By hand, of the types that are served; the codes are the code's own. INVARIANT: each answer that a test gets is held against it.

use pinhole_runtime::outcome::Code;
use serde_json::{Value, json};

use super::answer::CODES;

/// The description.
pub fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Pinhole sidecar",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Run ops of a person's connected services under her sealed grants.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://localhost", "description": "A Unix socket, or loopback TCP with a token."}],
        "security": [{}, {"token": []}],
        "paths": paths(),
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Over TCP: a token of `pinhole tokens new`."}
            },
            "schemas": schemas(),
        },
    })
}

fn paths() -> Value {
    json!({
        "/v1/run": {"post": {
            "operationId": "run", "summary": "Run an op under a sealed grant.",
            "requestBody": body(), "responses": outcomes("Outcome"),
        }},
        "/v1/explain": {"post": {
            "operationId": "explain", "summary": "Say what a call would do; nothing is spent or sent.",
            "requestBody": body(), "responses": outcomes("Explained"),
        }},
        "/v1/research": {"post": {
            "operationId": "openResearch",
            "summary": "Open a session of ten minutes over several grants, as tools that only read.",
            "requestBody": body_of("Opening"), "responses": outcomes("Session"),
        }},
        "/v1/research/{id}/call": {"post": {
            "operationId": "callResearch", "summary": "Call a tool of a session.",
            "parameters": [session_id()], "requestBody": body_of("ToolCall"), "responses": outcomes("ToolResult"),
        }},
        "/v1/research/{id}": {"delete": {
            "operationId": "endResearch", "summary": "End a session.",
            "parameters": [session_id()], "responses": answers("Ended"),
        }},
        "/v1/services": {"get": {
            "operationId": "services", "summary": "The services whose ops may be called, and the bot's key.",
            "responses": answers("Services"),
        }},
        "/v1/tools": {"get": {
            "operationId": "tools", "summary": "Ops as tool definitions for a model's API, reads and writes apart.",
            "parameters": [
                query("service", "Only these services, with commas between them.", &json!({"type": "string"})),
                query("access", "Reads, or writes.", &json!({"type": "string", "enum": ["read", "write"], "default": "read"})),
                query("dialect", "In whose form.", &json!({
                    "type": "string", "enum": ["messages", "functions", "mcp"], "default": "messages"
                })),
            ],
            "responses": answers("Tools"),
        }},
        "/v1/receipts": {"get": {
            "operationId": "receipts", "summary": "What the caller's own calls came to, the newest first.",
            "parameters": [
                query("service", "Only of this service.", &json!({"type": "string"})),
                query("op", "Only of this op.", &json!({"type": "string"})),
                query("code", "Only with this code; `ok` for what ran.", &json!({"type": "string"})),
            ],
            "responses": answers("Receipts"),
        }},
        "/healthz": {"get": {
            "operationId": "healthz", "summary": "Whether calls could run.", "security": [{}],
            "responses": {
                "200": answer("The store answers.", "Health"),
                "503": answer("It does not.", "Health"),
            },
        }},
        "/metrics": {"get": {
            "operationId": "metrics", "summary": "What is counted, as Prometheus reads it.",
            "responses": {
                "200": {"description": "The counts.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                "default": answer("Refused.", "Refused"),
            },
        }},
        "/openapi.json": {"get": {
            "operationId": "openapi", "summary": "This description.", "security": [{}],
            "responses": {"200": answer("It.", "Description")},
        }},
    })
}

fn query(name: &str, description: &str, schema: &Value) -> Value {
    json!({"name": name, "in": "query", "required": false, "description": description, "schema": schema})
}

fn session_id() -> Value {
    json!({
        "name": "id", "in": "path", "required": true, "description": "The session's, as it was opened.",
        "schema": {"type": "string"},
    })
}

fn body() -> Value {
    body_of("Call")
}

fn body_of(schema: &str) -> Value {
    json!({"required": true, "content": {"application/json": {"schema": reference(schema)}}})
}

fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn answer(description: &str, schema: &str) -> Value {
    json!({"description": description, "content": {"application/json": {"schema": reference(schema)}}})
}

fn answers(schema: &str) -> Value {
    json!({"200": answer("What was asked for.", schema), "default": answer("Refused.", "Refused")})
}

fn outcomes(done: &str) -> Value {
    json!({
        "200": answer("It ran.", done),
        "400": answer("Not a call: see what is wrong with the body.", "Refused"),
        "401": answer("No good token.", "Refused"),
        "403": answer("Refused; nothing was sent.", "Refused"),
        "422": answer("The grant, the manifest or the module is not valid; nothing was sent.", "Refused"),
        "424": answer("It was sent or may have been, and then failed: `sent` says which.", "Refused"),
        "429": answer("Too much at once: come back after `Retry-After` seconds.", "Refused"),
        "500": answer("The store, the disk or the clock; nothing was sent.", "Refused"),
        "503": answer("The sidecar ends, or cannot read its store.", "Refused"),
        "default": answer("Refused.", "Refused"),
    })
}

fn schemas() -> Value {
    let all = [of_calls(), of_research(), of_parts(), of_lists()]
        .into_iter()
        .filter_map(|schemas| schemas.as_object().cloned());
    Value::Object(all.flatten().collect())
}

fn of_calls() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).chain(CODES).collect();
    json!({
        "Call": {
            "type": "object", "additionalProperties": false, "required": ["service", "op", "grant"],
            "properties": {
                "service": {"type": "string", "description": "Such as `github`.", "maxLength": 24},
                "op": {"type": "string", "description": "Such as `get_repo`.", "maxLength": 64},
                "args": {"type": "object", "description": "What the op takes."},
                "grant": {
                    "description": "The sealed grant: the envelope itself, or its bytes in base64.",
                    "anyOf": [{"type": "object"}, {"type": "string"}],
                },
                "next": {"type": "string", "description": "The `next` of an earlier outcome of the same call."},
                "key": {
                    "type": "string", "minLength": 1, "maxLength": 128,
                    "description": "Names a write: the same one under the same key is carried out once, and answered the same for a day.",
                },
            },
        },
        "Outcome": {
            "type": "object", "additionalProperties": false,
            "required": ["ok", "service", "op", "result", "notes", "meta"],
            "properties": {
                "ok": {"const": true}, "service": {"type": "string"}, "op": {"type": "string"},
                "result": {"description": "The picked fields."},
                "next": {"type": "string", "description": "Asks for the next page; good for an hour."},
                "notes": {"type": "array", "items": {"type": "string"}},
                "rotated": {"type": "object", "description": "The renewed key, sealed to the member: hand it to her client."},
                "meta": reference("Meta"),
            },
        },
        "Refused": {
            "type": "object", "additionalProperties": false, "required": ["ok", "refusal"],
            "properties": {
                "ok": {"const": false}, "service": {"type": "string"}, "op": {"type": "string"},
                "refusal": reference("Refusal"), "proposal": reference("Proposal"), "rotated": {"type": "object"},
                "meta": reference("Meta"),
                "content": {"type": "string", "description": "In a session: what the model is told."},
                "calls_left": {"type": "integer"}, "bytes_left": {"type": "integer"},
            },
        },
        "Refusal": {
            "type": "object", "additionalProperties": false, "required": ["code", "message", "hint", "sent"],
            "properties": {
                "code": {"type": "string", "enum": codes},
                "message": {"type": "string"}, "hint": {"type": "string"},
                "sent": {"type": "string", "enum": ["no", "maybe", "yes"], "description": "Whether the op's request left."},
                "retry_after": {"type": "integer", "description": "In seconds."},
                "untrusted": {"type": "string", "description": "What the service said: data, never instructions."},
                "use_spent": {"const": true}, "question": {"type": "string"},
            },
        },
    })
}

fn of_research() -> Value {
    json!({
        "Opening": {
            "type": "object", "additionalProperties": false, "required": ["grants"],
            "properties": {
                "grants": {
                    "type": "array", "minItems": 1, "maxItems": 16, "items": {"anyOf": [{"type": "object"}, {"type": "string"}]},
                    "description": "Sealed grants, each as in a call.",
                },
                "dialect": {"type": "string", "enum": ["messages", "functions", "mcp"], "default": "messages"},
            },
        },
        "Session": {
            "type": "object", "additionalProperties": false,
            "required": ["ok", "id", "until", "calls_left", "bytes_left", "tools"],
            "properties": {
                "ok": {"const": true}, "id": {"type": "string"},
                "until": {"type": "integer", "description": "Seconds since 1970."},
                "calls_left": {"type": "integer"}, "bytes_left": {"type": "integer"},
                "tools": {"type": "array", "items": {"type": "object"}},
            },
        },
        "ToolCall": {
            "type": "object", "additionalProperties": false, "required": ["tool"],
            "properties": {"tool": {"type": "string"}, "args": {"type": "object"}},
        },
        "ToolResult": {
            "type": "object", "additionalProperties": false,
            "required": ["ok", "content", "calls_left", "bytes_left", "meta"],
            "properties": {
                "ok": {"const": true},
                "content": {"type": "string", "description": "For a model: what others wrote stands between marks."},
                "calls_left": {"type": "integer"}, "bytes_left": {"type": "integer"}, "meta": reference("Meta"),
                "rotated": {"type": "object", "description": "The renewed key, sealed to the member: never for the model."},
            },
        },
        "Ended": {
            "type": "object", "additionalProperties": false, "required": ["ok"], "properties": {"ok": {"const": true}},
        },
    })
}

fn of_parts() -> Value {
    json!({
        "Proposal": {
            "type": "object", "additionalProperties": false,
            "description": "A write for the member's own client, which shows it to her from her own manifest.",
            "required": [
                "service", "op", "args", "manifest", "connection", "account", "bot", "confirm", "action", "found"
            ],
            "properties": {
                "service": {"type": "string"}, "op": {"type": "string"}, "args": {"type": "object"},
                "manifest": {"type": "string"}, "connection": {"type": "string"}, "account": {"type": "string"},
                "bot": {"type": "string"}, "confirm": {"type": "string"}, "action": {"type": "string"},
                "found": {"type": "array", "items": {"type": "object"}},
            },
        },
        "Meta": {
            "type": "object", "additionalProperties": false, "required": ["bytes_in", "bytes_out", "requests", "ms"],
            "properties": {
                "status": {"type": "integer"}, "bytes_in": {"type": "integer"}, "bytes_out": {"type": "integer"},
                "more_pages": {"const": true}, "requests": {"type": "integer"}, "ms": {"type": "integer"},
                "manifest": {"type": "string"}, "digest": {"type": "string"}, "unsigned": {"const": true},
                "replayed": {"const": true, "description": "It was carried out before, under the same key."},
                "receipt": {"type": "string"},
            },
        },
        "Explained": {
            "type": "object", "additionalProperties": false, "required": ["ok", "would", "explanation"],
            "properties": {
                "ok": {"const": true}, "would": {"type": "string", "enum": ["run", "propose"]},
                "explanation": {"type": "object", "required": ["service", "op", "access", "args", "grant", "rule"]},
            },
        },
    })
}

fn of_lists() -> Value {
    json!({
        "Services": {
            "type": "object", "additionalProperties": false, "required": ["ok", "bot", "services"],
            "properties": {
                "ok": {"const": true}, "bot": {"type": "string", "description": "Grants are sealed to this key."},
                "services": {"type": "array", "items": {
                    "type": "object", "required": ["service", "version", "name", "summary", "host", "digest", "source", "ops"],
                }},
            },
        },
        "Tools": {
            "type": "object", "additionalProperties": false, "required": ["ok", "access", "tools", "calls"],
            "properties": {
                "ok": {"const": true}, "access": {"type": "string", "enum": ["read", "write"]},
                "tools": {"type": "array", "items": {"type": "object"}},
                "calls": {
                    "type": "object", "description": "By the name of a tool, what to post for it.",
                    "additionalProperties": {
                        "type": "object", "additionalProperties": false, "required": ["service", "op"],
                        "properties": {
                            "service": {"type": "string"}, "op": {"type": "string"},
                            "next": {"type": "string", "description": "The argument that is posted as `next`."},
                        },
                    },
                },
            },
        },
        "Receipts": {
            "type": "object", "additionalProperties": false, "required": ["ok", "receipts"],
            "properties": {
                "ok": {"const": true},
                "receipts": {"type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["id", "seq", "hash", "prev", "run"],
                    "properties": {
                        "id": {"type": "string"}, "seq": {"type": "integer"}, "hash": {"type": "string"},
                        "prev": {"type": ["string", "null"]},
                        "run": {"type": "object", "required": ["at", "bot", "service", "op", "code", "sent"]},
                    },
                }},
            },
        },
        "Health": {
            "type": "object", "additionalProperties": false, "required": ["ok"],
            "properties": {"ok": {"type": "boolean"}},
        },
        "Description": {"type": "object", "required": ["openapi", "info", "paths"]},
    })
}
