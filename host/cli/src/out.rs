//! What people see on a terminal, and the one JSON document that programs see.
//!
//! Text from a service or a file is shown with control, bidirectional and invisible characters as escapes.

use std::fmt::Display;
use std::io::Write as _;

use pinhole_grant::UnixTime;
use pinhole_manifest::visible::visible;
use pinhole_runtime::Outcome;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{Code, ExitClass, Refusal, UNRECEIPTED, Unfollowed, Verdict};
use pinhole_runtime::project::Tree;
use pinhole_runtime::store::StoreError;
use serde::Serialize;

use crate::end::{End, Failure};

/// What the command was asked for, on stdout. Where it cannot be written, the command has failed.
pub(crate) fn document(text: impl Display) -> anyhow::Result<()> {
    lines(&format!("{text}\n")).map(|_reader| ())
}

/// Whether somebody reads stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// What was written was taken.
    There,
    /// Whoever read it has gone away.
    Gone,
}

/// Lines on stdout, each with its end, of what goes on behind them.
pub(crate) fn lines(text: &str) -> anyhow::Result<Reader> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(unwritable(&error).into()),
    }
}

fn unwritable(error: &std::io::Error) -> Failure {
    let message = format!("the answer could not be written to stdout: {error}");
    let hint = "look at the disk and at where the output goes; what was done stays done";
    Failure::new(End::Local, message, hint)
}

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
    self::document(plain_json(&serde_json::to_string(document)?))
}

/// Says what failed and what to do next, on stderr.
pub(crate) fn failure(error: &anyhow::Error) -> End {
    let (message, hint, end) = explained(error);
    note(format_args!("pinhole: {message}"));
    note(format_args!("  {hint}"));
    end
}

/// What failed, what to do next, and how a command ends thereby.
pub(crate) fn explained(error: &anyhow::Error) -> (String, String, End) {
    let causes: Vec<String> = error.chain().map(|cause| visible(&cause.to_string())).collect();
    let message = causes.join(": ");
    if let Some(store) = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()) {
        return (message, store.hint().to_owned(), End::Local);
    }
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return (message, visible(failure.hint()), failure.end);
    }
    let hint = "look at the disk, at the rights of the folder that `--home` names, and at the clock";
    (message, hint.to_owned(), End::Local)
}

/// Whoever runs under a grant of somebody's has something for her.
const ROTATED: &str = "note: the token was renewed, and the fresh one is sealed to the grant's member: `--json` shows it as \
                       `rotated`, and she takes it in with `pinhole connections take FILE --bot KEY`";

/// An outcome for people: the picked result on stdout, the rest on stderr.
pub(crate) fn outcome(outcome: &Outcome) -> anyhow::Result<()> {
    match &outcome.verdict {
        Verdict::Done(picked) => {
            document(tree(&picked.result))?;
            picked.notes.iter().for_each(|dropped| self::dropped(dropped));
            if picked.unreceipted {
                note(format_args!("note: {UNRECEIPTED}"));
            }
            let meta = &outcome.meta;
            match (&picked.next, picked.unfollowed) {
                (Some(next), _) => note(format_args!(
                    "note: there are more pages; `--all` follows them, and this asks for the next one:\n  --next {next}"
                )),
                (None, Some(Unfollowed::NotKept)) => note("note: there are more pages; `--all` follows them"),
                (None, Some(why)) => note(format_args!("note: {why}")),
                (None, None) => {}
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
    if outcome.rotated.is_some() {
        note(ROTATED);
    }
    Ok(())
}

/// A field that was left out, for people, on stderr.
pub(crate) fn dropped(field: &str) {
    note(format_args!("note: `{}` held something other than plain values, and was left out", visible(field)));
}

/// A refusal for people, on stderr.
pub(crate) fn refusal(refusal: &Refusal) {
    note(format_args!("refused ({}): {}", refusal.code, visible(&refusal.message)));
    if let Some(said) = &refusal.untrusted {
        note(format_args!("  the service said: “{}”", visible(said.as_str())));
    }
    note(format_args!("  {}", refusal.hint));
    let looked = refusal.code == Code::RequirementFailed || refusal.code.exit_class() == ExitClass::Failed;
    note(match refusal.sent {
        // Its reads were: the service has said something.
        Sent::No if looked => "  the write was not sent",
        Sent::No => "  nothing was sent",
        Sent::Maybe => "  the request may have been sent",
        Sent::Yes => "  the request was sent",
    });
}

/// A tree as indented JSON, safe to show.
fn tree(tree: &Tree) -> String {
    let pretty = serde_json::to_string_pretty(tree).unwrap_or_default();
    // JSON escapes C0 controls itself; line feeds here are the indentation's.
    pretty.lines().map(plain_json).collect::<Vec<_>>().join("\n")
}

/// JSON in which every character shows: what hides or reorders others stands as the escape that JSON has for it,
/// so that the value is the same.
pub(crate) fn plain_json(json: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(json.len());
    let mut units = [0_u16; 2];
    for c in json.chars() {
        if pinhole_manifest::visible::is_invisible(c) {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a text does not fail.
                write!(text, "\\u{unit:04x}").unwrap_or_default();
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// A moment for people, in UTC, such as `2026-01-31 07:00:00 UTC`.
pub(crate) fn moment(time: UnixTime) -> String {
    time.in_utc()
}

/// A text as one word of a shell's command line, to be pasted.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{}.{} KB", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_every_character_and_stays_the_same_value() {
        let value = serde_json::json!({"a\u{202e}b": "x\u{200b}\u{e0041}\u{7f}\u{0}\n\u{9b}31m “é” 🦀"});
        let line = plain_json(&value.to_string());
        assert!(!line.chars().any(pinhole_manifest::visible::is_invisible), "{line}");
        assert!(line.contains("\\u202e") && line.contains("“é” 🦀"), "{line}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn a_word_is_one_word_whatever_is_in_it() {
        for (text, word) in [
            ("work", "work"),
            ("", "''"),
            ("at home", "'at home'"),
            ("o'x", r"'o'\''x'"),
            ("$HOME`id`", "'$HOME`id`'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
