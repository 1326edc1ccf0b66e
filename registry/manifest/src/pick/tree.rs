//! The fields of a pick as one tree, so that one pass over a document finds them all. DESIGN, "Pick".

use super::{Field, Node, Step};

/// Builds the tree; names and indices come out sorted, each once.
pub(super) fn build(fields: &[Field]) -> Node {
    let mut top = Node::default();
    for (i, field) in fields.iter().enumerate() {
        let mut node = &mut top;
        for step in &field.steps {
            node = node.child(step);
        }
        node.leaves.push(i);
    }
    top
}

impl Node {
    fn child(&mut self, step: &Step) -> &mut Self {
        match step {
            Step::Name(name) => slot(&mut self.names, name),
            Step::Index(index) => slot(&mut self.indices, index),
            Step::Each => self.each.get_or_insert_default(),
        }
    }
}

/// The node of a key in a sorted list, put in its place if it is not there.
fn slot<'a, K: Ord + Clone>(list: &'a mut Vec<(K, Node)>, key: &K) -> &'a mut Node {
    let at = list.partition_point(|(known, _)| known < key);
    if list.get(at).is_none_or(|(known, _)| known != key) {
        list.insert(at, (key.clone(), Node::default()));
    }
    #[expect(
        clippy::indexing_slicing,
        reason = "`at` is the place of a key that is there or was just put there"
    )]
    &mut list[at].1
}
