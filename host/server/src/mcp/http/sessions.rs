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
    InSessions(StreamableHttpService<H, LocalSessionManager>, Arc<Owned>),
}

/// Whose each session is.
pub(super) struct Owned {
    manager: Arc<LocalSessionManager>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    owners: HashMap<Arc<str>, Owner>,
    /// How many are about to be opened, by whom.
    opening: HashMap<PrincipalId, usize>,
}

struct Owner {
    holder: PrincipalId,
    since: Instant,
}

/// What a message has of sessions.
pub(super) enum Seat {
    /// Nothing.
    Alone,
    /// It is part of one, or asks for what only one could give.
    Taken,
    /// It opens one, for which there is room.
    Reserved(Reserved),
}

/// Room for a session that is about to be opened; it counts as one until this is dropped.
pub(super) struct Reserved {
    owned: Arc<Owned>,
    /// `None` once the session counts for itself.
    holder: Option<PrincipalId>,
}

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
                Self::InSessions(service, Arc::new(Owned { manager, held: Mutex::default() }))
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

    /// What a message has of sessions, if it is its sender's and there is room.
    pub(super) async fn seat(
        &self,
        headers: &HeaderMap,
        era: Era,
        message: &Message<'_>,
        holder: PrincipalId,
    ) -> Result<Seat, No> {
        let Self::InSessions(_, owned) = self else { return Ok(Seat::Alone) };
        if era == Era::Modern {
            return Ok(Seat::Alone);
        }
        if headers.contains_key(SESSION) {
            owned.is_own(headers, holder)?;
        } else if message.what == What::Initialize {
            return Ok(Seat::Reserved(owned.reserve(holder).await?));
        }
        Ok(Seat::Taken)
    }

    /// Refuses what names a session that is not its sender's.
    pub(super) fn own_session(&self, headers: &HeaderMap, holder: PrincipalId) -> Result<(), No> {
        match self {
            Self::InSessions(_, owned) if headers.contains_key(SESSION) => owned.is_own(headers, holder),
            _ => Ok(()),
        }
    }
}

impl Owned {
    /// Each change is one step, so what a thread left behind when it panicked is whole.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_own(&self, headers: &HeaderMap, holder: PrincipalId) -> Result<(), No> {
        let mut ids = headers.get_all(SESSION).iter();
        let id = ids.next().and_then(|id| id.to_str().ok()).filter(|_id| ids.next().is_none());
        let is_own =
            id.is_some_and(|id| self.held().owners.get(id).is_some_and(|owner| owner.holder == holder));
        if is_own { Ok(()) } else { Err(No::UnknownSession(None)) }
    }

    /// Reserves room: the holder's oldest session's, if it must be.
    async fn reserve(self: &Arc<Self>, holder: PrincipalId) -> Result<Reserved, No> {
        let (reserved, oldest) = {
            // Whoever owns a session, it was in here before.
            let open = self.manager.sessions.read().await;
            let mut held = self.held();
            held.owners.retain(|id, _owner| open.contains_key(id));
            let oldest = held.room_for(holder, open.len())?;
            let opening = held.opening.entry(holder).or_default();
            *opening = opening.saturating_add(1);
            (Reserved { owned: Arc::clone(self), holder: Some(holder) }, oldest)
        };
        if let Some(id) = oldest
            && let Err(error) = self.manager.close_session(&id).await
        {
            tracing::debug!(%error, "a session was closed already");
        }
        Ok(reserved)
    }
}

impl Held {
    /// Whether there is room for another; and which session is nobody's any more, to make it.
    fn room_for(&mut self, holder: PrincipalId, open: usize) -> Result<Option<Arc<str>>, Refused> {
        let own = || self.owners.iter().filter(|(_id, owner)| owner.holder == holder);
        let opening = self.opening.get(&holder).copied().unwrap_or_default();
        if own().count().saturating_add(opening) < OWN_MAX {
            let all = self.opening.values().fold(open, |all, opening| all.saturating_add(*opening));
            return if all < ALL_MAX { Ok(None) } else { Err(Refused::Busy) };
        }
        // Where all of them are about to be opened, none is older.
        let oldest = own().min_by_key(|(_id, owner)| owner.since).ok_or(Refused::Busy)?;
        let oldest = Arc::clone(oldest.0);
        self.owners.remove(&oldest);
        Ok(Some(oldest))
    }

    fn has_opened(&mut self, holder: PrincipalId) {
        if let Some(opening) = self.opening.get_mut(&holder) {
            *opening = opening.saturating_sub(1);
            if *opening == 0 {
                self.opening.remove(&holder);
            }
        }
    }
}

impl Reserved {
    /// Notes whose the session is that an answer has opened.
    pub(super) fn opened(mut self, answer: &Response, now: Instant) {
        let id = answer.headers().get(SESSION).and_then(|id| id.to_str().ok());
        let Some((id, holder)) = id.and_then(|id| Some((id, self.holder.take()?))) else { return };
        let mut held = self.owned.held();
        held.has_opened(holder);
        held.owners.insert(id.into(), Owner { holder, since: now });
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(holder) = self.holder {
            self.owned.held().has_opened(holder);
        }
    }
}
