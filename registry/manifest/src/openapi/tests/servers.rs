//! Which host a manifest gets, and why it gets none.

use super::*;
use crate::ApiHost;
use crate::openapi::DraftError;

fn with(servers: Value, host: Option<&str>) -> Result<(String, String), String> {
    let mut root = described(json!({ "/a": { "post": { "operationId": "a", "responses": { "204": {} } } } }));
    root["servers"] = servers;
    let host = host.map(|host| ApiHost::parse(host).unwrap());
    match draft(&description(root), &Wish { host, ..all() }) {
        Ok(draft) => {
            let value: Value = serde_json::from_str(&draft.manifest).unwrap();
            let path = value["ops"]["a"]["request"]["path"].as_str().unwrap().to_owned();
            Ok((value["host"].as_str().unwrap().to_owned(), path))
        }
        Err(DraftError::Server(fault)) => Err(fault.as_str().to_owned()),
        Err(other) => Err(other.to_string()),
    }
}

fn url(url: &str) -> Value {
    json!([{ "url": url }])
}

#[test]
fn one_fixed_https_host_is_taken_with_its_base_path() {
    let host = |host: &str, path: &str| Ok((host.to_owned(), path.to_owned()));
    assert_eq!(
        with(url("https://API.shelf.pinhole.dev:443/v1/"), None),
        host("api.shelf.pinhole.dev", "/v1/a")
    );
    assert_eq!(with(url("//api.shelf.pinhole.dev"), None), host("api.shelf.pinhole.dev", "/a"));
    let versioned =
        json!([{ "url": "https://api.shelf.pinhole.dev/{v}", "variables": { "v": { "default": "v3" } } }]);
    assert_eq!(with(versioned, None), host("api.shelf.pinhole.dev", "/v3/a"));
    let both = json!([{ "url": "http://api.shelf.pinhole.dev" }, { "url": "https://api.shelf.pinhole.dev" }]);
    assert_eq!(with(both, None), host("api.shelf.pinhole.dev", "/a"));
}

#[test]
fn what_is_no_fixed_host_is_refused_with_the_reason() {
    for (text, fault) in [
        ("/v1", "relative"),
        ("v1", "relative"),
        ("https://{region}.shelf.pinhole.dev", "templated"),
        ("http://api.shelf.pinhole.dev", "plain_http"),
        ("wss://api.shelf.pinhole.dev", "scheme"),
        ("https://api.shelf.pinhole.dev:8443", "port"),
        ("https://127.0.0.1/v1", "host"),
        ("https://0x7f.1/", "host"),
        ("https://user@api.shelf.pinhole.dev", "host"),
        ("https://localhost", "host"),
        ("https://api.shelf.internal", "host"),
        ("https://api.shelf.pinhole.dev/{v}", "path"),
        ("https://api.shelf.pinhole.dev/a?b=c", "path"),
    ] {
        assert_eq!(with(url(text), None), Err(fault.to_owned()), "{text}");
    }
    assert_eq!(with(json!([]), None), Err("absent".to_owned()));
    let several = json!([{ "url": "https://a.pinhole.dev" }, { "url": "https://b.pinhole.dev" }]);
    assert_eq!(with(several, None), Err("several".to_owned()));
}

#[test]
fn a_host_that_is_said_counts_where_the_description_leaves_it_open() {
    let host = |path: &str| Ok(("b.pinhole.dev".to_owned(), path.to_owned()));
    let said = Some("b.pinhole.dev");
    let several = json!([{ "url": "https://a.pinhole.dev" }, { "url": "https://b.pinhole.dev/x" }]);
    assert_eq!(with(several, said), host("/x/a"));
    assert_eq!(with(url("/v1"), said), host("/v1/a"));
    assert_eq!(with(url("https://{region}.pinhole.dev/v2"), said), host("/v2/a"));
    assert_eq!(with(json!([]), said), host("/a"));
    assert_eq!(with(url("https://a.pinhole.dev"), said), Err("not_named".to_owned()));
}

#[test]
fn variables_of_a_server_do_not_multiply() {
    let names: Vec<String> = (0..20).map(|at| format!("v{at}")).collect();
    let variables: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "default": "x".repeat(64) }))).collect();
    let path: String = format!("{{{}}}", names.join("}{"));
    let servers = json!([{ "url": format!("https://api.shelf.pinhole.dev/{path}"), "variables": variables }]);
    assert_eq!(with(servers, None), Err("path".to_owned()));
}
