//! From the text of a pick to a projection: every fault at once.
//!
//! Refuses fields whose places in the result collide, since one would hide or reshape the other, and a path that stands
//! twice, since an answer could grow by it as often as there are fields. DESIGN, "Pick": Shape.

use std::collections::HashMap;

use super::path::{PathFault, parse_field, parse_root};
use super::place::Output;
use super::{Field, Projection, Step, tree};

/// Most fields of one pick.
pub(crate) const FIELDS_MAX: usize = 200;
/// Longest name that `as` gives.
const ALIAS_MAX: usize = 64;

/// One fault of a pick.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub(crate) struct PickFault {
    /// Where.
    pub at: PickPart,
    /// What is wrong.
    pub kind: PickFaultKind,
}

/// A part of a pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PickPart {
    /// `root`.
    Root,
    /// `fields` as a whole.
    Fields,
    /// The field at this place, or its `path`.
    Field(usize),
    /// The `as` of the field at this place.
    Alias(usize),
}

/// What kind of fault.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PickFaultKind {
    /// A path that may not stand there.
    #[error(transparent)]
    Path(PathFault),
    /// No fields.
    #[error("a pick names at least one field; an answer that carries nothing is `\"pick\": \"none\"`")]
    NoFields,
    /// More than 200 fields.
    #[error("a pick has at most {FIELDS_MAX} fields")]
    TooManyFields,
    /// A field with an index and no `as`.
    #[error("one element of an array cannot keep its nesting: give the field a name of its own with `as`")]
    IndexWithoutAs,
    /// An `as` that is not a plain name.
    #[error("`as` is a plain name: up to 64 letters, digits and underscores, no digit first")]
    BadAlias,
    /// Two fields whose places in the result are the same, or lie one inside the other.
    #[error("the field collides with `{with}`: both would stand in the same place of the result")]
    Collision {
        /// The place of the earlier field.
        first: usize,
        /// Its path as written.
        with: String,
    },
    /// Two fields with the same steps.
    #[error("the field takes what `{with}` takes already")]
    Repeated {
        /// The place of the earlier field.
        first: usize,
        /// Its path as written.
        with: String,
    },
}

/// Parses a pick: an optional root, and fields as `(path, as)`.
pub(crate) fn parse_projection(
    root: Option<&str>,
    fields: &[(&str, Option<&str>)],
) -> Result<Projection, Vec<PickFault>> {
    let mut faults = Vec::new();
    let mut fault = |at, kind| faults.push(PickFault { at, kind });
    let root = root.map_or(Ok(Vec::new()), parse_root).unwrap_or_else(|error| {
        fault(PickPart::Root, PickFaultKind::Path(error));
        Vec::new()
    });
    if fields.is_empty() {
        fault(PickPart::Fields, PickFaultKind::NoFields);
    }
    if fields.len() > FIELDS_MAX {
        fault(PickPart::Fields, PickFaultKind::TooManyFields);
    }
    let mut parsed = Vec::new();
    let mut output = Output::default();
    let mut known: HashMap<Vec<Step>, usize> = HashMap::new();
    for (i, (text, alias)) in fields.iter().enumerate().take(FIELDS_MAX) {
        if alias.is_some_and(|alias| !is_alias(alias)) {
            fault(PickPart::Alias(i), PickFaultKind::BadAlias);
            continue;
        }
        let steps = match parse_field(text) {
            Ok(steps) => steps,
            Err(error) => {
                fault(PickPart::Field(i), PickFaultKind::Path(error));
                continue;
            }
        };
        if alias.is_none() && steps.iter().any(|step| matches!(step, Step::Index(_))) {
            fault(PickPart::Field(i), PickFaultKind::IndexWithoutAs);
            continue;
        }
        let taken = match alias {
            Some(alias) => output.take(i, &[Step::Name((*alias).into())]),
            None => output.take(i, &steps),
        };
        let with = |first: usize| fields.get(first).map_or_else(String::new, |(text, _)| (*text).into());
        if let Err(first) = taken {
            let at = if alias.is_some() { PickPart::Alias(i) } else { PickPart::Field(i) };
            fault(at, PickFaultKind::Collision { first, with: with(first) });
        } else if let Some(first) = known.get(&steps).copied() {
            fault(PickPart::Field(i), PickFaultKind::Repeated { first, with: with(first) });
        } else {
            known.insert(steps.clone(), i);
        }
        parsed.push(Field { text: (*text).into(), steps, alias: alias.map(Into::into) });
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let tree = tree::build(&parsed);
    Ok(Projection { root, fields: parsed, tree })
}

fn is_alias(text: &str) -> bool {
    (1..=ALIAS_MAX).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
