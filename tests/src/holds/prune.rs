//! Picking out of an answer that comes in pieces: what comes out is what the plain reading of the whole document gives,
//! however it was cut, and bytes that are no document are none in pieces either.

use pinhole_manifest::Manifest;
use pinhole_manifest::pick::{Pick, Projection, SingularPath};
use pinhole_runtime::project::prune::{Plan, Pruner};
use pinhole_runtime::project::{DocumentError, Tree, find, project};
use serde_json::json;

use super::thing;

/// How many picks there are.
const PICKS: u8 = 8;

struct Case {
    op: String,
    plan: Plan,
}

struct Cases {
    manifest: Manifest,
    cases: Vec<Case>,
}

impl Cases {
    fn new() -> Self {
        let op = |pick: serde_json::Value| {
            json!({
                "access": "read", "summary": "Reads.", "request": { "method": "GET", "path": "/" }, "pick": pick,
            })
        };
        let ops = json!({
            "p0": op(json!({ "fields": ["a", "b.c", "d[*].e", "f.*"] })),
            "p1": op(json!({ "root": "$.a[*]", "fields": ["a", "b.a", "b.b"] })),
            "p2": op(json!({ "root": "$[0]", "fields": [
                { "as": "x", "path": "b[*][*]" }, { "as": "y", "path": "a[0]" }, { "as": "z", "path": "a[1].b" } ] })),
            "p3": op(json!({ "fields": ["a.*", "b[*].*", { "as": "x", "path": "a.b" }, { "as": "y", "path": "b[1].a" }] })),
            "p4": op(json!({ "root": "$.a[*][*]", "fields": ["['a b']", "['é']", "['']"] })),
            "p5": op(json!({ "root": "$.b[*].a", "fields": ["a[*]", "b"] })),
            "p6": op(json!({ "root": "$.a[2].b", "fields": [
                "a", { "as": "e", "path": "b[*].c[*].d" }, { "as": "f", "path": "b[0].c" } ] })),
            "p7": op(json!({ "fields": ["a"] })),
        });
        let manifest = thing(&json!({
            "ops": ops,
            "failure": { "path": "$.ok", "is": false, "message": "$.error.message" },
            "error": { "message": "$[0].a" },
        }));
        let cases = (0..PICKS).map(|number| {
            let op = format!("p{number}");
            let plan =
                Plan::new(Some(projection(&manifest, &op)), singles(&manifest).map(SingularPath::steps));
            Case { op, plan }
        });
        Self { cases: cases.collect(), manifest }
    }
}

/// What is looked at besides the picks, with every one of them.
fn singles(manifest: &Manifest) -> impl Iterator<Item = &SingularPath> {
    let failure = manifest.failure().map(|failure| [Some(&failure.when.path), failure.message.as_ref()]);
    failure.into_iter().flatten().flatten().chain(manifest.error_message())
}

fn projection<'m>(manifest: &'m Manifest, op: &str) -> &'m Projection {
    let op = pinhole_manifest::OpId::parse(op).expect("a name");
    match &manifest.op(&op).expect("the op").pick {
        Pick::Fields(projection) => projection,
        Pick::None => panic!("the op picks fields"),
    }
}

/// The first byte chooses a pick; the next two say how long the pieces are, in turn, two zeros that there is but one; the
/// rest is the document.
pub fn prune(bytes: &[u8]) {
    thread_local! {
        static CASES: Cases = Cases::new();
    }
    let Some((&[pick, odd, even], document)) = bytes.split_first_chunk::<3>() else { return };
    CASES.with(|cases| {
        let case = &cases.cases[usize::from(pick % PICKS)];
        compare(cases, case, document, [usize::from(odd), usize::from(even)]);
    });
}

fn compare(cases: &Cases, case: &Case, document: &[u8], pieces: [usize; 2]) {
    let pruned = pruned(&case.plan, document, pieces);
    let whole = Tree::parse(document);
    let (pruned, whole) = match (pruned, whole) {
        (Ok(pruned), Ok(whole)) => (pruned, whole),
        (Err(DocumentError::KeptTooMuch), _) => return,
        (pruned, whole) => {
            assert_eq!(pruned.is_ok(), whole.is_ok(), "{pruned:?} and {whole:?}");
            return;
        }
    };
    for path in singles(&cases.manifest) {
        assert_eq!(looked_at(&pruned, path), looked_at(&whole, path), "{}", path.as_str());
    }
    let projection = projection(&cases.manifest, &case.op);
    let (ours, plain) = (project(pruned, projection), project(whole, projection));
    assert_eq!(ours, plain);
    let Ok(projected) = ours else { return };
    let text = projected.value.to_string();
    assert_eq!(text.len(), projected.value.compact_len());
    assert_eq!(Tree::parse(text.as_bytes()).as_ref(), Ok(&projected.value), "it is read as it was written");
}

/// What is found of a path, where the kind of a container is all that is looked at.
fn looked_at(tree: &Tree, path: &SingularPath) -> String {
    match find(tree, path) {
        Err(_twice) => "twice".to_owned(),
        Ok(None) => "absent".to_owned(),
        Ok(Some(Tree::Array(_))) => "[]".to_owned(),
        Ok(Some(Tree::Object(_))) => "{}".to_owned(),
        Ok(Some(scalar)) => scalar.to_string(),
    }
}

/// Feeds the document in pieces of one length and the other, in turn.
fn pruned(plan: &Plan, document: &[u8], pieces: [usize; 2]) -> Result<Tree, DocumentError> {
    let mut pruner = Pruner::new(plan);
    let mut rest = document;
    for length in pieces.into_iter().cycle() {
        if rest.is_empty() || pieces == [0, 0] {
            break;
        }
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        pruner.feed(piece)?;
        rest = behind;
    }
    pruner.feed(rest)?;
    pruner.finish()
}
