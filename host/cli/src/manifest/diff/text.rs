//! Changes as people read them on a terminal: a line each, the widest first.

use pinhole_manifest::diff::{Change, Comparison};
use pinhole_manifest::visible::visible;

use super::{Compared, Unread};
use crate::manifest::caret;

pub(super) fn changes(services: &[Compared]) -> String {
    let mut lines = Vec::new();
    for service in services {
        let file = service.file().map(|file| visible(&file.path.display().to_string())).unwrap_or_default();
        lines.push(format!("{} ({file})", service.label()));
        if let Some(says) = service.comparison.version().says() {
            lines.push(format!("  {:<9} {says}", "version"));
        }
        lines.extend(super::lines(&service.comparison));
    }
    lines.push(summary(services));
    lines.join("\n")
}

/// A change in words.
pub(super) fn line(comparison: &Comparison, change: &Change) -> String {
    let op = change.op().map(|op| format!("{op}: ")).unwrap_or_default();
    let values = values(change, |text| format!("“{text}”"));
    let rests = rests(comparison, change, |op| format!("`{op}`"));
    let (direction, kind) = (change.direction().as_str(), change.kind().as_str());
    format!("  {direction:<9} {op}{}{values}{rests} ({kind})", change.says())
}

/// The writes that run or not by what this op says, where that may be another thing now.
pub(super) fn rests(comparison: &Comparison, change: &Change, quoted: impl Fn(&str) -> String) -> String {
    let Some(op) = change.op().filter(|_| change.widens()) else { return String::new() };
    let writes: Vec<String> = comparison.required_by(op).map(|write| quoted(write.as_str())).collect();
    if writes.is_empty() {
        String::new()
    } else {
        format!("; it decides whether {} may run", writes.join(", "))
    }
}

/// What was there and what is there now, as far as the words do not say it.
pub(super) fn values(change: &Change, quoted: impl Fn(&str) -> String) -> String {
    let now = change.after().filter(|after| !change.says().contains(*after)).map(&quoted);
    match (change.before().map(&quoted), now) {
        (None, None) => String::new(),
        (Some(before), None) => format!("; it was {before}"),
        (None, Some(now)) => format!("; it is {now}"),
        (Some(before), Some(now)) => format!("; it was {before}, and is {now}"),
    }
}

/// What it comes to.
pub(super) fn summary(services: &[Compared]) -> String {
    let count = |count: usize, one: &str, more: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
    };
    if services.is_empty() {
        return "nothing changed".to_owned();
    }
    let changed = count(services.len(), "service changed", "services changed");
    let widenings: usize = services.iter().map(Compared::widenings).sum();
    let versions = services.iter().filter(|service| service.comparison.version().is_broken()).count();
    let mut says = match widenings {
        0 => format!("{changed}; nothing widens"),
        some => format!("{changed}; {}", count(some, "change widens", "changes widen")),
    };
    if versions > 0 {
        says = format!("{says}; {}", count(versions, "version does not say so", "versions do not say so"));
    }
    says
}

pub(super) fn unread(unread: &[Unread]) -> String {
    let mut lines = Vec::new();
    for one in unread {
        let path = one.file.shown();
        let (shown, more) = caret::faults(path.as_ref(), &one.file.bytes, &one.diagnostics);
        lines.extend(shown);
        if more > 0 {
            lines.push(format!("and {more} more; `pinhole manifest check --json` has them all"));
        }
        lines.push(format!("{}: it does not load, so nothing is compared", visible(&path)));
    }
    lines.join("\n")
}
