//! Changes as a comment on a pull request.
//!
//! Whatever comes out of a manifest or names a file stands in a code span, where no forge sees a link, an image, a mention,
//! HTML or the end of a table. INVARIANT: outside of code spans there are only our own words, numbers and names of kinds.

use pinhole_manifest::diff::{Change, Comparison, Direction};
use pinhole_manifest::visible::visible;

use super::text::{self, summary};
use super::{Compared, Unread};

/// Most bytes of a comment: forges take 65,536 characters.
const COMMENT_MAX: usize = 60_000;

pub(super) fn changes(services: &[Compared]) -> String {
    let mut comment = Comment { text: String::new(), left_out: 0 };
    let verdict =
        if services.iter().any(Compared::is_stopped) { "needs a reviewer's yes" } else { "proven narrower" };
    let head = summary(services);
    comment.line(&if services.is_empty() {
        format!("**{head}**")
    } else {
        format!("**{head}** ({verdict})")
    });
    for service in services {
        comment.line("");
        comment.line(&format!("### {}", span(&service.label())));
        if let Some(says) = service.comparison.version().says() {
            comment.line("");
            comment.line(&format!("**version**: {says}"));
        }
        comment.line("");
        for change in service.comparison.changes() {
            comment.change(&item(&service.comparison, change));
        }
    }
    comment.end()
}

pub(super) fn unread(unread: &[Unread]) -> String {
    let mut comment = Comment { text: String::new(), left_out: 0 };
    comment.line("**a manifest does not load, so nothing is compared**");
    for one in unread {
        comment.line("");
        comment.line(&format!("### {}", span(&one.file.shown())));
        comment.line("");
        for fault in &one.diagnostics {
            let text = format!("line {}: {} ({})", fault.line, fault.message, fault.help);
            comment.change(&format!("- **{}** {}", fault.code.as_str(), span(&text)));
        }
    }
    comment.end()
}

fn item(comparison: &Comparison, change: &Change) -> String {
    let direction = change.direction().as_str();
    let direction = match change.direction() {
        Direction::Widens | Direction::Unproven => format!("**{direction}**"),
        Direction::Narrows | Direction::Neutral => direction.to_owned(),
    };
    let op = change.op().map(|op| format!(" {}", span(op.as_str()))).unwrap_or_default();
    let values = text::values(change, span);
    let rests = text::rests(comparison, change, span);
    format!("- {direction}{op}: {}{values}{rests}", span(change.says()))
}

/// A text as a code span, whatever it holds.
fn span(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.saturating_add(1));
    // A span that is empty or all blanks is none; one blank on either side is taken off again.
    let text = if text.trim().is_empty() { "(empty)".to_owned() } else { text };
    format!("{fence} {text} {fence}")
}

/// A comment that ends before it is too long.
struct Comment {
    text: String,
    left_out: usize,
}

impl Comment {
    fn line(&mut self, line: &str) {
        if self.left_out == 0 {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn change(&mut self, line: &str) {
        if self.left_out > 0 || self.text.len().saturating_add(line.len()) > COMMENT_MAX {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            self.line(line);
        }
    }

    fn end(mut self) -> String {
        if self.left_out > 0 {
            let more = format!("\n**and {} more**, which `pinhole manifest diff` shows\n", self.left_out);
            self.text.push_str(&more);
        }
        self.text.trim_end().to_owned()
    }
}
