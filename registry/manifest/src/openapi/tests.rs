//! Drafting and verifying, on small descriptions written here.

use serde_json::{Value, json};

use super::{Chosen, Description, Selection, Wish, draft};

/// A description of one host with these paths.
fn described(paths: Value) -> Description {
    let root = json!({
        "openapi": "3.1.0",
        "info": { "title": "Shelf", "version": "1" },
        "servers": [{ "url": "https://api.shelf.pinhole.dev/v2" }],
        "components": { "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } } },
        "security": [{ "key": [] }],
        "paths": paths
    });
    Description::new(root).unwrap()
}

fn all() -> Wish {
    Wish { selection: Selection::All, id: None, host: None }
}

#[test]
fn one_operation_becomes_an_op_that_loads() {
    let description = described(json!({ "/books/{bookId}": { "get": {
        "operationId": "getBook",
        "summary": "Get a book.",
        "parameters": [{ "name": "bookId", "in": "path", "required": true, "schema": { "type": "integer" } }],
        "responses": { "200": { "description": "ok", "content": { "application/json": { "schema": {
            "type": "object",
            "properties": { "id": { "type": "integer" }, "title": { "type": "string" }, "api_key": { "type": "string" } }
        } } } } }
    } } }));
    let wish = Wish { selection: Selection::Some(vec![Chosen::parse("get /books/{bookId}")]), ..all() };
    let draft = draft(&description, &wish).unwrap();
    assert!(draft.refused.is_empty());
    let manifest = crate::read(draft.manifest.as_bytes()).into_result().unwrap();
    assert_eq!(manifest.host().as_str(), "api.shelf.pinhole.dev");
    let value: Value = serde_json::from_str(&draft.manifest).unwrap();
    let op = &value["ops"]["get_book"];
    assert_eq!(op["request"], json!({ "method": "GET", "path": "/v2/books/{book_id}" }));
    assert_eq!(op["pick"], json!({ "fields": ["id", "title"] }));
}
