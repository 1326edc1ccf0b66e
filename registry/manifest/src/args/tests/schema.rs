//! Schemas: the closed subset, and each way of leaving it.

use super::*;
use crate::args::{ARGS_MAX, SchemaFaultKind as Kind};
use crate::ids::ArgName;
use crate::model::ArgKind;

/// The faults of one property `x`, with pointers relative to it.
fn faults_of(property: &Value) -> Vec<(Kind, String)> {
    let mut property = property.clone();
    property.as_object_mut().unwrap().entry("description").or_insert("A value.".into());
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {"x": property}});
    compile(&schema).map_or_else(|faults| faults.iter().map(relative).collect(), |_| vec![])
}

fn relative(fault: &crate::args::SchemaFault) -> (Kind, String) {
    assert!(!fault.message.is_empty() && !fault.help.is_empty());
    (fault.kind, fault.pointer.strip_prefix("/properties/x").unwrap_or(&fault.pointer).into())
}

fn kinds(schema: &Value) -> Vec<(Kind, String)> {
    compile(schema).unwrap_err().into_iter().map(|fault| (fault.kind, fault.pointer)).collect()
}

#[test]
fn the_subset_is_taken() {
    for property in [
        json!({"type": "string", "minLength": 1, "maxLength": 39, "pattern": "^[a-z]+$", "default": "abc"}),
        json!({"type": "string", "enum": ["open", "closed"], "default": "open"}),
        json!({"type": "string", "format": "public-https-url"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 30}),
        json!({"type": "integer", "enum": [1, 2.0], "multipleOf": 1}),
        json!({"type": "number", "exclusiveMinimum": -1.5, "exclusiveMaximum": 2, "multipleOf": 0.25}),
        json!({"type": "boolean", "default": false}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 10, "uniqueItems": true}),
        json!({"type": "object", "additionalProperties": false, "required": ["a"],
               "properties": {"a": {"type": "integer"}, "camelCase": {"type": "string", "description": "x", "default": "y"}}}),
        json!({"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}}),
        json!({"type": "string", "pattern": r"^\d{4}-\p{L}+$"}),
    ] {
        assert_eq!(faults_of(&property), [], "{property}");
    }
    assert!(compile(&json!({"type": "object", "additionalProperties": false})).is_ok());
}

#[test]
fn each_way_of_leaving_it_has_a_kind() {
    let text = |keyword: &str, value: Value| {
        let mut property = json!({"type": "string"});
        property[keyword] = value;
        property
    };
    for keyword in [
        "$ref",
        "$defs",
        "$schema",
        "$id",
        "$anchor",
        "$dynamicRef",
        "$comment",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "dependentSchemas",
        "contains",
        "prefixItems",
        "const",
        "title",
        "examples",
        "nullable",
        "deprecated",
        "contentEncoding",
        "definitions",
        "minProperties",
        "X",
    ] {
        assert_eq!(
            faults_of(&text(keyword, json!({}))),
            [(Kind::UnknownKeyword, format!("/{keyword}"))],
            "{keyword}"
        );
    }
    for (keyword, value, kind) in [
        ("type", json!(["string", "null"]), Kind::BadType),
        ("type", json!("null"), Kind::BadType),
        ("type", json!("String"), Kind::BadType),
        ("type", json!(null), Kind::BadType),
        ("description", json!(""), Kind::BadKeywordValue),
        ("description", json!("two\nlines"), Kind::BadKeywordValue),
        ("description", json!("hidden \u{200b}"), Kind::BadKeywordValue),
        ("description", json!("x".repeat(501)), Kind::BadKeywordValue),
        ("description", json!(5), Kind::BadKeywordValue),
        ("enum", json!([]), Kind::BadKeywordValue),
        ("enum", json!("a"), Kind::BadKeywordValue),
        ("minLength", json!(-1), Kind::BadKeywordValue),
        ("maxLength", json!(1.5), Kind::BadKeywordValue),
        ("maxLength", json!("5"), Kind::BadKeywordValue),
        ("maxLength", json!(9_007_199_254_740_992_u64), Kind::BadKeywordValue),
        ("pattern", json!("("), Kind::BadPattern),
        ("pattern", json!("(?=a)"), Kind::BadPattern),
        ("pattern", json!(r"(a)\1"), Kind::BadPattern),
        ("pattern", json!(5), Kind::BadPattern),
        ("pattern", json!("a\u{202e}"), Kind::BadPattern),
        ("pattern", json!("a".repeat(513)), Kind::BadPattern),
        ("pattern", json!("(((a{100}){100}){100}){100}"), Kind::BadPattern),
        ("format", json!("uri"), Kind::UnknownFormat),
        ("format", json!("regex"), Kind::UnknownFormat),
        ("format", json!(1), Kind::UnknownFormat),
        ("default", json!(5), Kind::BadDefault),
        ("default", json!(null), Kind::BadDefault),
        ("default", json!("a\u{202e}"), Kind::BadDefault),
        ("minimum", json!(5), Kind::MisplacedKeyword),
        ("items", json!({"type": "string"}), Kind::MisplacedKeyword),
        ("properties", json!({}), Kind::MisplacedKeyword),
    ] {
        assert_eq!(
            faults_of(&text(keyword, value.clone())),
            [(kind, format!("/{keyword}"))],
            "{keyword}: {value}"
        );
    }
}

#[test]
fn kinds_have_their_own_rules() {
    for (property, kind, at) in [
        (json!({}), Kind::BadType, ""),
        (json!({"type": "integer", "enum": [1, "2"]}), Kind::BadKeywordValue, "/enum/1"),
        (json!({"type": "integer", "enum": [1, 1.0]}), Kind::BadKeywordValue, "/enum/1"),
        (json!({"type": "integer", "enum": [1.5]}), Kind::BadKeywordValue, "/enum/0"),
        (json!({"type": "integer", "enum": [9_007_199_254_740_992_u64]}), Kind::BadKeywordValue, "/enum/0"),
        (json!({"type": "string", "enum": ["a", "a"]}), Kind::BadKeywordValue, "/enum/1"),
        (json!({"type": "string", "enum": ["a\u{200b}"]}), Kind::BadKeywordValue, "/enum/0"),
        (json!({"type": "string", "enum": [null]}), Kind::BadKeywordValue, "/enum/0"),
        (
            json!({"type": "array", "items": {"type": "string"}, "enum": [[]]}),
            Kind::MisplacedKeyword,
            "/enum",
        ),
        (json!({"type": "array"}), Kind::BadKeywordValue, ""),
        (json!({"type": "array", "items": false}), Kind::NotAnObjectSchema, "/items"),
        (
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": 1}),
            Kind::BadKeywordValue,
            "/uniqueItems",
        ),
        (
            json!({"type": "array", "items": {"type": "string", "default": 1}}),
            Kind::BadDefault,
            "/items/default",
        ),
        (json!({"type": "array", "items": {"type": "string"}, "default": [1]}), Kind::BadDefault, "/default"),
        (json!({"type": "number", "maximum": 1e300}), Kind::BadKeywordValue, "/maximum"),
        (json!({"type": "number", "multipleOf": 0}), Kind::BadKeywordValue, "/multipleOf"),
        (json!({"type": "number", "multipleOf": -1}), Kind::BadKeywordValue, "/multipleOf"),
        (json!({"type": "integer", "minimum": 5, "maximum": 4}), Kind::BadKeywordValue, "/maximum"),
        (json!({"type": "integer", "exclusiveMinimum": 5, "maximum": 5}), Kind::BadKeywordValue, "/maximum"),
        (json!({"type": "string", "minLength": 5, "maxLength": 4}), Kind::BadKeywordValue, "/maxLength"),
        (json!({"type": "integer", "minimum": 5, "default": 4}), Kind::BadDefault, "/default"),
        (json!({"type": "integer", "default": 9_007_199_254_740_992_u64}), Kind::BadDefault, "/default"),
        (json!({"type": "object"}), Kind::OpenObject, ""),
        (json!({"type": "object", "additionalProperties": true}), Kind::OpenObject, "/additionalProperties"),
        (json!({"type": "object", "additionalProperties": {}}), Kind::OpenObject, "/additionalProperties"),
        (
            json!({"type": "object", "additionalProperties": false, "properties": []}),
            Kind::BadKeywordValue,
            "/properties",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "required": ["a"]}),
            Kind::RequiredUndeclared,
            "/required/0",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "required": "a"}),
            Kind::BadKeywordValue,
            "/required",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "required": [1]}),
            Kind::BadKeywordValue,
            "/required/0",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "properties": {"a b": {"type": "string"}}}),
            Kind::BadArgName,
            "/properties/a b",
        ),
    ] {
        assert_eq!(faults_of(&property), [(kind, at.to_owned())], "{property}");
    }
}

#[test]
fn the_top_is_a_closed_object() {
    for schema in [
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!({"type": "array"}),
        json!({"type": ["object"]}),
    ] {
        assert_eq!(kinds(&schema), [(Kind::NotAnObjectSchema, String::new())], "{schema}");
    }
    assert_eq!(kinds(&json!({"type": "object"})), [(Kind::OpenObject, String::new())]);
    for keyword in ["title", "description", "$schema", "default", "anyOf"] {
        let mut schema = json!({"type": "object", "additionalProperties": false});
        schema[keyword] = json!("x");
        assert_eq!(kinds(&schema), [(Kind::UnknownKeyword, format!("/{keyword}"))]);
    }
}

#[test]
fn every_fault_is_reported() {
    let schema = json!({"type": "object", "required": ["gone", "a", "a"], "title": "x", "properties": {
        "a": {"type": "string", "description": "A.", "default": "x"},
        "Bad": {"type": "string", "description": "B."},
        "c": {"type": "string", "default": 5},
        "f": {"type": "string", "description": "F.", "default": 5},
        "d/e": {"type": "strin", "description": "D.", "anyOf": []},
    }});
    let found = kinds(&schema);
    let wanted = [
        (Kind::UnknownKeyword, "/title"),
        (Kind::OpenObject, ""),
        (Kind::BadArgName, "/properties/Bad"),
        (Kind::NoDescription, "/properties/c"),
        (Kind::BadArgName, "/properties/d~1e"),
        (Kind::UnknownKeyword, "/properties/d~1e/anyOf"),
        (Kind::BadType, "/properties/d~1e/type"),
        (Kind::BadDefault, "/properties/f/default"),
        (Kind::RequiredUndeclared, "/required/0"),
        (Kind::BadDefault, "/properties/a/default"),
        (Kind::RequiredUndeclared, "/required/2"),
    ];
    assert_eq!(found, wanted.map(|(kind, at)| (kind, at.to_owned())));
}

#[test]
fn depth_and_width_are_bounded() {
    let nested = |depth: usize| {
        let inner = json!({"type": "string"});
        (1..depth).fold(inner, |inner, _| json!({"type": "array", "items": inner}))
    };
    assert_eq!(faults_of(&nested(4)), []);
    assert_eq!(faults_of(&nested(5)), [(Kind::TooDeep, "/items/items/items/items".to_owned())]);
    assert_eq!(faults_of(&nested(100)), [(Kind::TooDeep, "/items/items/items/items".to_owned())]);
    let wide = |n: usize| {
        let properties: Map<_, _> =
            (0..n).map(|i| (format!("a{i}"), json!({"type": "string", "description": "A."}))).collect();
        json!({"type": "object", "additionalProperties": false, "properties": properties})
    };
    assert!(compile(&wide(ARGS_MAX)).is_ok());
    assert_eq!(kinds(&wide(ARGS_MAX + 1)), [(Kind::TooMany, "/properties".to_owned())]);
}

#[test]
fn the_model_says_what_was_written() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["owner"], "properties": {
        "owner": {"type": "string", "description": "Whose."},
        "page": {"type": "integer", "description": "Which.", "default": 1.0},
        "since": {"type": "string", "description": "When.", "format": "date"},
    }});
    let compiled = compile(&schema).unwrap();
    assert_eq!(compiled.json(), &schema);
    let def = |name: &str| compiled.def(&ArgName::parse(name).unwrap()).unwrap();
    assert_eq!(compiled.defs().len(), 3);
    assert_eq!(
        (def("owner").kind, def("owner").required, def("owner").default.as_ref()),
        (ArgKind::String, true, None)
    );
    assert_eq!((def("page").kind, def("page").default.clone()), (ArgKind::Integer, Some(json!(1))));
    assert!(def("page").always_present() && def("owner").always_present() && !def("since").always_present());
    assert_eq!(def("since").description, "When.");
}
