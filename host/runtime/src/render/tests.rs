//! Every placeholder rule, one by one.

mod body;
mod properties;

use pinhole_manifest::{Manifest, OpId};
use serde_json::{Value, json};

use super::*;

/// A manifest with one op, `it`, made of these members.
fn manifest(op: &Value) -> Manifest {
    let mut whole = json!({
        "access": "read", "summary": "Does it.", "pick": { "fields": ["id"] },
        "args": { "type": "object", "additionalProperties": false, "required": [], "properties": {} },
    });
    for (key, value) in op.as_object().unwrap() {
        whole[key] = value.clone();
    }
    if whole["access"] == "write" {
        whole["confirm"] = json!("Do it?");
        whole["effect"] = json!("update");
    }
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": { "scheme": "bearer" },
        "headers": { "accept": "application/json", "x-version": "1" },
        "ops": { "it": whole },
    });
    let reading = pinhole_manifest::read(manifest.to_string().as_bytes());
    reading.into_result().unwrap_or_else(|faults| panic!("{manifest}: {faults:?}"))
}

/// A schema of args that are all of one type, required or not.
fn schema(kind: &Value, required: &[&str], optional: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> = required
        .iter()
        .chain(optional)
        .map(|name| {
            let mut property = kind.clone();
            property["description"] = json!("A value.");
            ((*name).to_owned(), property)
        })
        .collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn normal(manifest: &Manifest, args: Value) -> Args {
    let Value::Object(args) = args else { panic!() };
    manifest.op(&OpId::parse("it").unwrap()).unwrap().args.normalise(args).unwrap()
}

fn rendered(manifest: &Manifest, args: Value) -> Result<Rendered, RenderError> {
    let args = normal(manifest, args);
    let request = manifest.op(&OpId::parse("it").unwrap()).unwrap().request().unwrap();
    render(manifest, request, &args)
}

fn name(text: &str) -> ArgName {
    ArgName::parse(text).unwrap()
}

fn in_path(path: &str) -> Manifest {
    manifest(&json!({ "args": schema(&text(), &["x"], &[]), "request": { "method": "GET", "path": path } }))
}

#[test]
fn a_path_value_stays_in_its_segment() {
    let manifest = in_path("/things/{x}/parts");
    let target = |value: &str| rendered(&manifest, json!({ "x": value })).map(|request| request.target);
    for (value, segment) in [
        ("plain", "plain"),
        ("a/b", "a%2Fb"),
        ("a?b", "a%3Fb"),
        ("a#b", "a%23b"),
        ("a b+c", "a%20b%2Bc"),
        ("%2e%2e", "%252e%252e"),
        ("%2F", "%252F"),
        ("...", "..."),
        ("../..", "..%2F.."),
        ("a\\b", "a%5Cb"),
        ("null", "null"),
        ("é😀", "%C3%A9%F0%9F%98%80"),
        ("-._~", "-._~"),
        ("a;:@&=$,!*'()", "a%3B%3A%40%26%3D%24%2C%21%2A%27%28%29"),
    ] {
        assert_eq!(target(value), Ok(format!("/things/{segment}/parts")), "{value}");
    }
    let arg = name("x");
    assert_eq!(target(""), Err(RenderError::EmptySegment { arg: arg.clone() }));
    // Some servers drop what stands behind a semicolon.
    assert_eq!(target(";x"), Err(RenderError::EmptySegment { arg: arg.clone() }));
    assert_eq!(target("..;x"), Err(RenderError::DotSegment { arg: arg.clone() }));
    assert_eq!(target("."), Err(RenderError::DotSegment { arg: arg.clone() }));
    assert_eq!(target(".."), Err(RenderError::DotSegment { arg: arg.clone() }));
    for control in ["\0", "a\0", "\r", "a\nb", "\t", "\u{7f}", "\u{85}", "\u{9f}"] {
        assert_eq!(target(control), Err(RenderError::ControlCharacter { arg: arg.clone() }), "{control:?}");
    }
    // A megabyte of text: the args' own limit may end it first, and the target's does at last.
    let long = "x".repeat(1_000_000);
    assert_eq!(target(&long), Err(RenderError::TooLong { part: Part::Target, bytes: 1_000_014 }));
}

#[test]
fn a_segment_is_judged_whole_and_decoded() {
    let dot = RenderError::DotSegment { arg: name("x") };
    for (path, value) in
        [("/a/.{x}", "."), ("/a/.{x}", ""), ("/a/%2e{x}", "."), ("/a/%2E{x}", ""), ("/a/{x}.", ".")]
    {
        assert_eq!(rendered(&in_path(path), json!({ "x": value })), Err(dot.clone()), "{path} {value}");
    }
    for (path, value, target) in [
        ("/a/v{x}", "", "/a/v"),
        ("/a/.{x}", "b", "/a/.b"),
        ("/a/%2e{x}", "..", "/a/%2e.."),
        ("/a/{x}:go", "b c", "/a/b%20c:go"),
        ("/{x}", "a", "/a"),
    ] {
        assert_eq!(rendered(&in_path(path), json!({ "x": value })).unwrap().target, target);
    }
}

#[test]
fn scalars_have_one_text_and_nothing_else_has_any() {
    for (kind, value, segment) in [
        ("integer", json!(-7), "-7"),
        ("integer", json!(9_007_199_254_740_991_i64), "9007199254740991"),
        ("integer", json!(1.0), "1"),
        ("number", json!(0.1), "0.1"),
        ("boolean", json!(true), "true"),
        ("boolean", json!(false), "false"),
    ] {
        let manifest = manifest(&json!({
            "args": schema(&json!({ "type": kind }), &["x"], &[]),
            "request": { "method": "GET", "path": "/a/{x}" },
        }));
        assert_eq!(rendered(&manifest, json!({ "x": value })).unwrap().target, format!("/a/{segment}"));
    }
    for other in [Value::Null, json!([1]), json!({ "a": 1 })] {
        assert_eq!(scalar(&other), None);
    }
}

#[test]
fn a_query_is_encoded_left_out_repeated_or_joined() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let lists = |value: Value| {
        manifest(&json!({
            "args": schema(&list, &[], &["x"]),
            "request": { "method": "GET", "path": "/", "query": { "q[x]é": value } },
        }))
    };
    let (repeated, joined) = (lists(json!("{x}")), lists(json!({ "value": "{x}", "join": "," })));
    let target = |manifest: &Manifest, args: Value| rendered(manifest, args).map(|request| request.target);
    assert_eq!(target(&repeated, json!({})).unwrap(), "/");
    assert_eq!(target(&repeated, json!({ "x": [] })).unwrap(), "/");
    let key = "q%5Bx%5D%C3%A9";
    assert_eq!(
        target(&repeated, json!({ "x": ["a,b", "&="] })).unwrap(),
        format!("/?{key}=a%2Cb&{key}=%26%3D")
    );
    assert_eq!(target(&joined, json!({ "x": ["a", "b c"] })).unwrap(), format!("/?{key}=a%2Cb%20c"));
    assert_eq!(target(&joined, json!({ "x": [] })).unwrap(), "/");
    assert_eq!(
        target(&joined, json!({ "x": ["a,b"] })),
        Err(RenderError::SeparatorInElement { arg: name("x") })
    );
    let texts = manifest(&json!({
        "args": schema(&text(), &["x"], &["y"]),
        "request": { "method": "GET", "path": "/s", "query": { "fixed": "1 2", "q": "repo:{x} is:open", "y": "{y}" } },
    }));
    let found = target(&texts, json!({ "x": "a&b=c#\r\n", "y": "" })).unwrap();
    assert!(found.contains("q=repo%3Aa%26b%3Dc%23%0D%0A%20is%3Aopen"), "{found}");
    assert!(found.contains("fixed=1%202") && found.contains("y=") && found.starts_with("/s?"), "{found}");
    assert!(!target(&texts, json!({ "x": "a" })).unwrap().contains("y="));
    let Err(RenderError::TooLong { part: Part::Target, .. }) =
        target(&texts, json!({ "x": "é".repeat(2000) }))
    else {
        panic!()
    };
}

#[test]
fn an_array_of_arrays_has_no_place_in_a_query() {
    let nested = json!({ "type": "array", "items": { "type": "array", "items": { "type": "string" } } });
    let manifest = manifest(&json!({
        "args": schema(&nested, &[], &["x"]),
        "request": { "method": "GET", "path": "/", "query": { "x": "{x}" } },
    }));
    assert_eq!(rendered(&manifest, json!({ "x": [["a"]] })), Err(RenderError::NotScalar { arg: name("x") }));
}

#[test]
fn headers_take_visible_text_only() {
    let manifest = manifest(&json!({
        "args": schema(&text(), &["x"], &["y"]),
        "request": { "method": "GET", "path": "/", "headers": { "x-a": "v={x}", "x-b": "{y}", "x-c": "c" } },
    }));
    let headers = |args: Value| rendered(&manifest, args).map(|request| request.headers);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut found = headers(json!({ "x": "a b\tc" })).unwrap();
    found.sort();
    assert_eq!(
        found,
        [
            pair("accept", "application/json"),
            pair("x-a", "v=a b\tc"),
            pair("x-c", "c"),
            pair("x-version", "1")
        ]
    );
    assert!(headers(json!({ "x": "", "y": "b" })).unwrap().contains(&pair("x-b", "b")));
    for bad in ["a\r\nx-evil: 1", "a\n", "\0", "é", "\u{7f}", "a ", "a\t", "\u{1b}[0m"] {
        assert_eq!(headers(json!({ "x": bad })), Err(RenderError::HeaderValue { arg: name("x") }), "{bad:?}");
    }
    for bad in ["", " ", " b", "b "] {
        assert_eq!(
            headers(json!({ "x": "a", "y": bad })),
            Err(RenderError::HeaderValue { arg: name("y") }),
            "{bad:?}"
        );
    }
    assert!(matches!(
        headers(json!({ "x": "a".repeat(HEADER_BYTES_MAX) })),
        Err(RenderError::TooLong { part: Part::Header, .. })
    ));
}

#[test]
fn errors_never_hold_the_value() {
    let shown = rendered(&in_path("/{x}"), json!({ "x": "hidden\0" })).unwrap_err();
    assert!(!format!("{shown} {shown:?}").contains("hidden"));
}

#[test]
fn a_confirm_line_has_the_values_as_they_are() {
    let op = json!({
        "access": "write", "args": schema(&text(), &["x"], &[]),
        "request": { "method": "POST", "path": "/{x}" },
    });
    let manifest = manifest(&op);
    let args = normal(&manifest, json!({ "x": "a\u{202e}\n" }));
    let op = manifest.op(&OpId::parse("it").unwrap()).unwrap();
    assert_eq!(fill_text(op.confirm.as_ref().unwrap(), &args).unwrap(), "Do it?");
    let segments = op.request().unwrap().path.segments();
    assert_eq!(fill_text(&segments[0], &args).unwrap(), "a\u{202e}\n");
    let none = normal(&self::manifest(&json!({ "request": { "method": "GET", "path": "/" } })), json!({}));
    assert_eq!(fill_text(&segments[0], &none), Err(RenderError::Missing { arg: name("x") }));
}
