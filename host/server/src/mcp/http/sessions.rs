//! `rmcp`'s service, with sessions of the older protocol or without, and whose each session is.
//!
//! INVARIANT: a session answers to the principal who opened it; for everybody else there is none of that id. They are
//! bounded in number, for each principal and for all, and end when nothing happens in them for [`IDLE`].

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::HeaderMap;
use pinhole_grant::PrincipalId;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::SESSION;
use super::era::Era;
use super::message::{Message, What};
use super::said::No;
use crate::http::{Refused, Sessions};

/// How long nothing may happen in a session.
const IDLE: Duration = Duration::from_mins(15);
/// Most sessions of one principal: who opens another loses the oldest.
const OWN_MAX: usize = 16;
/// Most sessions of all.
const ALL_MAX: usize = 512;

/// The protocol's own service.
pub(super) enum Service<H> {
    /// Every request alone.
    Alone(StreamableHttpService<H, NeverSessionManager>),
    /// With sessions.
    InSessions(StreamableHttpService<H, LocalSessionManager>, Owned),
}

/// Whose each session is.
pub(super) struct Owned {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<Arc<str>, Owner>>,
}

struct Owner {
    holder: PrincipalId,
    since: Instant,
}

/// The session that a request is part of, or is about to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InSession;

impl<H: ServerHandler + Clone> Service<H> {
    pub(super) fn new(handler: H, sessions: Sessions, cut: CancellationToken) -> Self {
        // Hosts, origins and the length of bodies were looked at before.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(usize::MAX)
            .with_json_response(true)
            .with_legacy_session_mode(sessions == Sessions::On)
            .with_cancellation_token(cut);
        let factory = move || Ok(handler.clone());
        match sessions {
            Sessions::Off => Self::Alone(StreamableHttpService::new(factory, Arc::default(), config)),
            Sessions::On => {
                let mut manager = LocalSessionManager::default();
                manager.session_config.keep_alive = Some(IDLE);
                let manager = Arc::new(manager);
                let service = StreamableHttpService::new(factory, Arc::clone(&manager), config);
                Self::InSessions(service, Owned { manager, owners: Mutex::default() })
            }
        }
    }

    /// Answers.
    pub(super) fn call(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send>> {
        match self {
            Self::Alone(service) => {
                let service = service.clone();
                Box::pin(async move { service.handle(request).await.map(Body::new) })
            }
            Self::InSessions(service, _) => {
                let service = service.clone();
                Box::pin(async move { service.handle(request).await.map(Body::new) })
            }
        }
    }

    /// The session that a message is part of or opens, if it is its sender's and there is room.
    pub(super) async fn session(
        &self,
        headers: &HeaderMap,
        era: Era,
        message: &Message<'_>,
        holder: PrincipalId,
    ) -> Result<Option<InSession>, No> {
        let Self::InSessions(_, owned) = self else { return Ok(None) };
        if era == Era::Modern {
            return Ok(None);
        }
        if headers.contains_key(SESSION) {
            owned.is_own(headers, holder)?;
        } else if message.what == What::Initialize {
            owned.make_room(holder).await?;
        }
        Ok(Some(InSession))
    }

    /// Refuses what names a session that is not its sender's.
    pub(super) fn own_session(&self, headers: &HeaderMap, holder: PrincipalId) -> Result<(), No> {
        match self {
            Self::InSessions(_, owned) if headers.contains_key(SESSION) => owned.is_own(headers, holder),
            _ => Ok(()),
        }
    }

    /// Notes whose a session is that an answer has opened.
    pub(super) fn opened(&self, answer: &Response, holder: PrincipalId, now: Instant) {
        let Self::InSessions(_, owned) = self else { return };
        if let Some(id) = answer.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            owned.owners().insert(id.into(), Owner { holder, since: now });
        }
    }
}

impl Owned {
    fn owners(&self) -> MutexGuard<'_, HashMap<Arc<str>, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_own(&self, headers: &HeaderMap, holder: PrincipalId) -> Result<(), No> {
        let mut ids = headers.get_all(SESSION).iter();
        let id = ids.next().and_then(|id| id.to_str().ok()).filter(|_id| ids.next().is_none());
        let is_own = id.is_some_and(|id| self.owners().get(id).is_some_and(|owner| owner.holder == holder));
        if is_own { Ok(()) } else { Err(No::UnknownSession(None)) }
    }

    async fn make_room(&self, holder: PrincipalId) -> Result<(), No> {
        let open: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let oldest = {
            let mut owners = self.owners();
            owners.retain(|id, _owner| open.contains(id));
            let own = owners.iter().filter(|(_id, owner)| owner.holder == holder);
            let oldest =
                own.clone().min_by_key(|(_id, owner)| owner.since).map(|(id, _owner)| Arc::clone(id));
            let is_full = own.count() >= OWN_MAX;
            let oldest = oldest.filter(|_id| is_full);
            if let Some(id) = &oldest {
                owners.remove(id);
            } else if open.len() >= ALL_MAX {
                return Err(Refused::Busy.into());
            }
            oldest
        };
        if let Some(id) = oldest
            && let Err(error) = self.manager.close_session(&id).await
        {
            tracing::debug!(%error, "a session was closed already");
        }
        Ok(())
    }
}
