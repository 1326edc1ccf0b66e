//! A service of a thousand ops, as a manifest and as a description; and GitHub's listing as a description.

use pinhole_tests::ORG;
use serde_json::{Map, Value, json};

pub(crate) const SERVICE: &str = "warehouse";
pub(crate) const HOST: &str = "api.example.com";
const OPS: usize = 1_000;

pub(crate) fn op(number: usize) -> String {
    format!("list_rows_{number:04}")
}

fn summary(number: usize) -> String {
    format!("List the rows of table {number} that the account can see, newest first.")
}

fn args() -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": {
        "type": {"type": "string", "enum": ["all", "public", "private"], "description": "Which rows. All when absent."},
        "sort": {"type": "string", "maxLength": 20, "description": "What to sort by. The moment of their making when absent."},
        "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30, "description": "How many rows a page holds."},
    }})
}

pub(crate) fn manifest() -> Value {
    let listing = |number: usize| {
        json!({
            "access": "read", "summary": summary(number), "args": args(),
            "request": {"method": "GET", "path": "/v1/rows", "query": {
                "table": number.to_string(), "type": "{type}", "sort": "{sort}", "per_page": "{per_page}",
            }},
            "pick": {"fields": ["name", "private", "archived", "language", "stargazers_count", "open_issues_count", "pushed_at"]},
        })
    };
    let mut ops: Map<String, Value> = (1..OPS).map(|number| (op(number), listing(number))).collect();
    ops.insert(
        "get_viewer".to_owned(),
        json!({
            "access": "read", "summary": "Show whose key it is.", "request": {"method": "GET", "path": "/user"},
            "pick": {"fields": ["login"]},
        }),
    );
    json!({
        "pinhole": 1, "id": SERVICE, "version": "1.0.0", "name": "Warehouse", "summary": "A made-up service of many tables.",
        "host": HOST, "auth": {"scheme": "bearer", "viewer": "get_viewer", "account": "$.login"}, "ops": ops,
    })
}

fn operation(id: &str, summary: &str, parameters: &Value) -> Value {
    let answer = json!({"type": "array", "items": {"type": "object"}});
    json!({"get": {
        "operationId": id, "summary": summary, "parameters": parameters,
        "responses": {"200": {"description": "The rows.", "content": {"application/json": {"schema": answer}}}},
    }})
}

fn parameters() -> Value {
    json!([
        {"name": "type", "in": "query", "description": "Which rows. All when absent.",
         "schema": {"type": "string", "enum": ["all", "public", "private"]}},
        {"name": "sort", "in": "query", "description": "What to sort by. The moment of their making when absent.",
         "schema": {"type": "string", "maxLength": 20}},
        {"name": "per_page", "in": "query", "description": "How many rows a page holds.",
         "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30}},
    ])
}

/// The same thousand operations. A description has one operation a path, so the plain copy is asked at one path more.
pub(crate) fn operations() -> Value {
    let paths = (1..=OPS).map(|number| {
        let path = if number == 1 { "/v1/rows".to_owned() } else { format!("/v1/rows/{number}") };
        (path, operation(&op(number), &summary(number), &parameters()))
    });
    Value::Object(paths.collect())
}

/// GitHub's listing alone.
pub(crate) fn listing() -> Value {
    let summary = "List the repositories of an organisation that the account can see.";
    json!({ (format!("/orgs/{ORG}/repos")): operation("list_org_repos", summary, &parameters()) })
}
