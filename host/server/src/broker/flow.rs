//! The person's way: from a link in her terminal to the service and back to her own machine.
//!
//! INVARIANT: nothing goes to the service but by a form that this browser was shown, whose every field is signed together with
//! its cookie; a state is taken once, by the browser that has the cookie, at the service that it was for; and the way ends at
//! a loopback address or here. RFC 6749, section 10.12; RFC 9700, sections 4.4 and 4.7.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::header::{CONTENT_TYPE, COOKIE, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};
use pinhole_grant::{KeyId, KeyKind, Secret};
use pinhole_manifest::model::Pkce;
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::oauth::{self, Authorize, Callback, CallbackError, Verifier};
use serde_json::json;

use super::random::{Handle, Random};
use super::refused::NoFlow;
use super::start::Start;
use super::{Broker, Brokered, held, html, reply};
use crate::http::{Peer, Refused, network, whole};

/// `__Host-`: set by this very host, over https, and sent to no other.
const COOKIE_NAME: &str = "__Host-pinhole-flow";
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

/// A flow on its way to the service.
#[derive(Debug)]
pub(super) struct Begun {
    service: ServiceId,
    start: Start,
    browser: Handle,
    state: oauth::State,
    verifier: Option<Verifier>,
}

/// A flow that is back, whose code waits to be asked for.
#[derive(Debug)]
pub(super) struct Back {
    pub(super) service: ServiceId,
    pub(super) cap: Access,
    pub(super) member: KeyId,
    pub(super) challenge: String,
    /// The service's code.
    pub(super) code: Secret,
    pub(super) verifier: Option<Verifier>,
}

/// Says what can be begun here.
pub(super) async fn config(State(broker): State<Arc<Broker>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    if let Err(no) = broker.page(&parts) {
        return reply::no_flow(&no);
    }
    let asked = parts.uri.query().map(|query| {
        let mut named = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "service");
        named.next().and_then(|(_, service)| ServiceId::parse(&service).ok())
    });
    match asked {
        None => reply::json(&json!({
            "broker": broker.parts.address.as_str(),
            "key": broker.key(),
            "services": broker.services().collect::<Vec<_>>(),
        })),
        Some(service) => match service.and_then(|id| Some((broker.service(&id)?, id))) {
            None => reply::no_ask(&super::refused::NoAsk::NoService),
            Some((Brokered { oauth: of, .. }, id)) => reply::json(&json!({
                "broker": broker.parts.address.as_str(),
                "key": broker.key(),
                "service": id,
                "redirect": broker.redirect(&id),
                "scopes": {
                    "read": oauth::asked(of, Access::Read),
                    "write": oauth::asked(of, Access::Write),
                },
                "authorize_url": of.authorize_url.as_str(),
                "token_url": of.token_url.as_str(),
            })),
        },
    }
}

/// Shows what is about to happen. Nothing is remembered of it: the form and the cookie carry it.
pub(super) async fn start(
    State(broker): State<Arc<Broker>>,
    Path(service): Path<String>,
    request: Request,
) -> Response {
    let (parts, _body) = request.into_parts();
    broker.start(&service, &parts).unwrap_or_else(|no| reply::no_flow(&no))
}

/// The button.
pub(super) async fn go(
    State(broker): State<Arc<Broker>>,
    Path(service): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    broker.go(&service, &parts, body).await.unwrap_or_else(|no| reply::no_flow(&no))
}

/// Back from the service.
pub(super) async fn callback(
    State(broker): State<Arc<Broker>>,
    Path(service): Path<String>,
    request: Request,
) -> Response {
    let (parts, _body) = request.into_parts();
    broker.callback(&service, &parts).unwrap_or_else(|no| reply::no_flow(&no))
}

impl Broker {
    fn start(&self, service: &str, parts: &Parts) -> Result<Response, NoFlow> {
        self.page(parts)?;
        let (id, Brokered { entry, oauth, .. }) = self.named(service)?;
        let start = Start::read(parts.uri.query().unwrap_or_default()).map_err(NoFlow::Start)?;
        self.may_connect(&start)?;
        let browser = Random::draw(self.parts.entropy.as_ref()).or(Err(NoFlow::Broken))?;
        let form = self.form_key.sign(&signed(&id, browser.expose(), &start.fields()));
        let to = format!("/oauth/{id}/go");
        let page = html::confirm(entry.manifest.name(), oauth, &start, &to, &form);
        let page = reply::page(http::StatusCode::OK, page);
        Ok(reply::with_cookie(page, cookie(browser.expose(), super::FLOW_LIFE.as_secs())?))
    }

    async fn go(&self, service: &str, parts: &Parts, body: Body) -> Result<Response, NoFlow> {
        let peer = self.page(parts)?;
        self.own_form(&parts.headers)?;
        let (id, Brokered { oauth: of, client, .. }) = self.named(service)?;
        let body = whole(body, &self.parts.limits.http, self.parts.timer.as_ref()).await?;
        let text = std::str::from_utf8(&body).or(Err(NoFlow::Form))?;
        let (start, form) = Start::read_form(text).map_err(NoFlow::Start)?;
        let browser = browser_of(&parts.headers).ok_or(NoFlow::Form)?;
        if !self.form_key.is_own(&signed(&id, browser, &start.fields()), &form) {
            return Err(NoFlow::Form);
        }
        self.may_connect(&start)?;
        let entropy = self.parts.entropy.as_ref();
        let state = oauth::State::new(entropy).or(Err(NoFlow::Broken))?;
        let verifier = match of.pkce {
            Pkce::S256 => Some(Verifier::new(entropy).or(Err(NoFlow::Broken))?),
            Pkce::Unsupported => None,
        };
        let challenge = verifier.as_ref().map(Verifier::challenge);
        let place = Authorize {
            oauth: of,
            client: client.id(),
            redirect: &self.redirect(&id),
            state: &state,
            challenge: challenge.as_deref(),
            cap: start.cap,
        };
        let place = place.url().map_err(|error| {
            tracing::error!(service = %id, %error, "a manifest leads nowhere");
            NoFlow::Broken
        })?;
        let handle = Handle::of(state.expose());
        let begun = Begun { service: id, start, browser: Handle::of(browser), state, verifier };
        held(&self.begun).put(handle, peer, begun, self.parts.timer.now());
        Ok(reply::on(&place))
    }

    fn callback(&self, service: &str, parts: &Parts) -> Result<Response, NoFlow> {
        let peer = self.page(parts)?;
        let (id, Brokered { oauth: of, .. }) = self.named(service)?;
        let query = parts.uri.query().unwrap_or_default();
        let handle = state_of(query).ok_or(NoFlow::NoState)?;
        let now = self.parts.timer.now();
        let browser = browser_of(&parts.headers).map(Handle::of);
        let begun = {
            let mut all = held(&self.begun);
            let waits = all.look(handle, now).ok_or(NoFlow::NoState)?;
            // Whoever has another's state does not even end that one's attempt.
            if Some(waits.browser) != browser {
                return Err(NoFlow::OtherBrowser);
            }
            all.take(handle, now).ok_or(NoFlow::NoState)?
        };
        if begun.service != id {
            return Err(NoFlow::OtherService);
        }
        let Begun { start, state, verifier, .. } = begun;
        let came = oauth::callback(Callback { query, state: &state, oauth: of });
        let end = match came {
            Ok(code) => {
                let own = Random::draw(self.parts.entropy.as_ref()).or(Err(NoFlow::Broken))?;
                let Start { cap, key, challenge, .. } = &start;
                let (cap, member, challenge) = (*cap, key.id(), challenge.clone());
                let back = Back { service: id, cap, member, challenge, code, verifier };
                held(&self.back).put(own.handle(), peer, back, now);
                ended(&start, "code", own.expose())
            }
            Err(CallbackError::Denied) => ended(&start, "error", "access_denied"),
            Err(CallbackError::Refused { code }) => {
                ended(&start, "error", code.map_or("server_error", |code| code.as_str()))
            }
            Err(CallbackError::NotOurs | CallbackError::Malformed | CallbackError::Issuer) => {
                return Err(NoFlow::Answer);
            }
        };
        Ok(reply::with_cookie(reply::on(&end), cookie("", 0)?))
    }

    /// What any page of a browser's takes; counts it.
    fn page(&self, parts: &Parts) -> Result<IpAddr, NoFlow> {
        // `HEAD` is routed like `GET`, and nobody's click.
        if !matches!(parts.method, Method::GET | Method::POST) {
            return Err(Refused::Method("GET").into());
        }
        let says = |name: &HeaderName, word: &str| {
            parts.headers.get_all(name).iter().all(|value| value.as_bytes() == word.as_bytes())
        };
        let wants_config = parts.uri.path() == super::CONFIG_PATH;
        if parts.headers.contains_key(&PURPOSE) || !wants_config && !says(&DEST, "document") {
            return Err(NoFlow::Framed);
        }
        let peer = parts.extensions.get::<Peer>().ok_or(NoFlow::Broken)?;
        let peer = network(peer.address);
        held(&self.pages).pass(peer, self.parts.timer.now()).map_err(NoFlow::TooFast)?;
        Ok(peer)
    }

    fn named(&self, service: &str) -> Result<(ServiceId, Brokered<'_>), NoFlow> {
        let id = ServiceId::parse(service).or(Err(NoFlow::NoService))?;
        let found = self.service(&id).ok_or(NoFlow::NoService)?;
        Ok((id, found))
    }

    /// Members connect; so nobody goes all the way whose exchange would be refused.
    fn may_connect(&self, start: &Start) -> Result<(), NoFlow> {
        let is_known = start.key.kind() != KeyKind::Bot && self.parts.allowed.contains(&start.key);
        if is_known { Ok(()) } else { Err(NoFlow::UnknownKey) }
    }

    /// The form is posted by the broker's own page, and as forms are.
    fn own_form(&self, headers: &HeaderMap) -> Result<(), NoFlow> {
        let own = self.place("");
        let from = one(headers, &ORIGIN).is_some_and(|origin| origin == own);
        let same = headers.get_all(&SITE).iter().all(|site| site == "same-origin");
        let is_form =
            one(headers, &CONTENT_TYPE).is_some_and(|kind| kind == "application/x-www-form-urlencoded");
        if from && same && is_form { Ok(()) } else { Err(NoFlow::Form) }
    }
}

/// What a form is signed over.
fn signed<'a>(
    service: &'a ServiceId,
    browser: &'a str,
    fields: &'a [(&'static str, String); 5],
) -> Vec<&'a str> {
    [service.as_str(), browser].into_iter().chain(fields.iter().map(|(_, value)| value.as_str())).collect()
}

/// The end of a flow, at the person's own machine.
fn ended(start: &Start, name: &str, value: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair(name, value)
        .append_pair("state", &start.state)
        .finish();
    format!("{}?{query}", start.redirect)
}

fn cookie(value: &str, seconds: u64) -> Result<HeaderValue, NoFlow> {
    let text = format!("{COOKIE_NAME}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Lax");
    let mut cookie = HeaderValue::from_str(&text).or(Err(NoFlow::Broken))?;
    cookie.set_sensitive(true);
    Ok(cookie)
}

/// The one cookie of that name; of several none is believed.
fn browser_of(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut own = pairs.filter(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value);
    let first = own.next().filter(|value| !value.is_empty());
    if own.next().is_some() { None } else { first }
}

/// What the state of a query is found by; of several none.
fn state_of(query: &str) -> Option<Handle> {
    let mut states = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state");
    let (_, state) = states.next()?;
    states.next().is_none().then(|| Handle::of(&state))
}

/// The one value of a header; of several none is believed.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
