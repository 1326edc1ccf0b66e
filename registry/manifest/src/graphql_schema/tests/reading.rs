//! Every way in, and every refusal.

use super::super::{Schema, SchemaError};
use super::small;

/// Whether a refusal is the one that is wanted.
type Is = fn(&SchemaError) -> bool;

fn refused(text: &str) -> SchemaError {
    Schema::read(text.as_bytes()).unwrap_err()
}

#[test]
fn a_schema_is_read_with_what_the_language_has() {
    let schema = small();
    assert_eq!(schema.query().unwrap().name, "Query");
    assert_eq!(schema.mutation().unwrap().name, "Mutation");
    for name in ["Boolean", "Float", "ID", "Int", "String", "Issue", "Found"] {
        assert!(schema.find(name).is_some(), "{name}");
    }
    assert!(schema.document().directive_by_name("include").is_some());
    assert!(schema.field("Issue", "labels").is_some() && schema.field("Issue", "label").is_none());
}

#[test]
fn roots_may_have_other_names() {
    let schema = Schema::read(
        b"schema { query: Q mutation: M } type Q { a: Int } type M { b: Int } type Query { c: Int }",
    );
    let schema = schema.unwrap();
    assert_eq!(schema.query().unwrap().name, "Q");
    assert_eq!(schema.mutation().unwrap().name, "M");
}

#[test]
fn a_field_that_is_there_again_in_the_same_words_is_there_once() {
    let schema = Schema::read(b"type Query { a(x: Int): [Int!] b: Int a(x: Int): [Int!] }").unwrap();
    assert_eq!(schema.fields("Query").len(), 2);
    let other = refused("type Query { a(x: Int): [Int!] b: Int a(x: ID): [Int!] }");
    assert!(matches!(other, SchemaError::MemberTwice { .. }));
}

#[test]
fn extensions_are_part_of_their_types() {
    let text = "type Query { a: E, u: U } extend type Query { b(x: In): Int } enum E { A } extend enum E { B }
        input In { p: Int } extend input In { q: Int } type T { t: Int } type S { s: Int } union U = T extend union U = S";
    let schema = Schema::read(text.as_bytes()).unwrap();
    assert!(schema.field("Query", "b").is_some());
    assert_eq!(schema.choices("E").unwrap().values.len(), 2);
    assert_eq!(schema.input("In").unwrap().fields.len(), 2);
}

#[test]
fn what_leaves_a_question_open_is_refused() {
    use SchemaError as E;
    let cases: [(&str, Is); 20] = [
        ("", |e| matches!(e, E::Syntax(_))),
        ("type Query {", |e| matches!(e, E::Syntax(_))),
        (
            "type Query { a: Int } type Query { b: Int }",
            |e| matches!(e, E::TypeTwice(name) if name == "Query"),
        ),
        (
            "type Query { a: Other }",
            |e| matches!(e, E::UnknownType { name, used_by } if name == "Other" && used_by == "Query.a"),
        ),
        (
            "type Query { a(x: [Other!]!): Int }",
            |e| matches!(e, E::UnknownType { used_by, .. } if used_by == "Query.a.x"),
        ),
        (
            "type Query { a: U } union U = Other",
            |e| matches!(e, E::UnknownType { used_by, .. } if used_by == "U"),
        ),
        ("type Query implements Other { a: Int }", |e| matches!(e, E::UnknownType { .. })),
        (
            "type Query { a: In } input In { b: Int }",
            |e| matches!(e, E::Misplaced { name, used_by } if name == "In" && used_by == "Query.a"),
        ),
        (
            "type Query { a(x: Query): Int }",
            |e| matches!(e, E::Misplaced { used_by, .. } if used_by == "Query.a.x"),
        ),
        ("type Query { a: U } union U = Int", |e| matches!(e, E::Misplaced { .. })),
        ("type Query implements Query { a: Int }", |e| matches!(e, E::Misplaced { .. })),
        ("type Query { a: Int a: String }", |e| matches!(e, E::MemberTwice { of, .. } if of == "Query")),
        (
            "type Query { a(x: Int, x: Int): Int }",
            |e| matches!(e, E::MemberTwice { of, name } if of == "Query.a" && name == "x"),
        ),
        ("type Query { a: Int } enum E { A A }", |e| matches!(e, E::MemberTwice { .. })),
        ("type Query { a: Int } input In { a: Int a: Int }", |e| matches!(e, E::MemberTwice { .. })),
        ("type Other { a: Int }", |e| matches!(e, E::NoQuery)),
        ("scalar Query", |e| matches!(e, E::NoQuery)),
        ("schema { query: Q } enum Q { A }", |e| matches!(e, E::NoQuery)),
        ("type Query { a: Int } extend type Other { b: Int }", |e| matches!(e, E::ExtendsNothing(_))),
        ("type Query { a: Int } extend enum Query { B }", |e| matches!(e, E::ExtendsNothing(_))),
    ];
    for (text, wanted) in cases {
        let error = refused(text);
        assert!(wanted(&error), "{text}: {error:?}");
    }
}

#[test]
fn what_is_too_much_is_refused() {
    assert_eq!(Schema::read(&vec![b' '; (16 << 20) + 1]).unwrap_err(), SchemaError::TooLarge);
    assert_eq!(Schema::read(b"type Query { a: Int } # \xff").unwrap_err(), SchemaError::Encoding);
    assert_eq!(refused(&"a ".repeat(700_000)), SchemaError::TooManyTokens);
    let many: Vec<_> = (0..20_001).map(|at| format!("scalar S{at}")).collect();
    let many = many.join(" ");
    assert_eq!(refused(&format!("type Query {{ a: Int }} {many}")), SchemaError::TooManyTypes);
    let deep = format!("type Query {{ a: {}Int{} }}", "[".repeat(60), "]".repeat(60));
    assert!(matches!(refused(&deep), SchemaError::Syntax(_)));
}

#[test]
fn white_space_of_other_alphabets_in_a_description_does_no_harm() {
    // The parser cuts lines of a block string by bytes.
    for blank in ["\u{3000}", "\u{a0}", "\u{2028}", "\u{2003}"] {
        let text = format!("\"\"\"a\n  b\n{blank}\n c\n\"\"\" type Query {{ a: Int }}");
        assert!(Schema::read(text.as_bytes()).is_ok(), "{blank:?}");
    }
}

pub(super) const INTROSPECTED: &str = r#"{"data": {"__schema": {
    "queryType": {"name": "Root"}, "mutationType": null, "subscriptionType": null,
    "types": [
        {"kind": "OBJECT", "name": "Root", "interfaces": [], "fields": [
            {"name": "things", "args": [
                {"name": "ids", "type": {"kind": "NON_NULL", "ofType": {"kind": "LIST", "ofType": {"kind": "SCALAR", "name": "ID"}}}, "defaultValue": null},
                {"name": "by", "type": {"kind": "NON_NULL", "ofType": {"kind": "ENUM", "name": "By"}}, "defaultValue": "NAME"},
                {"name": "in", "type": {"kind": "INPUT_OBJECT", "name": "In"}}
            ], "type": {"kind": "INTERFACE", "name": "Thing"}, "isDeprecated": true, "deprecationReason": "Old."}
        ]},
        {"kind": "INTERFACE", "name": "Thing", "fields": [{"name": "id", "args": [], "type": {"kind": "SCALAR", "name": "ID"}}], "possibleTypes": []},
        {"kind": "UNION", "name": "Any", "possibleTypes": [{"name": "Root"}]},
        {"kind": "ENUM", "name": "By", "enumValues": [{"name": "NAME"}, {"name": "AGE", "isDeprecated": true}]},
        {"kind": "INPUT_OBJECT", "name": "In", "inputFields": [{"name": "n", "type": {"kind": "SCALAR", "name": "Int"}}], "isOneOf": true},
        {"kind": "SCALAR", "name": "ID"}, {"kind": "SCALAR", "name": "Int"},
        {"kind": "OBJECT", "name": "__Schema", "fields": []}
    ],
    "directives": [{"name": "include", "locations": ["FIELD"], "args": []}, {"name": "new", "locations": ["SOMEWHERE_ELSE"]}]
}}}"#;

#[test]
fn the_answer_to_the_introspection_query_is_a_schema_too() {
    for text in [INTROSPECTED.to_owned(), format!("\u{feff} {INTROSPECTED}")] {
        let schema = Schema::read(text.as_bytes()).unwrap();
        let things = schema.field("Root", "things").unwrap();
        let types: Vec<String> = things.arguments.iter().map(|one| one.value_type.to_string()).collect();
        assert_eq!(types, ["[ID]!", "By!", "In"]);
        assert!(things.arguments[0].is_required() && !things.arguments[1].is_required());
        assert_eq!(super::super::schema::deprecation(&things.directives), Some("Old."));
        assert_eq!(schema.choices("By").unwrap().values.len(), 2);
        assert!(schema.find("__Schema").is_none() && schema.mutation().is_none());
    }
    let bare: serde_json::Value = serde_json::from_str(INTROSPECTED).unwrap();
    assert!(Schema::read(bare["data"].to_string().as_bytes()).is_ok());
}

#[test]
fn json_that_is_no_such_answer_is_refused() {
    for (from, to) in [
        ("\"data\"", "\"errors\""),
        ("\"OBJECT\", \"name\": \"Root\"", "\"THING\", \"name\": \"Root\""),
        ("\"name\": \"things\"", "\"name\": \"no name\""),
        ("\"name\": \"things\"", "\"name\": \"\""),
        ("{\"kind\": \"SCALAR\", \"name\": \"ID\"}}}, \"defaultValue\"", "null}}, \"defaultValue\""),
        ("\"types\": [", "\"types\": [7,"),
    ] {
        let text = INTROSPECTED.replacen(from, to, 1);
        assert_ne!(text, INTROSPECTED, "{from}");
        assert!(matches!(refused(&text), SchemaError::Introspection(_)), "{to}: {:?}", refused(&text));
    }
    assert!(matches!(refused("{}"), SchemaError::Introspection(_)));
    assert!(matches!(refused(&"{\"data\":".repeat(5_000)), SchemaError::Introspection(_)));
}
