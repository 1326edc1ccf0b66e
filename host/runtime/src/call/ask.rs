//! From a write that nobody has permitted to what the member is to be asked: the same stages as a run as far as they
//! permit nothing. Sends nothing but the reads that the op requires.
//!
//! INVARIANT: nothing here leads to the write's own request being sent: that takes an approval, and the way of a run from
//! its beginning. DESIGN, "Who holds what".

use pinhole_grant::{Action, ActionDigest, OpenedGrant, UnixTime};
use pinhole_manifest::model::Args;

use super::authorize::{Checked, no_digest};
use super::explain::{Explanation, Would, describe};
use super::open::{Agreed, scope_refusal};
use super::require::{Conditions, Found};
use super::{Call, CallRequest, Executor, Received, Trace, prepare};
use crate::outcome::{Code, Refusal, Verdict};
use crate::render::Change;

/// A write that the member may be asked about: within her connection's cap, with args in their normal form, and a request
/// that renders.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    pub(super) agreed: Agreed<'a>,
    pub(super) args: Args,
    digest: ActionDigest,
}

impl Executor {
    /// Takes a write under the bot's read grant of the connection as far as a question. Sends nothing.
    pub(crate) async fn consider<'a>(
        &'a self,
        request: &'a CallRequest,
        trace: &mut Trace,
    ) -> Result<Asking<'a>, Refusal> {
        let call = Call { stage: Received { request } };
        let call = call.open_grant(self, trace).await?;
        let call = call.agree_as(OpenedGrant::check_question, self, trace)?;
        let call = call.check_args(self, trace)?;
        call.ask()
    }
}

impl<'a> Call<Checked<'a>> {
    /// Whether this may be asked.
    fn ask(self) -> Result<Asking<'a>, Refusal> {
        let Checked { agreed, args } = self.stage;
        // A write has no pages; an approval that is given out for one would be lost.
        if agreed.request.next.is_some() {
            return Err(Refusal::new(Code::PageTokenMismatch));
        }
        agreed.grant.check_where(&args).map_err(|error| scope_refusal(&error))?;
        for requirement in &agreed.op.require {
            agreed.grant.check_required(&requirement.op).map_err(|error| scope_refusal(&error))?;
        }
        let digest = agreed.action(&args).digest().map_err(|error| no_digest(&error))?;
        let asking = Asking { agreed, args, digest };
        asking.render()?;
        Ok(asking)
    }
}

impl Asking<'_> {
    /// What the member would say yes to.
    pub(crate) fn action(&self) -> Action<'_> {
        self.agreed.action(&self.args)
    }

    /// The digest of that.
    pub(crate) fn digest(&self) -> ActionDigest {
        self.digest
    }

    /// The time by which the grant was opened: the latest that was seen.
    pub(crate) fn now(&self) -> UnixTime {
        self.agreed.now
    }

    /// Reads what the op requires, as it will be read again before the write is sent.
    pub(crate) async fn look(&self, executor: &Executor, trace: &mut Trace) -> Result<Vec<Found>, Refusal> {
        if self.agreed.op.require.is_empty() {
            return Ok(Vec::new());
        }
        executor.begin(trace, None).await?;
        let keys = self.agreed.keys(None, executor, trace).await?;
        let conditions = Conditions { agreed: &self.agreed, keys: &keys, args: &self.args };
        conditions.hold(executor, trace).await
    }

    /// What came of it under the call's key, if it was carried out before.
    pub(crate) async fn before(
        &self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Option<Verdict>, Refusal> {
        let Some((verdict, status)) = self.agreed.before(&self.args, executor).await? else {
            return Ok(None);
        };
        let verdict = trace.replays(verdict, status);
        Ok(Some(verdict.map_or_else(Verdict::Refused, Verdict::Done)))
    }

    /// What it would come to, in the words of an explanation.
    pub(crate) fn describe(
        &self,
        rule: String,
        executor: &Executor,
        trace: &Trace,
    ) -> Result<Explanation, Refusal> {
        // Its value is of the approval, which is not there yet.
        let idempotency =
            self.agreed.op.idempotency.clone().map(|name| (name, "<one an approval>".to_owned()));
        describe(
            &self.agreed,
            &self.args,
            Would::Send(self.render()?, idempotency),
            rule,
            executor,
            &trace.meta,
        )
    }

    fn render(&self) -> Result<crate::render::Rendered, Refusal> {
        let request = self.agreed.request_of_op()?;
        prepare::render(self.agreed.manifest, request, &self.args, &Change::Nothing)
    }
}
