//! The normal form.

use proptest::prelude::*;

use super::*;
use crate::args::ARGS_BYTES_MAX;
use crate::model::SAFE_INTEGER_MAX;

fn wide() -> ArgsSchema {
    let properties = json!({
        "s": {"type": "string", "description": "S.", "maxLength": 20},
        "i": {"type": "integer", "description": "I.", "minimum": -100},
        "n": {"type": "number", "description": "N."},
        "b": {"type": "boolean", "description": "B.", "default": true},
        "e": {"type": "string", "description": "E.", "enum": ["open", "closed"], "default": "open"},
        "l": {"type": "array", "description": "L.", "items": {"type": "integer"}, "maxItems": 5},
        "o": {"type": "object", "description": "O.", "additionalProperties": false, "required": ["must"], "properties": {
            "must": {"type": "string"}, "may": {"type": "number"}, "dflt": {"type": "integer", "default": 7.0},
            "inner": {"type": "object", "additionalProperties": false, "properties": {"x": {"type": "integer"}}}}},
        "u": {"type": "string", "description": "U.", "format": "public-https-url"},
        "d": {"type": "object", "description": "D.", "additionalProperties": false, "default": {"y": null},
              "properties": {"x": {"type": "integer", "default": 3}, "y": {"type": "string"}}},
    });
    args(&properties, &[])
}

fn of(value: &Value) -> Value {
    normal(&wide(), value).unwrap_or_else(|faults| panic!("{value}: {faults:?}")).to_json()
}

#[test]
fn defaults_fill_and_nulls_go() {
    let defaults = json!({"b": true, "e": "open", "d": {"x": 3}});
    assert_eq!(of(&json!({})), defaults);
    assert_eq!(of(&json!({"s": null, "b": null, "o": null, "d": null})), defaults);
    assert_eq!(of(&json!({"b": false}))["b"], json!(false));
    assert_eq!(
        of(&json!({"o": {"must": "x", "may": null, "inner": {"x": null}}}))["o"],
        json!({"must": "x", "dflt": 7, "inner": {}})
    );
    assert_eq!(of(&json!({"d": {}}))["d"], json!({"x": 3}));
}

#[test]
fn numbers_take_one_form() {
    for (given, wanted) in
        [("1.0", "1"), ("1e0", "1"), ("-0.0", "0"), ("-0", "0"), ("100e-2", "1"), ("42", "42")]
    {
        for name in ["i", "n"] {
            let args = wide().parse_text(&format!(r#"{{"{name}": {given}}}"#)).unwrap();
            assert_eq!(args.to_json()[name].to_string(), wanted, "{given}");
            let raw: Value = serde_json::from_str(&format!(r#"{{"{name}": {given}}}"#)).unwrap();
            assert_eq!(wide().normalise(map(&raw)).unwrap().to_json()[name].to_string(), wanted, "{given}");
        }
    }
    assert_eq!(of(&json!({"l": [1.0, -0.0]}))["l"].to_string(), "[1,0]");
    assert_eq!(of(&json!({"n": 1.5}))["n"], json!(1.5));
    assert_eq!(of(&json!({"n": SAFE_INTEGER_MAX}))["n"], json!(SAFE_INTEGER_MAX));
}

#[test]
fn numbers_that_would_be_rounded_are_refused_everywhere() {
    for given in [
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "-9007199254740992",
        "1e300",
        "1e400",
        "18446744073709551616",
    ] {
        for (text, pointer) in [
            (format!(r#"{{"i": {given}}}"#), "/i"),
            (format!(r#"{{"n": {given}}}"#), "/n"),
            (format!(r#"{{"l": [1, {given}]}}"#), "/l/1"),
            (format!(r#"{{"o": {{"must": "x", "may": {given}}}}}"#), "/o/may"),
        ] {
            assert_eq!(pointers(wide().parse_text(&text)), [pointer], "{text}");
            if let Ok(raw) = serde_json::from_str::<Value>(&text) {
                assert_eq!(pointers(wide().normalise(map(&raw))), [pointer], "{text}");
            }
        }
    }
    assert_eq!(pointers(wide().parse_text(r#"{"n": 9007199254740991.4}"#)), ["/n"]);
    // Once read by a reader that rounds, it cannot be told from the rounded one, which is a fine number.
    assert_eq!(pointers(wide().parse_text(r#"{"n": 0.30000000000000000001}"#)), ["/n"]);
}

#[test]
fn faults_say_where() {
    for (given, wanted) in [
        (json!({"i": "1"}), vec!["/i"]),
        (json!({"i": 1.5}), vec!["/i"]),
        (json!({"i": -101}), vec!["/i"]),
        (json!({"s": 5, "b": "true", "e": "ajar"}), vec!["/b", "/e", "/s"]),
        (json!({"l": [1, "x", 2, null]}), vec!["/l/1", "/l/3"]),
        (json!({"l": [1, 2, 3, 4, 5, 6]}), vec!["/l"]),
        (json!({"o": {}}), vec!["/o/must"]),
        (json!({"o": {"must": null}}), vec!["/o/must"]),
        (json!({"o": {"must": "x", "more": 1}}), vec!["/o/more"]),
        (json!({"o": []}), vec!["/o"]),
        (json!({"zz": 1, "yy": null}), vec!["/yy", "/zz"]),
        (json!({"u": "https://127.0.0.1/"}), vec!["/u"]),
        (json!({"u": "http://pinhole.dev/"}), vec!["/u"]),
    ] {
        let mut found = pointers(normal(&wide(), &given));
        found.sort();
        assert_eq!(found, wanted, "{given}");
    }
    let picky = args(
        &json!({"a": {"type": "string", "description": "A.", "minLength": 9, "pattern": "^[a-z]+$"}}),
        &[],
    );
    assert_eq!(pointers(normal(&picky, &json!({"a": "UPPER"}))), ["/a", "/a"]);
    let strict = args(&json!({"a": {"type": "string", "description": "A."}}), &["a"]);
    assert_eq!(pointers(normal(&strict, &json!({}))), ["/a"]);
    assert_eq!(pointers(normal(&strict, &json!({"a": null}))), ["/a"]);
    assert_eq!(normal(&strict, &json!({"a": ""})).unwrap().to_json(), json!({"a": ""}));
}

#[test]
fn no_value_is_echoed() {
    let secret = "ghp_SECRETSECRET, or \"a thing\"";
    for given in [
        json!({"i": secret}),
        json!({"b": secret}),
        json!({"e": secret}),
        json!({"s": format!("{secret}{secret}")}),
        json!({"u": secret}),
        json!({"l": [secret]}),
        json!({"l": secret}),
        json!({"o": {"must": {secret: 1}}}),
        json!({"o": {"must": "x", secret: 1}}),
        json!({secret: 1}),
        json!({"n": {secret: 1}}),
    ] {
        for faults in
            [wide().normalise(map(&given)).unwrap_err(), wide().parse_text(&given.to_string()).unwrap_err()]
        {
            assert!(!format!("{faults:?}").contains("SECRET"), "{faults:?}");
        }
    }
    let faults = wide().parse_text("{\"i\": 123456789123456789123}").unwrap_err();
    assert!(!format!("{faults:?}").contains("123456789"), "{faults:?}");
    let faults = wide().parse_text(&format!("{{\"SECRET {0}\": 1, \"SECRET {0}\": 1}}", "!")).unwrap_err();
    assert!(!format!("{faults:?}").contains("SECRET"), "{faults:?}");
}

#[test]
fn text_is_strict() {
    for (text, pointer) in [
        ("", ""),
        ("null", ""),
        ("[]", ""),
        ("\"x\"", ""),
        ("{", ""),
        ("{} {}", ""),
        ("{},", ""),
        ("{'s': 1}", ""),
        ("{\"s\": \"x\",}", ""),
        ("\u{feff}{}", ""),
        ("{\"s\": NaN}", ""),
        ("{\"i\": 01}", ""),
        ("{\"i\": +1}", ""),
        ("{\"i\": 1.}", ""),
        ("{\"i\": .5}", ""),
        ("{\"s\": \"a\nb\"}", ""),
        ("{\"s\": \"x\", \"s\": \"x\"}", "/s"),
        ("{\"s\": \"x\", \"\\u0073\": \"x\"}", "/s"),
        ("{\"o\": {\"must\": \"x\", \"must\": \"y\"}}", "/o/must"),
        ("{\"zz\": [{\"a\": {\"b\": 1, \"b\": 2}}]}", "/zz/0/a/b"),
        ("{\"s\": \"\\ud83e\"}", "/s"),
        ("{\"s\": \"\\udd80\\ud83e\"}", "/s"),
        ("{\"\\ud83e\": 1}", ""),
    ] {
        assert_eq!(pointers(wide().parse_text(text)), [pointer], "{text:?}");
    }
    let args = wide().parse_text(" \t\r\n{\"s\": \"\\ud83e\\udd80\"}\n").unwrap();
    assert_eq!(args.to_json()["s"], "🦀");
}

#[test]
fn nesting_and_size_are_bounded() {
    for unit in ["[", "{\"a\":", "[[", "\"", "-", "1", "{"] {
        assert!(wide().parse_text(&unit.repeat(100_000)).is_err());
        assert!(wide().parse_text(&format!("{{\"l\": {}", unit.repeat(100_000))).is_err());
    }
    let deep = |n: usize| format!("{{\"l\": {}{}}}", "[".repeat(n), "]".repeat(n));
    assert_eq!(pointers(wide().parse_text(&deep(100_000))).len(), 1);
    assert_eq!(pointers(wide().parse_text(&deep(2))), ["/l/0"]);

    let schema = args(&json!({"s": {"type": "string", "description": "S."}}), &[]);
    let fits = "x".repeat(ARGS_BYTES_MAX - "{\"s\":\"\"}".len());
    assert!(normal(&schema, &json!({"s": fits})).is_ok());
    assert_eq!(pointers(normal(&schema, &json!({"s": fits + "x"}))), [""]);
    // What defaults add counts too.
    let filled = json!({"s": {"type": "string", "description": "S."}, "d": {"type": "string", "description": "D.", "default": "d"}});
    let fits = "x".repeat(ARGS_BYTES_MAX - "{\"s\":\"\"}".len());
    assert_eq!(pointers(normal(&args(&filled, &[]), &json!({"s": fits}))), [""]);
    assert_eq!(pointers(schema.parse_text(&" ".repeat(3 << 20))), [""]);
    let many = json!({"l": vec!["x"; 10_000]});
    assert!(normal(&wide(), &many).unwrap_err().len() <= 64);
}

/// A value that is now and then what the schema asks for.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-200_i64..200).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-50_i32..50).prop_map(|n| Value::from(f64::from(n) / 2.0)),
        "open|closed|[a-z]{0,8}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("must|may|dflt|inner|x|y|z", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_args() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[sinbelodu]", any_value(), 0..4).prop_map(|map| map.into_iter().collect())
}

fn any_good_args() -> impl Strategy<Value = Map<String, Value>> {
    let number = || {
        prop_oneof![
            Just(json!(null)),
            (-100_i32..100).prop_map(|n| Value::from(f64::from(n))),
            Just(json!(-0.0))
        ]
    };
    let whole = || (-99_i32..99).prop_map(|n| Value::from(f64::from(n)));
    (number(), any::<f32>().prop_map(f64::from), prop::collection::vec(whole(), 0..5), number(), "[ -~]{0,20}").prop_map(
        |(i, n, l, may, s)| {
            let n = if n.abs() < 1e15 { n } else { 0.5 };
            map(&json!({"i": i, "n": n, "l": l, "s": s, "o": {"must": "m", "may": may, "inner": {"x": null}}}))
        },
    )
}

fn assert_idempotent(schema: &ArgsSchema, raw: Map<String, Value>) -> bool {
    let Ok(once) = schema.normalise(raw) else { return false };
    let json = once.to_json();
    assert_eq!(schema.normalise(map(&json)).unwrap(), once);
    assert_eq!(schema.parse_text(&json.to_string()).unwrap(), once);
    assert_eq!(schema.normalise(map(&json)).unwrap().to_json().to_string(), json.to_string());
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn normal_args_stay_as_they_are(raw in any_args()) {
        assert_idempotent(&wide(), raw);
    }

    #[test]
    fn good_args_are_taken_and_stay(raw in any_good_args()) {
        prop_assert!(assert_idempotent(&wide(), raw.clone()), "{raw:?}");
    }

    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>(), jsonish in r#"[{}\[\]",:0-9eE.+\\u-]{0,40}"#) {
        let schema = wide();
        for text in [text, jsonish] {
            if let Ok(args) = schema.parse_text(&text) {
                prop_assert!(serde_json::from_str::<Map<String, Value>>(&text).is_ok());
                prop_assert_eq!(schema.normalise(map(&args.to_json())).unwrap(), args);
            }
        }
    }

    #[test]
    fn any_schema_is_judged_without_panic(value in any_value(), other in any_value()) {
        let property = json!({"type": "string", "description": value, "enum": other, "default": value});
        let _judged = compile(&json!({"type": "object", "additionalProperties": false, "properties": {"x": property}})).is_ok();
        let _judged = compile(&value).is_ok();
    }
}
