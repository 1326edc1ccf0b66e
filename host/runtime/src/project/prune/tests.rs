//! The pruned document against the whole one: whatever is looked at is the same, whatever is not JSON is refused by both,
//! however the bytes are cut into pieces.

use std::fs;

use pinhole_manifest::pick::Projection;
use proptest::prelude::*;
use serde_json::json;

use super::super::tests::{ROOTS, any_tree, fields, manifest, projection, shared, written};
use super::super::{find, project};
use super::*;

/// Feeds a document in pieces that end at these places.
fn pruned(plan: &Plan, bytes: &[u8], cuts: &[usize]) -> Result<Tree, DocumentError> {
    let mut pruner = Pruner::new(plan);
    let mut from = 0;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        let cut = cut.clamp(from, bytes.len());
        pruner.feed(&bytes[from..cut])?;
        from = cut;
    }
    pruner.finish()
}

fn plan(projection: &Projection) -> Plan {
    Plan::new(Some(projection), [])
}

/// What comes out of a pruned document and of the whole one.
fn compare(bytes: &[u8], projection: &Projection, cuts: &[usize]) {
    let pruned = pruned(&plan(projection), bytes, cuts);
    let whole = Tree::parse(bytes);
    assert_eq!(pruned.is_ok(), whole.is_ok(), "{pruned:?} and {whole:?}");
    if let (Ok(pruned), Ok(whole)) = (pruned, whole) {
        assert_eq!(project(pruned, projection), project(whole, projection));
    }
}

/// JSON with white space in every place that takes it.
fn spaced(tree: &Tree) -> String {
    serde_json::to_string_pretty(tree).unwrap().replace('\n', "\r\n\t ")
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..400_usize, 0..6).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts
    })
}

proptest! {
    #[test]
    fn a_pruned_document_gives_what_the_whole_one_gives(
        tree in any_tree(), root in 0..ROOTS.len(), fields in fields(), cuts in cuts(), space in any::<bool>(),
    ) {
        let manifest = manifest(&written(ROOTS[root], &fields));
        let text = if space { spaced(&tree) } else { tree.to_string() };
        compare(text.as_bytes(), projection(&manifest), &cuts);
    }

    #[test]
    fn bytes_that_are_no_document_are_none_in_pieces_either(
        tree in any_tree(), at in any::<prop::sample::Index>(), byte in any::<u8>(), fields in fields(), cuts in cuts(),
        how in 0..3,
    ) {
        let manifest = manifest(&written("$", &fields));
        let mut bytes = spaced(&tree).into_bytes();
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = byte,
            1 => bytes.truncate(at),
            _ => bytes.insert(at, byte),
        }
        compare(&bytes, projection(&manifest), &cuts);
    }

    #[test]
    fn any_bytes_are_judged_alike(bytes in "[\\[\\]{}:,\"\\\\ute0-9E+.ad8DC \\n-]{0,24}", cuts in cuts()) {
        let manifest = manifest(&json!({ "fields": ["a", "b.*"] }));
        compare(bytes.as_bytes(), projection(&manifest), &cuts);
    }
}

proptest! {
    /// Against the plain reading, from each place on; texts are longer than a few blocks.
    #[test]
    fn marks_and_white_space_are_found_where_they_are(
        text in proptest::collection::vec("[a-z!#\\[\\]é日\u{7f}]{0,70}|[\" \\\\\n\r\t\u{0}\u{1f}]{0,20}|[ \n]{0,90}", 0..12),
    ) {
        let text = text.concat();
        let mut marks = Marks::default();
        let piece = marks.read(&text);
        for at in 0..=text.len() {
            let rest = &text.as_bytes()[at..];
            let mark = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            prop_assert_eq!(piece.mark(at), at + mark);
            let solid = rest.iter().position(|byte| !b" \t\r\n".contains(byte)).unwrap_or(rest.len());
            prop_assert_eq!(piece.solid(at), at + solid);
        }
    }
}

#[test]
fn a_long_document_may_be_fed_at_once() {
    let manifest = manifest(&json!({ "fields": ["a", "c"] }));
    // A character of three bytes at every place relative to where a stretch ends.
    for shift in 0..4 {
        let (space, text) = (" ".repeat(shift), "日".repeat(STRETCH));
        let document =
            format!("{{{space}\"a\":\"{text}\\n{text}\",\"b\":\"{text}\",\"{text}\":[\"{text}\"],\"c\":7}}");
        compare(document.as_bytes(), projection(&manifest), &[]);
    }
}

/// Every token there is, with the odd ones inside and outside of what is kept.
const ODD: &str = r#" {"a" : "x\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t€😀" , "\u0061": -0.50E+10,
    "b":[true,false,null,{"a":[[]],"x\n":{}}, 1e5 ,"" ], "longer than eight plain bytes": "and\\so is this one €😀",
    "c":{"d":123456789012345678901234567890,"e":[0,-1,0.5,1E-2,2e+2]},"f":null} "#;

#[test]
fn a_document_may_be_cut_anywhere() {
    for fields in [json!(["c.d", "c.e", "b[*].a"]), json!(["f", "c.*"]), json!([{"as": "x", "path": "b[5]"}])]
    {
        let manifest = manifest(&json!({ "fields": fields }));
        let projection = projection(&manifest);
        let text = ODD.replace("\"\\u0061\"", "\"g\"");
        let whole = project(Tree::parse(text.as_bytes()).unwrap(), projection).unwrap();
        for cut in 0..=text.len() {
            for second in [cut, cut + 1, cut + 5] {
                let pruned = pruned(&plan(projection), text.as_bytes(), &[cut, second]).unwrap();
                assert_eq!(project(pruned, projection).unwrap(), whole, "cut at {cut} and {second}");
            }
        }
        let one_by_one: Vec<usize> = (0..text.len()).collect();
        let pruned = pruned(&plan(projection), text.as_bytes(), &one_by_one).unwrap();
        assert_eq!(project(pruned, projection).unwrap(), whole);
    }
}

#[test]
fn a_scalar_member_that_is_looked_into_as_well_is_kept() {
    let manifest = manifest(&json!({ "fields": ["c[*]", {"as": "x", "path": "c.a.a"}] }));
    for text in [r#"{"c":{"a":"text","b":1}}"#, r#"{"c":{"a":{"a":2},"b":1}}"#, r#"{"c":[1,{"a":2}]}"#] {
        compare(text.as_bytes(), projection(&manifest), &[]);
    }
}

#[test]
fn an_escaped_name_is_the_name() {
    let manifest = manifest(&json!({ "fields": ["a"] }));
    compare(ODD.as_bytes(), projection(&manifest), &[]);
    let twice =
        project(pruned(&plan(projection(&manifest)), ODD.as_bytes(), &[9]).unwrap(), projection(&manifest));
    assert!(twice.is_err(), "`a` stands twice, once escaped");
}

#[test]
fn the_json_test_suite_is_judged_right() {
    let test = "prune::the_json_test_suite_is_judged_right";
    let Some(folder) = shared(test, "suites/JSONTestSuite/test_parsing") else { return };
    let manifest = manifest(&json!({ "fields": ["a"] }));
    let (mut accepted, mut refused, mut other) = (0, 0, 0);
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let bytes = fs::read(file.path()).unwrap();
        let taken = pruned(&plan(projection(&manifest)), &bytes, &[1, 7]).is_ok();
        match name.split_inclusive('_').next().unwrap() {
            "y_" => {
                assert!(taken, "{name} was refused");
                accepted += 1;
            }
            "n_" => {
                assert!(!taken, "{name} was taken");
                refused += 1;
            }
            _ => {
                assert_eq!(taken, Tree::parse(&bytes).is_ok(), "{name}");
                other += 1;
            }
        }
    }
    assert_eq!((accepted, refused, other), (95, 188, 35));
}

#[test]
fn faults_have_their_own_names_in_dropped_parts_too() {
    let manifest = manifest(&json!({ "fields": ["kept"] }));
    let plan = plan(projection(&manifest));
    let fault = |bytes: &[u8]| pruned(&plan, bytes, &[4]).unwrap_err();
    assert_eq!(fault(b"{\"dropped\":\"\xff\"}"), DocumentError::NotUtf8);
    assert_eq!(fault(b"{\"dropped\":\"\xe2\x82"), DocumentError::NotUtf8);
    assert_eq!(fault(b"\xef\xbb\xbf{}"), DocumentError::ByteOrderMark);
    assert_eq!(fault(br#"{"dropped":["\ud800"]}"#), DocumentError::LoneSurrogate);
    assert_eq!(fault(br#"{"dropped":{"\ude00":1}}"#), DocumentError::LoneSurrogate);
    assert_eq!(fault(br#"{"dropped":"\ud800\u0041"}"#), DocumentError::LoneSurrogate);
    for text in [
        "",
        " ",
        "{",
        "[",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\":1]",
        "[1}",
        "1 2",
        "{} {}",
        "{}x",
        "nul",
        "nulll",
        "01",
        "1.",
        "-",
        "1e",
        "+1",
        ".5",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "{\"d\":{\"a\":[1,}}",
        "{1:2}",
        "{\"a\" 1}",
        "[1 2]",
        "\"open",
    ] {
        assert_eq!(fault(text.as_bytes()), DocumentError::Syntax, "{text}");
        let dropped = format!("{{\"dropped\":[{text}]}}");
        if !matches!(text, "" | " ") {
            assert!(pruned(&plan, dropped.as_bytes(), &[]).is_err(), "{dropped}");
        }
    }
}

#[test]
fn nesting_ends_at_the_limit_wherever_it_is() {
    let manifest = manifest(&json!({ "fields": ["a.b"] }));
    let plan = plan(projection(&manifest));
    let dropped = |depth: usize| format!("{{\"d\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(pruned(&plan, dropped(127).as_bytes(), &[]).is_ok());
    assert_eq!(pruned(&plan, dropped(128).as_bytes(), &[]), Err(DocumentError::TooDeep));
    let mixed = "[{\"a\":".repeat(64);
    let mixed = format!("{mixed}1{}", "}]".repeat(64));
    assert!(pruned(&plan, mixed.as_bytes(), &[]).is_ok());
    assert_eq!(pruned(&plan, "[".repeat(1 << 20).as_bytes(), &[]), Err(DocumentError::TooDeep));
}

#[test]
fn single_values_are_found() {
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": { "scheme": "bearer" },
        "failure": { "path": "$.a[2].ok", "is": false, "message": "$.a[1]" }, "error": { "message": "$['odd key'].text" },
        "ops": { "it": { "access": "read", "summary": "Does it.", "pick": "none", "request": { "method": "GET", "path": "/" } } },
    });
    let manifest = pinhole_manifest::read(manifest.to_string().as_bytes()).into_result().unwrap();
    let failure = manifest.failure().unwrap();
    let paths = [&failure.when.path, failure.message.as_ref().unwrap(), manifest.error_message().unwrap()];
    let plan = Plan::new(None, paths.iter().map(|path| path.steps()));
    for text in [
        r#"{"a":[0,"text",{"ok":false,"x":1},[]],"odd key":{"text":"€"}}"#,
        r#"{"a":[{},{"b":1},{"ok":null}],"odd key":{"text":[1,2]}}"#,
        r#"{"a":[],"odd key":{"text":{"x":1},"text":2}}"#,
        r#"{"a":{"2":1},"odd key":[]}"#,
        "[]",
        "null",
        "3",
    ] {
        let (whole, pruned) =
            (Tree::parse(text.as_bytes()).unwrap(), pruned(&plan, text.as_bytes(), &[3]).unwrap());
        for path in paths {
            let (whole, pruned) = (find(&whole, path), find(&pruned, path));
            match (&whole, &pruned) {
                // Of what is not a scalar its kind is enough.
                (Ok(Some(Tree::Object(_))), Ok(Some(Tree::Object(_)))) => {}
                _ => assert_eq!(whole, pruned, "{} in {text}", path.as_str()),
            }
        }
        assert_eq!(super::super::holds(&whole, &failure.when), super::super::holds(&pruned, &failure.when));
    }
}

#[test]
fn real_pages_are_pruned_to_what_is_picked() {
    let Some(folder) = shared("real_pages_are_pruned_to_what_is_picked", "data/github/org-repos") else {
        return;
    };
    let manifest = manifest(&json!({
        "fields": ["id", "full_name", "owner.login", "license.spdx_id", "permissions.*", "topics", {"as": "o", "path": "owner.id"}],
    }));
    let mut pages = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.to_str().unwrap().ends_with(".body.json") {
            let bytes = fs::read(path).unwrap();
            for length in [1_447, STRETCH, bytes.len()] {
                let cuts: Vec<usize> = (0..bytes.len()).step_by(length).collect();
                compare(&bytes, projection(&manifest), &cuts);
            }
            pages += 1;
        }
    }
    assert_eq!(pages, 4);
}

#[test]
fn what_is_held_is_bounded() {
    let manifest = manifest(&json!({ "fields": ["a", "b[*].c"] }));
    let plan = plan(projection(&manifest));
    let element = "1,".repeat(1 << 20);
    let kept = format!("{{\"a\":[{element}1]}}");
    assert_eq!(pruned(&plan, kept.as_bytes(), &[]), Err(DocumentError::KeptTooMuch));
    // Elements that only their kind is looked at of, and a long string that is dropped, take no room.
    let dropped = format!("{{\"b\":[{element}1],\"d\":\"{}\"}}", "x".repeat(40 << 20));
    assert!(pruned(&plan, dropped.as_bytes(), &[100, 10_000]).is_ok());
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(33 << 20));
    assert_eq!(pruned(&plan, long.as_bytes(), &[1 << 20, 20 << 20]), Err(DocumentError::KeptTooMuch));
}
