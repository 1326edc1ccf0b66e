//! The fields that come back, in words that a model uses.

use pinhole_manifest::model::Op;
use pinhole_manifest::pick::{Pick, Step};
use pinhole_manifest::visible::visible;

/// Each field as the result has it, such as `user.login` and `labels[].name`; none for an op that gives nothing.
pub(super) fn of(op: &Op) -> Vec<String> {
    match &op.pick {
        Pick::None => Vec::new(),
        Pick::Fields(projection) => projection
            .fields
            .iter()
            .map(|field| visible(field.alias.as_ref().unwrap_or(&field.text)).replace("[*]", "[]"))
            .collect(),
    }
}

/// Whether what comes back is a list, as far as the manifest says: its root has elements, or it has pages and no list inside.
pub(super) fn is_list(op: &Op) -> bool {
    let Pick::Fields(projection) = &op.pick else { return false };
    let inside = || projection.fields.iter().any(|field| field.steps.contains(&Step::Each));
    projection.root.contains(&Step::Each) || (op.page.is_some() && !inside())
}
