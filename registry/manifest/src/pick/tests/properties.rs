//! What holds of every path and every set of fields.

use proptest::prelude::*;

use super::super::path::parse_field;
use super::*;

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,5}".prop_map(Step::Name),
        r#"[ -~é東🦀"'\\]{0,6}"#.prop_map(Step::Name),
        (0_u64..=INDEX_MAX).prop_map(Step::Index),
        Just(Step::Each),
    ]
}

/// The leaves of a tree with the way to each.
fn leaves(node: &Node, way: &mut Vec<Step>, out: &mut Vec<(usize, Vec<Step>)>) {
    out.extend(node.leaves.iter().map(|&leaf| (leaf, way.clone())));
    let children = node.names.iter().map(|(n, node)| (Step::Name(n.clone()), node));
    let children = children.chain(node.indices.iter().map(|(i, node)| (Step::Index(*i), node)));
    for (step, child) in children.chain(node.each.iter().map(|node| (Step::Each, &**node))) {
        way.push(step);
        leaves(child, way, out);
        way.pop();
    }
}

proptest! {
    #[test]
    fn print_then_parse_is_the_identity(steps in prop::collection::vec(any_step(), 1..8)) {
        let field = Field { text: String::new(), steps: steps.clone(), alias: None };
        let text = field.to_string();
        prop_assert_eq!(&parse_field(&text).unwrap(), &steps, "{}", text);
        let again = Field { steps: parse_field(&text).unwrap(), ..field };
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn singular_print_then_parse_is_the_identity(steps in prop::collection::vec(any_step(), 0..8)) {
        let steps: Vec<_> = steps.into_iter().filter_map(|step| match step {
            Step::Name(name) => Some(SingularStep::Name(name)),
            Step::Index(index) => Some(SingularStep::Index(index)),
            Step::Each => None,
        }).collect();
        let text = SingularPath { text: String::new(), steps: steps.clone() }.to_string();
        let path = parse_singular(&text).unwrap();
        prop_assert_eq!(path.to_string(), text);
        prop_assert_eq!(path.steps, steps);
    }

    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>(), path in r#"[$.\[\]*?@:,'"\\a0-]{0,24}"#) {
        for text in [text, path] {
            let field = parse_field(&text).map(|steps| Field { text: text.clone(), steps, alias: None });
            if let Ok(field) = field {
                prop_assert_eq!(parse_field(&field.to_string()), Ok(field.steps));
            }
            let _judged = parse_singular(&text).is_ok();
        }
    }

    #[test]
    fn the_tree_holds_exactly_the_fields(paths in prop::collection::vec(prop::collection::vec(any_step(), 1..5), 1..20)) {
        let fields: Vec<Field> =
            paths.into_iter().map(|steps| Field { text: String::new(), steps, alias: None }).collect();
        let mut found = Vec::new();
        leaves(&tree::build(&fields), &mut Vec::new(), &mut found);
        found.sort_by_key(|(leaf, _)| *leaf);
        let wanted: Vec<_> = fields.into_iter().map(|field| field.steps).enumerate().collect();
        prop_assert_eq!(found, wanted);
    }
}
