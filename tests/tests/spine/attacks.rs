//! Args that would be something else than data: refused, or inside their own segment. Never another endpoint.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Reply, Route};
use pinhole_tests::{Canned, Setup, Stage};
use serde_json::{Value, json};

use crate::common::{get, refusal};

/// Values that have been taken for more than values.
fn hostile() -> Vec<String> {
    let mut values: Vec<String> = [
        "",
        ".",
        "..",
        "...",
        "%2e",
        "%2e%2e",
        "%2E%2E",
        "..%2f",
        "%2f",
        "%252e%252e",
        "a/b",
        "../user",
        "/",
        "//",
        "//evil.dev",
        "a?b",
        "a?b=c",
        "?",
        "a#b",
        "#",
        "a\\b",
        "\\..\\",
        "a;b",
        "..;",
        "..;/x",
        ".;a",
        "a:b",
        "a@evil.dev",
        "user:pass@x",
        "a b",
        " ",
        "a+b",
        "a&b=c",
        "a%00b",
        "%",
        "%%",
        "%zz",
        "a\u{0}b",
        "\u{0}",
        "a\r\nx-evil: 1",
        "a\tb",
        "\u{7f}",
        "\u{85}",
        "\u{202e}a",
        "\u{2028}",
        "\u{ff0e}\u{ff0e}",
        "\u{2025}",
        "\u{ff0f}",
        "\u{feff}",
        "\u{e9}",
        "\u{1f600}",
        "{id}",
        "{{id}}",
        "${id}",
        "<credential>",
        "'\"`",
        "http://evil.dev/",
        "*",
        "a|b",
        "a^b",
        "~",
        "%2",
    ]
    .iter()
    .map(|text| (*text).to_owned())
    .collect();
    values.push("x".repeat(1 << 20));
    values.push("x".repeat(9000));
    values.push("\u{e9}".repeat(1000));
    values
}

/// Every request that came of it is for this one endpoint, with the value in its segment; or there is none.
fn stayed_inside(path: &str, value: &str) {
    let segments: Vec<&str> = path.split('/').collect();
    assert_eq!(segments.len(), 3, "{value:?} gave {path}");
    assert_eq!((segments[0], segments[1]), ("", "things"), "{value:?} gave {path}");
    let decoded = percent_decode_str(segments[2]).decode_utf8().unwrap();
    assert_eq!(decoded, value, "{path}");
    assert!(
        !matches!(segments[2].to_ascii_lowercase().as_str(), "" | "." | ".." | "%2e" | "%2e%2e"),
        "{path}"
    );
}

#[tokio::test]
async fn a_value_in_a_path_stays_in_its_segment() {
    let stage = Setup::thing(Vec::new()).start().await;
    let (mut arrived, mut refused) = (0, 0);
    for value in hostile() {
        let before = stage.standin.requests().len();
        let outcome = stage.read("thing.get_thing", &json!({"id": value})).await;
        let requests = stage.standin.requests().split_off(before);
        match requests.as_slice() {
            [] => {
                let code = refusal(&outcome).code;
                assert!([Code::InvalidArgs, Code::ArgRefused].contains(&code), "{value:?}: {code}");
                refused += 1;
            }
            [seen] => {
                stayed_inside(&seen.path, &value);
                assert_eq!((seen.method.as_str(), seen.query.as_str()), ("GET", ""), "{value:?}");
                assert_eq!(seen.header("x-evil"), None);
                arrived += 1;
            }
            more => panic!("{value:?}: {more:?}"),
        }
    }
    assert!(arrived > 30 && refused > 8, "{arrived} arrived, {refused} refused");
}

#[tokio::test]
async fn the_worst_are_refused() {
    let stage = Setup::thing(Vec::new()).start().await;
    for value in ["", ".", "..", "..;", ".;a", "..;/x", "\u{0}", "a\u{0}b", "a\r\nb"] {
        let outcome = stage.read("thing.get_thing", &json!({"id": value})).await;
        assert_eq!(refusal(&outcome).code, Code::ArgRefused, "{value:?}");
    }
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn args_are_one_strict_json_object() {
    let stage = Setup::thing(Vec::new()).start().await;
    let grant = stage.grant("thing").seal();
    let too_long = format!(r#"{{"id":"{}"}}"#, "x".repeat(3 << 20));
    for text in [
        "",
        "null",
        "[]",
        "{",
        r#"{"id":"a"} {"id":"b"}"#,
        r#"{"id":"a","id":"b"}"#,
        r#"{"id":"a","\u0069d":"b"}"#,
        r#"{"id":"\ud800"}"#,
        r#"{"id":"\udc00x"}"#,
        r#"{"\ud800":"a"}"#,
        "{\"id\":\"a\u{0}\"}",
        r#"{"id":null}"#,
        r#"{"id":1}"#,
        r#"{"id":true}"#,
        r#"{"id":["a"]}"#,
        r#"{"id":{"a":1}}"#,
        r#"{"id":"a","other":1}"#,
        r#"{"ID":"a"}"#,
        "\u{feff}{\"id\":\"a\"}",
        too_long.as_str(),
    ] {
        let outcome = stage.run_text("thing.get_thing", text, &grant).await;
        let shown: String = text.chars().take(60).collect();
        assert_eq!(refusal(&outcome).code, Code::InvalidArgs, "{shown}");
    }
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn an_integer_is_one_that_every_reader_keeps() {
    let stage = Setup::thing(Vec::new()).start().await;
    let grant = stage.grant("thing").seal();
    let run = async |number: &str| {
        stage.run_text("thing.get_item", &format!(r#"{{"number":{number}}}"#), &grant).await;
        stage.seen()
    };
    for number in
        ["9007199254740992", "9007199254740993", "-9007199254740992", "1e400", "18446744073709551616", "1.5"]
    {
        assert!(run(number).await.is_empty(), "{number}");
    }
    for (number, path) in [
        ("9007199254740991", "GET /items/9007199254740991/whole"),
        ("-9007199254740991", "GET /items/-9007199254740991/whole"),
        ("-0", "GET /items/0/whole"),
        ("1e2", "GET /items/100/whole"),
        ("5.0", "GET /items/5/whole"),
    ] {
        assert_eq!(run(number).await.last().unwrap(), path, "{number}");
    }
}

/// The value decodes to itself, whatever other pair it would like to be.
#[tokio::test]
async fn a_value_in_a_query_stays_one_value() {
    let wire = Canned::new(r#"{"items":[]}"#);
    let mut stage = Setup::thing(Vec::new()).start().await;
    stage.executor.wire = Arc::new(wire.clone());
    for value in hostile() {
        let outcome = stage.read("thing.find_things", &json!({"text": value})).await;
        let asked = wire.asked();
        let Some(request) = asked.first() else {
            assert!(outcome.result().is_none());
            continue;
        };
        let query = request.target.strip_prefix("/search?q=").unwrap();
        assert!(!query.contains(['&', '=', '?', '#', '+', '/', ' ']), "{value:?} gave {query}");
        assert_eq!(percent_decode_str(query).decode_utf8().unwrap(), value.as_str());
    }
}

#[tokio::test]
async fn a_value_in_a_header_is_one_line_of_visible_text() {
    let stage = Setup::thing(vec![get("/search", &json!({"items": []}))]).start().await;
    for (trace, passes) in [
        ("abc-123", true),
        ("a b\tc", true),
        ("a\r\nx-evil: 1", false),
        ("a\nb", false),
        ("a\u{0}b", false),
        ("\u{e9}", false),
        (" a", false),
        ("", false),
    ] {
        let before = stage.standin.requests().len();
        let outcome = stage.read("thing.find_things", &json!({"text": "a", "trace": trace})).await;
        assert_eq!(outcome.result().is_some(), passes, "{trace:?}");
        let requests = stage.standin.requests().split_off(before);
        if passes {
            assert_eq!(requests[0].header("x-trace"), Some(trace));
        } else {
            assert_eq!(refusal(&outcome).code, Code::ArgRefused, "{trace:?}");
            assert!(requests.is_empty(), "{trace:?}");
        }
        assert!(requests.iter().all(|seen| seen.header("x-evil").is_none()));
    }
}

/// In a body a value is a JSON string: nothing to break out of, so it arrives whole.
#[tokio::test]
async fn a_value_in_a_body_is_a_string() {
    let wire = Canned::new(r#"{"id":1}"#);
    let mut stage = Setup::thing(Vec::new()).start().await;
    stage.executor.wire = Arc::new(wire.clone());
    for value in hostile() {
        let args = json!({"text": value});
        let size = args.to_string().len();
        let grant = stage.grant("thing").write(1).seal();
        let outcome = stage.run("thing.add_note", &args, &grant).await;
        let asked = wire.asked();
        if size > 1 << 19 {
            assert!(outcome.result().is_none() && asked.is_empty(), "{size} bytes went through");
            continue;
        }
        assert!(outcome.result().is_some(), "{value:?}: {}", outcome.to_json());
        let body: Value = serde_json::from_slice(asked[0].body.as_ref().unwrap()).unwrap();
        assert_eq!(body, args);
        assert_eq!(asked[0].target, "/notes");
    }
}

/// The names of GitHub's own manifest, by the same list.
#[tokio::test]
async fn no_value_reaches_another_of_githubs_endpoints() {
    let stage: Stage = Setup::github().start().await;
    for value in hostile() {
        let before = stage.standin.requests().len();
        for args in
            [json!({"owner": value, "repo": "lantern"}), json!({"owner": "pinhole-demo", "repo": value})]
        {
            let outcome = stage.read("github.get_repo", &args).await;
            assert!(outcome.result().is_none(), "{value:?}: {}", outcome.to_json());
        }
        for seen in stage.standin.requests().split_off(before) {
            let segments: Vec<&str> = seen.path.split('/').collect();
            assert_eq!((segments.len(), segments[1]), (4, "repos"), "{value:?} gave {}", seen.path);
            assert!(seen.query.is_empty(), "{value:?}");
        }
    }
}

/// A link that the service writes is not an address that anything follows.
#[tokio::test]
async fn what_the_service_says_of_other_places_is_not_followed() {
    let body = json!({"id": 1, "url": "https://evil.dev/", "next": "https://evil.dev/"});
    let reply = Reply::json(200, &body)
        .header("link", "<https://evil.dev/>; rel=\"next\"")
        .header("refresh", "0; url=https://evil.dev/")
        .header("location", "https://evil.dev/")
        .header("alt-svc", "h3=\"evil.dev:443\"")
        .header("set-cookie", "session=1; Domain=thing.dev");
    let stage = Setup::thing(vec![Route::get("/plain", reply)]).start().await;
    for _twice in 0..2 {
        assert!(stage.read("thing.plain_thing", &json!({})).await.result().is_some());
    }
    assert_eq!(stage.seen(), ["GET /plain", "GET /plain"]);
    assert!(stage.standin.requests().iter().all(|seen| seen.header("cookie").is_none()));
}
