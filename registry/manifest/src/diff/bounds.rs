//! How large, how long, how many, in which steps: keywords of an arg that can be put in order.
//!
//! A length that the schema does not give is taken from where normalising takes it, so that leaving one out is held against
//! what holds without it. INVARIANT: a bound is proven narrower only if no value lies within it that did not before.

use std::cmp::Ordering;

use serde_json::Value;

use super::args::Spot;
use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::code;
use crate::model::ArgKind;

pub(super) fn compare(log: &mut Log, at: &At, name: &str, old: Spot<'_>, new: Spot<'_>) {
    let counts = match new.shape.kind() {
        ArgKind::String => Some(("minLength", "maxLength", "characters")),
        ArgKind::Array => Some(("minItems", "maxItems", "elements")),
        ArgKind::Integer | ArgKind::Number => {
            numbers(log, at, name, old, new);
            None
        }
        ArgKind::Boolean | ArgKind::Object => None,
    };
    if let Some((least, most, what)) = counts {
        let of = |spot: Spot<'_>| spot.keyword(least).and_then(Value::as_u64).unwrap_or_default();
        ordered(
            log,
            &at.name(least),
            name,
            &format!("fewer {what}"),
            of(old).cmp(&of(new)),
            (of(old), of(new)),
        );
        let of = |spot: Spot<'_>| spot.shape.most().unwrap_or(u64::MAX);
        ordered(
            log,
            &at.name(most),
            name,
            &format!("more {what}"),
            of(new).cmp(&of(old)),
            (of(old), of(new)),
        );
    }
    let unique = |spot: Spot<'_>| spot.keyword("uniqueItems").and_then(Value::as_bool).unwrap_or_default();
    let order = unique(old).cmp(&unique(new));
    ordered(log, &at.name("uniqueItems"), name, "one element twice", order, (0, 0));
}

/// One end of what is taken, and the order of the two: greater where the new one takes more.
fn ordered(log: &mut Log, at: &At, name: &str, more: &str, order: Ordering, (old, new): (u64, u64)) {
    let (direction, says) = match order {
        Ordering::Greater => (Direction::Widens, format!("{} takes {more}", code(name))),
        Ordering::Less => (Direction::Narrows, format!("{} no longer takes {more}", code(name))),
        Ordering::Equal => return,
    };
    let shown = |bound: u64| match bound {
        u64::MAX => "any number".to_owned(),
        bound => bound.to_string(),
    };
    let note = log.now(Kind::ArgBound, direction, at, says);
    if old != new {
        note.between(Some(shown(old)), Some(shown(new)));
    }
}

fn numbers(log: &mut Log, at: &At, name: &str, old: Spot<'_>, new: Spot<'_>) {
    let (before, after) = (Bound::lower(old), Bound::lower(new));
    bound(log, at, name, "smaller", (before, after), |a, b| b.tighter_below(a));
    let (before, after) = (Bound::upper(old), Bound::upper(new));
    bound(log, at, name, "larger", (before, after), |a, b| b.tighter_above(a));
    steps(log, &at.name("multipleOf"), name, (old.keyword("multipleOf"), new.keyword("multipleOf")));
}

/// One end of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    value: f64,
    /// Whether the value itself lies outside.
    open: bool,
    keyword: &'static str,
}

impl Bound {
    fn lower(spot: Spot<'_>) -> Option<Self> {
        let pick = |a: Self, b: Self| if b.tighter_below(a) == Ordering::Less { b } else { a };
        Self::of(spot, "minimum", "exclusiveMinimum", pick)
    }

    fn upper(spot: Spot<'_>) -> Option<Self> {
        let pick = |a: Self, b: Self| if b.tighter_above(a) == Ordering::Less { b } else { a };
        Self::of(spot, "maximum", "exclusiveMaximum", pick)
    }

    /// The tighter one, where there are both.
    fn of(
        spot: Spot<'_>,
        shut: &'static str,
        open: &'static str,
        pick: fn(Self, Self) -> Self,
    ) -> Option<Self> {
        let bound = |keyword, open| {
            let value = spot.keyword(keyword).and_then(Value::as_f64)?;
            Some(Self { value, open, keyword })
        };
        match (bound(shut, false), bound(open, true)) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// `Less` if this lower end takes less than the other, `Greater` if more.
    fn tighter_below(self, other: Self) -> Ordering {
        other.value.total_cmp(&self.value).then(other.open.cmp(&self.open))
    }

    /// `Less` if this upper end takes less than the other, `Greater` if more.
    fn tighter_above(self, other: Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.open.cmp(&self.open))
    }

    fn shown(self) -> String {
        format!("{} {}", self.keyword, self.value)
    }
}

fn bound(
    log: &mut Log,
    at: &At,
    name: &str,
    more: &str,
    (old, new): (Option<Bound>, Option<Bound>),
    order: impl Fn(Bound, Bound) -> Ordering,
) {
    let order = match (old, new) {
        (None, None) => return,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(before), Some(after)) => order(before, after),
    };
    let (direction, says) = match order {
        Ordering::Greater => (Direction::Widens, format!("{} takes {more} numbers", code(name))),
        Ordering::Less => (Direction::Narrows, format!("{} no longer takes {more} numbers", code(name))),
        Ordering::Equal => return,
    };
    let note = match (old, new) {
        (Some(before), None) => log.was(Kind::ArgBound, direction, &at.name(before.keyword), says),
        (_, Some(after)) => log.now(Kind::ArgBound, direction, &at.name(after.keyword), says),
        (None, None) => return,
    };
    note.between(old.map(Bound::shown), new.map(Bound::shown));
}

/// Every multiple of a multiple is one: of whole numbers that can be said, of others it cannot.
fn steps(log: &mut Log, at: &At, name: &str, (old, new): (Option<&Value>, Option<&Value>)) {
    let normal = |value: Option<&Value>| value.and_then(crate::args::normal);
    let (before, after) = (normal(old), normal(new));
    let name = code(name);
    let note = match (&before, &after) {
        (before, after) if before == after => return,
        (None, Some(_)) => {
            log.now(Kind::ArgBound, Direction::Narrows, at, format!("{name} takes numbers in steps"))
        }
        (_, None) => {
            log.was(Kind::ArgBound, Direction::Widens, at, format!("{name} takes numbers between the steps"))
        }
        (Some(before), Some(after)) => {
            let multiple = match (before.as_u64(), after.as_u64()) {
                (Some(before), Some(after)) => after.is_multiple_of(before),
                _ => false,
            };
            let direction = if multiple { Direction::Narrows } else { Direction::Unproven };
            log.now(Kind::ArgBound, direction, at, format!("{name} takes numbers in other steps"))
        }
    };
    note.between(before.map(|number| number.to_string()), after.map(|number| number.to_string()));
}
