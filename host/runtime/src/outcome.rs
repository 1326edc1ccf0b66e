//! What a run returns: a picked result, or a refusal with its code. DESIGN, "Outcome".
//!
//! INVARIANT: nothing that a service sent stands in an outcome except the picked result and the one error text that the
//! manifest names, which is clipped, scrubbed and marked untrusted.

mod code;
pub(crate) mod kept;
mod more;
mod proposal;
mod rotated;

use pinhole_grant::PageToken;
use pinhole_manifest::visible::{is_plain_line, visible};
use pinhole_manifest::{Digest, OpId, ServiceId};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

pub use code::{Code, ExitClass};
pub use more::Unfollowed;
pub use proposal::Proposal;
pub use rotated::Rotated;

use crate::net::Sent;
use crate::project::Tree;
use crate::receipts::ReceiptId;
use crate::store::QuestionId;

/// What a run returns.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The service that was asked for.
    pub service: ServiceId,
    /// The op that was asked for.
    pub op: OpId,
    /// What came of it.
    pub verdict: Verdict,
    /// The write that the member's own client may show her and approve, where it takes her yes and this host keeps no questions
    /// of hers.
    pub proposal: Option<Box<Proposal>>,
    /// What it took.
    pub meta: Meta,
    /// The newest pair of the grant's credential, where the grant has an older one: for its member, whatever came of the run.
    pub rotated: Option<Rotated>,
}

/// What came of a run.
#[derive(Debug)]
pub enum Verdict {
    /// It ran.
    Done(Picked),
    /// It did not run, or what came back is not passed on.
    Refused(Refusal),
}

/// What may be passed on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Picked {
    /// The picked result.
    pub result: Tree,
    /// What the next page is asked for with, where there is one.
    pub next: Option<PageToken>,
    /// Fields of the pick that were dropped because they held something other than a scalar or an array of scalars.
    pub notes: Vec<String>,
    /// Why there is no `next` although the service speaks of one.
    pub unfollowed: Option<Unfollowed>,
    /// Whether a write was done of which no receipt could be written; the note that it began is still there.
    pub unreceipted: bool,
}

impl Picked {
    /// The dropped fields, then a sentence on pages that are not followed and one on a receipt that is missing.
    fn all_notes(&self) -> impl Iterator<Item = String> {
        let sentence = self.unfollowed.as_ref().map(ToString::to_string);
        let unreceipted = self.unreceipted.then(|| UNRECEIPTED.to_owned());
        self.notes.iter().cloned().chain(sentence).chain(unreceipted)
    }
}

/// What is said of a write without a receipt.
pub const UNRECEIPTED: &str =
    "the write was done, and no receipt of it could be written; the note that it began stays";

/// Why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What is wrong, in words for the bot and the person.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether the op's request left.
    pub sent: Sent,
    /// In how many seconds the service takes requests again, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// What the service itself said, where the manifest names the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<UntrustedText>,
    /// Present and true where a use of the grant is spent although the op's request did not leave.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub use_spent: bool,
    /// The question that waits for the member's answer, or that she has answered with no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
    /// For the log alone; holds no secret, and no text of the service's.
    #[serde(skip)]
    pub(crate) detail: Option<Box<str>>,
}

impl Refusal {
    /// A refusal before anything was sent, in the code's own words.
    pub(crate) fn new(code: Code) -> Self {
        Self {
            code,
            message: code.sentence().to_owned(),
            hint: code.hint().to_owned(),
            sent: Sent::No,
            retry_after: None,
            untrusted: None,
            use_spent: false,
            question: None,
            detail: None,
        }
    }

    /// The same with words that say more than the code's own.
    pub(crate) fn saying(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// The same, with what became of the request.
    pub(crate) fn sent(self, sent: Sent) -> Self {
        Self { sent, ..self }
    }

    /// The same, about this question.
    pub(crate) fn about(self, question: QuestionId) -> Self {
        Self { question: Some(question), ..self }
    }

    /// The same, with what to do about it in words that say more than the code's own.
    pub(crate) fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The same, with a word for the log.
    pub(crate) fn detail(self, detail: &(impl ToString + ?Sized)) -> Self {
        Self { detail: Some(detail.to_string().into()), ..self }
    }

    /// What the log may have and the bot may not: no secret, and no text of the service's.
    pub fn private_detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

/// Text that a service wrote: data, never instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UntrustedText(Box<str>);

impl UntrustedText {
    /// Most characters that are passed on.
    pub const MAX_CHARS: usize = 300;

    /// Clips a scrubbed text and makes characters visible that could hide or reorder what a person reads.
    pub(crate) fn new(scrubbed: &str) -> Self {
        let clipped: String = scrubbed.chars().take(Self::MAX_CHARS).collect();
        let mut text = visible(&clipped);
        if scrubbed.chars().nth(Self::MAX_CHARS).is_some() {
            text.push('…');
        }
        Self(text.into())
    }

    /// Whether a text could be one: short enough, and every character of it visible.
    pub(crate) fn is_one(text: &str) -> bool {
        is_plain_line(text) && text.chars().count() <= Self::SHOWN_CHARS_MAX
    }

    /// Most characters of one, once those that do not show are escapes.
    const SHOWN_CHARS_MAX: usize = Self::MAX_CHARS * "\\u{10ffff}".len();

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a run took.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Meta {
    /// The HTTP status of the op's own answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of all answers, decompressed.
    pub bytes_in: u64,
    /// Bytes of the result as compact JSON.
    pub bytes_out: u64,
    /// Present and true where the service has, or may have, more pages that no `next` leads to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more_pages: bool,
    /// Present and true where this is the first outcome of an earlier call with the same key, and nothing was sent now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Requests that were handed to the client, each try counted.
    pub requests: u32,
    /// The receipt of the run, where one could be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<ReceiptId>,
    /// Milliseconds from the call to the outcome.
    pub ms: u64,
    /// The manifest, such as `github@1.0.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The digest of the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Present and true where nobody signed the manifest and it is not part of the binary.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unsigned: bool,
}

impl Outcome {
    /// A refusal, by itself. It took nothing that is counted.
    pub fn refused(service: ServiceId, op: OpId, refusal: Refusal) -> Self {
        let (verdict, meta) = (Verdict::Refused(refusal), Meta::default());
        Self { service, op, verdict, proposal: None, meta, rotated: None }
    }

    /// What a door answers for a call that it did not let begin: nothing was opened, spent or sent. `retry_after` is in seconds.
    pub fn turned_away(service: ServiceId, op: OpId, code: Code, retry_after: Option<u64>) -> Self {
        Self::refused(service, op, Refusal { retry_after, ..Refusal::new(code) })
    }

    /// What a door answers for a call that it has lost sight of: it may have been sent.
    pub fn lost(service: ServiceId, op: OpId) -> Self {
        Self::refused(service, op, Refusal::new(Code::Interrupted).sent(Sent::Maybe))
    }

    /// The token of the next page, if there is one.
    pub fn next(&self) -> Option<&PageToken> {
        match &self.verdict {
            Verdict::Done(answer) => answer.next.as_ref(),
            Verdict::Refused(_) => None,
        }
    }

    /// The same without `next`, for whoever follows it himself.
    #[must_use]
    pub fn without_next(mut self) -> Self {
        if let Verdict::Done(answer) = &mut self.verdict {
            answer.next = None;
        }
        self
    }

    /// The same without a `next` that would not open later, since its key goes with this process; it says so.
    #[must_use]
    pub fn forgetting_next(mut self) -> Self {
        if let Verdict::Done(answer) = &mut self.verdict
            && answer.next.take().is_some()
        {
            answer.unfollowed = Some(Unfollowed::NotKept);
            self.meta.more_pages = true;
        }
        self
    }

    /// The outcome as one line of JSON.
    pub fn to_json(&self) -> String {
        // A tree of texts and numbers has no value that JSON lacks and no key that is not a text.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The result, if it ran.
    pub fn result(&self) -> Option<&Tree> {
        match &self.verdict {
            Verdict::Done(answer) => Some(&answer.result),
            Verdict::Refused(_) => None,
        }
    }

    /// The refusal, if there is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.verdict {
            Verdict::Done(_) => None,
            Verdict::Refused(refusal) => Some(refusal),
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ok", &self.result().is_some())?;
        map.serialize_entry("service", &self.service)?;
        map.serialize_entry("op", &self.op)?;
        match &self.verdict {
            Verdict::Done(answer) => {
                map.serialize_entry("result", &answer.result)?;
                if let Some(next) = &answer.next {
                    map.serialize_entry("next", next)?;
                }
                map.serialize_entry("notes", &answer.all_notes().collect::<Vec<_>>())?;
            }
            Verdict::Refused(refusal) => map.serialize_entry("refusal", refusal)?,
        }
        if let Some(proposal) = &self.proposal {
            map.serialize_entry("proposal", proposal)?;
        }
        if let Some(rotated) = &self.rotated {
            map.serialize_entry("rotated", rotated)?;
        }
        map.serialize_entry("meta", &self.meta)?;
        map.end()
    }
}
