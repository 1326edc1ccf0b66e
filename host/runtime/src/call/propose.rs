//! A write for which nobody has said yes, as something that its caller can take to the member: where she is not at this host.
//!
//! The same stages as a question's, and no question: nothing is kept here. INVARIANT: a proposal permits nothing, and what is
//! looked up for it is looked up under a grant that has a use left. DESIGN, "Doors": Sidecar.

use pinhole_manifest::Access;

use super::ask::Asking;
use super::require::Found;
use super::{CallRequest, Executor, Trace};
use crate::outcome::{Code, Meta, Outcome, Proposal, Refusal, Verdict};
use crate::render;

const HINT: &str = "hand the `proposal` to the member: `pinhole propose inspect` shows it to her from her own manifest, `pinhole \
                    grant mint SERVICE --to KEY --approve-proposal FILE` is her yes; then run the same call under what that gives";

impl Executor {
    /// Runs a call. Of a write that its grant does not permit by itself, the outcome is `approval_required` with a
    /// proposal for the member.
    pub async fn run_or_propose(&self, request: CallRequest) -> Outcome {
        if !self.writes(&request) {
            return self.run(request).await;
        }
        let again = request.clone();
        let mut outcome = self.run(request).await;
        let unapproved = [Code::ReadOnlyGrant, Code::ApprovalRequired];
        if !outcome.refusal().is_some_and(|refusal| unapproved.contains(&refusal.code)) {
            return outcome;
        }
        let mut trace = Trace::new(self);
        outcome.verdict = match self.came_to(&again, &mut trace).await {
            Ok(CameTo::Done(verdict)) => verdict,
            Ok(CameTo::Proposal(proposal)) => {
                outcome.proposal = Some(proposal);
                Verdict::Refused(Refusal::new(Code::ApprovalRequired).hinting(HINT))
            }
            Err(refusal) => Verdict::Refused(refusal),
        };
        // The run itself was refused before anything was sent.
        outcome.meta = Meta { ms: outcome.meta.ms, ..trace.meta };
        outcome
    }

    /// What a write under the bot's grant of the connection would be, for the member. Spends nothing; sends nothing but
    /// the reads that the op requires.
    pub async fn propose(&self, request: &CallRequest) -> Result<Proposal, Refusal> {
        let mut trace = Trace::new(self);
        let asking = self.consider(request, &mut trace).await?;
        asking.propose(self, &mut trace).await
    }

    /// What came of the same write under the same key before; else the proposal.
    async fn came_to(&self, request: &CallRequest, trace: &mut Trace) -> Result<CameTo, Refusal> {
        let asking = self.consider(request, trace).await?;
        if let Some(verdict) = asking.before(self, trace).await? {
            return Ok(CameTo::Done(verdict));
        }
        asking.propose(self, trace).await.map(|proposal| CameTo::Proposal(Box::new(proposal)))
    }

    fn writes(&self, request: &CallRequest) -> bool {
        let op = self.catalog.find(&request.service).and_then(|entry| entry.manifest.op(&request.op));
        op.is_some_and(|op| op.access == Access::Write)
    }
}

/// What a write comes to that its grant does not permit.
enum CameTo {
    /// It was carried out before, under the same key.
    Done(Verdict),
    /// The member may be asked.
    Proposal(Box<Proposal>),
}

impl Asking<'_> {
    async fn propose(&self, executor: &Executor, trace: &mut Trace) -> Result<Proposal, Refusal> {
        self.has_use_left(executor).await?;
        let found = self.look(executor, trace).await?;
        self.proposal(executor, &found)
    }

    /// A grant that is used up looks nothing up.
    async fn has_use_left(&self, executor: &Executor) -> Result<(), Refusal> {
        let grant = self.agreed.grant();
        let Some(allowed) = grant.scope().uses else { return Ok(()) };
        let id = grant.id();
        if executor.with_store(move |store| store.has_use_left(&id, allowed)).await? {
            Ok(())
        } else {
            Err(Refusal::new(Code::GrantUsedUp))
        }
    }

    fn proposal(&self, executor: &Executor, found: &[Found]) -> Result<Proposal, Refusal> {
        let (manifest, op) = (self.agreed.manifest, self.agreed.op);
        let nothing = || {
            Refusal::new(Code::OpOutOfScope).saying(format!("`{}` reads: there is nothing to approve", op.id))
        };
        let confirm = op.confirm.as_ref().filter(|_| op.access == Access::Write).ok_or_else(nothing)?;
        let confirm = render::fill_confirm(confirm, &self.args)
            .map_err(|error| Refusal::new(Code::ArgRefused).saying(error.to_string()))?;
        let found =
            serde_json::to_value(found).map_err(|error| Refusal::new(Code::StoreFailed).detail(&error))?;
        Ok(Proposal {
            service: manifest.id().clone(),
            op: op.id.clone(),
            args: self.args.to_json(),
            manifest: manifest.digest(),
            connection: self.agreed.grant().connection(),
            account: self.agreed.grant().account().clone(),
            bot: executor.bot.public().clone(),
            confirm,
            action: self.digest(),
            found,
        })
    }
}
