//! Recorded cases, run through the whole path with the service in memory: a real grant, sealed and opened, the spine, the
//! projector. Only the socket is missing.
//!
//! Refuses a case whose requests are not exactly those that the op sends, or that records more than were sent. DESIGN,
//! "Cases".

mod rehearsal;
mod stage;
mod wire;

use std::sync::Arc;

use pinhole_manifest::cases::{Case, CaseName, Expect};
use pinhole_manifest::diagnostic::Diagnostic;
use rand_core::CryptoRng;

use crate::catalog::ModuleFiles;
use crate::outcome::{Outcome, Verdict};
use crate::project::Tree;
use crate::sandbox::Sandbox;
pub use rehearsal::{Answers, Rehearsal, Rehearsed, SeenAnswer, SeenRequest, rehearse};
use stage::Stage;
use wire::{ReplayWire, Script, same};

/// Why a case does not hold.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFault {
    /// The manifest does not load.
    #[error("the manifest does not load: `pinhole manifest check` says why")]
    Manifest,
    /// The file's name is not one of a case, or names no op of the manifest.
    #[error("the file's name names no op: write `<op>.<name>.json`")]
    Name,
    /// The case does not load.
    #[error("the case does not load: {}", .0.first().map_or_else(String::new, ToString::to_string))]
    Case(Vec<Diagnostic>),
    /// What was sent is not what the case records.
    #[error("request {number}: {difference}")]
    Request {
        /// Which request, from 1.
        number: usize,
        /// What differs.
        difference: String,
    },
    /// The case records requests that were not sent.
    #[error("{unsent} recorded requests were not sent; the outcome is {outcome}")]
    Unsent {
        /// How many.
        unsent: usize,
        /// What came of it.
        outcome: String,
    },
    /// The outcome is another.
    #[error("expected {expected}, got {got}")]
    Outcome {
        /// What the case expects.
        expected: String,
        /// What came of it.
        got: String,
    },
    /// The case could not be set up.
    #[error("the case could not be set up: {0}")]
    Setup(String),
}

/// Replays one case of a manifest, whose modules are there and run in that sandbox. `file` is the case's file name, which
/// names the op.
pub async fn replay<R: CryptoRng>(
    manifest: &[u8],
    (modules, sandbox): (ModuleFiles, &Sandbox),
    file: &str,
    case: &[u8],
    rng: &mut R,
) -> Result<(), ReplayFault> {
    let name = CaseName::parse(file).map_err(|_grammar| ReplayFault::Name)?;
    let case = Case::parse(case).map_err(ReplayFault::Case)?;
    let stage = Stage::set(manifest, modules, &name.op, rng)?.with_sandbox(sandbox);
    let (scheme, idempotency) = stage.marks()?;
    let script = Arc::new(Script::new(case.exchanges, scheme, stage.key(), idempotency));
    let wire = Arc::new(ReplayWire::new(Arc::clone(&script)));
    let outcome = stage.play(case.access, case.args.as_str(), wire, rng).await?;
    if let Some((number, difference)) = script.difference() {
        return Err(ReplayFault::Request { number, difference });
    }
    compare(&case.expect, case.notes.as_deref(), case.next, &outcome)?;
    match script.unsent() {
        0 => Ok(()),
        unsent => Err(ReplayFault::Unsent { unsent, outcome: shown(&outcome) }),
    }
}

fn compare(
    expect: &Expect,
    notes: Option<&[String]>,
    next: Option<bool>,
    outcome: &Outcome,
) -> Result<(), ReplayFault> {
    let leads_on = |yes: bool| if yes { " with a next page" } else { " without a next page" };
    let holds = match (expect, &outcome.verdict) {
        (Expect::Result(wanted), Verdict::Done(picked)) => {
            let wanted = Tree::parse(wanted.as_str().as_bytes());
            let as_noted = notes.is_none_or(|notes| notes == picked.notes);
            let leads = next.is_none_or(|next| next == picked.next.is_some());
            wanted.is_ok_and(|wanted| same(&wanted, &picked.result)) && as_noted && leads
        }
        (Expect::Refusal(wanted), Verdict::Refused(refusal)) => refusal.code.as_str() == wanted,
        _ => false,
    };
    if holds {
        return Ok(());
    }
    let expected = match expect {
        Expect::Result(wanted) => match notes {
            Some(notes) => format!("{} with notes {notes:?}", wanted.as_str()),
            None => wanted.as_str().to_owned(),
        },
        Expect::Refusal(code) => format!("the refusal `{code}`"),
    };
    let got = next.map(|_| leads_on(outcome.next().is_some())).unwrap_or_default();
    Err(ReplayFault::Outcome {
        expected: expected + next.map(leads_on).unwrap_or_default(),
        got: shown(outcome) + got,
    })
}

fn shown(outcome: &Outcome) -> String {
    match &outcome.verdict {
        Verdict::Done(picked) if picked.notes.is_empty() => picked.result.to_string(),
        Verdict::Done(picked) => format!("{} with notes {:?}", picked.result, picked.notes),
        Verdict::Refused(refusal) => format!("the refusal `{}`: {}", refusal.code, refusal.message),
    }
}

#[cfg(test)]
mod tests;
