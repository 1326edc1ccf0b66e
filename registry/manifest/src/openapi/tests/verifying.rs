//! Each fault that can be planted in a manifest or its cases is found, and only it; what is right is not found.

use super::*;
use crate::cases::{Case, CaseName};
use crate::openapi::verify_cases;

/// A small service, described.
fn shelf() -> Value {
    let book = json!({ "type": "object", "required": ["id"], "properties": {
        "id": { "type": "integer" }, "title": { "type": ["string", "null"] },
        "author": { "type": "object", "properties": { "name": { "type": "string" } } },
        "tags": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" } } } },
        "old": { "type": "string", "deprecated": true }, "meta": { "type": "object" }
    } });
    let json_of = |schema: Value| json!({ "content": { "application/json": { "schema": schema } } });
    let error = json_of(json!({ "type": "object", "properties": { "message": { "type": "string" } } }));
    let list = json!({ "type": "object", "properties": { "books": { "type": "array", "items": book }, "next": { "type": "string" } } });
    let parameters = json!([
        { "name": "sort", "in": "query", "schema": { "type": "string", "enum": ["a", "b"] } },
        { "name": "size", "in": "query", "schema": { "type": "integer" }, "description": "How many (max 50)." },
        { "name": "since", "in": "query", "schema": { "type": "string", "format": "date-time" } },
        { "name": "full", "in": "query", "required": true, "schema": { "type": "boolean" } },
        { "name": "after", "in": "query", "schema": { "type": "string" } },
        { "name": "x-trace", "in": "header", "schema": { "type": "string" } }
    ]);
    let new = json!({ "type": "object", "required": ["title"], "properties": {
        "title": { "type": "string" },
        "parts": { "type": "array", "items": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } } }
    } });
    described(json!({
        "/shelves/{shelf}/books": {
            "parameters": [{ "name": "shelf", "in": "path", "required": true, "schema": { "type": "integer" } }],
            "get": { "parameters": parameters, "responses": { "200": json_of(list), "404": error } },
            "post": { "requestBody": { "required": true, "content": { "application/json": { "schema": new } } }, "responses": { "201": json_of(book), "422": error } }
        },
        "/shelves/{shelf}": { "get": { "parameters": [{ "name": "shelf", "in": "path", "required": true, "schema": { "type": "integer" } }], "responses": { "200": json_of(json!({ "type": "object", "properties": { "open": { "type": "boolean" } } })) } } },
        "/old": { "get": { "deprecated": true, "responses": { "200": json_of(json!({ "type": "object", "properties": { "a": { "type": "string" } } })) } } },
        "/open": { "get": { "responses": { "200": json_of(json!({ "type": "object", "additionalProperties": true })) } } }
    }))
}

/// A manifest of it, in which nothing is wrong.
fn manifest() -> Value {
    let shelf = json!({ "type": "integer", "description": "The shelf." });
    let args = |properties: Value, required: Value| json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties });
    json!({
        "pinhole": 1, "id": "shelf", "version": "0.1.0", "name": "Shelf", "summary": "Books.", "host": "api.shelf.pinhole.dev",
        "auth": { "scheme": "bearer" }, "error": { "message": "$.message" },
        "ops": {
            "list": {
                "access": "read", "summary": "List books.",
                "args": args(json!({
                    "shelf": shelf,
                    "sort": { "type": "string", "enum": ["a"], "description": "The order." },
                    "size": { "type": "integer", "maximum": 50, "description": "How many." },
                    "since": { "type": "string", "format": "date-time", "description": "From when." }
                }), json!(["shelf"])),
                "request": { "method": "GET", "path": "/v2/shelves/{shelf}/books", "query": { "sort": "{sort}", "size": "{size}", "since": "{since}", "full": "true" } },
                "page": { "style": "cursor", "next": "$.next", "query": "after" },
                "pick": { "root": "$.books[*]", "fields": ["id", "title", "author.name", "tags[*].name"] }
            },
            "get_shelf": {
                "access": "read", "summary": "Show a shelf.", "args": args(json!({ "shelf": shelf }), json!(["shelf"])),
                "request": { "method": "GET", "path": "/v2/shelves/{shelf}" }, "pick": { "fields": ["open"] }
            },
            "add": {
                "access": "write", "summary": "Add a book.", "confirm": "Add “{title}”?", "effect": "create",
                "args": args(json!({
                    "shelf": shelf, "title": { "type": "string", "description": "The title." },
                    "parts": { "type": "array", "description": "Its parts.", "items": { "type": "object", "additionalProperties": false, "required": ["n"], "properties": { "n": { "type": "integer" } } } }
                }), json!(["shelf", "title"])),
                "require": [{ "op": "get_shelf", "args": { "shelf": "{shelf}" }, "path": "$.open", "is": true, "else": "the shelf is closed" }],
                "request": { "method": "POST", "path": "/v2/shelves/{shelf}/books", "json": { "title": "{title}", "parts": "{parts}" } },
                "pick": { "fields": ["id"] }
            },
            "counted": {
                "access": "read", "summary": "Count books.", "args": args(json!({ "shelf": shelf }), json!(["shelf"])),
                "module": { "file": "modules/counted.wasm", "sha256": format!("sha256:{}", "0".repeat(64)), "requests": [
                    { "method": "GET", "path": "/v2/shelves/{shelf}/books", "query": ["full", "after"] }
                ] },
                "pick": { "fields": ["count"] }
            }
        }
    })
}

fn codes(found: &[Finding]) -> Vec<&'static str> {
    found.iter().map(|one| one.code.as_str()).collect()
}

#[test]
fn a_manifest_that_is_as_described_has_no_finding() {
    assert_eq!(found(&manifest(), &shelf()), []);
}

/// Puts a value at a pointer and gives what is found, each with where.
fn planted(pointer: &str, value: Value) -> Vec<(&'static str, String)> {
    let mut manifest = manifest();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/");
    match manifest.pointer_mut(parent).unwrap() {
        Value::Object(members) if value.is_null() => drop(members.remove(&name)),
        Value::Object(members) => drop(members.insert(name, value)),
        Value::Array(list) => list.push(value),
        other => panic!("{other}"),
    }
    found(&manifest, &shelf()).into_iter().map(|one| (one.code.as_str(), one.pointer)).collect()
}

#[test]
fn each_planted_fault_is_found_where_it_stands() {
    let list = "/ops/list";
    let at = |tail: &str| format!("{list}{tail}");
    let rows: Vec<(String, Value, &str, String)> = vec![
        ("/host".into(), json!("api.other.pinhole.dev"), "host_unknown", "/host".into()),
        (at("/request/path"), json!("/v2/shelves/{shelf}/nowhere"), "operation_unknown", at("/request/path")),
        ("/ops/add/request/method".into(), json!("PUT"), "operation_unknown", "/ops/add/request/path".into()),
        (at("/request/query/colour"), json!("blue"), "parameter_unknown", at("/request/query/colour")),
        (at("/request/query/x-trace"), json!("a"), "parameter_unknown", at("/request/query/x-trace")),
        (at("/request/query/full"), Value::Null, "parameter_missing", at("/request/query")),
        (at("/request/query/full"), json!("maybe"), "value_unfit", at("/request/query/full")),
        (
            at("/args/properties/sort/enum"),
            json!(["a", "sideways"]),
            "arg_values",
            at("/args/properties/sort"),
        ),
        (at("/args/properties/sort/enum"), Value::Null, "arg_values", at("/args/properties/sort")),
        (at("/args/properties/since/format"), Value::Null, "arg_values", at("/args/properties/since")),
        (at("/args/properties/size/maximum"), json!(51), "arg_bounds", at("/args/properties/size")),
        (at("/args/properties/size/maximum"), Value::Null, "arg_bounds", at("/args/properties/size")),
        (at("/args/properties/shelf/type"), json!("string"), "arg_type", at("/args/properties/shelf")),
        (at("/pick/fields/-"), json!("colour"), "pick_unknown", at("/pick/fields/4")),
        (at("/pick/fields/-"), json!("tags[*].weight"), "pick_unknown", at("/pick/fields/4")),
        (
            at("/pick/fields/-"),
            json!({ "path": "title.name2", "as": "x" }),
            "pick_unknown",
            at("/pick/fields/4"),
        ),
        (at("/pick/fields"), json!(["author"]), "pick_not_value", at("/pick/fields/0")),
        (at("/pick/fields/-"), json!("old"), "deprecated", at("/pick/fields/4")),
        (at("/pick/fields/-"), json!("meta.deep"), "unchecked", at("/pick/fields")),
        (at("/pick/root"), json!("$.nothing"), "pick_unknown", at("/pick/root")),
        (at("/pick"), json!("none"), "pick_nothing", at("/pick")),
        (at("/page/query"), json!("colour"), "page_unknown", at("/page/query")),
        (at("/page/next"), json!("$.colour"), "page_unknown", at("/page/next")),
        (
            at("/page"),
            json!({ "style": "link", "paths": ["/elsewhere/{*}"] }),
            "page_path",
            at("/page/paths/0"),
        ),
        (at("/page"), json!({ "style": "page", "query": "size" }), "page_fed", at("/page")),
        (
            "/ops/add/request/json/colour".into(),
            json!("blue"),
            "member_unknown",
            "/ops/add/request/json/colour".into(),
        ),
        (
            "/ops/add/args/properties/parts/items/properties/colour".into(),
            json!({ "type": "string" }),
            "member_unknown",
            "/ops/add/args/properties/parts/items/properties/colour".into(),
        ),
        (
            "/ops/add/args/properties/parts/items/required".into(),
            Value::Null,
            "member_missing",
            "/ops/add/args/properties/parts/items".into(),
        ),
        (
            "/ops/add/require/0/path".into(),
            json!("$.colour"),
            "require_unknown",
            "/ops/add/require/0/path".into(),
        ),
        (
            "/ops/counted/module/requests/0/query/-".into(),
            json!("colour"),
            "parameter_unknown",
            "/ops/counted/module/requests/0/query/2".into(),
        ),
        (
            "/ops/counted/module/requests/0/query".into(),
            json!(["after"]),
            "parameter_missing",
            "/ops/counted/module/requests/0".into(),
        ),
        (
            "/ops/counted/module/requests/0/path".into(),
            json!("/v2/no/where/at"),
            "operation_unknown",
            "/ops/counted/module/requests/0/path".into(),
        ),
        (
            "/ops/counted/args/properties/shelf/type".into(),
            json!("boolean"),
            "arg_type",
            "/ops/counted/args/properties/shelf".into(),
        ),
    ];
    for (pointer, value, code, place) in rows {
        let found = planted(&pointer, value.clone());
        assert!(found.contains(&(code, place.clone())), "{pointer} = {value}: {found:?}");
        assert!(found.iter().all(|(one, _)| *one == code), "{pointer} = {value}: {found:?}");
    }
}

#[test]
fn an_error_text_that_failures_do_not_have_is_found_once_an_op() {
    let found = planted("/error", json!({ "message": "$.colour" }));
    assert_eq!(
        found,
        [
            ("error_unknown", "/ops/add".to_owned()),
            ("error_unknown", "/ops/counted/module/requests/0".to_owned()),
            ("error_unknown", "/ops/list".to_owned())
        ]
    );
}

#[test]
fn an_arg_that_may_be_absent_does_not_feed_what_is_required() {
    let mut manifest = manifest();
    manifest["ops"]["add"]["args"]["required"] = json!(["shelf"]);
    manifest["ops"]["add"]["confirm"] = "Add a book?".into();
    assert_eq!(codes(&found(&manifest, &shelf())), ["arg_optional"]);
    manifest["ops"]["add"]["args"]["properties"]["title"]["default"] = "Untitled".into();
    assert_eq!(codes(&found(&manifest, &shelf())), [""; 0]);
    manifest["ops"]["add"]["request"]["json"] = json!({ "parts": "{parts}" });
    manifest["ops"]["add"]["args"]["properties"].as_object_mut().unwrap().remove("title");
    assert_eq!(codes(&found(&manifest, &shelf())), ["member_missing"]);
}

#[test]
fn what_the_description_leaves_open_or_calls_deprecated_is_a_warning() {
    let mut manifest = manifest();
    let op = |path: &str, field: &str| json!({ "access": "read", "summary": "A.", "request": { "method": "GET", "path": path }, "pick": { "fields": [field] } });
    manifest["ops"] = json!({ "old": op("/v2/old", "a"), "open": op("/v2/open", "b") });
    let found1 = found(&manifest, &shelf());
    assert_eq!(codes(&found1), ["deprecated", "unchecked"]);
    assert!(found1.iter().all(|one| one.severity == crate::diagnostic::Severity::Warning));
    let mut relative = shelf();
    relative["servers"] = json!([{ "url": "/v2" }]);
    assert_eq!(codes(&found(&manifest, &relative)), ["unchecked", "deprecated", "unchecked"]);
    let mut remote = shelf();
    remote["paths"]["/old"]["get"]["parameters"] = json!([{ "$ref": "elsewhere.json" }]);
    let found2 = found(&manifest, &remote);
    assert_eq!(codes(&found2), ["deprecated", "unchecked", "unchecked"]);
    assert!(found2[1].message.contains("`elsewhere.json`"), "{}", found2[1]);
}

#[test]
fn of_paths_with_the_same_shape_the_one_with_the_same_names_is_meant() {
    let one =
        |field: &str| json!({ "get": { "responses": answers(json!({ field: { "type": "string" } })) } });
    let root = described(json!({ "/v1/{bookRun}:read": one("a"), "/v1/{bookSeries}:read": one("b") }));
    let mut manifest = manifest();
    let args = json!({ "type": "object", "additionalProperties": false, "required": ["book_series"], "properties": { "book_series": { "type": "string", "description": "Which." } } });
    manifest["ops"] = json!({ "x": {
        "access": "read", "summary": "A.", "args": args,
        "request": { "method": "GET", "path": "/v2/v1/{book_series}:read" }, "pick": { "fields": ["b"] }
    } });
    assert_eq!(found(&manifest, &root), []);
}

fn case(args: Value, exchange: Value, result: Value) -> Case {
    let case =
        json!({ "args": args, "access": "read", "exchanges": [exchange], "expect": { "result": result } });
    Case::parse(case.to_string().as_bytes()).unwrap()
}

fn cases_found(name: &str, request: Value, status: u16, body: Value) -> Vec<(&'static str, String)> {
    let exchange = json!({ "request": request, "response": { "status": status, "body": body } });
    let case = case(json!({}), exchange, json!({}));
    let manifest = crate::read(manifest().to_string().as_bytes()).into_result().unwrap();
    let found = verify_cases(&manifest, &description(shelf()), &[(CaseName::parse(name).unwrap(), case)]);
    let found = found.into_iter().filter(|one| one.code.as_str() != "case_coverage");
    found.map(|one| (one.code.as_str(), one.message)).collect()
}

#[test]
fn a_case_answers_as_the_service_does() {
    let request = json!({ "method": "GET", "path": "/v2/shelves/1" });
    let right = cases_found("get_shelf.open.json", request.clone(), 200, json!({ "open": true }));
    assert_eq!(right, []);
    for (name, status, body, code) in [
        ("get_shelf.open.json", 200, json!({ "open": true, "colour": "blue" }), "case_member"),
        ("get_shelf.open.json", 200, json!({ "open": "yes" }), "case_type"),
        ("get_shelf.open.json", 299, json!({ "open": true }), "case_unknown"),
        ("nobody.open.json", 200, json!({ "open": true }), "case_unknown"),
    ] {
        let found = cases_found(name, request.clone(), status, body);
        assert!(matches!(&found[..], [(one, _)] if *one == code), "{code}: {found:?}");
    }
    let malformed = cases_found("get_shelf.malformed_colour.json", request, 200, json!({ "open": "yes" }));
    assert_eq!(malformed, []);
}

#[test]
fn a_module_s_case_asks_for_what_its_lines_declare_and_the_service_takes() {
    let asked = |path: &str, query: Value| {
        let request = json!({ "method": "GET", "path": path, "query": query });
        cases_found("counted.some.json", request, 200, json!({ "books": [] }))
    };
    assert_eq!(asked("/v2/shelves/1/books", json!({ "full": "true" })), []);
    assert_eq!(asked("/v2/shelves/1/nowhere", json!({}))[0].0, "case_unknown");
    assert_eq!(asked("/v2/shelves/1/books", json!({ "sort": "sideways" }))[0].0, "case_query");
}

#[test]
fn every_picked_field_comes_back_in_some_case() {
    let exchange = json!({ "request": { "method": "GET", "path": "/v2/shelves/1" }, "response": { "status": 200, "body": { "open": true } } });
    let coverage = |result: Value| {
        let case = case(json!({ "shelf": 1 }), exchange.clone(), result);
        let manifest = crate::read(manifest().to_string().as_bytes()).into_result().unwrap();
        let found = verify_cases(
            &manifest,
            &description(shelf()),
            &[(CaseName::parse("get_shelf.a.json").unwrap(), case)],
        );
        let here =
            found.into_iter().filter(|one| one.op.as_ref().is_some_and(|op| op.as_str() == "get_shelf"));
        here.map(|one| (one.code.as_str(), one.pointer)).collect::<Vec<_>>()
    };
    assert_eq!(coverage(json!({ "open": true })), []);
    assert_eq!(coverage(json!({})), [("case_coverage", "/ops/get_shelf/pick/fields/0".to_owned())]);
}

#[test]
fn a_member_that_each_of_several_bodies_describes_takes_what_any_of_them_does() {
    let record = |kind: &str| {
        json!({ "type": "object", "required": ["type", "content"], "properties": {
            "type": { "type": "string", "enum": [kind] }, "content": { "type": "string" }
        } })
    };
    let body = json!({ "anyOf": [record("A"), record("AAAA")] });
    let spec = described(json!({ "/records": { "post": {
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": { "204": { "description": "Done." } }
    } } }));
    let found = |kinds: Value| {
        let kind = json!({ "type": "string", "enum": kinds, "description": "Its kind." });
        let content = json!({ "type": "string", "maxLength": 9, "description": "Its content." });
        let manifest = json!({
            "pinhole": 1, "id": "shelf", "version": "0.1.0", "name": "Shelf", "summary": "Records.",
            "host": "api.shelf.pinhole.dev", "auth": { "scheme": "bearer" },
            "ops": { "make": {
                "access": "write", "summary": "Make one.", "confirm": "Make {type} {content}?", "effect": "create",
                "args": { "type": "object", "additionalProperties": false, "required": ["type", "content"],
                          "properties": { "type": kind, "content": content } },
                "request": { "method": "POST", "path": "/v2/records", "json": { "type": "{type}", "content": "{content}" } },
                "pick": "none"
            } }
        });
        let manifest = crate::read(manifest.to_string().as_bytes()).into_result().unwrap();
        codes(&verify(&manifest, &description(spec.clone())))
    };
    assert_eq!(found(json!(["A", "AAAA"])), Vec::<&str>::new());
    assert_eq!(found(json!(["A", "AAAA", "MX"])), ["arg_values"]);
}
