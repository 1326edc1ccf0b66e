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
    /// A text that people or models read: another one may say anything; one that is gone says nothing.
    pub(super) fn compare(&self, log: &mut Log, old: Option<&str>, new: Option<&str>) {
        let what = self.what;
        let note = match (old, new) {
            (before, after) if before == after => return,
            (_, Some(after)) => {
                let says = format!("{what} now reads {}", quoted(after));
                log.new(self.kind, Direction::Widens, &self.at, says)
            }
            (_, None) => log.old(self.kind, Direction::Narrows, &self.at, format!("{what} is gone")),
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
        log.new(kind, Direction::Unproven, at, says)
    } else {
        log.old(kind, Direction::Unproven, at, says)
    };
    note.between(old, new);
}
