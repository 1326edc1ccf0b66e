//! `POST /v1/run` and `POST /v1/explain`: a posted call, under the grant that came with it.
//!
//! INVARIANT: a write that was begun is carried to its end, whoever waits for the answer; a read ends with its client.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::outcome::{Code, Verdict};
use pinhole_runtime::{CallRequest, Explained, Outcome};
use serde_json::json;
use tokio::sync::oneshot;

use super::answer::{self, No};
use super::door::{Caller, Door, NoTurn, RETRY_AFTER};
use super::queue::{Asker, Slot};

/// Runs a call.
pub(super) async fn run(State(door): State<Arc<Door>>, request: Request) -> Response {
    door.run(request).await.unwrap_or_else(|no| no.answer())
}

/// Says what a call would do.
pub(super) async fn explain(State(door): State<Arc<Door>>, request: Request) -> Response {
    door.explain(request).await.unwrap_or_else(|no| no.answer())
}

impl Door {
    async fn run(&self, request: Request) -> Result<Response, No> {
        let (caller, call) = self.call(request).await?;
        let slot = match self.turn(&call).await {
            Ok(slot) => slot,
            Err(why) => return Ok(self.no_turn(call, why).await),
        };
        let grant = Digest::of(&call.grant);
        let mut outcome = if self.op(&call).is_some_and(|op| op.access == Access::Write) {
            self.to_its_end(call, slot).await
        } else {
            let outcome = self.executor.run(call).await;
            drop(slot);
            outcome
        };
        if outcome.rotated.is_some() {
            self.metrics.rotated();
        }
        if let Verdict::Refused(refusal) = &mut outcome.verdict {
            if refusal.code == Code::GrantRevoked {
                self.dead.found(grant);
            }
            caller.explain(refusal);
        }
        Ok(answer::outcome(&outcome))
    }

    async fn explain(&self, request: Request) -> Result<Response, No> {
        let (caller, call) = self.call(request).await?;
        let (service, op) = (call.service.clone(), call.op.clone());
        let (would, explanation) = match self.executor.explain_or_propose(call).await {
            Explained::WouldRun(explanation) => ("run", explanation),
            Explained::WouldAsk(explanation) => ("propose", explanation),
            Explained::Refused(mut refusal) => {
                caller.explain(&mut refusal);
                return Ok(answer::outcome(&Outcome::refused(service, op, refusal)));
            }
        };
        Ok(answer::document(&json!({"ok": true, "would": would, "explanation": explanation})))
    }

    /// The call that is posted, as far as it shows for who posts it.
    async fn call(&self, request: Request) -> Result<(Caller, CallRequest), No> {
        let (parts, body) = request.into_parts();
        let caller = self.admit(&parts).await?;
        let call = self.posted(&parts, body).await?.by(caller.id);
        let call = self.as_shown(&caller, call);
        Ok((caller, call))
    }

    /// Runs a write to its end; until then it has its place.
    async fn to_its_end(&self, call: CallRequest, slot: Slot) -> Outcome {
        let (give, given) = oneshot::channel();
        let executor = Arc::clone(&self.executor);
        let (service, op) = (call.service.clone(), call.op.clone());
        self.tasks.spawn(async move {
            let outcome = executor.run_or_propose(call).await;
            drop(slot);
            if let Err(outcome) = give.send(outcome) {
                let code = outcome.refusal().map(|refusal| refusal.code.as_str());
                tracing::info!(service = %outcome.service, op = %outcome.op, code, "a write ended after its client");
            }
        });
        // It panics nowhere; were it to, it is not known whether anything left.
        given.await.unwrap_or_else(|_gone| Outcome::lost(service, op))
    }

    /// What is answered to a call that has no turn.
    pub(super) async fn no_turn(&self, call: CallRequest, why: NoTurn) -> Response {
        let wait = Some(RETRY_AFTER.as_secs());
        match why {
            NoTurn::Full(asker) if self.leaves_a_receipt(&call, asker) => {
                answer::outcome(&self.executor.turn_away(call, asker, Code::Busy, wait).await)
            }
            NoTurn::Full(_) => {
                answer::outcome(&Outcome::turned_away(call.service, call.op, Code::Busy, wait))
            }
            NoTurn::Stopping => {
                let outcome = Outcome::turned_away(call.service, call.op, Code::Busy, wait);
                answer::with_status(&outcome, StatusCode::SERVICE_UNAVAILABLE)
            }
        }
    }

    fn leaves_a_receipt(&self, call: &CallRequest, asker: Asker) -> bool {
        self.turned_away.leaves_a_receipt(asker, self.lane(&call.service), self.timer.now())
    }
}
