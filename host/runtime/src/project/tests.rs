//! Shapes one by one.

mod answers;
mod naive;
mod properties;

pub(super) use properties::{ROOTS, fields, written};

use std::path::PathBuf;

use pinhole_manifest::pick::Pick;
use pinhole_manifest::{Manifest, OpId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A folder of material that is kept beside the checkout; `None`, with a loud word, where it is not there.
pub(super) fn shared(test: &str, path: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test finds its material by the environment")]
    let (named, ci) = (std::env::var_os("PINHOLE_SHARED"), std::env::var_os("CI"));
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = named.map_or(beside, PathBuf::from).join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(ci.is_none_or(|ci| ci != "true"), "{test} needs {path}");
    eprintln!("SKIPPED: {test}: no {path} beside the checkout");
    None
}

/// Any tree, with few names, so that they meet.
pub(super) fn any_tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?"
            .prop_map(|digits| Tree::parse(digits.as_bytes()).unwrap()),
        "\\PC{0,6}".prop_map(Tree::String),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            proptest::collection::vec(("[abcd]".prop_map(Key::from), inner), 0..5).prop_map(Tree::Object),
        ]
    })
}

/// A manifest with this pick.
pub(super) fn manifest(pick: &Value) -> Manifest {
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": { "scheme": "bearer" },
        "ops": { "it": {
            "access": "read", "summary": "Does it.",
            "args": { "type": "object", "additionalProperties": false, "required": [], "properties": {} },
            "request": { "method": "GET", "path": "/" },
            "pick": pick,
        } },
    });
    let reading = pinhole_manifest::read(manifest.to_string().as_bytes());
    reading.into_result().unwrap_or_else(|faults| panic!("{pick}: {faults:?}"))
}

pub(super) fn projection(manifest: &Manifest) -> &Projection {
    match &manifest.op(&OpId::parse("it").unwrap()).unwrap().pick {
        Pick::Fields(projection) => projection,
        Pick::None => panic!(),
    }
}

fn pick(root: &str, fields: &Value, document: &str) -> Result<Projected, ProjectError> {
    let manifest = manifest(&json!({ "root": root, "fields": fields }));
    project(Tree::parse(document.as_bytes()).unwrap(), projection(&manifest))
}

/// Asserts a result, byte for byte, and its notes.
#[track_caller]
fn gives(root: &str, fields: &Value, document: &str, result: &str, notes: &[&str]) {
    let projected = pick(root, fields, document).unwrap();
    assert_eq!(projected.value.to_string(), result);
    assert_eq!(projected.notes.iter().map(String::as_str).collect::<Vec<_>>(), notes);
}

#[test]
fn nesting_and_the_order_of_fields_are_kept() {
    let fields =
        json!(["title", "user.login", "labels[*].name", "id", "user.id", "labels[*].color", "['odd.key']"]);
    let document = r#"{"id":12345678901234567890,"odd.key":1.10,"user":{"id":1,"login":"u","hidden":1},"title":"t",
        "labels":[{"name":"a","color":"c","hidden":1},{"name":"b"},{}],"hidden":{"title":"x"}}"#;
    let result = r#"{"title":"t","user":{"login":"u","id":1},"labels":[{"name":"a","color":"c"},{"name":"b"},{}],"id":12345678901234567890,"odd.key":1.10}"#;
    gives("$", &fields, document, result, &[]);
    gives("$", &fields, &format!("[{document},null]"), &format!("[{result},null]"), &[]);
}

#[test]
fn absent_stays_absent_and_null_stays_null() {
    let fields =
        json!(["a", "b.c", "d[*].e", "f[*]", { "as": "g", "path": "i.c" }, { "as": "h", "path": "j[*].e" }]);
    gives("$", &fields, "{}", "{}", &[]);
    gives("$", &fields, r#"{"b":{},"d":[],"f":[],"i":{},"j":[]}"#, r#"{"b":{},"d":[],"f":[],"h":[]}"#, &[]);
    gives(
        "$",
        &fields,
        r#"{"a":null,"b":null,"d":null,"f":null,"i":null,"j":null}"#,
        r#"{"a":null,"b":null,"d":null,"f":null,"g":null,"h":null}"#,
        &[],
    );
    gives(
        "$",
        &fields,
        r#"{"b":{"c":null},"d":[null,{"e":null},{}],"f":[null],"i":{"c":null},"j":[null,{"e":null},{}]}"#,
        r#"{"b":{"c":null},"d":[null,{"e":null},{}],"f":[null],"g":null,"h":[null,null]}"#,
        &[],
    );
    // Another kind on the way.
    gives("$", &fields, r#"{"b":1,"d":{"e":1},"f":"x","i":1,"j":{"e":1}}"#, "{}", &[]);
    gives("$", &fields, r#"{"b":[{"c":1}],"d":"e","f":true,"i":[{"c":1}],"j":"e"}"#, "{}", &[]);
}

#[test]
fn a_leaf_is_a_scalar_or_an_array_of_scalars() {
    let fields = json!(["a", "b", "c", "d", { "as": "e", "path": "f" }]);
    gives(
        "$",
        &fields,
        r#"{"a":{"x":1},"b":[1,"2",null,true],"c":[1,[2]],"d":[{}],"f":{"x":1}}"#,
        r#"{"b":[1,"2",null,true]}"#,
        &["a", "c", "d", "f"],
    );
}

#[test]
fn elements_of_another_kind_are_left_out_and_noted() {
    let fields = json!(["a[*].b", "c[*].d[*].e", { "as": "f", "path": "g[*].b" }]);
    gives(
        "$",
        &fields,
        r#"{"a":[1,{"b":2},"x",[],null],"g":[1,{"b":2},"x",[],null],"c":[{"d":[{"e":1},2]},{"d":3},{"d":null}]}"#,
        r#"{"a":[{"b":2},null],"c":[{"d":[{"e":1}]},{},{"d":null}],"f":[2,null]}"#,
        &["a[*].b", "c[*].d[*].e", "g[*].b"],
    );
}

#[test]
fn a_trailing_star_takes_scalars() {
    gives(
        "$",
        &json!(["m.*"]),
        r#"{"m":{"a":1,"b":{},"c":null,"d":[1]}}"#,
        r#"{"m":{"a":1,"c":null}}"#,
        &["m.*"],
    );
    gives("$", &json!(["*"]), r#"{"a":1,"b":null,"c":{"d":2}}"#, r#"{"a":1,"b":null}"#, &["*"]);
    gives("$", &json!(["m[*]"]), r#"{"m":[1,null,"a"]}"#, r#"{"m":[1,null,"a"]}"#, &[]);
    gives("$", &json!(["m[*]"]), r#"{"m":[1,{}]}"#, "{}", &["m[*]"]);
    gives(
        "$",
        &json!(["m[*][*]"]),
        r#"{"m":[[1],{"a":2},3,null,[[4]]]}"#,
        r#"{"m":[[1],{"a":2},null]}"#,
        &["m[*][*]"],
    );
}

#[test]
fn an_alias_is_flat_and_gathers() {
    let fields = json!([
        { "as": "first", "path": "a[0].b" },
        "z",
        { "as": "all", "path": "a[*].c[*].d" },
        { "as": "tags", "path": "a[*].t[*]" },
        { "as": "lists", "path": "a[*].t" },
        { "as": "meta", "path": "m.*" },
    ]);
    gives(
        "$",
        &fields,
        r#"{"a":[{"b":1,"c":[{"d":1},{"d":2}],"t":["x"]},{"c":[{"d":3},{}],"t":["y","z"]}],"z":0,"m":{"k":1}}"#,
        r#"{"first":1,"z":0,"all":[1,2,3],"tags":["x","y","z"],"lists":[["x"],["y","z"]],"meta":{"k":1}}"#,
        &[],
    );
    gives("$", &fields, r#"{"a":[],"m":[]}"#, r#"{"all":[],"tags":[],"lists":[],"meta":[]}"#, &[]);
}

#[test]
fn a_root_is_there_or_refused() {
    let fields = json!(["id"]);
    let absent = |root: &str| Err(ProjectError::RootAbsent { root: root.to_owned() });
    gives("$.data.issue", &fields, r#"{"data":{"issue":{"id":1,"x":2}}}"#, r#"{"id":1}"#, &[]);
    gives("$.data.issue", &fields, r#"{"data":{"issue":null}}"#, "null", &[]);
    gives(
        "$.data.nodes",
        &fields,
        r#"{"data":{"nodes":[{"id":1},null,2,[]]}}"#,
        r#"[{"id":1},null]"#,
        &["$.data.nodes"],
    );
    gives("$[1]", &fields, r#"[0,{"id":1}]"#, r#"{"id":1}"#, &[]);
    gives("$", &fields, "[]", "[]", &[]);
    gives("$", &fields, "null", "null", &[]);
    for document in ["{}", r#"{"data":null}"#, r#"{"data":{"nodes":1}}"#, r#"{"data":[]}"#, "7"] {
        assert_eq!(pick("$.data.nodes", &fields, document), absent("$.data.nodes"), "{document}");
    }
    assert_eq!(pick("$", &fields, "7"), absent("$"));
    assert_eq!(pick("$['a.b']", &fields, "{}"), absent("$['a.b']"));
}

#[test]
fn a_root_with_a_star_gives_one_array() {
    let fields = json!(["id"]);
    gives("$.a[*]", &fields, r#"{"a":[{"id":1},{"id":2}]}"#, r#"[{"id":1},{"id":2}]"#, &[]);
    gives(
        "$.a[*].b",
        &fields,
        r#"{"a":[{"b":{"id":1}},{},null,{"b":[{"id":2},{"id":3}]},{"b":null}]}"#,
        r#"[{"id":1},{"id":2},{"id":3},null]"#,
        &[],
    );
    gives(
        "$.a[*].b[*]",
        &fields,
        r#"{"a":[{"b":[{"id":1}]},{"b":[{"id":2}]}]}"#,
        r#"[{"id":1},{"id":2}]"#,
        &[],
    );
    for nothing in ["{}", r#"{"a":[]}"#, r#"{"a":null}"#, "null", "[]"] {
        gives("$.a[*]", &fields, nothing, "[]", &[]);
    }
    gives("$.a[*]", &fields, r#"{"a":{"id":1}}"#, "[]", &["$.a[*]"]);
    gives("$.a[*]", &fields, r#"{"a":["x",{"id":1}]}"#, r#"[{"id":1}]"#, &["$.a[*]"]);
}

#[test]
fn a_picked_name_that_stands_twice_is_refused() {
    let twice = |field: &str| Err(ProjectError::DuplicateKey { field: field.to_owned() });
    let fields = json!(["id", "user.login", { "as": "x", "path": "a.b" }, "m.*"]);
    for (document, field) in [
        (r#"{"id":1,"id":1}"#, "id"),
        (r#"{"user":{},"user":{}}"#, "user.login"),
        (r#"[{"id":1},{"user":{"login":1,"login":2}}]"#, "user.login"),
        (r#"{"a":{"b":1,"\u0062":2}}"#, "a.b"),
        (r#"{"m":{"k":1,"k":{}}}"#, "m.*"),
    ] {
        assert_eq!(pick("$", &fields, document), twice(field), "{document}");
    }
    assert_eq!(pick("$.data", &json!(["id"]), r#"{"data":{},"data":{}}"#), twice("$.data"));
    gives("$", &fields, r#"{"id":1,"other":1,"other":2,"user":{"x":1,"x":1}}"#, r#"{"id":1,"user":{}}"#, &[]);
}
