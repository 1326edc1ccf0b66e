//! A write for which nobody has said yes, as something that its caller can take to the member: where she is not at this host.
//!
//! The same stages as a question's, and no question: nothing is kept here. INVARIANT: a proposal permits nothing, and what is
//! looked up for it is looked up under a grant that has a use left. DESIGN, "Doors": Sidecar.

use pinhole_manifest::Access;

use super::ask::Asking;
use super::explain::{Explained, Explanation};
use super::require::Found;
use super::{CallRequest, Executor, Trace};
use crate::net::Sent;
use crate::outcome::{Code, Outcome, Proposal, Refusal, Verdict};
use crate::render;

const HINT: &str = "hand the `proposal` to the member: `pinhole propose inspect` shows it to her from her own manifest, `pinhole \
                    grant mint SERVICE --to KEY --approve-proposal FILE` is her yes; then run the same call under what that gives";

impl Executor {
    /// Runs a call. Of a write that its grant does not permit by itself, the outcome is `approval_required` with a
    /// proposal for the member.
    pub async fn run_or_propose(&self, request: CallRequest) -> Outcome {
        let mut trace = Trace::of(self, &request);
        let (verdict, proposal) = match self.walk(&request, &mut trace).await {
            Ok(answer) => (Verdict::Done(answer), None),
            Err(refusal) if is_unapproved(&refusal) && self.writes(&request) => {
                match self.came_to(&request, &mut trace).await {
                    Ok(CameTo::Done(verdict)) => (verdict, None),
                    Ok(CameTo::Proposal(proposal)) => {
                        let refusal = Refusal::new(Code::ApprovalRequired).hinting(HINT);
                        (Verdict::Refused(refusal), Some(proposal))
                    }
                    Err(refusal) => (Verdict::Refused(refusal), None),
                }
            }
            Err(refusal) => (Verdict::Refused(refusal), None),
        };
        let mut outcome = self.ended((request.service, request.op), verdict, trace).await;
        outcome.proposal = proposal;
        outcome
    }

    /// What a call would come to where it is run or proposed. Spends nothing; sends nothing, not even what a proposal
    /// looks up first.
    pub async fn explain_or_propose(&self, request: CallRequest) -> Explained {
        match self.walk_to_request(&request).await {
            Ok(explanation) => Explained::WouldRun(Box::new(explanation)),
            Err(refusal) if is_unapproved(&refusal) && self.writes(&request) => {
                match self.explain_proposal(&request).await {
                    Ok(explanation) => Explained::WouldAsk(Box::new(explanation)),
                    Err(refusal) => Explained::Refused(refusal),
                }
            }
            Err(refusal) => Explained::Refused(refusal),
        }
    }

    async fn explain_proposal(&self, request: &CallRequest) -> Result<Explanation, Refusal> {
        let mut trace = Trace::of(self, request);
        let asking = self.consider(request, &mut trace).await?;
        asking.has_use_left(self).await?;
        let bot = asking.agreed.bot(self).public().id();
        let rule =
            format!("the grant does not let bot {bot} do this write: a proposal for the member comes back");
        asking.describe(rule, self, &trace)
    }

    /// What a write under the bot's grant of the connection would be, for the member. Spends nothing; sends nothing but
    /// the reads that the op requires.
    pub async fn propose(&self, request: &CallRequest) -> Result<Proposal, Refusal> {
        let mut trace = Trace::of(self, request);
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

/// Whether a call was refused because its grant does not permit the write, and for nothing else.
fn is_unapproved(refusal: &Refusal) -> bool {
    matches!(refusal.code, Code::ReadOnlyGrant | Code::ApprovalRequired) && refusal.sent == Sent::No
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
            bot: self.agreed.bot(executor).public().clone(),
            confirm,
            action: self.digest(),
            found,
        })
    }
}
