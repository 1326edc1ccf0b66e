//! What no document and no pick can do.

use std::collections::BTreeMap;

use super::*;

/// A tree of fields without a collision.
#[derive(Debug, Clone)]
enum Spec {
    Leaf,
    Names(BTreeMap<String, Self>),
    Each(Box<Self>),
}

impl Spec {
    fn paths(&self, way: &str, paths: &mut Vec<String>) {
        match self {
            Self::Leaf => paths.push(way.to_owned()),
            Self::Names(names) => {
                for (name, spec) in names {
                    let way = if way.is_empty() { name.clone() } else { format!("{way}.{name}") };
                    spec.paths(&way, paths);
                }
            }
            Self::Each(spec) => spec.paths(&format!("{way}[*]"), paths),
        }
    }
}

fn specs() -> impl Strategy<Value = Spec> {
    let inner = Just(Spec::Leaf).prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            2 => proptest::collection::btree_map("[abcd]", inner.clone(), 1..3).prop_map(Spec::Names),
            1 => inner.prop_map(|spec| Spec::Each(Box::new(spec))),
        ]
    });
    proptest::collection::btree_map("[abcd]", inner, 1..4).prop_map(Spec::Names)
}

/// The fields of a pick, some with an alias.
pub(in crate::project) fn fields() -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    let aliased = proptest::collection::vec(("[abcd](\\.[abcd]|\\[\\*\\]|\\[[01]\\]){0,4}", "[xyz]"), 0..3);
    (specs(), aliased, any::<prop::sample::Index>()).prop_map(|(spec, aliased, turn)| {
        let mut paths = Vec::new();
        spec.paths("", &mut paths);
        let mut fields: Vec<_> = paths.into_iter().map(|path| (path, None)).collect();
        for (path, alias) in aliased {
            // A path stands once in a pick, and an alias too.
            if fields.iter().all(|(known, other)| *known != path && other.as_ref() != Some(&alias)) {
                fields.push((path, Some(alias)));
            }
        }
        let turn = turn.index(fields.len());
        fields.rotate_left(turn);
        fields
    })
}

pub(in crate::project) const ROOTS: [&str; 6] = ["$", "$.a", "$[0]", "$.a[*]", "$.b[*].a", "$.a[*][*]"];

pub(in crate::project) fn written(root: &str, fields: &[(String, Option<String>)]) -> Value {
    let fields: Vec<Value> = fields
        .iter()
        .map(|(path, alias)| alias.as_ref().map_or(json!(path), |alias| json!({ "as": alias, "path": path })))
        .collect();
    json!({ "root": root, "fields": fields })
}

/// Each leaf of a tree becomes the text of the way to it.
fn label(tree: &mut Tree, way: &str) {
    match tree {
        Tree::Array(elements) => {
            elements
                .iter_mut()
                .enumerate()
                .for_each(|(place, element)| label(element, &format!("{way}/{place}")));
        }
        Tree::Object(members) => {
            for (key, member) in members.iter_mut() {
                label(member, &format!("{way}/{key}"));
            }
        }
        leaf => *leaf = Tree::String(way.to_owned()),
    }
}

fn leaves(tree: &Tree, keys: &mut Vec<String>, texts: &mut Vec<String>) {
    match tree {
        Tree::Array(elements) => elements.iter().for_each(|element| leaves(element, keys, texts)),
        Tree::Object(members) => {
            for (key, member) in members {
                keys.push(key.to_string());
                leaves(member, keys, texts);
            }
        }
        leaf => texts.push(leaf.to_string()),
    }
}

/// Members that stand twice go.
fn without_duplicates(tree: &mut Tree) {
    match tree {
        Tree::Array(elements) => elements.iter_mut().for_each(without_duplicates),
        Tree::Object(members) => {
            let mut seen = BTreeSet::new();
            members.retain(|(key, _)| seen.insert(key.clone()));
            for (_, member) in members.iter_mut() {
                without_duplicates(member);
            }
        }
        _ => {}
    }
}

/// Whether a way of a labelled leaf is one that a pattern of steps picks: at its end, or as an element of an array there.
fn picks(pattern: &[Step], way: &[&str]) -> bool {
    match (pattern, way) {
        ([], []) | ([Step::Each], [_]) => true,
        ([], [last]) => last.parse::<u64>().is_ok(),
        ([Step::Name(name), pattern @ ..], [first, way @ ..]) => name == first && picks(pattern, way),
        ([Step::Index(index), pattern @ ..], [first, way @ ..]) => {
            index.to_string() == *first && picks(pattern, way)
        }
        ([Step::Each, pattern @ ..], [first, way @ ..]) => {
            first.parse::<u64>().is_ok() && picks(pattern, way)
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn nothing_is_added_and_nothing_else_comes_through(
        fields in fields(), root in prop::sample::select(&ROOTS), document in any_tree(),
    ) {
        let manifest = manifest(&written(root, &fields));
        let projection = projection(&manifest);
        let (mut keys, mut texts) = (Vec::new(), Vec::new());
        leaves(&document, &mut keys, &mut texts);
        keys.extend(fields.iter().filter_map(|(_, alias)| alias.clone()));
        if let Ok(projected) = project(document.clone(), projection) {
            let (mut found_keys, mut found) = (Vec::new(), Vec::new());
            leaves(&projected.value, &mut found_keys, &mut found);
            prop_assert!(found_keys.iter().all(|key| keys.contains(key)));
            prop_assert!(found.iter().all(|text| texts.contains(text)));
            let root = projection.to_string();
            prop_assert!(projected.notes.iter().all(|note| *note == root || fields.iter().any(|(path, _)| path == note)));
        }
        let mut labelled = document;
        label(&mut labelled, "");
        if let Ok(projected) = project(labelled.clone(), projection) {
            let (mut keys, mut found) = (Vec::new(), Vec::new());
            leaves(&projected.value, &mut keys, &mut found);
            for text in found {
                let way: Vec<&str> = text.trim_matches('"').split('/').skip(1).collect();
                let picked = projection.fields.iter().any(|field| {
                    let nested = [projection.root.as_slice(), &field.steps].concat();
                    let in_array = [projection.root.as_slice(), &[Step::Each], &field.steps].concat();
                    picks(&nested, &way) || picks(&in_array, &way)
                });
                prop_assert!(picked, "{} came through", text);
            }
        }
    }

    #[test]
    fn a_plain_reading_says_the_same(fields in fields(), document in any_tree()) {
        let manifest = manifest(&written("$", &fields));
        let projection = projection(&manifest);
        let mut document = Tree::Object(vec![("a".into(), document.clone()), ("b".into(), document)]);
        without_duplicates(&mut document);
        let steps: Vec<_> =
            projection.fields.iter().map(|field| (field.steps.clone(), field.alias.clone())).collect();
        // Numbers are compared as text: the plain reading has no digits to keep.
        let strings = |tree: &Tree| {
            let mut tree = tree.clone();
            numbers_to_strings(&mut tree);
            serde_json::to_value(&tree).unwrap()
        };
        let expected = naive::object(&strings(&document), &steps);
        prop_assert_eq!(strings(&project(document.clone(), projection).unwrap().value), expected);
    }
}

fn numbers_to_strings(tree: &mut Tree) {
    match tree {
        Tree::Number(digits) => *tree = Tree::String(format!("#{}", digits.as_str())),
        Tree::Array(elements) => elements.iter_mut().for_each(numbers_to_strings),
        Tree::Object(members) => {
            for (_, member) in members.iter_mut() {
                numbers_to_strings(member);
            }
        }
        _ => {}
    }
}
