//! Paths, fields, collisions and the tree.

mod compliance;
mod properties;

use super::path::{INDEX_MAX, STEPS_MAX, parse_field, parse_root};
use super::*;

fn name(text: &str) -> Step {
    Step::Name(text.into())
}

fn projection(root: Option<&str>, fields: &[(&str, Option<&str>)]) -> Projection {
    parse_projection(root, fields).unwrap()
}

fn faults(fields: &[(&str, Option<&str>)]) -> Vec<(PickPart, PickFaultKind)> {
    parse_projection(None, fields).unwrap_err().into_iter().map(|fault| (fault.at, fault.kind)).collect()
}

/// Whether two fields without aliases collide, in either order.
fn collide(a: &str, b: &str) -> bool {
    let one = parse_projection(None, &[(a, None), (b, None)]);
    let other = parse_projection(None, &[(b, None), (a, None)]);
    assert_eq!(one.is_err(), other.is_err(), "{a} and {b}: order matters");
    let collided = one.is_err();
    for faults in [one.err(), other.err()].into_iter().flatten() {
        assert!(
            matches!(
                faults.as_slice(),
                [PickFault { at: PickPart::Field(1), kind: PickFaultKind::Collision { first: 0, .. } }]
            ),
            "{faults:?}"
        );
    }
    collided
}

#[test]
fn fields_are_steps() {
    for (text, steps) in [
        ("id", vec![name("id")]),
        ("user.login", vec![name("user"), name("login")]),
        ("labels[*].name", vec![name("labels"), Step::Each, name("name")]),
        ("labels.*.name", vec![name("labels"), Step::Each, name("name")]),
        ("metadata.*", vec![name("metadata"), Step::Each]),
        ("*", vec![Step::Each]),
        ("[*].x", vec![Step::Each, name("x")]),
        ("a[0]", vec![name("a"), Step::Index(0)]),
        ("a[999]", vec![name("a"), Step::Index(999)]),
        ("['odd.key']", vec![name("odd.key")]),
        ("['odd key'].x", vec![name("odd key"), name("x")]),
        ("a[\"x\"]", vec![name("a"), name("x")]),
        (r"['a\'b']", vec![name("a'b")]),
        (r#"["a\"b"]"#, vec![name("a\"b")]),
        (r"['a\\b']", vec![name(r"a\b")]),
        (r"['\u0041\u00e9\ud83e\udd80']", vec![name("Aé🦀")]),
        ("['?(@.a)']", vec![name("?(@.a)")]),
        ("['']", vec![name("")]),
        ("größe", vec![name("größe")]),
    ] {
        assert_eq!(parse_field(text).unwrap(), steps, "{text}");
    }
}

#[test]
fn each_fault_has_its_name() {
    for (text, fault) in [
        ("", PathFault::NotRelative),
        ("$.a", PathFault::NotRelative),
        ("$", PathFault::NotRelative),
        (".a", PathFault::NotRelative),
        ("..a", PathFault::Descendant),
        ("a..b", PathFault::Descendant),
        ("a..*", PathFault::Descendant),
        ("a..[0]", PathFault::Descendant),
        ("a[?@.b]", PathFault::Filter),
        ("a[?length(@.b)>1]", PathFault::Filter),
        ("a[1:2]", PathFault::Slice),
        ("a[:]", PathFault::Slice),
        ("a[::2]", PathFault::Slice),
        ("a['b','c']", PathFault::Union),
        ("a[0,1]", PathFault::Union),
        ("a[*,1]", PathFault::Union),
        ("a[-1]", PathFault::NegativeIndex),
        ("a[1000]", PathFault::IndexTooLarge),
        ("a[9007199254740991].b", PathFault::IndexTooLarge),
        ("a[-0]", PathFault::Syntax),
        ("a[00]", PathFault::Syntax),
        ("a[01]", PathFault::Syntax),
        ("a[1.0]", PathFault::Syntax),
        ("a[+1]", PathFault::Syntax),
        ("a[9007199254740992]", PathFault::Syntax),
        ("a[99999999999999999999]", PathFault::Syntax),
        ("a.", PathFault::Syntax),
        ("a-b", PathFault::Syntax),
        ("1a", PathFault::Syntax),
        ("a.length()", PathFault::Syntax),
        ("a[", PathFault::Syntax),
        ("a[]", PathFault::Syntax),
        ("a['b]", PathFault::Syntax),
        (r"['\x']", PathFault::Syntax),
        (r"['\ud83e']", PathFault::Syntax),
        (r"['\u 0041']", PathFault::Syntax),
        (r"['a']['\ n']", PathFault::Syntax),
        ("a b", PathFault::Whitespace),
        (" a", PathFault::Whitespace),
        ("a ", PathFault::Whitespace),
        ("a[ 0 ]", PathFault::Whitespace),
        ("a\n.b", PathFault::Whitespace),
        ("a\u{2003}", PathFault::Whitespace),
        ("a\u{200b}", PathFault::Invisible),
        ("a\u{202e}b", PathFault::Invisible),
        ("['a\u{7f}']", PathFault::Invisible),
        ("['a\tb']", PathFault::Invisible),
        (r"['a\u202eb']", PathFault::Invisible),
        (r"['a\n']", PathFault::Invisible),
    ] {
        assert_eq!(parse_field(text).unwrap_err(), fault, "{text:?}");
    }
    assert_eq!(parse_field(&"a".repeat(512)).unwrap(), [name(&"a".repeat(512))]);
    assert_eq!(parse_field(&"a".repeat(513)).unwrap_err(), PathFault::TooLong);
    assert_eq!(parse_field(&["a"; STEPS_MAX].join(".")).unwrap().len(), STEPS_MAX);
    assert_eq!(parse_field(&["a"; STEPS_MAX + 1].join(".")).unwrap_err(), PathFault::TooManySteps);
}

#[test]
fn singular_paths_name_one_value() {
    let path = parse_singular("$.data['a b'][2]").unwrap();
    assert_eq!(path.as_str(), "$.data['a b'][2]");
    let steps = [SingularStep::Name("data".into()), SingularStep::Name("a b".into()), SingularStep::Index(2)];
    assert_eq!(path.steps(), steps);
    assert_eq!(parse_singular("$").unwrap().steps(), []);
    for (text, fault) in [
        ("$.a[*]", PathFault::Wildcard),
        ("$.*", PathFault::Wildcard),
        ("$..a", PathFault::Descendant),
        ("$[?@.a]", PathFault::Filter),
        ("$[-1]", PathFault::NegativeIndex),
        ("$.a[1000]", PathFault::IndexTooLarge),
        ("$[0:1]", PathFault::Slice),
        ("$[0,1]", PathFault::Union),
        ("a", PathFault::NotFromTop),
        ("", PathFault::NotFromTop),
        (" $.a", PathFault::NotFromTop),
        ("$.a ", PathFault::Whitespace),
        ("$a", PathFault::Syntax),
        ("$$", PathFault::Syntax),
    ] {
        assert_eq!(parse_singular(text).unwrap_err(), fault, "{text:?}");
    }
}

#[test]
fn collisions_are_found_in_either_order() {
    for (a, b) in [
        ("id", "id"),
        ("id", "['id']"),
        ("user", "user.login"),
        ("user.login", "user.login.x"),
        ("labels", "labels[*].x"),
        ("labels", "labels[*]"),
        ("labels[*]", "labels.*"),
        ("labels[*].x", "labels.x"),
        ("labels[*].x", "labels[*]"),
        ("labels[*].x", "labels[*].x"),
        ("labels[*].x.y", "labels[*].x"),
        ("metadata.*", "metadata.x"),
        ("metadata.*", "metadata.x.y"),
        ("*", "id"),
        ("[*].x", "x"),
        ("a[*][*]", "a[*].x"),
    ] {
        assert!(collide(a, b), "{a} and {b}");
    }
    for (a, b) in [
        ("id", "ID"),
        ("user.login", "user.id"),
        ("labels[*].x", "labels[*].y"),
        ("labels[*].x.a", "labels[*].x.b"),
        ("metadata.*", "meta"),
        ("a.b.c", "a.c.b"),
    ] {
        assert!(!collide(a, b), "{a} and {b}");
    }
}

#[test]
fn aliases_are_places_of_their_own() {
    let collision = |first, with: &str| PickFaultKind::Collision { first, with: with.into() };
    assert_eq!(
        faults(&[("user.login", None), ("id", Some("user"))]),
        [(PickPart::Alias(1), collision(0, "user.login"))]
    );
    assert_eq!(faults(&[("a", Some("x")), ("b", Some("x"))]), [(PickPart::Alias(1), collision(0, "a"))]);
    assert_eq!(faults(&[("a", Some("x")), ("x.y", None)]), [(PickPart::Field(1), collision(0, "a"))]);
    assert_eq!(faults(&[("*", None), ("b", Some("x"))]), [(PickPart::Alias(1), collision(0, "*"))]);
    assert_eq!(faults(&[("[*].a", None), ("b", Some("x"))]), [(PickPart::Alias(1), collision(0, "[*].a"))]);
    for alias in ["", "1a", "a.b", "a b", "a-b", "é", &"a".repeat(65)] {
        assert_eq!(faults(&[("a", Some(alias))]), [(PickPart::Alias(0), PickFaultKind::BadAlias)], "{alias}");
    }
}

#[test]
fn a_path_stands_once() {
    let repeated = |first, with: &str| PickFaultKind::Repeated { first, with: with.into() };
    for (again, alias) in [("a.b", Some("x")), ("['a']['b']", Some("y")), ("a[\"b\"]", Some("z"))] {
        let found = faults(&[("c", None), ("a.b", None), (again, alias)]);
        assert_eq!(found, [(PickPart::Field(2), repeated(1, "a.b"))], "{again}");
    }
    let found = faults(&[("l.*", Some("x")), ("l[*]", Some("y")), ("l[*]", None)]);
    assert_eq!(found, [(PickPart::Field(1), repeated(0, "l.*")), (PickPart::Field(2), repeated(0, "l.*"))]);
    projection(None, &[("a[0]", Some("x")), ("a[1]", Some("y")), ("a[*]", None), ("a", Some("z"))]);
}

#[test]
fn an_index_needs_an_alias() {
    assert_eq!(faults(&[("a[0].b", None)]), [(PickPart::Field(0), PickFaultKind::IndexWithoutAs)]);
    let pick = projection(Some("$[3].x"), &[("a[0].b", Some("b"))]);
    assert_eq!(pick.root, [Step::Index(3), name("x")]);
}

#[test]
fn every_fault_is_reported() {
    let fields =
        [("a..b", None), ("c", None), ("c", None), ("d[1]", None), ("e", Some("-")), ("f[?@]", None)];
    let found: Vec<_> = parse_projection(Some("x"), &fields).unwrap_err().into_iter().map(|f| f.at).collect();
    let field = PickPart::Field;
    assert_eq!(found, [PickPart::Root, field(0), field(2), field(3), PickPart::Alias(4), field(5)]);
    assert_eq!(faults(&[]), [(PickPart::Fields, PickFaultKind::NoFields)]);
    let names: Vec<String> = (0..=FIELDS_MAX).map(|i| format!("f{i}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), None)).collect();
    assert_eq!(faults(&many), [(PickPart::Fields, PickFaultKind::TooManyFields)]);
    projection(None, &many[..FIELDS_MAX]);
}

#[test]
fn the_tree_is_sorted_and_whole() {
    let fields = [
        ("z", None),
        ("labels[*].name", None),
        ("labels[*].id", None),
        ("labels[2].name", Some("third")),
        ("m.*", None),
    ];
    let pick = projection(Some("$.data.nodes[*]"), &fields);
    assert_eq!(pick.root, [name("data"), name("nodes"), Step::Each]);
    let names: Vec<_> = pick.tree.names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["labels", "m", "z"]);
    let labels = &pick.tree.names[0].1;
    let each = labels.each.as_ref().unwrap();
    assert_eq!((labels.leaves.as_slice(), labels.indices.len()), ([].as_slice(), 1));
    assert_eq!(labels.indices[0].1.names[0].1.leaves, [3]);
    assert_eq!(
        each.names.iter().map(|(n, node)| (n.as_str(), node.leaves[0])).collect::<Vec<_>>(),
        [("id", 2), ("name", 1)]
    );
    assert_eq!(pick.tree.names[1].1.each.as_ref().unwrap().leaves, [4]);
    assert_eq!(pick.tree.names[2].1.leaves, [0]);
    assert_eq!(pick.fields[3].alias.as_deref(), Some("third"));
    assert_eq!(pick.to_string(), "$.data.nodes[*]");
}

#[test]
fn nesting_is_cheap_to_refuse() {
    for unit in ["[", "(", "{", "[?(", "['", "a[?length(", "..", "[[", "a[?!(", "\\", "a[?@[?@"] {
        for length in [500, 100_000] {
            let text: String = unit.repeat(length).chars().take(length).collect();
            assert!(parse_field(&text).is_err());
            assert!(parse_root(&format!("${text}")).is_err());
        }
    }
}
