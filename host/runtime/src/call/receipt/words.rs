//! What a receipt says in the manifest's words: the shape of a path, and which picked fields were there.
//!
//! INVARIANT: no value of a call and no name that a service chose is in one.

use pinhole_manifest::model::{ModuleRequest, ModuleSegment, PathTemplate, Piece};
use pinhole_manifest::pick::{Field, Projection, Step};

use crate::project::Tree;
use crate::receipts::FIELDS_MAX;

/// The path of a request as the manifest has it.
pub(in crate::call) fn shape(path: &PathTemplate) -> String {
    let mut shape = String::new();
    for segment in path.segments() {
        shape.push('/');
        for piece in segment.pieces() {
            match piece {
                Piece::Literal(text) => shape.push_str(text),
                Piece::Arg(name) => shape.extend(["{", name.as_str(), "}"]),
            }
        }
    }
    shape
}

/// The path of a module's line as the manifest has it.
pub(in crate::call) fn shape_of_line(line: &ModuleRequest) -> String {
    let mut shape = String::new();
    for segment in &line.path {
        shape.push('/');
        match segment {
            ModuleSegment::Literal(text) => shape.push_str(text),
            ModuleSegment::Arg(name) => shape.extend(["{", name.as_str(), "}"]),
            ModuleSegment::Any => shape.push_str("{*}"),
        }
    }
    shape
}

/// Which picked fields are in a result, in the manifest's words: no name that a service chose is among them.
pub(super) fn fields(value: &Tree, projection: &Projection) -> Vec<String> {
    let (elements, prefix): (&[Tree], _) = match value {
        Tree::Array(elements) => (elements, "[*]."),
        one => (std::slice::from_ref(one), ""),
    };
    let is_there = |field: &&Field| elements.iter().any(|element| has(element, field));
    let shown = |field: &Field| format!("{prefix}{}", field.alias.as_deref().unwrap_or(&field.text));
    projection.fields.iter().filter(is_there).take(FIELDS_MAX).map(shown).collect()
}

fn has(element: &Tree, field: &Field) -> bool {
    match (&field.alias, element) {
        (Some(alias), Tree::Object(members)) => members.iter().any(|(name, _)| name == alias),
        (Some(_), _) => false,
        (None, element) => reaches(element, &field.steps),
    }
}

fn reaches(here: &Tree, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match (step, here) {
        (Step::Name(name), Tree::Object(members)) => {
            members.iter().any(|(key, value)| key == name && reaches(value, rest))
        }
        (Step::Each, Tree::Array(elements)) => elements.iter().any(|element| reaches(element, rest)),
        (Step::Each, Tree::Object(members)) if rest.is_empty() => !members.is_empty(),
        _ => false,
    }
}
