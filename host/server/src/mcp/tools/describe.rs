//! The description of an op's tool.
//!
//! Says what the op does, what comes back, and what a model must know before it calls. INVARIANT: under 2 KB whatever the
//! manifest says, since clients cut there, and nothing in it was written by a service.

use pinhole_grant::Caution;
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;

use super::op::OpTool;
use super::{fields, text};

/// Most characters of the summary. A character has at most four bytes.
const SUMMARY_MAX: usize = 240;
/// Most characters of the list of fields.
const FIELDS_MAX: usize = 160;

/// The description.
pub(super) fn of(tool: &OpTool<'_>) -> String {
    let op = tool.op();
    let mut said = vec![text::sentence(&text::clip(&visible(&op.summary), SUMMARY_MAX)), returned(tool)];
    let extras = tool.extras();
    if let Some(next) = &extras.next {
        said.push(format!("More pages: pass a result's `next` as `{next}`."));
    }
    if op.access == Access::Write {
        said.push(asked(tool).to_owned());
        if let Some(confirm) = &extras.confirm {
            said.push(format!("If they have just said yes to exactly this here, pass `{confirm}: true`."));
        }
    }
    if tool.entry().manifest.verified().is_none() {
        said.push("Unverified: not yet tried on the live service.".to_owned());
    }
    said.join(" ")
}

/// What comes back.
pub(super) fn returned(tool: &OpTool<'_>) -> String {
    let fields = fields::of(tool.op());
    if fields.is_empty() {
        return "Returns nothing but that it is done.".to_owned();
    }
    let kind = if fields::is_list(tool.op()) { "Returns a list, each with" } else { "Returns" };
    format!("{kind} {}.", text::list(&fields, FIELDS_MAX))
}

/// What a write takes.
pub(super) fn asked(tool: &OpTool<'_>) -> &'static str {
    match Caution::of(tool.op()) {
        Caution::Ordinary => {
            "A write: nothing is sent before the person says yes. The first call gives a question to tell them of; after \
             their yes, repeat the call with exactly the same arguments."
        }
        Caution::NeedsApproval => {
            "A write that cannot be taken back: nothing is sent before the person approves exactly this. The first call \
             gives a question to tell them of; after their yes, repeat the call with exactly the same arguments."
        }
    }
}
