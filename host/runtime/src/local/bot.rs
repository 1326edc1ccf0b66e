//! The bot's side: calls on stored connections, by the bot's key and what was sealed to it.
//!
//! Never has the member's key. A write that she has not approved becomes a question, once for each action: the same call
//! again finds it, a changed one is another. INVARIANT: an approval is given out once, to the one call that then runs.

use std::sync::Arc;

use pinhole_grant::{ActionDigest, KeyId, Label, UnixTime};
use pinhole_manifest::model::Op;
use pinhole_manifest::{Access, ServiceId};
use serde_json::Value;

use super::lend::may_be_lent;
use super::{Agreed, QUESTION_SECS, Standing, Stored, StoredCall, Yes};
use crate::call::{CallRequest, Executor, Explained, Trace, missing_refusal};
use crate::entropy;
use crate::outcome::{Code, Outcome, Refusal, Verdict};
use crate::store::{
    ConnectionRow, Desk, NewQuestion, Party, Question, QuestionId, QuestionState, RaiseError, StoreError,
    TakeError,
};

/// How often a new id is drawn for a question whose id is taken.
const IDS_DRAWN: u32 = 4;

/// The bot of this host, and the member whose connections it uses.
#[expect(missing_debug_implementations, reason = "it holds the bot's key and the doors to the world")]
pub struct LocalBot {
    /// Runs its calls; its store is the same as `desk`.
    pub executor: Executor,
    /// What is stored here.
    pub desk: Arc<dyn Desk>,
    /// Whose connections it uses.
    pub member: KeyId,
    /// What has agreed so far.
    pub agreed: Agreed,
}

/// What comes of a call that may run.
enum Way {
    /// It runs, under this.
    Runs(CallRequest),
    /// It ran before, under the same key, and this came of it.
    Ran(Verdict),
}

impl LocalBot {
    /// Runs a call. Of a write that the member has not approved yet, the outcome is `approval_required` with the id of the
    /// question that waits for her; the same call runs after her yes.
    pub async fn run(&self, call: StoredCall) -> Outcome {
        match self.way(&call).await {
            Ok(request) => self.run_permitted(request).await,
            Err(outcome) => *outcome,
        }
    }

    /// Runs a call that [`LocalBot::way`] has found permitted. A pair that was renewed waits for the member here.
    pub async fn run_permitted(&self, request: CallRequest) -> Outcome {
        // In a box, so that what a door holds of a call stays small.
        let outcome = Box::pin(self.executor.run(request)).await;
        self.keeps_returned(outcome).await
    }

    /// Finds what permits a call: the stored grant for a read; for a write its approval, which is then given out and is to be
    /// used at once. Else what comes of the call without it running.
    pub async fn way(&self, call: &StoredCall) -> Result<CallRequest, Box<Outcome>> {
        let mut trace = self.trace(call);
        let verdict = match self.permitted(call, &mut trace).await {
            Ok(Way::Runs(request)) => return Ok(request),
            Ok(Way::Ran(verdict)) => verdict,
            Err(refusal) => Verdict::Refused(refusal),
        };
        let asked = (call.service.clone(), call.op.clone());
        let outcome = self.executor.ended(asked, verdict, trace).await;
        Err(Box::new(self.keeps_returned(outcome).await))
    }

    /// What a call would do, without doing it: nothing is asked, spent, given out or sent.
    pub async fn explain(&self, call: &StoredCall) -> Explained {
        self.explained(call).await.unwrap_or_else(Explained::Refused)
    }

    /// What exactly a write would do, as an approval names it. Nothing is asked, spent or sent.
    pub async fn action(&self, call: &StoredCall) -> Result<ActionDigest, Refusal> {
        let stored = self.stored(call).await?;
        let request = request(call, stored.grant.sealed);
        let mut trace = self.trace(call);
        Ok(self.executor.consider(&request, &mut trace).await?.digest())
    }

    /// The connection that is meant and the bot's read grant of it: both agree with what is sealed.
    pub async fn stored(&self, call: &StoredCall) -> Result<Stored, Refusal> {
        let (first, now) = self.rows(call).await?;
        let agreed = match self.agree(&first, now) {
            // Another process may have stored both anew between the two looks.
            Err(_torn) => {
                let (again, now) = self.rows(call).await?;
                self.agree(&again, now).map(|()| again)
            }
            Ok(()) => Ok(first),
        };
        Ok(agreed?)
    }

    pub(super) fn trace(&self, call: &StoredCall) -> Trace {
        Trace::new(&self.executor, &call.service, &call.op, call.principal)
    }

    async fn permitted(&self, call: &StoredCall, trace: &mut Trace) -> Result<Way, Refusal> {
        let op = self.op(call)?;
        let stored = self.stored(call).await?;
        if op.access == Access::Read {
            return Ok(Way::Runs(request(call, stored.grant.sealed)));
        }
        let by_lending = call.yes == Yes::InTheClient && may_be_lent(op);
        let lent = if by_lending { self.lent(&stored).await? } else { None };
        self.ask(call, &request(call, stored.grant.sealed), lent, trace).await
    }

    async fn explained(&self, call: &StoredCall) -> Result<Explained, Refusal> {
        let access = self.op(call)?.access;
        let stored = self.stored(call).await?;
        let request = request(call, stored.grant.sealed);
        if access == Access::Read {
            return Ok(self.executor.explain(request).await);
        }
        let mut trace = self.trace(call);
        let asking = self.executor.consider(&request, &mut trace).await?;
        let describe = |rule: String| asking.describe(rule, &self.executor, &trace).map(Box::new);
        Ok(match self.last(call, asking.digest(), asking.now()).await? {
            Some(question) if is_denied(&question, asking.now()) => Explained::Refused(denied(question.id)),
            Some(Question { id, state: QuestionState::Approved, .. }) => Explained::WouldRun(describe(
                format!("the member approved exactly this write (question {id})"),
            )?),
            Some(Question { id, state: QuestionState::Pending, .. }) => {
                Explained::WouldAsk(describe(format!(
                    "the member has been asked for exactly this write (question {id}) and has not answered"
                ))?)
            }
            _ => {
                Explained::WouldAsk(describe("the member would be asked for exactly this write".to_owned())?)
            }
        })
    }

    /// The approval of a write, or what was lent, or the question that waits for one. What she has said of exactly this write
    /// goes before what she has lent.
    async fn ask(
        &self,
        call: &StoredCall,
        request: &CallRequest,
        lent: Option<Vec<u8>>,
        trace: &mut Trace,
    ) -> Result<Way, Refusal> {
        let asking = self.executor.consider(request, trace).await?;
        if let Some(verdict) = asking.before(&self.executor, trace).await? {
            return Ok(Way::Ran(verdict));
        }
        let now = asking.now();
        let again;
        match self.last(call, asking.digest(), now).await? {
            Some(Question { id, state: QuestionState::Approved, .. }) => {
                return self.take(call, id, now).await.map(Way::Runs);
            }
            Some(question) if is_denied(&question, now) => return Err(denied(question.id)),
            Some(Question { id, state: QuestionState::Pending, .. }) => match lent {
                None => return Err(waiting(id)),
                Some(lent) => {
                    self.withdraw(call, id, now).await?;
                    return Ok(Way::Runs(self::request(call, lent)));
                }
            },
            last => {
                if let Some(lent) = lent {
                    return Ok(Way::Runs(self::request(call, lent)));
                }
                again = last.is_some_and(|last| last.state == QuestionState::Used);
            }
        }
        let found = asking.look(&self.executor, trace).await?;
        let found =
            serde_json::to_value(found).map_err(|error| Refusal::new(Code::StoreFailed).detail(&error))?;
        let desk = Arc::clone(&self.desk);
        let action = asking.action();
        let mut drawn = 0;
        loop {
            drawn += 1;
            let raised = self.raise(call, desk.as_ref(), action, &found, now);
            match raised {
                Err(RaiseError::IdTaken) if drawn < IDS_DRAWN => {}
                raised => {
                    let waits = |question: Question| {
                        let refusal = waiting(question.id);
                        if again { once_more(refusal) } else { refusal }
                    };
                    return Err(raised.map_or_else(|error| not_raised(&error), waits));
                }
            }
        }
    }

    fn raise(
        &self,
        call: &StoredCall,
        desk: &dyn Desk,
        action: pinhole_grant::Action<'_>,
        found: &Value,
        now: UnixTime,
    ) -> Result<Question, RaiseError> {
        let no_entropy = |error: entropy::EntropyError| {
            RaiseError::Store(StoreError::Failed { doing: "draw the id of a question", source: error.into() })
        };
        let mut rng = entropy::seeded(self.executor.entropy.as_ref()).map_err(no_entropy)?;
        desk.raise(&NewQuestion {
            id: QuestionId::random(&mut rng),
            member: self.member,
            principal: call.principal,
            action,
            found,
            raised_at: now,
            expires_at: now.plus_secs(QUESTION_SECS),
        })
    }

    /// Takes a question back that is answered otherwise, so that no yes to it runs the write once more.
    async fn withdraw(&self, call: &StoredCall, id: QuestionId, now: UnixTime) -> Result<(), Refusal> {
        let by = Party::Bot(self.executor.bot.public().id(), call.principal);
        let withdrawn = self.with_desk(move |desk| desk.withdraw(by, id, now)).await?;
        withdrawn.map_err(|error| match error {
            TakeError::Absent | TakeError::NotApproved(_) => Refusal::new(Code::ApprovalTaken).about(id),
            TakeError::Store(error) => error.into(),
        })
    }

    /// Takes the approval, which nobody else then gets.
    async fn take(&self, call: &StoredCall, id: QuestionId, now: UnixTime) -> Result<CallRequest, Refusal> {
        let by = Party::Bot(self.executor.bot.public().id(), call.principal);
        let taken = self.with_desk(move |desk| desk.take(by, id, now)).await?;
        let taken = taken.map_err(|error| match error {
            TakeError::Absent | TakeError::NotApproved(_) => Refusal::new(Code::ApprovalTaken).about(id),
            TakeError::Store(error) => error.into(),
        })?;
        Ok(request(call, taken.sealed))
    }

    pub(super) async fn last(
        &self,
        call: &StoredCall,
        action: ActionDigest,
        now: UnixTime,
    ) -> Result<Option<Question>, Refusal> {
        let (bot, principal) = (self.executor.bot.public().id(), call.principal);
        Ok(self.with_desk(move |desk| desk.last_question(Party::Bot(bot, principal), action, now)).await??)
    }

    pub(super) fn op(&self, call: &StoredCall) -> Result<&Op, Refusal> {
        let entry = self.executor.catalog.look(&call.service).map_err(missing_refusal)?;
        entry.manifest.op(&call.op).ok_or_else(|| Refusal::new(Code::UnknownOp))
    }

    /// The rows, and the latest time that was seen; all in one hand-over, which takes longer than the looks.
    async fn rows(&self, call: &StoredCall) -> Result<(Stored, UnixTime), Refusal> {
        let (member, bot, wall) = (self.member, self.executor.bot.public().id(), self.executor.clock.now());
        let (service, label) = (call.service.clone(), call.connection.clone());
        let look = move |desk: &dyn Desk| -> Result<(Stored, UnixTime), Refusal> {
            let connection = chosen(desk.connections(member)?, &service, label.as_ref())?;
            let stored = Stored::of(connection, bot, desk)?;
            let stored = stored.ok_or_else(|| Refusal::new(Code::NoStoredGrant))?;
            Ok((stored, desk.high_water(wall)?))
        };
        self.with_desk(look).await?
    }

    /// Holds the rows against what is sealed in the grant. One that is too early or too late, or whose member is not known
    /// (any more), is left to the spine, which says so.
    pub fn agree(&self, stored: &Stored, now: UnixTime) -> Result<(), StoreError> {
        if self.agreed.has(stored) {
            return Ok(());
        }
        if let Standing::Open(_) = stored.open(&self.executor.bot, &self.executor.issuers, now)? {
            self.agreed.keep(stored.clone());
        }
        Ok(())
    }

    /// Does blocking work with what is stored, away from the threads that serve other calls.
    pub(super) async fn with_desk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Desk) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let desk = Arc::clone(&self.desk);
        tokio::task::spawn_blocking(move || work(desk.as_ref()))
            .await
            .map_err(|error| Refusal::new(Code::StoreFailed).detail(&error))
    }
}

pub(super) fn request(call: &StoredCall, grant: Vec<u8>) -> CallRequest {
    let request = CallRequest::new(call.service.clone(), call.op.clone(), call.args.clone(), grant);
    CallRequest { next: call.next.clone(), principal: call.principal, key: call.key.clone(), ..request }
}

/// The connection that is meant: the one of the label, or the only one.
fn chosen(
    all: Vec<ConnectionRow>,
    service: &ServiceId,
    label: Option<&Label>,
) -> Result<ConnectionRow, Refusal> {
    let mut of_service = all.into_iter().filter(|row| row.service == *service).collect::<Vec<_>>();
    if of_service.is_empty() {
        return Err(not_connected(service));
    }
    let named = |rows: &[ConnectionRow]| {
        rows.iter().map(|row| format!("`{}`", row.label)).collect::<Vec<_>>().join(", ")
    };
    let unknown = |rows: &[ConnectionRow], message: String| {
        Refusal::new(Code::UnknownConnection).saying(format!("{message}: there is {}", named(rows)))
    };
    match label {
        Some(label) => match of_service.iter().position(|row| row.label == *label) {
            Some(at) => Ok(of_service.swap_remove(at)),
            None => Err(unknown(&of_service, format!("no connection to `{service}` is called `{label}`"))),
        },
        None if of_service.len() == 1 => Ok(of_service.swap_remove(0)),
        None => {
            Err(unknown(&of_service, format!("there are {} connections to `{service}`", of_service.len())))
        }
    }
}

fn not_connected(service: &ServiceId) -> Refusal {
    Refusal::new(Code::NotConnected)
        .hinting(format!("`pinhole connect {service}` makes one; or pass a grant with `--grant FILE`"))
}

fn waiting(id: QuestionId) -> Refusal {
    Refusal::new(Code::ApprovalRequired)
        .saying(format!("this write waits for the member's yes (question {id})"))
        .hinting(format!(
            "`pinhole approvals show {id}` shows the member all of it, `pinhole approvals approve {id}` is her yes; then run the \
             same call again"
        ))
        .about(id)
}

/// The same write was approved before, and its approval is gone: whoever says yes again should know.
fn once_more(refusal: Refusal) -> Refusal {
    let message = format!(
        "{}; exactly this was approved before, and that approval was used: look whether it was carried out",
        refusal.message
    );
    refusal.saying(message)
}

pub(super) fn is_denied(question: &Question, now: UnixTime) -> bool {
    question.state == QuestionState::Denied && now < question.expires_at
}

fn denied(id: QuestionId) -> Refusal {
    Refusal::new(Code::ApprovalDenied).about(id)
}

fn not_raised(error: &RaiseError) -> Refusal {
    match error {
        RaiseError::TooManyPending => Refusal::new(Code::TooManyQuestions),
        RaiseError::TooLarge | RaiseError::Action(_) => {
            Refusal::new(Code::InvalidArgs).saying(error.to_string())
        }
        RaiseError::IdTaken | RaiseError::ExpiresAtOnce | RaiseError::Store(_) => {
            Refusal::new(Code::StoreFailed).detail(error)
        }
    }
}
