//! Telling a client how far a call has come: one step for each request that the pinned client is handed.
//!
//! INVARIANT: a client is told only what it asked to be told, in numbers that grow; nothing of a request but that it is
//! there. MCP, "Progress".

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pinhole_grant::Dial;
use pinhole_manifest::ApiHost;
use pinhole_runtime::net::{Exchange, Outgoing, Permit, Posting, TokenPermit, Wire, WireLimits};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};

tokio::task_local! {
    static LISTENER: Arc<Listener>;
}

/// A client that wants to know.
pub(super) struct Listener {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    steps: AtomicU32,
}

impl Listener {
    pub(super) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        Self { peer, token, steps: AtomicU32::new(0) }
    }

    async fn step(&self) {
        let step = self.steps.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let told = ProgressNotificationParam::new(self.token.clone(), f64::from(step))
            .with_message(format!("request {step}"));
        if let Err(error) = self.peer.notify_progress(told).await {
            tracing::debug!(%error, "nobody was told of progress");
        }
    }
}

/// Does the work of a call, of which a client wants to know.
pub(super) async fn told<T>(listener: Option<Listener>, work: impl Future<Output = T>) -> T {
    match listener {
        Some(listener) => LISTENER.scope(Arc::new(listener), work).await,
        None => work.await,
    }
}

/// The way out, with a word to the client before each request.
pub(super) struct Telling(pub(super) Arc<dyn Wire>);

impl Wire for Telling {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        let mut exchange = self.0.exchange(permit, request, limits);
        let Ok(listener) = LISTENER.try_with(Arc::clone) else { return exchange };
        Box::pin(async move {
            // A client that does not listen holds nothing up.
            tokio::select! {
                answer = &mut exchange => answer,
                () = listener.step() => exchange.await,
            }
        })
    }

    /// A renewal is no step of the call's own.
    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        self.0.post_form(permit, posting, limits)
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        self.0.dial(host)
    }
}
