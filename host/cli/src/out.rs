//! What people see on a terminal, and the one JSON document that programs see.
//!
//! Text from a service or a file is shown with control, bidirectional and invisible characters as escapes.

use std::fmt::Display;
use std::io::Write as _;

use pinhole_manifest::visible::visible;
use pinhole_runtime::Outcome;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{Refusal, Verdict};
use pinhole_runtime::project::Tree;
use serde::Serialize;

use crate::end::{End, Failure};

/// One line on stdout.
pub(crate) fn line(text: impl Display) {
    // A reader that has gone away ends the output, not the command.
    writeln!(std::io::stdout().lock(), "{text}").unwrap_or_default();
}

/// One line on stderr.
pub(crate) fn note(text: impl Display) {
    writeln!(std::io::stderr().lock(), "{text}").unwrap_or_default();
}

/// One JSON document on stdout.
pub(crate) fn json(document: &impl Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string(document)?);
    Ok(())
}

/// Says what failed and what to do next, on stderr.
pub(crate) fn failure(error: &anyhow::Error) -> End {
    let causes: Vec<String> = error.chain().map(|cause| visible(&cause.to_string())).collect();
    note(format_args!("pinhole: {}", causes.join(": ")));
    match error.downcast_ref::<Failure>() {
        Some(failure) => {
            note(format_args!("  {}", failure.hint()));
            failure.end
        }
        None => End::Local,
    }
}

/// An outcome for people: the picked result on stdout, the rest on stderr.
pub(crate) fn outcome(outcome: &Outcome) {
    match &outcome.verdict {
        Verdict::Done(picked) => {
            line(tree(&picked.result));
            for dropped in &picked.notes {
                note(format_args!(
                    "note: `{dropped}` held something other than plain values, and was left out"
                ));
            }
            let meta = &outcome.meta;
            if meta.more_pages {
                note("note: the service has more pages than this one");
            }
            note(format_args!(
                "{}.{}: {} in, {} out, {} ms, {}{}",
                outcome.service,
                outcome.op,
                bytes(meta.bytes_in),
                bytes(meta.bytes_out),
                meta.ms,
                meta.manifest.as_deref().unwrap_or("no manifest"),
                if meta.unsigned { ", unsigned" } else { "" },
            ));
        }
        Verdict::Refused(refused) => refusal(refused),
    }
}

/// A refusal for people, on stderr.
pub(crate) fn refusal(refusal: &Refusal) {
    note(format_args!("refused ({}): {}", refusal.code, visible(&refusal.message)));
    if let Some(said) = &refusal.untrusted {
        note(format_args!("  the service said: “{}”", visible(said.as_str())));
    }
    note(format_args!("  {}", refusal.hint));
    note(match refusal.sent {
        Sent::No => "  nothing was sent",
        Sent::Maybe => "  the request may have been sent",
        Sent::Yes => "  the request was sent",
    });
}

/// A tree as indented JSON, safe to show.
fn tree(tree: &Tree) -> String {
    let pretty = serde_json::to_string_pretty(tree).unwrap_or_default();
    // JSON escapes C0 controls itself; line feeds here are the indentation's.
    pretty.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// A number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{}.{} KB", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}
