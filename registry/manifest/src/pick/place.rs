//! Places in a result, and who stands where.
//!
//! INVARIANT: a place is one thing only: an object with members, an array with elements, or the end of one field. DESIGN,
//! "Pick": "Two fields that collide fail at load".

use std::collections::BTreeMap;

use super::Step;

/// The result, as far as fields have taken places in it.
#[derive(Debug, Default)]
pub(super) struct Output(Option<Place>);

#[derive(Debug)]
struct Place {
    /// The field that took it first.
    first: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Object(BTreeMap<String, Place>),
    Array(Option<Box<Place>>),
    End,
}

impl Output {
    /// Takes the place that a field's value has in the result; gives the earlier field where it collides with one. Steps
    /// hold no index: a field with one goes by its alias.
    pub(super) fn take(&mut self, field: usize, steps: &[Step]) -> Result<(), usize> {
        take(&mut self.0, field, steps)
    }
}

/// A trailing `[*]` needs no rule of its own: it makes an array whose elements are ends, and so shares its place with no
/// members and no other fields, also where it takes an object's scalars.
fn take(place: &mut Option<Place>, field: usize, steps: &[Step]) -> Result<(), usize> {
    let (step, rest) = match steps {
        [] => {
            if let Some(taken) = place {
                return Err(taken.first);
            }
            *place = Some(Place { first: field, kind: Kind::End });
            return Ok(());
        }
        [step, rest @ ..] => (step, rest),
    };
    let fresh = || match step {
        Step::Name(_) => Kind::Object(BTreeMap::new()),
        Step::Each | Step::Index(_) => Kind::Array(None),
    };
    let place = place.get_or_insert_with(|| Place { first: field, kind: fresh() });
    match (&mut place.kind, step) {
        (Kind::Object(members), Step::Name(name)) => {
            let mut inner = members.remove(name);
            let taken = take(&mut inner, field, rest);
            if let Some(inner) = inner {
                members.insert(name.clone(), inner);
            }
            taken
        }
        (Kind::Array(element), Step::Each | Step::Index(_)) => {
            let mut inner = element.take().map(|place| *place);
            let taken = take(&mut inner, field, rest);
            *element = inner.map(Box::new);
            taken
        }
        _ => Err(place.first),
    }
}
