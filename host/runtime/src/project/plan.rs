//! The fields that keep their nesting, as a tree in the manifest's order.
//!
//! The manifest's own tree also has the fields with `as`, and its members in the order of their names. DESIGN, "Pick":
//! Shape.

use pinhole_manifest::pick::{Field, Node};

use super::Key;

/// A place that a nested field ends at or passes.
pub(super) struct Plan {
    /// The fields from here on, as places in the projection's list, in order; never empty.
    pub(super) fields: Vec<usize>,
    /// Whether a field ends here.
    pub(super) leaf: bool,
    /// The members to look into, in the manifest's order.
    pub(super) names: Vec<(Key, Self)>,
    /// What to look into in each element.
    pub(super) each: Option<Box<Self>>,
}

impl Plan {
    /// `None` where only fields with `as` go on from here.
    pub(super) fn new(node: &Node, fields: &[Field]) -> Option<Self> {
        let nested = |field: &usize| fields.get(*field).is_some_and(|field| field.alias.is_none());
        let mut here: Vec<usize> = node.leaves.iter().copied().filter(nested).collect();
        let leaf = !here.is_empty();
        let mut names: Vec<(Key, Self)> = node
            .names
            .iter()
            .filter_map(|(name, node)| Some((Key::new(name), Self::new(node, fields)?)))
            .collect();
        names.sort_by_key(|(_, plan)| plan.first());
        let each = node.each.as_ref().and_then(|node| Self::new(node, fields)).map(Box::new);
        here.extend(names.iter().flat_map(|(_, plan)| &plan.fields));
        here.extend(each.iter().flat_map(|plan| &plan.fields));
        here.sort_unstable();
        if here.is_empty() { None } else { Some(Self { fields: here, leaf, names, each }) }
    }

    /// The first field from here on, which says where in the result it stands.
    pub(super) fn first(&self) -> usize {
        self.fields.first().copied().unwrap_or(usize::MAX)
    }

    /// Where in the result the member of this name stands.
    pub(super) fn place(&self, name: &Key) -> usize {
        self.names.iter().find(|(wanted, _)| wanted == name).map_or(usize::MAX, |(_, plan)| plan.first())
    }
}
