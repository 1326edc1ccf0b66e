//! The receipt of a call: what is collected on its way, the note that it leaves before anything is sent, and the receipt that
//! takes the note away before anybody is told what came of it.
//!
//! INVARIANT: nothing is sent before the note is written, and no result of a read goes on of which there is no receipt.
//! A call that is given up in the middle, or whose process ends, gets a receipt that says so. DESIGN, "The way of a call".

mod words;

use std::sync::Arc;

use pinhole_grant::{Grant, KeyId, PrincipalId, args_digest};
use pinhole_manifest::model::Args;
use pinhole_manifest::pick::Projection;
use pinhole_manifest::{Access, OpId, ServiceId};

pub(super) use self::words::{shape, shape_of_line};
use super::{Executor, Trace};
use crate::book;
use crate::net::Sent;
use crate::outcome::{Code, Meta, Outcome, Refusal, Verdict};
use crate::project::Tree;
use crate::receipts::{
    ARGS_BYTES_MAX, ArgsKept, Checkpoint, Covers, Facts, Note, NoteId, OK, REQUESTS_MAX, ReceiptId,
    RequestMade, Stored, Unended,
};
use crate::scrub::Scrub;
use crate::store::{Settled, Store, Use};
use words::fields;

/// What a receipt will say, as far as it is known.
#[derive(Debug)]
pub(super) struct Record {
    facts: Facts,
    access: Option<Access>,
    /// Bytes of all answers before the last request.
    before_last: u64,
    left: Option<Left>,
}

/// A note that a call began. Dropped, it becomes the receipt of a call that was given up.
struct Left {
    id: NoteId,
    facts: Facts,
    store: Arc<dyn Store>,
    stays: bool,
}

impl std::fmt::Debug for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Left").field(&self.id).finish()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        // Without a runtime the process is ending: the next one finds the note.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (id, store) = (self.id, Arc::clone(&self.store));
        let facts = self.facts.clone().unended(Unended::Abandoned);
        runtime.spawn_blocking(move || {
            if let Err(error) = store.append_unended(&facts, id) {
                tracing::warn!(%error, "a run that was given up has no receipt yet; its note stays");
            }
        });
    }
}

impl Record {
    /// Of a call of which nothing is known but what is asked for, and by whom.
    pub(super) fn new(
        executor: &Executor,
        service: &ServiceId,
        op: &OpId,
        principal: Option<PrincipalId>,
    ) -> Self {
        let bot = executor.bot.public().id();
        let facts = Facts::new(executor.clock.now(), bot, service.clone(), op.clone());
        Self { facts: Facts { principal, ..facts }, access: None, before_last: 0, left: None }
    }

    /// Another of the same call, for requests beside others.
    pub(super) fn beside(&self) -> Self {
        let Facts { at, bot, service, op, .. } = &self.facts;
        let facts = Facts::new(*at, *bot, service.clone(), op.clone());
        Self { facts, access: self.access, before_last: 0, left: None }
    }

    /// Whose grant it is, as far as a door knows.
    pub(super) fn of_member(&mut self, member: Option<KeyId>) {
        self.facts.member = member;
    }

    /// The grant is open.
    pub(super) fn opened(&mut self, grant: &Grant) {
        self.facts.member = Some(grant.issuer());
        self.facts.grant = Some(grant.id());
        self.facts.connection = Some(grant.connection());
        self.facts.approval = grant.approves();
    }

    /// Whether the op reads or writes.
    pub(super) fn is_a(&mut self, access: Access) {
        self.access = Some(access);
    }

    /// The args are args of the op.
    pub(super) fn with_args(&mut self, args: &Args, scrub: impl FnOnce() -> Scrub, executor: &Executor) {
        self.facts.args_digest = args_digest(args, executor.bot.current());
        if executor.book.settings().args == ArgsKept::Whole {
            self.facts.args = kept_args(args, &scrub());
        }
    }

    /// A request is handed to the client.
    pub(super) fn requests(&mut self, method: &str, path: &str, meta: &Meta) {
        self.read_to_its_end(meta);
        if self.facts.requests.len() < REQUESTS_MAX {
            let (method, path) = (method.to_owned(), path.to_owned());
            self.facts.requests.push(RequestMade { method, path, status: None, bytes: 0 });
        } else {
            self.facts.more_requests = self.facts.more_requests.saturating_add(1);
        }
    }

    /// An answer to it began.
    pub(super) fn answered(&mut self, status: u16) {
        if let (0, Some(last)) = (self.facts.more_requests, self.facts.requests.last_mut()) {
            last.status = Some(status);
        }
    }

    /// Takes in the requests that were made beside this one.
    pub(super) fn take_in(&mut self, mut other: Self, meta: &Meta) {
        other.read_to_its_end(meta);
        self.before_last = self.before_last.saturating_add(meta.bytes_in);
        let room = REQUESTS_MAX.saturating_sub(self.facts.requests.len());
        let over = other.facts.requests.len().saturating_sub(room);
        self.facts.requests.extend(other.facts.requests.into_iter().take(room));
        let more = u32::try_from(over).unwrap_or(u32::MAX).saturating_add(other.facts.more_requests);
        self.facts.more_requests = self.facts.more_requests.saturating_add(more);
    }

    /// What was picked.
    pub(super) fn picked(&mut self, value: &Tree, projection: &Projection) {
        self.facts.fields = fields(value, projection);
    }

    /// Whatever was read since the last request was its answer.
    fn read_to_its_end(&mut self, meta: &Meta) {
        if let (0, Some(last)) = (self.facts.more_requests, self.facts.requests.last_mut()) {
            last.bytes = last.bytes.saturating_add(meta.bytes_in.saturating_sub(self.before_last));
        }
        self.before_last = meta.bytes_in;
    }

    fn settled(&self) -> Settled {
        match self.access {
            Some(Access::Write) => Settled::Durably,
            Some(Access::Read) | None => Settled::Lightly,
        }
    }
}

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
        let bot = self.bot.public().id();
        let signed = Checkpoint::sign(head, Covers::Head, now, self.bot.current());
        let keep = move |store: &dyn Store| {
            let row = crate::store::CheckpointRow {
                bot,
                seq: head.seq,
                at: now,
                covers: Covers::Head,
                envelope: signed?,
            };
            store.keep_checkpoint(&row)?;
            book::into_file(file.as_ref(), &row.envelope)
        };
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

/// The args as they are kept, without the credential's secrets; `None` where they are too large.
fn kept_args(args: &Args, scrub: &Scrub) -> Option<serde_json::Value> {
    let text = args.to_json().to_string();
    if text.len() > ARGS_BYTES_MAX {
        return None;
    }
    let mut tree = Tree::parse(text.as_bytes()).ok()?;
    scrub.tree(&mut tree);
    serde_json::to_value(&tree).ok()
}

/// The longest that a receipt's id can be, for measuring an outcome that has none yet.
pub(super) const ANY_RECEIPT: ReceiptId = ReceiptId::LONGEST;
