//! Every way for a module's request to be none of the declared ones, and what one that matches comes to.

mod properties;

use pinhole_manifest::model::{Action, Method, Module};
use pinhole_manifest::{Manifest, OpId};
use serde_json::json;

use super::*;
use crate::render::{Rendered, render};

/// A module with lines of every kind.
pub(super) fn manifest() -> Manifest {
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": { "scheme": "bearer" }, "headers": { "accept": "application/json" },
        "ops": { "it": {
            "access": "read", "summary": "Computes it.", "pick": { "fields": ["id"] },
            "args": {
                "type": "object", "additionalProperties": false, "required": ["owner", "repo", "number"],
                "properties": {
                    "owner": { "type": "string", "description": "Whose." },
                    "repo": { "type": "string", "description": "Which." },
                    "number": { "type": "integer", "description": "Its number." },
                },
            },
            "module": { "file": "modules/it.wasm", "sha256": "00".repeat(32), "requests": [
                { "method": "GET", "path": "/repos/{owner}/{repo}/issues", "query": ["state", "page", "expand[]"],
                  "headers": ["x-trace", "if-none-match"] },
                { "method": "GET", "path": "/repos/{owner}/{repo}/issues/{number}" },
                { "method": "HEAD", "path": "/repos/{owner}/{repo}" },
                { "method": "GET", "path": "/teams/{*}/a%20b/" },
                { "method": "POST", "path": "/search", "reads": true },
                { "method": "POST", "path": "/{*}", "reads": true },
                { "method": "POST", "path": "/graphql", "graphql": "query q($id: ID!) { node(id: $id) { id } }" },
            ]},
        }},
    });
    let reading = pinhole_manifest::read(manifest.to_string().as_bytes());
    reading.into_result().unwrap_or_else(|faults| panic!("{faults:?}"))
}

pub(super) fn module(manifest: &Manifest) -> &Module {
    match &manifest.op(&OpId::parse("it").unwrap()).unwrap().action {
        Action::Module(module) => module,
        Action::Request(_) => panic!("it has a module"),
    }
}

pub(super) fn args(manifest: &Manifest, args: &Value) -> Args {
    manifest.op(&OpId::parse("it").unwrap()).unwrap().args.parse_text(&args.to_string()).unwrap()
}

pub(super) fn asked(method: Method, path: &str) -> GuestRequest {
    GuestRequest { method, path: path.to_owned(), query: Vec::new(), headers: Vec::new(), body: None }
}

fn get(path: &str) -> GuestRequest {
    asked(Method::Get, path)
}

fn posted(path: &str, body: &str) -> GuestRequest {
    GuestRequest { body: Some(body.to_owned()), ..asked(Method::Post, path) }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// What comes of a request for `acme/it`, number 7, under a grant that narrows these args.
fn tried_under(narrowed: &[&str], asked: &GuestRequest) -> Result<Rendered, Mismatch> {
    tried_with(&json!({"owner": "acme", "repo": "it", "number": 7}), narrowed, asked)
}

fn tried_with(values: &Value, narrowed: &[&str], asked: &GuestRequest) -> Result<Rendered, Mismatch> {
    let manifest = manifest();
    let args = args(&manifest, values);
    let narrowed: Vec<ArgName> = narrowed.iter().map(|name| ArgName::parse(name).unwrap()).collect();
    let lines =
        Lines { requests: &module(&manifest).requests, args: &args, narrowed: narrowed.iter().collect() };
    lines.matched(asked).map(|(request, _)| render(&manifest, &request, &args).unwrap())
}

fn tried(asked: &GuestRequest) -> Result<Rendered, Mismatch> {
    tried_under(&[], asked)
}

fn target(asked: &GuestRequest) -> String {
    tried(asked).unwrap_or_else(|mismatch| panic!("{asked:?}: {mismatch}")).target
}

fn mismatch(asked: &GuestRequest) -> Mismatch {
    tried(asked).err().unwrap_or_else(|| panic!("{asked:?} matches"))
}

#[test]
fn a_declared_request_is_rendered_from_its_line() {
    let plain = get("/repos/acme/it/issues");
    let query = pairs(&[("state", "open&a=b"), ("expand[]", "a"), ("expand[]", "b"), ("page", "2")]);
    let headers = pairs(&[("X-Trace", "a b"), ("if-none-match", "\"x\"")]);
    let rendered = tried(&GuestRequest { query, headers, ..plain }).unwrap();
    let target = "/repos/acme/it/issues?state=open%26a%3Db&expand%5B%5D=a&expand%5B%5D=b&page=2";
    assert_eq!(rendered.target, target);
    let headers = pairs(&[("accept", "application/json"), ("x-trace", "a b"), ("if-none-match", "\"x\"")]);
    assert_eq!(rendered.headers, headers);
    assert_eq!(rendered.body, None);
    assert_eq!(self::target(&get("/repos/acme/it/issues/7")), "/repos/acme/it/issues/7");
    assert_eq!(self::target(&asked(Method::Head, "/repos/acme/it")), "/repos/acme/it");
}

#[test]
fn another_spelling_of_a_path_leaves_as_the_line_has_it() {
    assert_eq!(target(&get("/%72epos/%61cme/it/issues")), "/repos/acme/it/issues");
    assert_eq!(target(&get("/teams/a%20%C3%A9/a%20b/")), "/teams/a%20%C3%A9/a%20b/");
    assert_eq!(target(&get("/teams/a+b@c/%61%20b/")), "/teams/a%2Bb%40c/a%20b/");
}

#[test]
fn a_value_with_a_slash_stays_one_segment() {
    let args = json!({"owner": "a/b", "repo": "100%", "number": 7});
    let rendered = tried_with(&args, &[], &get("/repos/a%2Fb/100%25/issues")).unwrap();
    assert_eq!(rendered.target, "/repos/a%2Fb/100%25/issues");
    assert_eq!(tried_with(&args, &[], &get("/repos/a/b/100%25/issues")), Err(Mismatch::NoLine));
}

#[test]
fn a_path_that_leads_elsewhere_is_refused() {
    for (path, why) in [
        ("//other.host/x", Mismatch::OtherHost),
        ("//repos/acme/it/issues", Mismatch::OtherHost),
        ("/\\other.host/x", Mismatch::OtherHost),
        ("https://other.host/repos/acme/it/issues", Mismatch::NotAPath),
        ("repos/acme/it/issues", Mismatch::NotAPath),
        ("", Mismatch::NotAPath),
        ("/repos/acme/it/../x/issues", Mismatch::DotSegment),
        ("/repos/acme/it/%2e%2E/issues", Mismatch::DotSegment),
        ("/repos/acme/%252e%252e/issues", Mismatch::DotSegment),
        ("/repos/acme/..;a=b/issues", Mismatch::DotSegment),
        ("/../x", Mismatch::DotSegment),
        ("/repos/acme//issues", Mismatch::EmptySegment),
        ("/repos//acme/it/issues", Mismatch::EmptySegment),
        ("/repos/acme/it/issues\0", Mismatch::PathCharacter),
        ("/repos/acme/it%00/issues", Mismatch::PathCharacter),
        ("/repos/acme/it/issues%0d%0ax", Mismatch::PathCharacter),
        ("/repos/acme/it/issues%C2%85", Mismatch::PathCharacter),
        ("/repos/acme/it/issues?state=open", Mismatch::PathCharacter),
        ("/repos/acme/it/issues#a", Mismatch::PathCharacter),
        ("/repos/acme/it/iss ues", Mismatch::PathCharacter),
        ("/repos/acme/it/iss\u{e9}es", Mismatch::PathCharacter),
        ("/repos/acme/it/issues%", Mismatch::PathCharacter),
        ("/repos/acme/it/issues%zz", Mismatch::PathCharacter),
        ("/repos/acme/it/issues%ff", Mismatch::PathCharacter),
        ("/repos\\acme/it/issues", Mismatch::PathCharacter),
        ("/teams/a%2Fb/a%20b/", Mismatch::PathCharacter),
        ("/teams/a%5Cb/a%20b/", Mismatch::PathCharacter),
        ("/teams/a%252Fb/a%20b/", Mismatch::PathCharacter),
        ("/teams//a%20b/", Mismatch::EmptySegment),
        ("/teams/%3Ba/a%20b/", Mismatch::EmptySegment),
        ("/teams/a/a%20b", Mismatch::NoLine),
        ("/repos/acme/it/issues/", Mismatch::OtherArg),
        ("/repos/acme/it", Mismatch::NoLine),
        ("/Repos/acme/it/issues", Mismatch::NoLine),
        ("/user", Mismatch::NoLine),
        ("/", Mismatch::NoLine),
    ] {
        assert_eq!(mismatch(&get(path)), why, "{path}");
    }
}

#[test]
fn another_value_than_the_args_is_refused() {
    for path in [
        "/repos/acme/other/issues",
        "/repos/acme/IT/issues",
        "/repos/acme/it%20/issues",
        "/repos/acme/it/issues/8",
        "/repos/acme/it/issues/7.0",
        "/repos/acme/it/issues/07",
    ] {
        assert_eq!(mismatch(&get(path)), Mismatch::OtherArg, "{path}");
    }
}

#[test]
fn another_method_than_the_lines_is_refused() {
    for method in [Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete] {
        assert_eq!(mismatch(&asked(method, "/repos/acme/it/issues")), Mismatch::NoLine, "{method:?}");
    }
}

#[test]
fn only_listed_query_keys_pass() {
    let plain = get("/repos/acme/it/issues");
    for key in ["States", "state ", "expand", "", "_method", "state&admin"] {
        let query = pairs(&[("state", "open"), (key, "1")]);
        assert_eq!(mismatch(&GuestRequest { query, ..plain.clone() }), Mismatch::QueryKey, "{key}");
    }
    let query = vec![("page".to_owned(), "1".to_owned()); PAIRS_MAX];
    assert!(tried(&GuestRequest { query: query.clone(), ..plain.clone() }).is_ok());
    let query = [query, pairs(&[("page", "1")])].concat();
    assert_eq!(mismatch(&GuestRequest { query, ..plain }), Mismatch::QueryKey);
}

#[test]
fn only_listed_headers_pass() {
    let plain = get("/repos/acme/it/issues");
    for header in [
        ("authorization", "Bearer x"),
        ("Authorization", "Bearer x"),
        ("host", "other.host"),
        ("cookie", "a=b"),
        ("connection", "close"),
        ("transfer-encoding", "chunked"),
        ("content-length", "1"),
        ("content-type", "text/plain"),
        ("x-http-method-override", "DELETE"),
        ("accept", "text/html"),
        ("x-trace", ""),
        ("x-trace", " a"),
        ("x-trace", "a\r\nx: y"),
        ("x-trace", "a\0"),
        ("x-trace", "\u{e9}"),
        ("x-trace ", "a"),
        ("x-trace\r\nx", "a"),
    ] {
        let asked = GuestRequest { headers: pairs(&[header]), ..plain.clone() };
        assert_eq!(mismatch(&asked), Mismatch::Header, "{header:?}");
    }
    let twice = pairs(&[("x-trace", "a"), ("X-Trace", "b")]);
    assert_eq!(mismatch(&GuestRequest { headers: twice, ..plain }), Mismatch::Header);
}

#[test]
fn a_body_is_json_and_says_no_method() {
    let rendered = tried(&posted("/search", r#"{"b": 1, "a": ["x"]}"#)).unwrap();
    assert_eq!(rendered.body.unwrap(), br#"{"a":["x"],"b":1}"#);
    assert!(rendered.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
    for body in ["", "{", "text", r#"{"_method": "DELETE"}"#, r#"{"a": 1} {"#] {
        assert_eq!(mismatch(&posted("/search", body)), Mismatch::Body, "{body}");
    }
    let asked = GuestRequest { body: Some("{}".to_owned()), ..get("/repos/acme/it/issues") };
    assert_eq!(mismatch(&asked), Mismatch::Body);
}

#[test]
fn a_document_is_the_lines_own() {
    let document = "query q($id: ID!) { node(id: $id) { id } }";
    let body = |value: &Value| posted("/graphql", &value.to_string());
    let rendered = tried(&body(&json!({"query": document, "variables": {"id": "7"}}))).unwrap();
    let sent: Value = serde_json::from_slice(&rendered.body.unwrap()).unwrap();
    assert_eq!(sent, json!({"query": document, "variables": {"id": "7"}}));
    assert!(tried(&body(&json!({"query": document}))).is_ok());
    for other in [
        json!({"query": "mutation { deleteAll { id } }"}),
        json!({"query": format!("{document} ")}),
        json!({"query": format!("{document} mutation m {{ deleteAll }}"), "operationName": "m"}),
        json!({"query": document, "operationName": "q"}),
        json!({"query": document, "extensions": {}}),
        json!({"query": document, "variables": []}),
        json!({"query": document, "variables": null}),
        json!({"variables": {"id": "7"}}),
        json!([{"query": document}]),
        json!(document),
    ] {
        assert_eq!(mismatch(&body(&other)), Mismatch::Document, "{other}");
    }
    assert_eq!(mismatch(&asked(Method::Post, "/graphql")), Mismatch::Document);
}

#[test]
fn an_open_segment_is_no_way_to_a_graphql_endpoint() {
    assert!(tried(&posted("/find", "{}")).is_ok());
    for path in ["/GraphQL", "/graphql.json", "/%67raphql"] {
        assert_eq!(mismatch(&posted(path, r#"{"query": "mutation { a }"}"#)), Mismatch::Document, "{path}");
    }
}

#[test]
fn a_grant_that_narrows_leaves_nothing_open() {
    for (narrowed, asked, fits) in [
        (&["repo"][..], get("/repos/acme/it/issues"), true),
        (&["repo", "owner"], get("/repos/acme/it/issues"), true),
        (&["number"], get("/repos/acme/it/issues/7"), true),
        (&["number"], get("/repos/acme/it/issues"), false),
        (&["repo"], get("/teams/acme/a%20b/"), false),
        (&["repo"], posted("/search", "{}"), false),
    ] {
        let fitted = tried_under(narrowed, &asked);
        assert_eq!(fitted.as_ref().err(), (!fits).then_some(&Mismatch::Narrowed), "{narrowed:?} {asked:?}");
        assert!(tried(&asked).is_ok());
    }
}
