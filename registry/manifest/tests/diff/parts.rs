//! Random ops of small parts, of which two often differ a little, and calls on the edges of what they take.

use pinhole_manifest::Manifest;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use crate::manifest;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// One arg, and where the request says it.
#[derive(Debug, Clone)]
struct Arg {
    schema: Value,
    required: bool,
    place: &'static str,
}

/// What an op is made of.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    args: [Option<Arg>; 3],
    fixed: Option<&'static str>,
    fields: Vec<Value>,
    root: Option<&'static str>,
    scopes: Vec<&'static str>,
    paths: Option<Vec<&'static str>>,
    result_bytes: u64,
}

fn keyword<T: Clone + Into<Value> + std::fmt::Debug + 'static>(
    name: &'static str,
    values: Vec<T>,
) -> BoxedStrategy<Option<(&'static str, Value)>> {
    prop_oneof![2 => Just(None), 1 => select(values).prop_map(move |value| Some((name, value.into())))]
        .boxed()
}

fn schema(kind: &'static str) -> BoxedStrategy<Value> {
    let keywords = match kind {
        "string" => vec![
            keyword("minLength", vec![0, 1, 2]),
            keyword("maxLength", vec![2, 3, 4_096]),
            keyword("pattern", vec!["^a", "^ab"]),
            keyword("enum", vec![json!(["a"]), json!(["a", "ab"]), json!(["ab", "abc", "a"])]),
            keyword("default", vec!["a", "ab"]),
        ],
        "array" => vec![
            keyword("minItems", vec![0, 1]),
            keyword("maxItems", vec![2, 10_000]),
            keyword("uniqueItems", vec![true, false]),
            keyword("default", vec![json!(["a"])]),
        ],
        "boolean" => vec![keyword("default", vec![true]), keyword("enum", vec![json!([true])])],
        _ => vec![
            keyword("minimum", vec![0, 1, 2]),
            keyword("exclusiveMinimum", vec![0, 1]),
            keyword("maximum", vec![3, 4]),
            keyword("exclusiveMaximum", vec![4, 5]),
            keyword("multipleOf", vec![1, 2, 4]),
            keyword("enum", vec![json!([2]), json!([2, 4]), json!([2, 3, 4])]),
            keyword("default", vec![2]),
        ],
    };
    keywords
        .prop_map(move |keywords| {
            let mut schema: Map<String, Value> =
                keywords.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect();
            schema.insert("type".into(), kind.into());
            schema.insert("description".into(), "A value.".into());
            if kind == "array" {
                schema.insert("items".into(), json!({"type": "string"}));
            }
            Value::Object(schema)
        })
        .boxed()
}

fn arg() -> impl Strategy<Value = Option<Arg>> {
    let kind = select(vec!["string", "integer", "number", "array", "boolean"]);
    let schema = kind.prop_flat_map(schema);
    let arg = (schema, any::<bool>(), select(vec!["query", "body", "nested"])).prop_map(
        |(mut schema, required, place)| {
            if required {
                schema.as_object_mut().unwrap().remove("default");
            }
            Arg { schema, required, place }
        },
    );
    prop_oneof![1 => Just(None), 4 => arg.prop_map(Some)]
}

fn parts() -> impl Strategy<Value = Parts> {
    let fields = vec![
        json!("id"),
        json!("owner.name"),
        json!({"path": "tags[0]", "as": "tag"}),
        json!("metadata.*"),
        json!("labels[*].name"),
    ];
    (
        [arg(), arg(), arg()],
        select(vec![None, Some("1"), Some("2")]),
        subsequence(fields, 1..=5),
        select(vec![None, None, Some("$.data")]),
        subsequence(vec!["read", "write", "all"], 0..=3),
        prop::option::of(subsequence(vec!["/x/{*}", "/x/y", "/{*}/{*}"], 0..=3)),
        select(vec![10_u64, 65_536, 70_000]),
    )
        .prop_map(|(args, fixed, fields, root, scopes, paths, result_bytes)| Parts {
            args,
            fixed,
            fields,
            root,
            scopes,
            paths,
            result_bytes,
        })
}

/// What becomes of a part.
#[derive(Debug, Clone, Copy)]
enum Becomes {
    Kept,
    Other,
    /// An arg has keywords of the other besides, or must be there.
    Mixed,
}

/// The same with some parts of another.
fn after(parts: Parts, other: Parts, steps: &[Becomes; 9]) -> Parts {
    let [a, b, c] = parts.args;
    let [other_a, other_b, other_c] = other.args;
    let is_kept = |index: usize| matches!(steps[index], Becomes::Kept);
    Parts {
        args: [mixed(a, other_a, steps[0]), mixed(b, other_b, steps[1]), mixed(c, other_c, steps[2])],
        fixed: if is_kept(3) { parts.fixed } else { other.fixed },
        fields: if is_kept(4) { parts.fields } else { other.fields },
        root: if is_kept(5) { parts.root } else { other.root },
        scopes: if is_kept(6) { parts.scopes } else { other.scopes },
        paths: if is_kept(7) { parts.paths } else { other.paths },
        result_bytes: if is_kept(8) { parts.result_bytes } else { other.result_bytes },
    }
}

fn mixed(arg: Option<Arg>, other: Option<Arg>, becomes: Becomes) -> Option<Arg> {
    match (becomes, arg, other) {
        (Becomes::Kept, arg, _) => arg,
        (Becomes::Mixed, Some(mut arg), Some(other)) if arg.schema["type"] == other.schema["type"] => {
            let known = arg.schema.as_object_mut().unwrap();
            for (name, value) in other.schema.as_object().unwrap() {
                if name != "default" {
                    known.insert(name.clone(), value.clone());
                }
            }
            Some(arg)
        }
        (Becomes::Mixed, Some(mut arg), _) => {
            arg.schema.as_object_mut().unwrap().remove("default");
            Some(Arg { required: true, ..arg })
        }
        (Becomes::Mixed | Becomes::Other, _, other) => other,
    }
}

pub(crate) fn three() -> impl Strategy<Value = [Parts; 3]> {
    let becomes =
        prop_oneof![12 => Just(Becomes::Kept), 1 => Just(Becomes::Other), 3 => Just(Becomes::Mixed)].boxed();
    let keep = || prop::array::uniform9(becomes.clone());
    (parts(), parts(), parts(), keep(), keep()).prop_map(|(one, two, three, first, second)| {
        let two = after(one.clone(), two, &first);
        let three = after(two.clone(), three, &second);
        [one, two, three]
    })
}

pub(crate) fn built(parts: &Parts) -> Option<Manifest> {
    let (mut properties, mut required, mut query, mut body, mut nested) =
        (json!({}), Vec::new(), json!({}), json!({}), json!({}));
    for (name, arg) in NAMES.iter().zip(&parts.args) {
        let Some(arg) = arg else { continue };
        properties[name] = arg.schema.clone();
        required.extend(arg.required.then_some(*name));
        let value = json!(format!("{{{name}}}"));
        match arg.place {
            "query" => query[name] = value,
            "body" => body[name] = value,
            _ => nested[name] = value,
        }
    }
    body["nested"] = nested;
    if let Some(fixed) = parts.fixed {
        query["fixed"] = json!(fixed);
    }
    let mut pick = json!({"fields": parts.fields});
    if let Some(root) = parts.root {
        pick["root"] = json!(root);
    }
    let mut op = json!({
        "access": "read", "summary": "Things.",
        "args": {"type": "object", "additionalProperties": false, "required": required, "properties": properties},
        "request": {"method": "POST", "path": "/things", "reads": true, "query": query, "json": body},
        "pick": pick, "limits": {"result_bytes": parts.result_bytes}
    });
    if let Some(paths) = &parts.paths {
        op["page"] = json!({"style": "link", "paths": paths});
    }
    let value = json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": "api.acme.com",
        "auth": {"scheme": "bearer", "oauth": {"authorize_url": "https://acme.com/a", "token_url": "https://acme.com/t", "scopes": parts.scopes}},
        "ops": {"list_things": op}
    });
    pinhole_manifest::read(value.to_string().as_bytes()).manifest.map(|_loads| manifest(&value, "built"))
}

/// Values on and beside every edge of the schemas above.
fn values(kind: &str) -> Vec<Value> {
    match kind {
        "string" => {
            let long = ["a".repeat(4_096), "a".repeat(4_097)].map(Value::from);
            [json!(""), json!("a"), json!("ab"), json!("abc"), json!("b"), json!("abcd")]
                .into_iter()
                .chain(long)
                .collect()
        }
        "array" => {
            vec![json!([]), json!(["a"]), json!(["a", "a"]), json!(["a", "b"]), json!(["a", "b", "c"])]
        }
        "boolean" => vec![json!(true), json!(false)],
        _ => [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
            .into_iter()
            .map(Value::from)
            .chain([json!(0), json!(1), json!(2), json!(3), json!(4), json!(5)])
            .collect(),
    }
}

/// Calls of which a good part is taken; one arg in a few has a value of another kind.
pub(crate) fn calls() -> impl Strategy<Value = Vec<[(u8, u8); 3]>> {
    prop::collection::vec(prop::array::uniform3(any::<(u8, u8)>()), 60)
}

pub(crate) fn call(parts: &Parts, picks: [(u8, u8); 3]) -> Value {
    let mut given = Map::new();
    for ((name, arg), (how, which)) in NAMES.iter().zip(&parts.args).zip(picks) {
        let kind = match (arg, how) {
            (_, 50..60) => {
                given.insert((*name).to_owned(), Value::Null);
                continue;
            }
            (Some(arg), 60..250) => arg.schema["type"].as_str().unwrap(),
            (_, 0..50) | (None, 60..250) => continue,
            (_, 250..) => "string",
        };
        let values = values(kind);
        given.insert((*name).to_owned(), values[usize::from(which) % values.len()].clone());
    }
    Value::Object(given)
}
