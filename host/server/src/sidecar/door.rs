//! What all requests share: who may come in, whose turn it is, what runs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use pinhole_grant::{PrincipalId, Standing};
use pinhole_manifest::model::Op;
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::clock::Timer;
use pinhole_runtime::store::Desk;
use pinhole_runtime::{CallRequest, Executor};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::No;
use super::metrics::Metrics;
use super::posted::Posted;
use super::queue::{Asker, Entered, Lane, Queue, Slot};
use super::sessions::Sessions;
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
    /// The check of tokens, where there are any.
    pub(super) admission: Option<Admission>,
    pub(super) settings: Arc<HttpSettings>,
    pub(super) stop: CancellationToken,
    /// Writes that were begun.
    pub(super) tasks: TaskTracker,
    pub(super) metrics: Metrics,
    /// Who may look through receipts at once.
    pub(super) looking: Semaphore,
    /// Research sessions that are open.
    pub(super) sessions: Sessions,
}

/// Whose request it is.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) id: Option<PrincipalId>,
    pub(super) reach: Reach,
}

/// Why a call has no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// As many wait as may.
    Full,
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

    /// Whether a service of that name, or an op of it, shows for somebody.
    pub(super) fn shows(&self, caller: &Caller, call: &CallRequest) -> Shows {
        let Some(op) = self.op(call) else { return Shows::Yes };
        if caller.reach.covers(&call.service, op.access) {
            return Shows::Yes;
        }
        let of_service =
            [Access::Read, Access::Write].iter().any(|access| caller.reach.covers(&call.service, *access));
        if of_service { Shows::NotTheOp } else { Shows::Nothing }
    }

    /// A place among those that run, once it is this call's turn. Who stops waiting leaves the queue.
    pub(super) async fn turn(&self, call: &CallRequest) -> Result<Slot, NoTurn> {
        if self.stop.is_cancelled() {
            return Err(NoTurn::Stopping);
        }
        match self.queue.enter(&self.lane(&call.service), || self.asker(&call.grant)) {
            Entered::Now(slot) => Ok(slot),
            Entered::Full => Err(NoTurn::Full),
            Entered::Later(waiting) => tokio::select! {
                biased;
                () = self.stop.cancelled() => Err(NoTurn::Stopping),
                slot = waiting => Ok(slot),
            },
        }
    }

    fn lane(&self, service: &ServiceId) -> Lane {
        self.executor.catalog.find(service).map(|entry| entry.manifest.id().clone())
    }

    /// The member whose grant it is, if she is believed here and it opens. Permits nothing: the spine opens it anew.
    fn asker(&self, grant: &[u8]) -> Asker {
        let shown = self.executor.bot.inspect(grant, &self.executor.issuers).ok()?;
        (shown.standing == Standing::Good).then_some(shown.issuer)
    }
}

/// What of a call shows for somebody. What is left out cannot be told from what is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    Yes,
    NotTheOp,
    Nothing,
}
