//! From the text of args to a request: every kind of placeholder gets what the args say and nothing else, and what a
//! caller writes never changes what is asked, or of whom.

use pinhole_manifest::model::{Args, Op};
use pinhole_manifest::{ArgName, Manifest, OpId};
use pinhole_runtime::render::{RenderError, Rendered, render};
use serde_json::{Map, Value, json};

use super::target::seen;
use super::thing;

/// The ops: the low bits of the first byte choose one. With each its texts, and the list that takes more of them.
const OPS: [(&str, &[&str], &str); 4] = [
    ("get", &["x", "y", "h", "q", "o"], "joined"),
    ("json", &["x", "u"], "t"),
    ("form", &["x", "u"], "t"),
    ("graphql", &["x", "u"], "t"),
];

const DOCUMENT: &str = "mutation($x: ID!, $t: [String!], $in: In) { go(x: $x, t: $t, in: $in) { id } }";

fn ops() -> Value {
    let text = json!({ "type": "string", "description": "A text." });
    let list = json!({ "type": "array", "items": { "type": "string" }, "description": "Texts." });
    let object = json!({
        "type": "object", "additionalProperties": false, "required": ["a"], "description": "An object.",
        "properties": {
            "a": { "type": "string" }, "n": { "type": "number" }, "d": { "type": "integer", "default": 7 },
            "l": { "type": "array", "items": { "type": "boolean" } },
            "o": { "type": "array", "items": { "type": "object", "additionalProperties": false, "properties": { "p": { "type": "integer" } } } },
        },
    });
    let integer = json!({ "type": "integer", "description": "A whole number." });
    let number = json!({ "type": "number", "description": "A number." });
    let boolean = json!({ "type": "boolean", "description": "Yes or no.", "default": true });
    let args = |required: &[&str], properties: Value| json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties });
    let posted = json!({
        "x": text, "t": list, "u": { "type": "string", "format": "public-https-url", "description": "A URL." },
        "n": number, "b": boolean, "in": object,
    });
    let write = |request: Value| {
        json!({
            "access": "write", "summary": "Writes.", "confirm": "Do it to {x}?", "effect": "update", "pick": "none",
            "args": args(&["x"], posted.clone()), "request": request,
        })
    };
    json!({
        "get": {
            "access": "read", "summary": "Reads.", "pick": { "fields": ["id"] },
            "args": args(&["x", "y", "h", "i"], json!({
                "x": text, "y": text, "h": text, "i": integer, "n": number, "b": boolean, "q": text, "o": text,
                "list": list, "joined": list,
            })),
            "request": {
                "method": "GET", "path": "/v1/{x}/p/.{y}%2e:go/{i}",
                "query": {
                    "k": "a {x}&", "o[q]": "{q}", "n": "{n}", "b": "{b}", "list": "{list}",
                    "joined": { "value": "{joined}", "join": "," },
                },
                "headers": { "x-h": "v={h}", "x-o": "{o}" },
            },
        },
        "json": write(json!({
            "method": "POST", "path": "/", "json": {
                "x": "{x}", "text": "[{x}] {{x}}", "t": "{t}", "u": "{u}", "n": ["{n}", null], "b": { "b": "{b}" }, "in": "{in}",
            },
        })),
        "form": write(json!({
            "method": "POST", "path": "/",
            "form": { "x": "{x}", "m[x]": "[{x}]", "t[]": "{t}", "u": "{u}", "n": "{n}", "b": "{b}", "in": "{in}" },
        })),
        "graphql": write(json!({
            "method": "POST", "path": "/graphql", "graphql": {
                "query": DOCUMENT,
                "variables": { "x": "{x}", "t": "{t}", "in": { "u": "{u}", "n": "{n}", "b": "{b}", "in": "{in}" } },
            },
        })),
    })
}

/// The low bits of the first byte choose an op. With its high bit the rest are values of the op's texts, divided by bytes
/// of 0xFF; without it, the rest is the text of the args.
pub fn args_to_request(bytes: &[u8]) {
    thread_local! {
        static MANIFEST: Manifest = thing(&json!({ "ops": ops() }));
    }
    let Some((&first, rest)) = bytes.split_first() else { return };
    let (name, texts, list) = OPS[usize::from(first & 0x7f) % OPS.len()];
    let written;
    let text = if first & 0x80 == 0 {
        let Ok(text) = std::str::from_utf8(rest) else { return };
        text
    } else {
        written = of_texts(texts, list, rest);
        &written
    };
    MANIFEST.with(|manifest| {
        let op = manifest.op(&OpId::parse(name).expect("a name")).expect("an op");
        let Ok(args) = op.args.parse_text(text) else { return };
        normal(op, &args);
        check(manifest, name, op, &args);
    });
}

/// Args whose texts are these, in order, an empty one for each that is not there. A `u` that is empty is left out.
fn of_texts(names: &[&str], list: &str, bytes: &[u8]) -> String {
    let mut values = bytes.split(|byte| *byte == 0xff).map(|text| String::from_utf8_lossy(text).into_owned());
    let mut args = Map::new();
    for name in names {
        args.insert((*name).to_owned(), values.next().unwrap_or_default().into());
    }
    args.insert(list.to_owned(), values.collect());
    if names.contains(&"y") {
        args.insert("i".to_owned(), 1.into());
    }
    args.retain(|name, value| name != "u" || value != "");
    Value::Object(args).to_string()
}

/// Normalising what is normal changes nothing, whichever way it is given.
fn normal(op: &Op, args: &Args) {
    let Value::Object(members) = args.to_json() else { panic!("args are an object") };
    let text = Value::Object(members.clone()).to_string();
    assert_eq!(op.args.parse_text(&text).as_ref(), Ok(args));
    assert_eq!(op.args.normalise(members).as_ref(), Ok(args));
}

fn check(manifest: &Manifest, name: &str, op: &Op, args: &Args) {
    let request = op.request().expect("a request");
    let rendered = render(manifest, request, args);
    let given = Given(args);
    let rendered = match rendered {
        Err(RenderError::TooLong { .. }) => return,
        Err(fault) => {
            assert!(name == "get" && !given.fits(), "{fault}");
            return;
        }
        Ok(rendered) => rendered,
    };
    let seen = seen(manifest.host().as_str(), request, &rendered);
    let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
    if name == "get" {
        assert!(given.fits());
        let segments = [b"v1".to_vec(), given.text("x").into(), b"p".to_vec(), given.segment().into()];
        assert_eq!(seen.segments.split_last(), Some((&given.text("i").into_bytes(), segments.as_slice())));
        let mut query = seen.query;
        query.sort();
        assert_eq!(query, given.query());
        headers.push(("x-h".to_owned(), format!("v={}", given.text("h"))));
        headers.extend(given.get("o").is_some().then(|| ("x-o".to_owned(), given.text("o"))));
        assert_eq!(rendered.body, None);
    } else {
        assert!(seen.query.is_empty());
        let kind = if name == "form" { "application/x-www-form-urlencoded" } else { "application/json" };
        headers.push(("content-type".to_owned(), kind.to_owned()));
        body(name, &given, &rendered);
    }
    let mut found = rendered.headers;
    found.sort();
    headers.sort();
    assert_eq!(found, headers);
}

fn body(name: &str, given: &Given<'_>, rendered: &Rendered) {
    let bytes = rendered.body.as_deref().expect("a body");
    if name == "form" {
        let mut pairs: Vec<(String, String)> = url::form_urlencoded::parse(bytes).into_owned().collect();
        pairs.sort();
        assert_eq!(pairs, given.form());
        return;
    }
    let found: Value = serde_json::from_slice(bytes).expect("JSON");
    let inner = |members: &[&str]| {
        members
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), given.get(name)?.clone())))
            .collect::<Map<_, _>>()
    };
    let expected = if name == "json" {
        let mut expected = inner(&["x", "t", "u", "in"]);
        expected.insert("text".to_owned(), format!("[{}] {{x}}", given.text("x")).into());
        expected.insert("n".to_owned(), given.get("n").into_iter().chain([&Value::Null]).cloned().collect());
        expected.insert("b".to_owned(), Value::Object(inner(&["b"])));
        Value::Object(expected)
    } else {
        let mut variables = inner(&["x", "t"]);
        variables.insert("in".to_owned(), Value::Object(inner(&["u", "n", "b", "in"])));
        json!({ "query": DOCUMENT, "variables": variables })
    };
    assert_eq!(found.to_string(), expected.to_string());
}

/// The args, read the plain way.
struct Given<'a>(&'a Args);

impl Given<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(&ArgName::parse(name).expect("a name"))
    }

    /// The text of a scalar that is there.
    fn text(&self, name: &str) -> String {
        plain(self.get(name).expect("an arg"))
    }

    fn list(&self, name: &str) -> Vec<String> {
        self.get(name).and_then(Value::as_array).into_iter().flatten().map(plain).collect()
    }

    /// The segment with an escape in it, decoded.
    fn segment(&self) -> String {
        format!(".{}.:go", self.text("y"))
    }

    /// Whether every value fits where it is put.
    fn fits(&self) -> bool {
        let plain = |value: &str| !value.chars().any(char::is_control);
        // Judged up to the first semicolon, behind which some servers read no further.
        let odd = |segment: &str| matches!(segment.split(';').next(), Some("" | "." | ".."));
        let visible = |value: &str| value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        let (x, y, h) = (self.text("x"), self.text("y"), self.text("h"));
        let o = self.get("o").map(|_| self.text("o"));
        plain(&x)
            && plain(&y)
            && !odd(&x)
            && !odd(&self.segment())
            && visible(&h)
            && !h.ends_with([' ', '\t'])
            && o.is_none_or(|o| visible(&o) && !o.is_empty() && o.trim_matches([' ', '\t']) == o)
            && !self.list("joined").iter().any(|element| element.contains(','))
    }

    /// The query of `get`, in order of its pairs.
    fn query(&self) -> Vec<(String, String)> {
        let mut pairs = vec![("k".to_owned(), format!("a {}&", self.text("x")))];
        for (key, name) in [("o[q]", "q"), ("n", "n"), ("b", "b")] {
            pairs.extend(self.get(name).map(|value| (key.to_owned(), plain(value))));
        }
        pairs.extend(self.list("list").into_iter().map(|element| ("list".to_owned(), element)));
        let joined = self.list("joined");
        pairs.extend((!joined.is_empty()).then(|| ("joined".to_owned(), joined.join(","))));
        pairs.sort();
        pairs
    }

    /// The form, in order of its pairs.
    fn form(&self) -> Vec<(String, String)> {
        let mut pairs = vec![("m[x]".to_owned(), format!("[{}]", self.text("x")))];
        for name in ["x", "u", "n", "b"] {
            pairs.extend(self.get(name).map(|value| (name.to_owned(), plain(value))));
        }
        pairs.extend(self.list("t").into_iter().map(|element| ("t[]".to_owned(), element)));
        let members = self.get("in").and_then(Value::as_object);
        for (name, value) in members.into_iter().flatten() {
            match value {
                Value::Array(elements) if name == "l" => {
                    pairs.extend(elements.iter().map(|element| ("in[l][]".to_owned(), plain(element))));
                }
                Value::Array(elements) => {
                    for (place, element) in elements.iter().enumerate() {
                        let p = element.get("p").map(|p| (format!("in[o][{place}][p]"), plain(p)));
                        pairs.extend(p);
                    }
                }
                scalar => pairs.push((format!("in[{name}]"), plain(scalar))),
            }
        }
        pairs.sort();
        pairs
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => panic!("a scalar"),
    }
}
