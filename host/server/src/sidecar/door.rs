//! What all requests share: who may come in, whose turn it is, what runs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use pinhole_grant::PrincipalId;
use pinhole_manifest::model::Op;
use pinhole_manifest::{Access, Digest, ServiceId};
use pinhole_runtime::clock::Timer;
use pinhole_runtime::outcome::{Code, Refusal};
use pinhole_runtime::store::Desk;
use pinhole_runtime::{CallRequest, Executor, Hides};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::No;
use super::dead::Dead;
use super::listed::Listed;
use super::metrics::Metrics;
use super::posted::Posted;
use super::queue::{Asker, Displaced, Entered, Lane, Queue, Slot};
use super::sessions::Sessions;
use super::turned_away::TurnedAway;
use crate::Reach;
use crate::http::{Admission, HttpSettings, NamedHost, Peer, Refused, is_json, metadata, whole};

/// How long somebody should wait for whom there was no room.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What all requests share.
pub(super) struct Door {
    pub(super) executor: Arc<Executor>,
    pub(super) desk: Arc<dyn Desk>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) reach: Reach,
    pub(super) queue: Queue,
    /// Which of those for whom there was no room leave a receipt.
    pub(super) turned_away: TurnedAway,
    /// The check of tokens, where there are any.
    pub(super) admission: Option<Admission>,
    pub(super) settings: Arc<HttpSettings>,
    pub(super) stop: CancellationToken,
    /// Writes that were begun.
    pub(super) tasks: TaskTracker,
    pub(super) metrics: Metrics,
    /// What lists are made of.
    pub(super) listed: Listed,
    /// Who may look through receipts at once.
    pub(super) looking: Arc<Semaphore>,
    /// Grants that were found revoked.
    pub(super) dead: Dead,
    /// Research sessions that are open.
    pub(super) sessions: Sessions,
}

/// Whose request it is.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) id: Option<PrincipalId>,
    pub(super) reach: Reach,
}

impl Caller {
    /// Says of what is not there, or not for this caller, what is true of both.
    pub(super) fn explain(&self, refusal: &mut Refusal) {
        let what = match refusal.code {
            Code::UnknownService => "there is no such service here",
            Code::UnknownOp => "the service has no such op",
            _ => return,
        };
        let (whose, hint) = match self.id {
            Some(_) => (
                "your token does not show it",
                "`GET /v1/services` lists what your token shows; writes want one that was made with `--scope write`, reads one \
                 with `--scope read`, each service one that names it or none",
            ),
            None => ("it does not show here", "`GET /v1/services` lists what does"),
        };
        refusal.message = format!("{what}, or {whose}");
        refusal.hint = hint.into();
    }
}

/// Why a call has no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// As many wait as may, and others have no more than whose call this is.
    Full(Asker),
    /// The sidecar ends.
    Stopping,
}

impl Door {
    /// Who sends this.
    pub(super) async fn admit(&self, parts: &Parts) -> Result<Caller, No> {
        let Some(admission) = &self.admission else {
            // Of those at the socket file, who has asked for something keeps its place before who only holds one.
            if let Some(peer) = parts.extensions.get::<Peer>() {
                peer.standing.keep();
            }
            return Ok(Caller { id: None, reach: self.reach.clone() });
        };
        let (peer, host) = (parts.extensions.get::<Peer>(), parts.extensions.get::<NamedHost>());
        // Who has come past the front has both.
        let (Some(peer), Some(NamedHost(host))) = (peer, host) else { return Err(No::Door(Refused::Host)) };
        let metadata = format!("{}{}", self.settings.base(host), metadata::WELL_KNOWN);
        let admitted = admission.admit(&parts.headers, peer, &metadata).await.map_err(No::Door)?;
        let reach = admitted.principal.reach().clone().and(&self.reach);
        Ok(Caller { id: Some(admitted.holder), reach })
    }

    /// The scopes that tokens can have here.
    pub(super) fn scope(&self) -> &'static str {
        self.admission.as_ref().map_or("read write", Admission::scope)
    }

    /// What is posted, once it is known who posts it.
    pub(super) async fn body(&self, parts: &Parts, body: Body) -> Result<Bytes, No> {
        if !is_json(&parts.headers) {
            return Err(No::Door(Refused::MediaType));
        }
        whole(body, &self.settings.limits, self.timer.as_ref()).await.map_err(No::Door)
    }

    /// The call that is posted.
    pub(super) async fn posted(&self, parts: &Parts, body: Body) -> Result<Posted, No> {
        Posted::read(&self.body(parts, body).await?)
    }

    /// The op that is meant, where there is one.
    pub(super) fn op(&self, call: &CallRequest) -> Option<&Op> {
        self.executor.catalog.find(&call.service)?.manifest.op(&call.op)
    }

    /// The call as its caller may make it: what does not show for them is hidden from it.
    pub(super) fn as_shown(&self, caller: &Caller, mut call: CallRequest) -> CallRequest {
        let covers = |access: &Access| caller.reach.covers(&call.service, *access);
        call.hides = if ![Access::Read, Access::Write].iter().any(covers) {
            Hides::Service
        } else if self.op(&call).is_some_and(|op| !covers(&op.access)) {
            Hides::Op
        } else {
            Hides::Nothing
        };
        call
    }

    /// A place among those that run, once it is this call's turn. Who stops waiting leaves the queue.
    pub(super) async fn turn(&self, call: &CallRequest) -> Result<Slot, NoTurn> {
        if self.stop.is_cancelled() {
            return Err(NoTurn::Stopping);
        }
        match self.queue.enter(&self.lane(&call.service), || self.asker(&call.grant)) {
            Entered::Now(slot) => Ok(slot),
            Entered::Full(asker) => Err(NoTurn::Full(asker)),
            Entered::Later(waiting) => {
                let asker = waiting.asker();
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => Err(NoTurn::Stopping),
                    given = waiting => given.map_err(|Displaced| NoTurn::Full(asker)),
                }
            }
        }
    }

    pub(super) fn lane(&self, service: &ServiceId) -> Lane {
        self.executor.catalog.find(service).map(|entry| entry.manifest.id().clone())
    }

    /// The member whose grant it is, if she is believed here and it opens now; one that is known to be revoked is nobody's.
    /// Permits nothing: the spine opens it anew.
    fn asker(&self, grant: &[u8]) -> Asker {
        let executor = &self.executor;
        let opened = executor.bot.open(grant, &executor.issuers, executor.clock.now()).ok()?;
        (!self.dead.has(Digest::of(grant))).then(|| opened.grant().issuer())
    }
}
