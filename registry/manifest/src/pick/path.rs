//! Paths of one kind or another: RFC 9535 text, parsed by a library, held to names, indices and `[*]`.
//!
//! Refuses descendants, filters, slices, unions, negative and large indices, each by its name, and white space and
//! invisible characters, so that a path reads as it works. INVARIANT: only text without `?`, `(` and white space outside quotes
//! reaches the parser, whose time is then linear. DESIGN, "Pick"; RFC 9535, sections 2.3 and 2.5.

use std::fmt::{self, Write as _};

use jsonpath_rust::parser::model::{Segment, Selector};
use jsonpath_rust::parser::parse_json_path;

use super::{SingularPath, SingularStep, Step};
use crate::visible::is_invisible;

/// Longest path, in bytes.
pub(crate) const PATH_MAX: usize = 512;
/// Most steps of a path.
pub(crate) const STEPS_MAX: usize = 16;
/// Largest index: whoever keeps an element in its place keeps room for those before it.
pub(crate) const INDEX_MAX: u64 = 999;

/// Why a text is not a path that may stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PathFault {
    /// Longer than 512 bytes.
    #[error("a path is at most {PATH_MAX} bytes long")]
    TooLong,
    /// More than 16 steps.
    #[error("a path has at most {STEPS_MAX} steps")]
    TooManySteps,
    /// White space outside quotes.
    #[error("a path has no white space outside quotes")]
    Whitespace,
    /// A control or an invisible character.
    #[error("a path has no characters that cannot be seen")]
    Invisible,
    /// Not RFC 9535 text.
    #[error("not a JSONPath of RFC 9535: names, `[0]` and `[*]`, odd names as `['odd.name']`")]
    Syntax,
    /// A root or a singular path that does not start with `$`.
    #[error("a path from the top of the answer starts with `$`")]
    NotFromTop,
    /// A field that starts with `$` or a dot, or is empty.
    #[error("a field is relative to the root: it starts with a name, without `$` or a dot")]
    NotRelative,
    /// `..name`.
    #[error("a descendant segment (`..`) takes from places that nobody can list: write the whole way")]
    Descendant,
    /// `[?…]`.
    #[error("a filter (`?`) has no place in a path here")]
    Filter,
    /// `[1:3]`.
    #[error("a slice has no place in a path here: write `[*]` or one index")]
    Slice,
    /// `['a','b']`.
    #[error("a union of selectors has no place in a path here: write one path for each")]
    Union,
    /// `[-1]`.
    #[error("a negative index has no place in a path here: count from 0")]
    NegativeIndex,
    /// `[1000]`.
    #[error("an index is at most {INDEX_MAX}")]
    IndexTooLarge,
    /// `[*]` where the path must name one value.
    #[error("this path must name one value: it has no `[*]`")]
    Wildcard,
}

/// A path that names at most one value, from the top of a document.
pub(crate) fn parse_singular(text: &str) -> Result<SingularPath, PathFault> {
    let step = |step| match step {
        Step::Name(name) => Ok(SingularStep::Name(name)),
        Step::Index(index) => Ok(SingularStep::Index(index)),
        Step::Each => Err(PathFault::Wildcard),
    };
    let steps = parse_root(text)?.into_iter().map(step).collect::<Result<_, _>>()?;
    Ok(SingularPath { text: text.into(), steps })
}

/// A path from the top of a document.
pub(super) fn parse_root(text: &str) -> Result<Vec<Step>, PathFault> {
    if text.len() > PATH_MAX {
        return Err(PathFault::TooLong);
    }
    if !text.starts_with('$') {
        return Err(PathFault::NotFromTop);
    }
    parse(text)
}

/// A path from the root: `$` is put before it.
pub(super) fn parse_field(text: &str) -> Result<Vec<Step>, PathFault> {
    if text.len() > PATH_MAX {
        return Err(PathFault::TooLong);
    }
    if text.is_empty() || text.starts_with(['$', '.', '@']) {
        return Err(if text.starts_with("..") { PathFault::Descendant } else { PathFault::NotRelative });
    }
    parse(&if text.starts_with('[') { format!("${text}") } else { format!("$.{text}") })
}

fn parse(text: &str) -> Result<Vec<Step>, PathFault> {
    legible(text)?;
    let query = parse_json_path(text).map_err(|_grammar| PathFault::Syntax)?;
    if query.segments.len() > STEPS_MAX {
        return Err(PathFault::TooManySteps);
    }
    query.segments.iter().map(step).collect()
}

/// Refuses, before parsing, what the parser would skip, trim or take long over.
fn legible(text: &str) -> Result<(), PathFault> {
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        if is_invisible(c) && !(quote.is_none() && c.is_whitespace()) {
            return Err(PathFault::Invisible);
        }
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '?') => return Err(PathFault::Filter),
            (None, '(' | ')') => return Err(PathFault::Syntax),
            (None, _) if c.is_whitespace() => return Err(PathFault::Whitespace),
            (_, _) => {}
        }
    }
    Ok(())
}

fn step(segment: &Segment) -> Result<Step, PathFault> {
    match segment {
        Segment::Descendant(_) => Err(PathFault::Descendant),
        Segment::Selectors(_) => Err(PathFault::Union),
        Segment::Selector(selector) => match selector {
            Selector::Name(name) if name.chars().any(is_invisible) => Err(PathFault::Invisible),
            Selector::Name(name) => Ok(Step::Name(name.clone())),
            Selector::Wildcard => Ok(Step::Each),
            Selector::Index(index) => match u64::try_from(*index) {
                Ok(index) if index <= INDEX_MAX => Ok(Step::Index(index)),
                Ok(_) => Err(PathFault::IndexTooLarge),
                Err(_sign) => Err(PathFault::NegativeIndex),
            },
            Selector::Slice(..) => Err(PathFault::Slice),
            Selector::Filter(_) => Err(PathFault::Filter),
        },
    }
}

/// Writes a step as RFC 9535 text: a plain name after a dot, anything else in brackets.
fn write_step(f: &mut fmt::Formatter<'_>, step: StepRef<'_>, place: Place) -> fmt::Result {
    match step {
        StepRef::Each => f.write_str("[*]"),
        StepRef::Index(index) => write!(f, "[{index}]"),
        StepRef::Name(name) if is_shorthand(name) => match place {
            Place::FirstOfField => f.write_str(name),
            Place::Later => write!(f, ".{name}"),
        },
        StepRef::Name(name) => {
            f.write_str("['")?;
            for c in name.chars() {
                if matches!(c, '\'' | '\\') {
                    f.write_char('\\')?;
                }
                f.write_char(c)?;
            }
            f.write_str("']")
        }
    }
}

#[derive(Clone, Copy)]
enum StepRef<'a> {
    Name(&'a str),
    Index(u64),
    Each,
}

#[derive(Clone, Copy)]
enum Place {
    FirstOfField,
    Later,
}

/// A name that needs no brackets: ASCII, so that no two parsers disagree (RFC 9535, section 2.5.1, allows more).
fn is_shorthand(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl fmt::Display for super::Field {
    /// The path in its one canonical spelling, without the alias.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_steps(f, &self.steps, Place::FirstOfField)
    }
}

impl fmt::Display for super::Projection {
    /// The root in its one canonical spelling.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        write_steps(f, &self.root, Place::Later)
    }
}

impl fmt::Display for SingularPath {
    /// The path in its one canonical spelling.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        for step in &self.steps {
            let step = match step {
                SingularStep::Name(name) => StepRef::Name(name),
                SingularStep::Index(index) => StepRef::Index(*index),
            };
            write_step(f, step, Place::Later)?;
        }
        Ok(())
    }
}

fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[Step], first: Place) -> fmt::Result {
    let mut place = first;
    for step in steps {
        let step = match step {
            Step::Name(name) => StepRef::Name(name),
            Step::Index(index) => StepRef::Index(*index),
            Step::Each => StepRef::Each,
        };
        write_step(f, step, place)?;
        place = Place::Later;
    }
    Ok(())
}
