//! Requests that come from pages in browsers, or that name another host.

use pinhole_server::http::HttpSettings;

use crate::client::{Ask, legacy_call};
use crate::server::{Server, Setup};

#[tokio::test]
async fn no_route_answers_to_another_host() {
    let settings = HttpSettings::default().with_host("tools.example.com").unwrap();
    let server = Setup::with(settings).start().await;
    let token = server.token("a").text;
    let port = server.address.port();
    let mut connection = server.connect().await;
    let routes = ["/healthz", "/.well-known/oauth-protected-resource", "/mcp", "/nowhere"];
    for host in [
        "evil.test",
        "localhost",
        "127.0.0.1:1",
        &format!("127.0.0.1.evil.test:{port}"),
        &format!("evil.test:{port}"),
    ] {
        for route in routes {
            let answer = connection.ask(&Ask::new("GET", route).header("host", host)).await;
            assert_eq!(answer.status, 403, "{host} {route}");
        }
        let answer = connection.ask(&Ask::legacy(&token, &legacy_call("echo")).header("host", host)).await;
        assert_eq!(answer.status, 403, "{host}");
    }
    for host in [format!("localhost:{port}"), format!("[::1]:{port}"), "tools.example.com".to_owned()] {
        let answer = connection.ask(&Ask::legacy(&token, &legacy_call("echo")).header("host", &host)).await;
        assert_eq!(answer.status, 200, "{host}");
    }
    for host in ["", "a b", "user@localhost"] {
        let answer = connection.ask(&Ask::new("GET", "/healthz").header("host", host)).await;
        assert!([400, 403].contains(&answer.status), "{host}: {answer:?}");
    }
    let twice =
        Ask::new("GET", "/healthz").header("host", &format!("localhost:{port}")).header("host", "evil.test");
    assert_eq!(connection.ask(&twice).await.status, 400);
    let whole = Ask::new("GET", "http://evil.test/healthz").header("host", &format!("localhost:{port}"));
    assert_eq!(connection.ask(&whole).await.status, 403);
}

#[tokio::test]
async fn only_pages_of_known_origins_may_call() {
    let settings = HttpSettings::default().with_origin("https://app.example.com").unwrap();
    let server = Setup::with(settings).start().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let ask = Ask::legacy(&token, &legacy_call("echo"));
    for origin in
        ["http://localhost:3000", "http://127.0.0.1:1", "http://[::1]:6274", "https://app.example.com"]
    {
        let answer = connection.ask(&ask.clone().header("origin", origin)).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(origin)));
    }
    for origin in [
        "null",
        "https://evil.test",
        "http://localhost.evil.test",
        "https://localhost:3000",
        "",
        "https://app.example.com:444",
    ] {
        for asked in [
            ask.clone(),
            Ask::new("GET", "/healthz"),
            Ask::new("OPTIONS", "/mcp"),
            Ask::new("GET", "/nowhere"),
        ] {
            let answer = connection.ask(&asked.header("origin", origin)).await;
            assert_eq!(
                (answer.status, answer.header("access-control-allow-origin")),
                (403, None),
                "{origin}"
            );
        }
    }
    let twice = ask.header("origin", "http://localhost:1").header("origin", "https://evil.test");
    assert_eq!(connection.ask(&twice).await.status, 400);
}

#[tokio::test]
async fn a_browser_may_ask_first_without_a_token() {
    let server = Server::new().await;
    let mut connection = server.connect().await;
    let ask = Ask::new("OPTIONS", "/mcp")
        .header("origin", "http://localhost:3000")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name",
        );
    let answer = connection.ask(&ask).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("http://localhost:3000"));
    let allowed: Vec<_> =
        answer.header("access-control-allow-headers").unwrap().split(',').map(str::trim).collect();
    for name in [
        "authorization",
        "content-type",
        "accept",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-session-id",
    ] {
        assert!(allowed.contains(&name), "{allowed:?}");
    }
    assert!(!allowed.contains(&"*") && answer.header("access-control-allow-credentials").is_none());
    assert!(answer.header("vary").unwrap().contains("origin"));
    let answer = connection.ask(&Ask::new("GET", "/healthz").header("origin", "http://localhost:3000")).await;
    let seen = answer.header("access-control-expose-headers").unwrap();
    assert!(
        seen.contains("mcp-session-id") && seen.contains("www-authenticate") && seen.contains("retry-after")
    );
}

#[tokio::test]
async fn what_needs_no_token_says_nothing_of_anybody() {
    let settings = HttpSettings::default().with_public_url("https://tools.example.com").unwrap();
    let server = Setup::with(settings).start().await;
    let mut connection = server.connect().await;
    let answer = connection.ask(&Ask::new("GET", "/healthz")).await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"ok\n"[..]));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    for (path, host, resource) in [
        ("", None, format!("http://{}", server.address)),
        ("/mcp", None, format!("http://{}/mcp", server.address)),
        ("/mcp", Some("tools.example.com"), "https://tools.example.com/mcp".to_owned()),
    ] {
        let ask = Ask::new("GET", &format!("/.well-known/oauth-protected-resource{path}"));
        let ask = host.into_iter().fold(ask, |ask, host| ask.header("host", host));
        let answer = connection.ask(&ask).await;
        let document = answer.json();
        assert_eq!((answer.status, document["resource"].as_str()), (200, Some(resource.as_str())));
        assert_eq!(document["scopes_supported"], serde_json::json!(["read", "write"]));
        assert_eq!(document["bearer_methods_supported"], serde_json::json!(["header"]));
        // There is none, and an empty list is not allowed.
        assert!(document.get("authorization_servers").is_none());
    }
    for (method, path, status) in [("GET", "/", 404), ("GET", "/mcp/", 404), ("POST", "/healthz", 405)] {
        let answer = connection.ask(&Ask::new(method, path)).await;
        assert_eq!(answer.status, status, "{method} {path}");
    }
}

#[tokio::test]
async fn a_token_in_the_address_is_refused_everywhere() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    for query in [
        format!("token={token}"),
        "access_token=x".to_owned(),
        "a=b&TOKEN=".to_owned(),
        "%74oken=x".to_owned(),
        format!("key={token}"),
    ] {
        for (method, path) in [("POST", "/mcp"), ("GET", "/healthz"), ("GET", "/x")] {
            let ask = Ask::new(method, &format!("{path}?{query}"))
                .header("authorization", &format!("Bearer {token}"));
            let answer = connection.ask(&ask).await;
            assert_eq!(answer.status, 400, "{query}");
            assert!(!String::from_utf8(answer.body).unwrap().contains(&token));
        }
    }
    assert_eq!(connection.ask(&Ask::new("GET", "/healthz?a=token")).await.status, 200);
}
