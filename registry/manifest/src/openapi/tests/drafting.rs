//! What is drafted of an operation, and what is not.

use super::*;

fn one(operation: Value) -> Value {
    described(json!({ "/books": { "post": operation } }))
}

fn posting(schema: Value) -> Value {
    json!({
        "operationId": "addBook",
        "summary": "Add a book.",
        "requestBody": { "required": true, "content": { "application/json": { "schema": schema } } },
        "responses": { "204": { "description": "done" } }
    })
}

#[test]
fn one_operation_becomes_an_op_that_loads() {
    let root = described(json!({ "/books/{bookId}": { "get": {
        "operationId": "getBook",
        "parameters": [{ "name": "bookId", "in": "path", "required": true, "schema": { "type": "integer" } }],
        "responses": answers(json!({ "id": { "type": "integer" }, "title": { "type": "string" }, "api_key": { "type": "string" } }))
    } } }));
    let wish = Wish { selection: Selection::Some(vec![Chosen::parse("get /books/{bookId}")]), ..all() };
    let draft = draft(&description(root), &wish).unwrap();
    assert!(draft.refused.is_empty());
    let manifest = crate::read(draft.manifest.as_bytes()).into_result().unwrap();
    assert_eq!(manifest.host().as_str(), "api.shelf.pinhole.dev");
    assert!(manifest.verified().is_none());
    let op = &ops(&draft)["get_book"];
    assert_eq!(op["request"], json!({ "method": "GET", "path": "/v2/books/{book_id}" }));
    assert_eq!(op["pick"], json!({ "fields": ["id", "title"] }));
}

#[test]
fn a_drafted_confirm_line_says_that_it_is_one_and_has_a_note() {
    let draft = drafted(one(posting(json!({
        "type": "object", "required": ["title"],
        "properties": { "title": { "type": "string" }, "pages": { "type": "integer", "minimum": 1 } }
    }))));
    let op = &ops(&draft)["add_book"];
    assert_eq!(op["confirm"], "Draft: Add a book (title “{title}”)?");
    assert_eq!(op["effect"], "create");
    assert_eq!(op["request"]["json"], json!({ "title": "{title}", "pages": "{pages}" }));
    assert_eq!(op["args"]["required"], json!(["title"]));
    assert_eq!(op["pick"], "none");
    for pointer in ["/ops/add_book/confirm", "/ops/add_book/effect", "/auth", "/summary"] {
        assert!(draft.notes.iter().any(|note| note.pointer == pointer), "{pointer}");
    }
}

#[test]
fn an_effect_is_guessed_on_the_careful_side() {
    let effect = |method: &str, id: &str| {
        let operation = json!({ "operationId": id, "responses": { "204": { "description": "done" } } });
        let draft = drafted(described(json!({ "/things": { method: operation } })));
        let op = ops(&draft).into_iter().next().unwrap().1;
        (op["effect"].as_str().unwrap().to_owned(), op["irreversible"].as_bool().unwrap())
    };
    assert_eq!(effect("post", "makeThing"), ("create".to_owned(), false));
    assert_eq!(effect("put", "setThing"), ("update".to_owned(), false));
    assert_eq!(effect("delete", "dropThing"), ("delete".to_owned(), true));
    assert_eq!(effect("post", "cancelThing"), ("delete".to_owned(), true));
    assert_eq!(effect("post", "sendThing"), ("send".to_owned(), true));
    assert_eq!(effect("put", "refundThing"), ("spend".to_owned(), true));
}

#[test]
fn args_keep_to_the_closed_subset_and_optional_ones_that_cannot_be_said_are_left_out() {
    let draft = drafted(one(posting(json!({
        "type": "object", "required": ["kind", "by"],
        "properties": {
            "kind": { "type": "string", "enum": ["a", "b"], "x-odd": 1 },
            "by": { "allOf": [{ "type": "object", "required": ["name"], "properties": { "name": { "type": "string", "pattern": "(?=look)" } } }] },
            "free": { "type": "object" },
            "tags": { "type": ["array", "null"], "items": { "type": "string" }, "maxItems": 3 },
            "count": { "type": "number", "minimum": 0, "exclusiveMinimum": true },
            "id": { "type": "integer", "readOnly": true },
            "client_secret": { "type": "string" }
        }
    }))));
    let args = ops(&draft)["add_book"]["args"]["properties"].clone();
    assert_eq!(args["kind"]["enum"], json!(["a", "b"]));
    let by = json!({ "type": "string" });
    assert_eq!(args["by"]["properties"]["name"], by, "a pattern that does not compile is dropped");
    assert_eq!(args["tags"]["maxItems"], 3);
    assert_eq!((&args["count"]["exclusiveMinimum"], args["count"].get("minimum")), (&json!(0), None));
    for absent in ["free", "id", "client_secret"] {
        assert!(args.get(absent).is_none(), "{absent}");
    }
    assert!(draft.notes.iter().any(|note| note.message.contains("`free`")));
    assert!(draft.notes.iter().any(|note| note.message.contains("`client_secret`")));
}

#[test]
fn what_is_required_and_cannot_be_said_refuses_the_operation_alone() {
    let good = json!({ "operationId": "fine", "responses": { "204": { "description": "done" } } });
    let cases = [
        (
            "arg_inexpressible",
            posting(
                json!({ "type": "object", "required": ["m"], "properties": { "m": { "type": "object" } } }),
            ),
        ),
        (
            "arg_inexpressible",
            posting(
                json!({ "type": "object", "required": ["m"], "properties": { "n": { "type": "string" } } }),
            ),
        ),
        (
            "remote_reference",
            posting(
                json!({ "type": "object", "required": ["m"], "properties": { "m": { "$ref": "other.json#/a" } } }),
            ),
        ),
        (
            "broken_reference",
            posting(
                json!({ "type": "object", "required": ["m"], "properties": { "m": { "$ref": "#/nowhere" } } }),
            ),
        ),
        (
            "body_type",
            json!({ "requestBody": { "required": true, "content": { "multipart/form-data": {} } }, "responses": {} }),
        ),
        (
            "cookie",
            json!({ "parameters": [{ "name": "s", "in": "cookie", "required": true }], "responses": {} }),
        ),
        (
            "header",
            json!({ "parameters": [{ "name": "Host", "in": "header", "required": true }], "responses": {} }),
        ),
        ("auth", json!({ "security": [{ "other": [] }], "responses": {} })),
        ("other_host", json!({ "servers": [{ "url": "https://up.shelf.pinhole.dev" }], "responses": {} })),
        ("deprecated", json!({ "deprecated": true, "responses": {} })),
    ];
    for (reason, operation) in cases {
        let draft = drafted(described(json!({ "/fine": { "post": good }, "/odd": { "post": operation } })));
        assert_eq!(reasons(&draft), [reason]);
        assert_eq!(ops(&draft).keys().collect::<Vec<_>>(), ["fine"], "{reason}");
    }
    let reading = [
        ("answer_type", json!({ "responses": { "200": { "content": { "text/csv": {} } } } })),
        (
            "nothing_to_pick",
            json!({ "responses": { "200": { "content": { "application/json": { "schema": { "type": "object" } } } } } }),
        ),
        (
            "path",
            json!({ "parameters": [{ "name": "a", "in": "path", "allowReserved": true }], "responses": answers(json!({ "a": { "type": "string" } })) }),
        ),
    ];
    for (reason, operation) in reading {
        let draft =
            drafted(described(json!({ "/fine": { "post": good }, "/odd/{a}": { "get": operation } })));
        assert_eq!(reasons(&draft), [reason]);
    }
    let odd = json!({ "/fine": { "post": good }, "/odd#a": { "post": good }, "/other": { "trace": good } });
    assert_eq!(reasons(&drafted(described(odd))), ["path", "method"]);
}

#[test]
fn a_query_has_lists_and_objects_as_the_service_reads_them() {
    let query = |parameter: Value| {
        let mut parameter = parameter;
        (parameter["in"], parameter["name"]) = ("query".into(), "q".into());
        let operation = json!({ "operationId": "find", "parameters": [parameter], "responses": answers(json!({ "a": { "type": "string" } })) });
        ops(&drafted(described(json!({ "/x": { "get": operation } }))))["find"]["request"]["query"].clone()
    };
    let list = json!({ "type": "array", "items": { "type": "string" } });
    assert_eq!(query(json!({ "schema": list })), json!({ "q": "{q}" }));
    assert_eq!(
        query(json!({ "schema": list, "explode": false })),
        json!({ "q": { "value": "{q}", "join": "," } })
    );
    assert_eq!(
        query(json!({ "schema": list, "style": "pipeDelimited", "explode": false })),
        json!({ "q": { "value": "{q}", "join": "|" } })
    );
    let object = json!({ "type": "object", "properties": { "min": { "type": "integer" } } });
    assert_eq!(query(json!({ "schema": object, "style": "deepObject" })), json!({ "q[min]": "{q_min}" }));
    assert_eq!(query(json!({ "schema": object })), json!({ "min": "{min}" }));
}

#[test]
fn a_list_is_picked_through_what_wraps_it_and_a_thing_as_it_is() {
    let pick = |schema: Value| {
        let operation = json!({ "operationId": "x", "responses": { "200": { "content": { "application/json": { "schema": schema } } } } });
        ops(&drafted(described(json!({ "/x": { "get": operation } }))))["x"]["pick"].clone()
    };
    let book = json!({ "type": "object", "properties": {
        "name": { "type": "string" }, "odd.name": { "type": "string" }, "self_url": { "type": "string" },
        "author": { "type": "object", "properties": { "id": { "type": "string" }, "biography": { "type": "string" } } },
        "tags": { "type": "array", "items": { "type": "string" } }
    } });
    let fields = json!(["name", "['odd.name']", "tags", "author.id"]);
    assert_eq!(pick(book.clone())["fields"], fields);
    assert_eq!(pick(json!({ "type": "array", "items": book })), json!({ "fields": fields }));
    let wrapped = json!({ "type": "object", "properties": { "total": { "type": "integer" }, "books": { "type": "array", "items": book } } });
    assert_eq!(pick(wrapped), json!({ "root": "$.books[*]", "fields": fields }));
    let thing = json!({ "type": "object", "properties": { "colour": { "type": "string" }, "books": { "type": "array", "items": book } } });
    assert_eq!(pick(thing)["fields"], json!(["colour", "books[*].name", "books[*]['odd.name']"]));
}

#[test]
fn pages_are_drafted_where_one_reading_is_possible() {
    let page = |parameter: Value, extra: Value| {
        let list = json!({ "type": "array", "items": { "type": "object", "properties": { "id": { "type": "string" } } } });
        let schema = json!({ "type": "object", "properties": { "items": list, "next_cursor": extra } });
        let operation = json!({ "operationId": "x", "parameters": [parameter], "responses": { "200": { "content": { "application/json": { "schema": schema } } } } });
        let op = ops(&drafted(described(json!({ "/x": { "get": operation } }))))["x"].clone();
        (op.get("page").cloned(), op["args"]["properties"].as_object().unwrap().len())
    };
    let text = json!({ "type": "string" });
    let cursor = json!({ "name": "cursor", "in": "query", "schema": text });
    let style = json!({ "style": "cursor", "next": "$.next_cursor", "query": "cursor" });
    assert_eq!(page(cursor.clone(), text.clone()), (Some(style), 0));
    assert_eq!(page(cursor, json!({ "type": "object" })), (None, 1));
    let number = |least: u32| json!({ "name": "page", "in": "query", "schema": { "type": "integer", "minimum": least } });
    assert_eq!(page(number(1), text.clone()), (Some(json!({ "style": "page", "query": "page" })), 0));
    assert_eq!(page(number(0), text), (None, 1));
}

#[test]
fn cycles_end_and_combinations_do_not_multiply() {
    let mut root = one(posting(json!({ "$ref": "#/components/schemas/A" })));
    let mut schemas = Map::new();
    for at in 0..60 {
        let next = json!({ "$ref": format!("#/components/schemas/{}", if at == 59 { "A".to_owned() } else { format!("S{}", at + 1) }) });
        let all = json!({ "allOf": [next, next], "type": "object", "properties": { format!("p{at}"): { "type": "string" }, "again": next } });
        schemas.insert(format!("S{at}"), all);
    }
    schemas.insert(
        "A".to_owned(),
        json!({ "anyOf": [{ "$ref": "#/components/schemas/S0" }, { "$ref": "#/components/schemas/A" }] }),
    );
    root["components"]["schemas"] = schemas.into();
    root["paths"]["/loop"] = json!({ "$ref": "#/paths/~1loop" });
    let draft = drafted(root);
    assert_eq!(ops(&draft).len(), 1);
    assert!(draft.manifest.len() < 200_000, "{}", draft.manifest.len());
}

#[test]
fn ids_are_unique_and_short_and_deprecated_operations_are_drafted_when_they_are_named() {
    let operation =
        |id: &str| json!({ "operationId": id, "deprecated": id == "old", "responses": { "204": {} } });
    let long = "a-very-long-operation-id-that-goes-on-and-on-and-on";
    let root = described(json!({
        "/a": { "post": operation(long) }, "/b": { "post": operation(long) }, "/c": { "post": operation("old") },
        "/d/{x}": { "post": { "responses": { "204": {} } } }
    }));
    let draft1 = drafted(root.clone());
    let names: Vec<String> = ops(&draft1).keys().cloned().collect();
    assert_eq!(
        names,
        ["a_very_long_operation_id_that_goes_on", "a_very_long_operation_id_that_goes_on_2", "post_d"]
    );
    let wish =
        Wish { selection: Selection::Some(vec![Chosen::parse("old"), Chosen::parse("gone")]), ..all() };
    let draft2 = draft(&description(root), &wish).unwrap();
    assert_eq!(ops(&draft2).keys().collect::<Vec<_>>(), ["old"]);
    assert_eq!(reasons(&draft2), ["unknown"]);
    assert!(draft2.notes.iter().any(|note| note.message.contains("deprecated")));
}

#[test]
fn the_key_is_put_in_as_most_operations_want_it() {
    let auth = |schemes: Value, security: Value| {
        let mut root = one(json!({ "operationId": "a", "responses": { "204": {} } }));
        (root["components"]["securitySchemes"], root["security"]) = (schemes, security);
        match draft(&description(root), &all()) {
            Ok(draft) => serde_json::from_str::<Value>(&draft.manifest).unwrap()["auth"].clone(),
            Err(crate::openapi::DraftError::Nothing(refused)) => refused[0].message.as_str().into(),
            Err(other) => panic!("{other}"),
        }
    };
    let key = |place: &str, name: &str| json!({ "k": { "type": "apiKey", "in": place, "name": name } });
    let used = json!([{ "k": [] }]);
    assert_eq!(
        auth(key("header", "X-Api-Key"), used.clone()),
        json!({ "scheme": "header", "header": "x-api-key" })
    );
    assert_eq!(auth(key("header", "Authorization"), used.clone()), json!({ "scheme": "bare" }));
    assert!(auth(key("query", "key"), used.clone()).as_str().unwrap().contains("in the URL"));
    assert!(auth(key("cookie", "key"), used.clone()).as_str().unwrap().contains("in a cookie"));
    assert_eq!(
        auth(json!({ "k": { "type": "http", "scheme": "Basic" } }), used.clone()),
        json!({ "scheme": "basic" })
    );
    assert!(auth(json!({ "k": { "type": "http", "scheme": "digest" } }), used.clone()).is_string());
    let flow = json!({ "authorizationUrl": "https://id.pinhole.dev/a", "tokenUrl": "https://id.pinhole.dev/t", "scopes": {} });
    let oauth = json!({ "k": { "type": "oauth2", "flows": { "authorizationCode": flow } } });
    let made = auth(oauth, json!([{ "k": ["books.write", "two words"] }]));
    assert_eq!(made["oauth"]["scopes_write"], json!(["books.write"]));
    assert_eq!(made["oauth"]["token_url"], "https://id.pinhole.dev/t");
    assert_eq!(auth(json!({}), json!([])), json!({ "scheme": "bearer" }));
    let twice = json!({ "k": { "type": "http", "scheme": "bearer" }, "l": { "type": "oauth2" } });
    assert_eq!(auth(twice, json!([{ "k": [], "l": [] }])), json!({ "scheme": "bearer" }));
    let both =
        json!({ "k": { "type": "http", "scheme": "bearer" }, "l": { "type": "http", "scheme": "basic" } });
    assert!(
        auth(both, json!([{ "k": [], "l": [] }])).as_str().unwrap().contains("two security schemes at once")
    );
    let signed = json!({ "k": { "type": "apiKey", "in": "header", "name": "Authorization", "description": "HMAC of the request" } });
    assert!(auth(signed, used).as_str().unwrap().contains("signs"));
}

#[test]
fn swagger_2_is_drafted_with_its_own_words() {
    let root = json!({
        "swagger": "2.0", "info": { "title": "Old Shelf" }, "host": "api.shelf.pinhole.dev", "basePath": "/v1", "schemes": ["http", "https"],
        "consumes": ["application/x-www-form-urlencoded"], "produces": ["application/json"],
        "securityDefinitions": { "k": { "type": "basic" } },
        "definitions": { "Book": { "type": "object", "properties": { "id": { "type": "string" } } } },
        "paths": { "/books": {
            "get": {
                "operationId": "list",
                "parameters": [{ "name": "ids", "in": "query", "type": "array", "items": { "type": "string" } }],
                "responses": { "200": { "schema": { "type": "array", "items": { "$ref": "#/definitions/Book" } } } }
            },
            "post": {
                "operationId": "add",
                "parameters": [{ "name": "title", "in": "formData", "type": "string", "required": true }],
                "responses": { "201": { "schema": { "$ref": "#/definitions/Book" } } }
            }
        } }
    });
    let ops = ops(&drafted(root));
    assert_eq!(ops["list"]["request"]["query"], json!({ "ids": { "value": "{ids}", "join": "," } }));
    assert_eq!(ops["list"]["pick"], json!({ "fields": ["id"] }));
    assert_eq!(
        ops["add"]["request"],
        json!({ "method": "POST", "path": "/v1/books", "form": { "title": "{title}" } })
    );
}

#[test]
fn hostile_texts_come_out_plain() {
    let mut operation = posting(
        json!({ "type": "object", "properties": { "a\u{202e}b": { "type": "string" }, "_method": { "type": "string" } } }),
    );
    operation["summary"] = "Say {title}\u{202e} <script>x</script>\n}} {{".into();
    let mut root = one(operation);
    root["info"]["title"] = "\u{0}\u{200b}".into();
    let draft = draft(&description(root), &all());
    let Err(crate::openapi::DraftError::Nothing(refused)) = draft else { panic!("{draft:?}") };
    assert_eq!(refused[0].reason.as_str(), "arg_inexpressible");
    let mut root = one(posting(json!({ "type": "object", "properties": { "a": { "type": "string" } } })));
    root["paths"]["/books"]["post"]["summary"] = "Say {title}\u{202e} <b>x</b>\n}} {{".into();
    root["info"]["title"] = "\u{0}\u{200b}".into();
    let op = ops(&drafted(root))["add_book"].clone();
    assert_eq!(op["summary"], "Say {title} x }} {{");
    assert_eq!(op["confirm"], "Draft: Say {{title}} x }}}} {{{{?");
}
