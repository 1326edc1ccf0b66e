//! The service of a recorded case: it answers each request with what was recorded, if the request is exactly the recorded
//! one.
//!
//! Refuses everything after the first difference. Treats redirects and sizes as the pinned client does.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use percent_encoding::percent_decode_str;
use pinhole_grant::Dial;
use pinhole_manifest::ApiHost;
use pinhole_manifest::cases::{CaseRequest, CaseResponse, Exchange};
use pinhole_manifest::model::AuthScheme;
use zeroize::Zeroizing;

use crate::call::{credential_value, credential_value_shown};
use crate::net::{
    Body, Incoming, Outgoing, Permit, Posting, Sent, TokenPermit, Wire, WireError, WireErrorKind, WireLimits,
};
use crate::project::{Key, Tree};

/// What is still to come, and what went wrong.
pub(super) struct Script {
    state: Mutex<State>,
    shown: Shown,
}

/// How a case shows a request.
pub(super) struct Shown {
    /// The credential's header value as it must be sent, and as a case shows it.
    credential: (Zeroizing<String>, String),
    /// The header whose value is another for every grant.
    idempotency: Option<String>,
}

/// How a case shows the value by which the service knows a repeated write.
const IDEMPOTENCY_SHOWN: &str = "<idempotency>";

struct State {
    exchanges: VecDeque<Exchange>,
    done: usize,
    difference: Option<(usize, String)>,
}

impl Script {
    pub(super) fn new(
        exchanges: Vec<Exchange>,
        scheme: &AuthScheme,
        secret: &str,
        idempotency: Option<&str>,
    ) -> Self {
        let state = State { exchanges: exchanges.into(), done: 0, difference: None };
        Self { state: Mutex::new(state), shown: Shown::new(scheme, secret, idempotency) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first difference, with the number of its request.
    pub(super) fn difference(&self) -> Option<(usize, String)> {
        self.state().difference.clone()
    }

    /// How many recorded requests were not sent.
    pub(super) fn unsent(&self) -> usize {
        self.state().exchanges.len()
    }

    fn answer(&self, request: &Outgoing) -> Option<CaseResponse> {
        let mut state = self.state();
        if state.difference.is_some() {
            return None;
        }
        state.done = state.done.saturating_add(1);
        let number = state.done;
        let Some(exchange) = state.exchanges.pop_front() else {
            let sent = format!("{} {}", request.method, request.target);
            state.difference = Some((number, format!("`{sent}` was sent, and no more is recorded")));
            return None;
        };
        if let Err(difference) = self.compare(&exchange.request, request) {
            state.difference = Some((number, difference));
            return None;
        }
        Some(exchange.response)
    }

    fn compare(&self, recorded: &CaseRequest, sent: &Outgoing) -> Result<(), String> {
        let (path, query) = sent.target.split_once('?').unwrap_or((&sent.target, ""));
        differ("method", recorded.method.as_str(), sent.method.as_str())?;
        differ("path", &recorded.path, path)?;
        let recorded_query: BTreeMap<_, _> = recorded.query.iter().cloned().collect();
        differ("query", &format!("{recorded_query:?}"), &format!("{:?}", decoded(query)))?;
        let recorded_headers: BTreeMap<_, _> = recorded.headers.iter().cloned().collect();
        differ("headers", &format!("{recorded_headers:?}"), &format!("{:?}", self.shown.headers(sent)?))?;
        let body = sent.body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned());
        let recorded_body = recorded.body.as_ref().map(pinhole_manifest::cases::JsonText::as_str);
        if same_body(recorded_body, body.as_deref()) {
            return Ok(());
        }
        differ("body", recorded_body.unwrap_or("none"), body.as_deref().unwrap_or("none"))
    }
}

impl Shown {
    pub(super) fn new(scheme: &AuthScheme, secret: &str, idempotency: Option<&str>) -> Self {
        let credential = (credential_value(scheme, secret), credential_value_shown(scheme));
        Self { credential, idempotency: idempotency.map(str::to_owned) }
    }

    /// The headers as a case shows them. The credential must be exactly what the scheme makes of it; an idempotency key
    /// need only be there.
    pub(super) fn headers(&self, sent: &Outgoing) -> Result<BTreeMap<String, String>, String> {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let mut headers: BTreeMap<String, String> =
            sent.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let (name, value) = &sent.credential;
        let (wanted, shown) = &self.credential;
        if value.as_bytes() != wanted.as_bytes() || !value.is_sensitive() {
            return Err("the credential was not put in as the scheme says".to_owned());
        }
        headers.insert(name.to_string(), shown.clone());
        if let Some(value) = self.idempotency.as_ref().and_then(|name| headers.get_mut(name)) {
            IDEMPOTENCY_SHOWN.clone_into(value);
        }
        Ok(headers)
    }
}

fn differ(what: &str, recorded: &str, sent: &str) -> Result<(), String> {
    if recorded == sent { Ok(()) } else { Err(format!("{what}: recorded {recorded}, sent {sent}")) }
}

/// A query's parameters, each with its values in their order.
pub(super) fn decoded(query: &str) -> BTreeMap<String, Vec<String>> {
    let mut pairs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let text = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        pairs.entry(text(key)).or_default().push(text(value));
    }
    pairs
}

/// Equal as JSON, or a recorded JSON text that is the sent body letter by letter.
pub(super) fn same_body(recorded: Option<&str>, sent: Option<&str>) -> bool {
    let (Some(recorded), Some(sent)) = (recorded, sent) else {
        return recorded == sent;
    };
    let Ok(recorded) = Tree::parse(recorded.as_bytes()) else {
        return false;
    };
    match (Tree::parse(sent.as_bytes()), &recorded) {
        (Ok(sent), recorded) if same(&sent, recorded) => true,
        (_, Tree::String(text)) => text == sent,
        _ => false,
    }
}

/// Equal values, whatever the order of members. Numbers are equal digit by digit.
pub(super) fn same(a: &Tree, b: &Tree) -> bool {
    match (a, b) {
        (Tree::Array(a), Tree::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Tree::Object(a), Tree::Object(b)) => {
            let sorted = |members: &[(Key, Tree)]| {
                let mut members = members.to_vec();
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                members
            };
            let (a, b) = (sorted(a), sorted(b));
            a.len() == b.len() && a.iter().zip(&b).all(|((ka, va), (kb, vb))| ka == kb && same(va, vb))
        }
        _ => a == b,
    }
}

/// A [`Wire`] to a script.
pub(super) struct ReplayWire {
    script: Arc<Script>,
}

impl ReplayWire {
    pub(super) fn new(script: Arc<Script>) -> Self {
        Self { script }
    }
}

impl Wire for ReplayWire {
    fn exchange(&self, _permit: Permit, request: Outgoing, limits: WireLimits) -> crate::net::Exchange<'_> {
        let answer = self.script.answer(&request);
        Box::pin(std::future::ready(incoming(answer, limits)))
    }

    fn post_form(
        &self,
        _permit: TokenPermit,
        _posting: Posting,
        _limits: WireLimits,
    ) -> crate::net::Exchange<'_> {
        Box::pin(std::future::ready(Err(no_tokens())))
    }

    fn dial(&self, _host: &ApiHost) -> Dial {
        Dial::Overridden
    }
}

/// A case holds the requests of an op: what renews a key is none.
pub(super) fn no_tokens() -> WireError {
    WireError::new(WireErrorKind::Unsendable, Sent::No, "a recorded case has no token endpoint")
}

/// A recorded answer as the pinned client would bring it; none is an exchange that broke off.
pub(super) fn incoming(answer: Option<CaseResponse>, limits: WireLimits) -> Result<Incoming, WireError> {
    let refused = |kind, sent| Err(WireError::new(kind, sent, "recorded case"));
    let Some(answer) = answer else {
        return refused(WireErrorKind::Interrupted, Sent::No);
    };
    let Ok(status) = StatusCode::from_u16(answer.status) else {
        return refused(WireErrorKind::BadResponse, Sent::Maybe);
    };
    if status.is_redirection() {
        return refused(WireErrorKind::Redirected { status }, Sent::Yes);
    }
    if u64::try_from(answer.body.len()).unwrap_or(u64::MAX) > limits.response_bytes {
        return refused(WireErrorKind::ResponseTooLarge, Sent::Yes);
    }
    let mut headers = HeaderMap::new();
    for (name, value) in &answer.headers {
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => headers.append(name, value),
            _ => return refused(WireErrorKind::BadResponse, Sent::Yes),
        };
    }
    Ok(Incoming { status, headers, body: Body::whole(answer.body) })
}
