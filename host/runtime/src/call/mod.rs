//! The spine: the one way of a call, from the grant that permits it to the outcome that answers it.
//!
//! Read `Executor::walk` from top to bottom. Each line takes what the line before it proved and gives back a value that
//! proves one thing more, so that no line can be left out or moved: only an authorised call reaches the credential, only
//! a prepared one has the permit that opens a socket, only a projected answer becomes an outcome. DESIGN, "The way of a
//! call".

mod answer;
mod ask;
mod authorize;
mod claim;
mod explain;
mod fresh;
mod module;
mod open;
mod page;
mod palette;
mod prepare;
mod propose;
mod receipt;
mod request;
mod require;
mod retry;
mod send;
mod spend;
mod status;
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pinhole_grant::{KeyId, PrincipalId, PublicKey, Ring};
use pinhole_manifest::{OpId, ServiceId};

pub use explain::{Explained, Explanation, ShownRequest};
pub use module::ShownModule;
pub(crate) use open::missing_refusal;
pub use palette::Palette;
pub(crate) use prepare::{credential_value, credential_value_shown};
pub use request::{CallRequest, Hides};
pub use require::Found;
pub use retry::Retries;

use claim::Claimed;
use prepare::Prepared;
use receipt::{ANY_RECEIPT, Record};

use crate::book::Book;
use crate::catalog::Catalog;
use crate::clock::{Clock, Timer};
use crate::entropy::Entropy;
use crate::net::{Sent, Wire};
use crate::outcome::{Code, Meta, Outcome, Picked, Refusal, Rotated, Verdict};
use crate::renew::Renewing;
use crate::sandbox::Sandbox;
use crate::store::Store;

/// A call, as far as it has come.
#[derive(Debug)]
struct Call<Stage> {
    stage: Stage,
}

/// Nothing is known of it but what the caller says.
#[derive(Debug)]
struct Received<'a> {
    request: &'a CallRequest,
}

/// What has been done so far, for the outcome's `meta`, and until when the op may take.
#[derive(Debug)]
pub(crate) struct Trace {
    started: Instant,
    /// When the op's time began.
    begun: Instant,
    meta: Meta,
    /// The newest pair of the call's credential, where its grant has an older one.
    rotated: Option<Rotated>,
    result_bytes: u64,
    record: Box<Record>,
}

impl Trace {
    /// Of a call of this op, on whose behalf.
    pub(crate) fn new(
        executor: &Executor,
        service: &ServiceId,
        op: &OpId,
        principal: Option<PrincipalId>,
    ) -> Self {
        let now = executor.timer.now();
        let record = Box::new(Record::new(executor, service, op, principal));
        let (meta, rotated) = (Meta::default(), None);
        Self { started: now, begun: now, meta, rotated, result_bytes: u64::MAX, record }
    }

    /// The same for what a caller asks for.
    fn of(executor: &Executor, request: &CallRequest) -> Self {
        Self::new(executor, &request.service, &request.op, request.principal)
    }

    /// Another of the same call, for a request beside others; what it took is added here later.
    fn beside(&self) -> Self {
        let Self { started, begun, meta: _, rotated: _, result_bytes, record } = self;
        let (meta, rotated, record) = (Meta::default(), None, Box::new(record.beside()));
        Self { started: *started, begun: *begun, meta, rotated, result_bytes: *result_bytes, record }
    }

    /// Takes in what requests beside this one took.
    fn take_in(&mut self, other: Self) {
        self.meta.requests = self.meta.requests.saturating_add(other.meta.requests);
        self.record.take_in(*other.record, &other.meta);
        self.meta.bytes_in = self.meta.bytes_in.saturating_add(other.meta.bytes_in);
        if let Some(rotated) = other.rotated {
            self.hand_back(rotated);
        }
    }

    /// A pair goes back with the outcome, unless a newer one does.
    fn hand_back(&mut self, rotated: Rotated) {
        if self.rotated.as_ref().is_none_or(|before| before.generation() <= rotated.generation()) {
            self.rotated = Some(rotated);
        }
    }

    /// Notes that what comes of the call is what came of an earlier one.
    pub(crate) fn replays(
        &mut self,
        verdict: Result<Picked, Refusal>,
        status: Option<u16>,
    ) -> Result<Picked, Refusal> {
        self.meta.replayed = true;
        self.meta.status = status;
        verdict
    }

    /// How long it has taken.
    fn taken(&self, executor: &Executor) -> Duration {
        executor.timer.now().saturating_duration_since(self.started)
    }

    /// The op's time begins: its request or its module is ready. To compile a module is done once, and none of it.
    fn begin(&mut self, executor: &Executor) {
        self.begun = executor.timer.now();
    }

    /// What is left of the op's time.
    fn left_of(&self, executor: &Executor, timeout_ms: u64) -> Duration {
        let taken = executor.timer.now().saturating_duration_since(self.begun);
        Duration::from_millis(timeout_ms).saturating_sub(taken)
    }
}

/// Who runs calls, and with what. Made once, shared by all calls.
#[expect(missing_debug_implementations, reason = "it holds the bot's keys and the doors to the world")]
pub struct Executor {
    /// The bot's own keys: grants are sealed to the present one, or to a former one that has not ended.
    pub bot: Arc<Ring>,
    /// The members whose grants are believed.
    pub issuers: Vec<PublicKey>,
    /// The manifests.
    pub catalog: Catalog,
    /// What outlives the process.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Box<dyn Clock>,
    /// What measures a call, and waits between two tries.
    pub timer: Box<dyn Timer>,
    /// Randomness: for the seal of page tokens, and so that tries are not all at once.
    pub entropy: Box<dyn Entropy>,
    /// Whether requests that may be tried again are.
    pub retries: Retries,
    /// How pairs are renewed.
    pub renewing: Renewing,
    /// Where modules run.
    pub sandbox: Sandbox,
    /// The way out.
    pub wire: Arc<dyn Wire>,
    /// How receipts are kept.
    pub book: Book,
}

impl Executor {
    /// Runs one op under a grant. Every way of failing is a refusal with a code; none is a panic.
    pub async fn run(&self, request: CallRequest) -> Outcome {
        let mut trace = Trace::of(self, &request);
        let verdict = match Box::pin(self.walk(&request, &mut trace)).await {
            Ok(answer) => Verdict::Done(answer),
            Err(refusal) => Verdict::Refused(refusal),
        };
        self.ended((request.service, request.op), verdict, trace).await
    }

    /// What a door answers for a call that it does not let begin, with its receipt: nothing was spent or sent. `member` is whose
    /// grant it is, where the door knows; `retry_after` is in seconds.
    pub async fn turn_away(
        &self,
        request: CallRequest,
        member: Option<KeyId>,
        code: Code,
        retry_after: Option<u64>,
    ) -> Outcome {
        let mut trace = Trace::of(self, &request);
        trace.record.of_member(member);
        let verdict = Verdict::Refused(Refusal { retry_after, ..Refusal::new(code) });
        self.ended((request.service, request.op), verdict, trace).await
    }

    /// The outcome of a call that has come to its end: with its receipt, which is written before anybody is told.
    pub(crate) async fn ended(
        &self,
        (service, op): (ServiceId, OpId),
        verdict: Verdict,
        mut trace: Trace,
    ) -> Outcome {
        trace.meta.ms = u64::try_from(trace.taken(self).as_millis()).unwrap_or(u64::MAX);
        // A receipt says what came of it, and so is written when that is settled: by then its id must have room.
        trace.meta.receipt = Some(ANY_RECEIPT);
        let (meta, rotated) = (trace.meta, trace.rotated);
        let outcome = Outcome { service, op, verdict, proposal: None, meta, rotated };
        let outcome = outcome.capped(trace.result_bytes);
        let outcome = Box::pin(self.receipted(outcome, trace.record)).await;
        if let Some(refusal) = outcome.refusal() {
            tracing::info!(
                service = %outcome.service, op = %outcome.op, code = %refusal.code, sent = ?refusal.sent,
                detail = refusal.private_detail().unwrap_or_default(), "refused"
            );
        }
        outcome
    }

    async fn walk(&self, request: &CallRequest, trace: &mut Trace) -> Result<Picked, Refusal> {
        let call = Call { stage: Received { request } };
        let call = call.open_grant(self, trace).await?;
        let call = call.agree(self, trace)?;
        let call = call.check_args(self, trace)?;
        let call = call.authorize()?;
        let call = call.open_page(self)?;
        let call = call.freshen(self, trace).await?;
        let call = call.prepare(self).await?;
        let claimed = match call.claim(self).await? {
            Claimed::Before(verdict, status) => return trace.replays(*verdict, status),
            claimed @ (Claimed::Keyless | Claimed::Mine(_)) => claimed,
        };
        let ended = self.carry_out(call, trace).await;
        claimed.end(&ended, self, trace).await;
        ended
    }

    /// The second half of the way: from the use that is spent on.
    async fn carry_out(&self, call: Call<Prepared<'_>>, trace: &mut Trace) -> Result<Picked, Refusal> {
        trace.begin(self);
        let spent = call.spend(self, trace).await?;
        call.require(self, trace).await.map_err(|refusal| spent.noted(refusal))?;
        let answer = call.carry_out(self, trace).await.map_err(|refusal| spent.noted(refusal))?;
        let answer = answer.project(trace)?;
        let answer = answer.seal_next(self, trace);
        Ok(answer.into_public())
    }
}

impl Outcome {
    /// The cap again, over all of it: notes, `next` and meta count too.
    fn capped(mut self, limit: u64) -> Self {
        if matches!(self.verdict, Verdict::Done(_)) {
            let size = u64::try_from(self.to_json().len()).unwrap_or(u64::MAX);
            if size > limit {
                let sent = if self.meta.requests == 0 { Sent::No } else { Sent::Yes };
                self.verdict = Verdict::Refused(answer::too_large(size, limit).sent(sent));
            }
        }
        self
    }
}
