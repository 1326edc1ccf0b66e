//! What members and bots ask: a code becomes a pair, a refresh token a fresh one, a token is given up.
//!
//! ```text
//! peer's failures ─► body ─► opened: known key, this broker, now ─► key's rate ─► once ─► the service ─► sealed to who asked
//! ```
//! INVARIANT: nothing is asked of a service before an ask was opened and noted; of a pair nothing is kept, and nothing of it
//! is in a log.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use pinhole_grant::broker::{Answer, NoPair};
use pinhole_grant::{Ask, OpenedAsk, PairHalf, open_ask, seal_answer};
use pinhole_runtime::entropy::seeded;
use pinhole_runtime::oauth::broker::{passed, passed_done};
use pinhole_runtime::oauth::{TokenEndpoint, TokenKind, challenge};

use super::random::Handle;
use super::refused::NoAsk;
use super::{Broker, Brokered, held, reply};
use crate::http::{Peer, Refused, network, whole};

/// A member's code becomes the pair.
pub(super) async fn exchange(State(broker): State<Arc<Broker>>, request: Request) -> Response {
    broker.answer(request, |ask| matches!(ask, Ask::Exchange { .. })).await
}

/// A bot's refresh token becomes a fresh pair.
pub(super) async fn refresh(State(broker): State<Arc<Broker>>, request: Request) -> Response {
    broker.answer(request, |ask| matches!(ask, Ask::Refresh { .. })).await
}

/// A member's token is given up.
pub(super) async fn revoke(State(broker): State<Arc<Broker>>, request: Request) -> Response {
    broker.answer(request, |ask| matches!(ask, Ask::Revoke { .. })).await
}

impl Broker {
    async fn answer(&self, request: Request, belongs: fn(&Ask) -> bool) -> Response {
        let (parts, body) = request.into_parts();
        match self.answered(&parts, body, belongs).await {
            Ok(envelope) => reply::sealed(envelope),
            Err(no) => {
                tracing::debug!(?no, "an ask was not answered");
                reply::no_ask(&no)
            }
        }
    }

    async fn answered(&self, parts: &Parts, body: Body, belongs: fn(&Ask) -> bool) -> Result<Vec<u8>, NoAsk> {
        let peer = parts.extensions.get::<Peer>().ok_or(NoAsk::Broken)?;
        let asked = match self.opened(parts, body, belongs).await {
            Ok(asked) => asked,
            Err(no) => return Err(self.failed(peer, no)),
        };
        peer.standing.keep();
        let by = asked.asker().id();
        held(&self.asks).pass(by, self.parts.timer.now()).map_err(NoAsk::TooFast)?;
        held(&self.once).note(&asked).map_err(NoAsk::Again)?;
        let answer = self.ask(&asked).await;
        let word = match &answer {
            Answer::Pair(_) => "a pair",
            Answer::Revoked => "given up",
            Answer::No(_) => "none",
        };
        tracing::info!(service = %asked.ask().service(), %by, answer = word, "a broker's ask was answered");
        let broken = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "an answer could not be sealed");
            NoAsk::Broken
        };
        let mut rng = seeded(self.parts.entropy.as_ref()).map_err(|error| broken(&error))?;
        seal_answer(&answer, &asked, &self.parts.key, &mut rng).map_err(|error| broken(&error))
    }

    /// An ask that is to be answered, unless it was there already.
    async fn opened(&self, parts: &Parts, body: Body, belongs: fn(&Ask) -> bool) -> Result<OpenedAsk, NoAsk> {
        let mut kinds = parts.headers.get_all(CONTENT_TYPE).iter();
        if kinds.next().is_none_or(|kind| kind != "application/json") || kinds.next().is_some() {
            return Err(Refused::MediaType.into());
        }
        let body = whole(body, &self.parts.limits.http, self.parts.timer.as_ref()).await?;
        let now = held(&self.once).now(self.parts.clock.now());
        let asked = open_ask(&body, &self.parts.key, &self.parts.address, &self.parts.allowed, now);
        let asked = asked.map_err(NoAsk::Open)?;
        if belongs(asked.ask()) { Ok(asked) } else { Err(NoAsk::OtherPlace) }
    }

    fn failed(&self, peer: &Peer, no: NoAsk) -> NoAsk {
        let passed = held(&self.failures).pass(network(peer.address), self.parts.timer.now());
        passed.map_or_else(NoAsk::TooManyFailures, |()| no)
    }

    async fn ask(&self, asked: &OpenedAsk) -> Answer {
        let Some(brokered) = self.service(asked.ask().service()) else {
            return Answer::No(NoPair::NoService);
        };
        let endpoint = self.endpoint(&brokered);
        let pair = match asked.ask() {
            Ask::Exchange { service, cap, code, verifier } => {
                let back = held(&self.back).take(Handle::of(code.expose()), self.parts.timer.now());
                let is_own = |back: &super::flow::Back| {
                    back.member == asked.asker().id()
                        && (&back.service, back.cap) == (service, *cap)
                        && back.challenge == challenge(verifier.expose())
                };
                let Some(back) = back.filter(is_own) else { return Answer::No(NoPair::BadCode) };
                let redirect = self.redirect(service);
                endpoint.exchange(&back.code, back.verifier.as_ref(), &redirect, *cap).await
            }
            Ask::Refresh { refresh, .. } => endpoint.refresh(refresh).await,
            Ask::Revoke { token, half, .. } => {
                let kind = match half {
                    PairHalf::Access => TokenKind::Access,
                    PairHalf::Refresh => TokenKind::Refresh,
                };
                return passed_done(endpoint.revoke(token, kind).await);
            }
        };
        passed(pair)
    }

    /// The service's token endpoint, as this broker's client asks it; dialled as this broker's operator says.
    fn endpoint<'a>(&'a self, brokered: &Brokered<'a>) -> TokenEndpoint<'a> {
        let wire = self.parts.wire.as_ref();
        TokenEndpoint {
            wire,
            oauth: brokered.oauth,
            client: brokered.client,
            dial: wire.dial(&brokered.oauth.token_url.host()),
            now: self.parts.clock.now(),
        }
    }
}
