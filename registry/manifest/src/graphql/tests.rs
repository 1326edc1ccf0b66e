//! Documents that are taken, documents that are not, and documents that would hurt.

use proptest::prelude::*;

use super::*;

fn variables(document: &str) -> Vec<(String, bool)> {
    check(document).unwrap().variables.into_iter().map(|v| (v.name, v.required)).collect()
}

#[test]
fn one_operation_is_taken() {
    for (document, kind) in [
        ("{ viewer { id } }", OperationKind::Query),
        ("query { viewer { id } }", OperationKind::Query),
        ("query Q { viewer { id } }", OperationKind::Query),
        ("mutation { x }", OperationKind::Mutation),
        ("# a mutation {x} in a comment\r\nquery Q @d { a(s: \"mutation { x }\") }", OperationKind::Query),
        ("query { a(s: \"\"\"mutation { \\\"\"\" } x\"\"\") }", OperationKind::Query),
        ("query { mutation }", OperationKind::Query),
        ("fragment F on User { id }  { viewer { ...F } }", OperationKind::Query),
    ] {
        assert_eq!(check(document).unwrap().kind, kind, "{document}");
    }
}

#[test]
fn variables_are_listed() {
    let document = "query Q($id: ID!, $n: Int = 5, $m: Int! = 5, $after: String, $ids: [ID!]!, $o: In, $f: Boolean!, $h: Int, $i: Boolean!) {
        a(id: $id, n: $n, m: $m) { ...F ... @include(if: $i) { b(in: [{x: {y: $o}}]) } }
    }
    fragment F on T { c(after: $after, ids: $ids) { ...G } }
    fragment G on T @skip(if: $f) { d(h: $h) }";
    let wanted = [
        ("id", true),
        ("n", false),
        ("m", false),
        ("after", false),
        ("ids", true),
        ("o", false),
        ("f", true),
        ("h", false),
        ("i", true),
    ];
    assert_eq!(variables(document), wanted.map(|(name, required)| (name.to_owned(), required)));
    assert_eq!(variables("query($x: Int) @d(x: $x) { a }"), [("x".to_owned(), false)]);
    assert_eq!(variables("{ a }"), []);
}

#[test]
fn each_fault_has_its_name() {
    let name = || "x".to_owned();
    for (document, fault) in [
        ("fragment x on T { a }", GraphqlFault::NoOperation),
        ("{ a } { b }", GraphqlFault::ManyOperations(2)),
        ("query A { a } mutation B { b }", GraphqlFault::ManyOperations(2)),
        ("query A { a } query B { b } query C { c }", GraphqlFault::ManyOperations(3)),
        ("subscription { a }", GraphqlFault::Subscription),
        ("query($x: Int, $x: Int) { a(x: $x) }", GraphqlFault::VariableTwice(name())),
        ("query { a(x: $x) }", GraphqlFault::UndeclaredVariable(name())),
        ("{ a(x: [$x]) }", GraphqlFault::UndeclaredVariable(name())),
        ("{ a { ...F } } fragment F on T { b(x: $x) }", GraphqlFault::UndeclaredVariable(name())),
        ("query($x: Int) { a }", GraphqlFault::UnusedVariable(name())),
        ("query($x: Int) { a(s: \"$x\") } # $x", GraphqlFault::UnusedVariable(name())),
        ("{ ...x } fragment x on T { a } fragment x on T { b }", GraphqlFault::FragmentTwice(name())),
        ("{ ...x }", GraphqlFault::UndefinedFragment(name())),
        ("{ a } fragment x on T { a }", GraphqlFault::UnusedFragment(name())),
        ("{ ...x } fragment x on T { a ...x }", GraphqlFault::FragmentCycle(name())),
        (
            "{ ...y } fragment y on T { ...x } fragment x on T { ...z } fragment z on T { ...x }",
            GraphqlFault::FragmentCycle(name()),
        ),
        ("{ a }\u{feff}", GraphqlFault::Invisible(0xFEFF)),
        ("{ a } # x\rmutation { b }", GraphqlFault::Invisible(0x0D)),
        ("{ a } # \u{2028}mutation { b }", GraphqlFault::Invisible(0x2028)),
        ("{ a(s: \"\0\") }", GraphqlFault::Invisible(0)),
    ] {
        assert_eq!(check(document).unwrap_err(), fault, "{document}");
    }
}

#[test]
fn what_is_not_graphql_is_refused() {
    for document in [
        "",
        " ",
        "# only a comment",
        "{",
        "{}",
        "{ a",
        "query",
        "query Q",
        "query Q($x) { a }",
        "type T { a: Int }",
        "{ a(x: ) }",
        "{ a } }",
        "query { a(s: \"x) }",
        "{ a(s: \"\"\"x) }",
        "query($x: Int = $y) { a(x: $x) }",
        "{ . }",
        "{ a(n: 01) }",
        "schema { query: Q }",
        "{ a } extend type T { a: Int }",
    ] {
        assert!(matches!(check(document), Err(GraphqlFault::Syntax(_))), "{document}");
    }
}

#[test]
fn length_is_bounded() {
    let document = |n: usize| format!("{{ a }}{}", " ".repeat(n));
    assert!(check(&document(DOCUMENT_MAX - 5)).is_ok());
    assert_eq!(check(&document(DOCUMENT_MAX - 4)).unwrap_err(), GraphqlFault::TooLong);
}

#[test]
fn hostile_documents_are_cheap_to_refuse() {
    for unit in [
        "[", "(", "{", "{a", "{a(x:[", "{a(x:{y:", "...", "\"", "\"\"\"", "@a(", "{...{", "query(", "$", "#",
        "{ a } ", "}", "]",
    ] {
        for length in [DOCUMENT_MAX, 100_000] {
            let text: String = unit.repeat(length).chars().take(length).collect();
            assert!(check(&text).is_err(), "{unit}");
            assert!(check(&format!("query($x: {text}")).is_err(), "{unit}");
            assert!(check(&format!("{{ a(x: {text}")).is_err(), "{unit}");
        }
    }
    // Many fragments, each spread by the one before: followed without recursion.
    let chain: String = (0..900)
        .flat_map(|i| {
            ["fragment f".into(), i.to_string(), " on T{...f".into(), (i + 1).to_string(), "}".into()]
        })
        .collect();
    assert_eq!(
        check(&format!("{{...f0}}{chain}")).unwrap_err(),
        GraphqlFault::UndefinedFragment("f900".into())
    );
    assert!(check(&format!("{{...f0}}{chain}fragment f900 on T{{a}}")).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>(), document in r##"[{}()\[\]a$:!@.,"# \nqueryon|&=9-]{0,60}"##) {
        for text in [text, document] {
            if let Ok(operation) = check(&text) {
                let known = operation.variables.iter().all(|v| text.contains(v.name.as_str()));
                prop_assert!(known);
            }
        }
    }
}

#[test]
fn white_space_that_nobody_sees_is_refused() {
    // The parser cuts the lines of a block string by bytes, and panics where it cuts through a character.
    for blank in ["\u{3000}", "\u{a0}", "\u{2003}", "\u{205f}"] {
        let document = format!("{{ a(s: \"\"\"x\n  b\n{blank}\n c\"\"\") }}");
        assert!(matches!(check(&document), Err(GraphqlFault::Invisible(_))), "{blank:?}");
    }
}
