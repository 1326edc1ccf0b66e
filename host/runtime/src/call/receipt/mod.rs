//! The receipt of a call: what is collected on its way, the note that it leaves before anything is sent, and the receipt that
//! takes the note away before anybody is told what came of it.
//!
//! INVARIANT: nothing is sent before the note is written, and no result of a read goes on of which there is no receipt.
//! A call that is given up in the middle, or whose process ends, gets a receipt that says so. DESIGN, "The way of a call".

mod record;
mod words;

use std::sync::Arc;

use pinhole_manifest::Access;

use self::record::Left;
pub(super) use self::record::Record;
pub(super) use self::words::{shape, shape_of_line};
use super::{Executor, Trace};
use crate::book;
use crate::net::Sent;
use crate::outcome::{Code, Outcome, Refusal, Verdict};
use crate::receipts::{Facts, Note, OK, ReceiptId, Stored, Unended};
use crate::store::{Settled, Store, Use};

impl Executor {
    /// Notes that this call is about to send something, with the use of its grant that it takes.
    pub(super) async fn begin(&self, trace: &mut Trace, spends: Option<Use>) -> Result<(), Refusal> {
        let record = &mut trace.record;
        let process = self.book.process(&self.store, &self.bot, self.entropy.as_ref()).await?;
        let id = self.book.note(process);
        let mut facts = record.facts.clone();
        facts.manifest = trace.meta.digest;
        let note = Note { id, process, facts: facts.clone().unended(Unended::Lost) };
        let settled = record.settled();
        self.with_store(move |store| store.begin(&note, spends, settled)).await?;
        record.left = Some(Left { id, facts, store: Arc::clone(&self.store), stays: false });
        Ok(())
    }

    /// Writes the receipt of a call that has come to its end, and says in the outcome which it is, or what follows where there
    /// is none.
    pub(super) async fn receipted(&self, mut outcome: Outcome, mut record: Box<Record>) -> Outcome {
        record.read_to_its_end(&outcome.meta);
        let mut left = record.left.take();
        // What sent nothing may be lost in a power cut; a write that began may not.
        let settled = if left.is_some() { record.settled() } else { Settled::Lightly };
        let facts = told(record.facts, &outcome);
        let note = left.as_ref().map(|left| left.id);
        let appended = self.with_store(move |store| store.append(&facts, note, settled)).await;
        if let Some(left) = &mut left {
            left.stays = true;
        }
        match appended {
            Ok(appended) => {
                outcome.meta.receipt = Some(appended.id);
                if self.book.is_due(&appended, self.clock.now()) {
                    self.mark(appended.head).await;
                }
                outcome
            }
            Err(failed) => without_receipt(outcome, record.access, failed),
        }
    }

    /// Signs where the chain stands. A fault is for the log: the next receipt tries again.
    async fn mark(&self, head: crate::receipts::Head) {
        let now = self.clock.now();
        let file = self.book.file().cloned();
        let bot = Arc::clone(&self.bot);
        let keep = move |store: &dyn Store| book::sign_at(store, bot.current(), head, now, file.as_ref());
        if let Err(refusal) = self.with_store(keep).await {
            let detail = refusal.private_detail().unwrap_or_default();
            tracing::warn!(detail, "the receipts could not be signed where they stand");
        }
    }

    /// Signs where the bot's receipts stand, at an orderly end.
    pub async fn close(&self) {
        if !self.book.signs() {
            return;
        }
        let last = crate::store::ReceiptFilter::default();
        let bot = self.bot.public().id();
        let look = move |store: &dyn Store| {
            let last = store.last_receipts(bot, &last, 1)?;
            let marked = store.checkpoints(bot)?.last().map_or(0, |row| row.seq);
            Ok::<_, crate::store::StoreError>((last, marked))
        };
        match self.with_store(look).await {
            Ok((last, marked)) => {
                let head = last.first().and_then(Stored::receipt).map(|receipt| receipt.head());
                if let Some(head) = head.filter(|head| head.seq > marked) {
                    self.mark(head).await;
                }
            }
            Err(refusal) => {
                let detail = refusal.private_detail().unwrap_or_default();
                tracing::warn!(detail, "the receipts could not be signed where they stand");
            }
        }
    }
}

impl From<book::KeepError> for Refusal {
    fn from(error: book::KeepError) -> Self {
        let detail = match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        Self::new(Code::ReceiptFailed).detail(&detail)
    }
}

/// What is known once the outcome is.
fn told(mut facts: Facts, outcome: &Outcome) -> Facts {
    let meta = &outcome.meta;
    (facts.code, facts.sent) = match outcome.refusal() {
        Some(refusal) => (refusal.code.as_str().to_owned(), refusal.sent),
        None => (OK.to_owned(), if meta.requests == 0 { Sent::No } else { Sent::Yes }),
    };
    facts.manifest = meta.digest;
    facts.bytes_in = meta.bytes_in;
    facts.ms = meta.ms;
    facts.replayed = meta.replayed;
    if outcome.refusal().is_none() {
        facts.bytes_out = meta.bytes_out;
    } else {
        facts.fields.clear();
    }
    facts
}

/// An outcome of which there is no receipt. What a read gave is not passed on; what a write did is done, and said.
fn without_receipt(mut outcome: Outcome, access: Option<Access>, failed: Refusal) -> Outcome {
    outcome.meta.receipt = None;
    tracing::error!(
        service = %outcome.service, op = %outcome.op,
        detail = failed.private_detail().unwrap_or_default(), "a run has no receipt"
    );
    match (&mut outcome.verdict, access) {
        (Verdict::Done(picked), Some(Access::Write)) => picked.unreceipted = true,
        (Verdict::Done(_), Some(Access::Read) | None) => {
            let sent = if outcome.meta.requests == 0 { Sent::No } else { Sent::Yes };
            let refusal = Refusal::new(Code::ReceiptFailed).sent(sent).hinting(failed.hint);
            outcome.verdict = Verdict::Refused(Refusal { detail: failed.detail, ..refusal });
        }
        // It is no secret that something was refused, and why is what helps.
        (Verdict::Refused(_), _) => {}
    }
    outcome
}

/// The longest that a receipt's id can be, for measuring an outcome that has none yet.
pub(super) const ANY_RECEIPT: ReceiptId = ReceiptId::LONGEST;
