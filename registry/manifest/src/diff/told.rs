//! Single values that are there or not: texts and links that somebody reads, and whatever else has no order.

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::{code, quoted};

/// Who reads a text, and what it is, such as `a person reads` and `what the service offers`.
pub(super) struct Told<'t> {
    pub(super) kind: Kind,
    pub(super) at: At,
    pub(super) what: &'t str,
}

impl Told<'_> {
    /// A text that people or models read: another one may say anything, and one that is gone may have been a warning. A
    /// link or a claim that is gone is one less.
    pub(super) fn compare(&self, log: &mut Log, old: Option<&str>, new: Option<&str>) {
        let what = self.what;
        let note = match (old, new) {
            (before, after) if before == after => return,
            (_, Some(after)) => {
                let says = format!("{what} now reads {}", quoted(after));
                log.now(self.kind, Direction::Widens, &self.at, says)
            }
            (_, None) => {
                let is_text = matches!(self.kind, Kind::Text | Kind::Confirm);
                let direction = if is_text { Direction::Unproven } else { Direction::Narrows };
                log.was(self.kind, direction, &self.at, format!("{what} is gone"))
            }
        };
        note.between(old, new);
    }
}

/// A value that means something else whenever it is another, and when it comes or goes: `says` has the new one, or none.
pub(super) fn other(
    log: &mut Log,
    (kind, at): (Kind, &At),
    (old, new): (Option<&str>, Option<&str>),
    says: impl FnOnce(Option<String>) -> String,
) {
    if old == new {
        return;
    }
    let says = says(new.map(code));
    let note = if new.is_some() {
        log.now(kind, Direction::Unproven, at, says)
    } else {
        log.was(kind, Direction::Unproven, at, says)
    };
    note.between(old, new);
}
