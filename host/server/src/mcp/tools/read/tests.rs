//! What is set right, what is left alone, and what is refused.

use pinhole_manifest::model::Op;
use pinhole_runtime::catalog::{Catalog, Source};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Reach;
use crate::mcp::tools::{Connected, Offer, Target};
use pinhole_grant::Account;
use pinhole_manifest::ServiceId;

/// One op that takes an arg of every kind.
fn catalog() -> Catalog {
    let args = json!({
        "type": "object", "additionalProperties": false, "required": ["id"],
        "properties": {
            "id": {"type": "string", "description": "Which."},
            "count": {"type": "integer", "description": "How many."},
            "share": {"type": "number", "description": "How much."},
            "open": {"type": "boolean", "description": "Whether."},
            "tags": {"type": "array", "items": {"type": "integer"}, "description": "Some."},
            "where": {
                "type": "object", "additionalProperties": false, "description": "Where.", "required": ["x"],
                "properties": {"x": {"type": "integer"}, "deep": {"type": "array", "items": {"type": "boolean"}}},
            },
        },
    });
    let manifest = json!({
        "pinhole": 1, "id": "made", "version": "1.0.0", "name": "Made up", "summary": "For a test.",
        "host": "api.made-up.dev", "auth": {"scheme": "bearer", "pat": {"help": "Make one."}},
        "ops": {
            "change": {
                "access": "write", "summary": "Change.", "confirm": "Change {id}?", "effect": "update", "args": args,
                "request": {"method": "PATCH", "path": "/things/{id}", "json": {
                    "count": "{count}", "share": "{share}", "open": "{open}", "tags": "{tags}", "where": "{where}",
                }},
                "pick": {"fields": ["id"]},
            },
            "list": {
                "access": "read", "summary": "List.",
                "args": {"type": "object", "additionalProperties": false, "properties": {}},
                "request": {"method": "GET", "path": "/things"}, "page": {"style": "page", "query": "page"},
                "pick": {"root": "$[*]", "fields": ["id"]},
            },
        },
    });
    let mut catalog = Catalog::default();
    let added = catalog.add(&serde_json::to_vec(&manifest).unwrap(), Source::UnsignedFile);
    assert!(added.is_ok(), "{added:?}");
    catalog
}

fn connected(label: &str) -> Connected {
    Connected {
        service: ServiceId::parse("made").unwrap(),
        label: Label::parse(label).unwrap(),
        account: Account::parse("mona").unwrap(),
        cap: Access::Write,
    }
}

fn read(labels: &[&str], offer: &Offer, name: &str, arguments: &Value) -> Result<Read, ArgumentError> {
    let catalog = catalog();
    let connections: Vec<Connected> = labels.iter().map(|label| connected(label)).collect();
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), offer);
    let Some(Target::Op(op)) = toolbox.find(name) else { panic!("{name}") };
    let call = op.read(arguments.as_object().cloned())?;
    let ToolCall { args, connection, next, yes, .. } = call;
    Ok(Read { args, connection: connection.to_string(), next, yes })
}

#[derive(Debug, PartialEq)]
struct Read {
    args: String,
    connection: String,
    next: Option<String>,
    yes: Yes,
}

fn change(arguments: &Value) -> String {
    read(&["a"], &Offer::default(), "made_change", arguments).unwrap().args
}

#[test]
fn what_was_plainly_meant_is_set_right() {
    for (given, wanted) in [
        (json!({"count": "5"}), r#"{"count":5}"#),
        (json!({"count": "-5"}), r#"{"count":-5}"#),
        (json!({"share": "1.10"}), r#"{"share":1.10}"#),
        (json!({"share": "1e2"}), r#"{"share":1e2}"#),
        (json!({"open": "true"}), r#"{"open":true}"#),
        (json!({"tags": "[1, 2]"}), r#"{"tags":[1, 2]}"#),
        (json!({"tags": ["1", 2]}), r#"{"tags":[1,2]}"#),
        (json!({"where": "{\"x\":1}"}), r#"{"where":{"x":1}}"#),
        (json!({"where": {"x": "1", "deep": ["false"]}}), r#"{"where":{"deep":[false],"x":1}}"#),
        // Every digit goes on to the op's parser, which refuses what it would have to round.
        (json!({"count": "9007199254740993"}), r#"{"count":9007199254740993}"#),
        (json!({"share": "0.10000000000000000001"}), r#"{"share":0.10000000000000000001}"#),
    ] {
        assert_eq!(change(&given), wanted);
    }
}

#[test]
fn what_is_in_doubt_is_left_alone() {
    for given in [
        json!({"id": "5"}),
        json!({"id": "true"}),
        json!({"id": "[1]"}),
        json!({"id": 5}),
        json!({"count": " 5"}),
        json!({"count": "5 "}),
        json!({"count": "+5"}),
        json!({"count": "05"}),
        json!({"count": "five"}),
        json!({"count": ""}),
        json!({"count": "5,\"id\":\"x\""}),
        json!({"count": "NaN"}),
        json!({"open": "True"}),
        json!({"open": "yes"}),
        json!({"open": 1}),
        json!({"tags": "1,2"}),
        json!({"tags": "[1"}),
        json!({"tags": "[1],\"id\":[2]"}),
        json!({"tags": 1}),
        json!({"where": "{\"x\":1}}"}),
        json!({"where": "[]"}),
        json!({"count": null, "id": null}),
    ] {
        assert_eq!(change(&given), given.to_string());
    }
}

#[test]
fn no_arguments_are_none_and_null_is_nothing() {
    let list = |arguments: &Value| read(&["a"], &Offer::default(), "made_list", arguments).unwrap();
    assert_eq!(list(&Value::Null).args, "{}");
    let nothing = json!({"next": null});
    assert_eq!(
        list(&nothing),
        Read { args: "{}".into(), connection: "a".into(), next: None, yes: Yes::Approval }
    );
    assert_eq!(list(&json!({"next": ""})).next, None);
    assert_eq!(list(&json!({"next": "token"})).next.as_deref(), Some("token"));
}

#[test]
fn a_null_where_something_must_stand_is_refused_by_the_op() {
    let catalog = catalog();
    let op = op(&catalog);
    for given in [json!({"id": null}), json!({}), json!({"id": ""}), json!({"id": "x", "where": {"x": null}})]
    {
        let args = change(&given);
        let taken = op.args.parse_text(&args);
        // An empty text is one; that no path has an empty segment is the renderer's.
        assert_eq!(taken.is_err(), given != json!({"id": ""}), "{args}");
    }
    assert!(op.args.parse_text(&change(&json!({"id": "x", "count": null, "where": null}))).is_ok());
}

#[test]
fn unknown_arguments_are_refused_by_name() {
    let refused =
        |name: &str, arguments: Value| read(&["a"], &Offer::default(), name, &arguments).unwrap_err();
    let ArgumentError::Unknown { names, known } =
        refused("made_change", json!({"id": "1", "colour": 1, "connection": "a"}))
    else {
        panic!()
    };
    assert_eq!(names, ["colour", "connection"]);
    assert_eq!(known, ["count", "id", "open", "share", "tags", "where"]);
    let odd = refused("made_list", json!({"page\u{202e}": 1, "x": 2}));
    assert_eq!(odd.to_string(), "unknown argument `page\\u{202e}`, `x`: the tool takes `next`");
    // Only the operator's word makes it an argument.
    assert!(matches!(
        refused("made_change", json!({"id": "1", "confirm": true})),
        ArgumentError::Unknown { .. }
    ));
}

#[test]
fn a_connection_is_one_of_the_labels() {
    let offer = Offer::default();
    let labels = ["home", "work"];
    let ok = read(&labels, &offer, "made_list", &json!({"connection": "work"})).unwrap();
    assert_eq!(ok.connection, "work");
    for arguments in [json!({}), json!({"connection": null})] {
        let error = read(&labels, &offer, "made_list", &arguments).unwrap_err();
        assert!(
            matches!(&error, ArgumentError::WhichConnection { labels, .. } if labels == &["home", "work"])
        );
    }
    for given in ["lab", "", "Work", "work "] {
        let error = read(&labels, &offer, "made_list", &json!({ "connection": given })).unwrap_err();
        assert!(matches!(error, ArgumentError::NoSuchConnection { .. }), "{given}");
    }
    let error = read(&labels, &offer, "made_list", &json!({"connection": 1})).unwrap_err();
    assert!(matches!(error, ArgumentError::Kind { .. }));
}

#[test]
fn a_yes_in_the_client_is_true_and_nothing_else() {
    let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
    let yes = |given: Value| {
        read(&["a"], &offer, "made_change", &json!({"id": "1", "confirm": given})).map(|read| read.yes)
    };
    assert_eq!(yes(json!(true)), Ok(Yes::InTheClient));
    assert_eq!(yes(json!("true")), Ok(Yes::InTheClient));
    for no in [json!(false), json!("false"), json!(null)] {
        assert_eq!(yes(no), Ok(Yes::Approval));
    }
    for odd in [json!(1), json!("yes"), json!("TRUE"), json!([true])] {
        assert!(yes(odd).is_err());
    }
}

fn op(catalog: &Catalog) -> &Op {
    let entry = catalog.find(&ServiceId::parse("made").unwrap()).unwrap();
    entry.manifest.ops().values().next().unwrap()
}

fn arg() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6_f64).prop_map(Value::from),
        any::<i32>().prop_map(|n| n.to_string().into()),
        "(true|false|\\[1,2\\]|\\{\"x\":1\\}|-?[0-9]{1,3}(\\.[0-9]{1,3})?)".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::btree_map("(x|deep|y)", inner, 0..3)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

/// Args that the op often takes.
fn mostly_valid() -> impl Strategy<Value = Value> {
    let inner = (any::<i32>(), proptest::collection::vec(any::<bool>(), 0..3));
    (
        any::<String>(),
        proptest::option::of(any::<i32>()),
        proptest::option::of(-1e6..1e6_f64),
        proptest::option::of(any::<bool>()),
        proptest::option::of(proptest::collection::vec(any::<i32>(), 0..3)),
        proptest::option::of(inner),
    )
        .prop_map(|(id, count, share, open, tags, inner)| {
            let inner = inner.map(|(x, deep)| json!({"x": x, "deep": deep}));
            json!({"id": id, "count": count, "share": share, "open": open, "tags": tags, "where": inner})
        })
}

proptest! {
    #[test]
    fn a_call_that_is_taken_stays_as_it_is(valid in mostly_valid(), odd in arg(), which in "(id|count|share|open|tags|where)") {
        let catalog = catalog();
        let op = op(&catalog);
        let mut mixed = valid.clone();
        mixed[which] = odd;
        for given in [valid, mixed] {
            let coerced = coerced(op.args.json(), &given);
            let (before, after) = (op.args.parse_text(&given.to_string()), op.args.parse_text(&coerced));
            if let Ok(before) = before {
                prop_assert_eq!(Some(before), after.ok());
            }
            // What is written is always JSON.
            prop_assert!(serde_json::from_str::<Value>(&coerced).is_ok(), "{}", coerced);
        }
    }
}
