//! Answers: an outcome as it is everywhere, and what the sidecar itself refuses, in the same shape.
//!
//! INVARIANT: the outcome's `ok` says whether it ran; the status only repeats it for who looks at nothing else. Where a request may
//! have left for the service, the status is none that clients repeat by themselves.

use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use pinhole_manifest::{OpId, ServiceId};
use pinhole_runtime::Outcome;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{Code, ExitClass, Refusal};
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::Refused;
use crate::research::Declined;

const JSON: &str = "application/json";
const HINT: &str = "the sidecar itself refused it: no grant was used, and nothing was spent or sent";

/// Why there is no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum No {
    /// It got no further than the door.
    Door(Refused),
    /// What was sent is not what is taken here; it says why.
    Malformed(String),
    /// There is no such session, or none is opened.
    Session(NoSession),
}

/// Why there is no research session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoSession {
    /// None of that id is the caller's and lives.
    Unknown,
    /// There are as many as may be.
    TooMany,
    /// A grant is refused.
    Grant(Box<Refusal>),
    /// The grants cover more than can be offered; it says how much.
    TooMuch(String),
    /// No id can be drawn.
    Entropy,
}

/// What the log and the counts are told of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) service: Option<ServiceId>,
    pub(super) op: Option<OpId>,
    pub(super) code: Option<&'static str>,
    pub(super) sent: Option<Sent>,
}

/// The status of an outcome.
pub(super) fn status(outcome: &Outcome) -> StatusCode {
    outcome.refusal().map_or(StatusCode::OK, status_of)
}

fn status_of(refusal: &Refusal) -> StatusCode {
    match (refusal.code, refusal.code.exit_class(), refusal.sent) {
        (Code::Busy, ..) => StatusCode::TOO_MANY_REQUESTS,
        (_, ExitClass::Failed, _) | (_, _, Sent::Yes | Sent::Maybe) => StatusCode::FAILED_DEPENDENCY,
        (_, ExitClass::Refused, Sent::No) => StatusCode::FORBIDDEN,
        (_, ExitClass::Invalid, Sent::No) => StatusCode::UNPROCESSABLE_ENTITY,
        (_, ExitClass::Local, Sent::No) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The answer that an outcome is.
pub(super) fn outcome(outcome: &Outcome) -> Response {
    with_status(outcome, status(outcome))
}

/// The same with another status than the usual one.
pub(super) fn with_status(outcome: &Outcome, status: StatusCode) -> Response {
    let mut answer = text(status, outcome.to_json());
    let refusal = outcome.refusal();
    if let Some(seconds) = refusal.and_then(|refusal| refusal.retry_after) {
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    answer.extensions_mut().insert(Told {
        service: Some(outcome.service.clone()),
        op: Some(outcome.op.clone()),
        code: refusal.map(|refusal| refusal.code.as_str()),
        sent: refusal.map(|refusal| refusal.sent),
    });
    answer
}

/// The answer to a call in a session: the status and what is logged are those of the run, if there was one, or of why the session
/// passes nothing on.
pub(super) fn in_session(
    document: &impl Serialize,
    outcome: Option<&Outcome>,
    declined: Option<&Declined>,
) -> Response {
    let status = match declined.map(|declined| (declined.code, declined.sent)) {
        None => outcome.map_or(StatusCode::OK, status),
        Some((_, Sent::Yes | Sent::Maybe)) => StatusCode::FAILED_DEPENDENCY,
        Some(("no_such_tool" | "session_over", Sent::No)) => StatusCode::NOT_FOUND,
        Some(("no_entropy", Sent::No)) => StatusCode::INTERNAL_SERVER_ERROR,
        Some((_, Sent::No)) => StatusCode::FORBIDDEN,
    };
    let mut answer = text(status, serde_json::to_string(document).unwrap_or_default());
    let refusal = outcome.and_then(Outcome::refusal);
    answer.extensions_mut().insert(Told {
        service: outcome.map(|outcome| outcome.service.clone()),
        op: outcome.map(|outcome| outcome.op.clone()),
        code: declined.map(|declined| declined.code).or(refusal.map(|refusal| refusal.code.as_str())),
        sent: declined.map(|declined| declined.sent).or(refusal.map(|refusal| refusal.sent)),
    });
    answer
}

/// Any other answer that is JSON.
pub(super) fn document(document: &impl Serialize) -> Response {
    // What is served is made of texts and numbers.
    text(StatusCode::OK, serde_json::to_string(document).unwrap_or_default())
}

fn text(status: StatusCode, text: String) -> Response {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// What the door refuses.
pub(super) fn refused(refused: &Refused) -> Response {
    let said = refused.message();
    let body = refusal(code_of(refused), &said, refused.retry_after());
    let mut answer = refused.answer(JSON, body.to_string());
    answer.extensions_mut().insert(Told { code: Some(code_of(refused)), ..Told::default() });
    answer
}

impl No {
    pub(super) fn answer(&self) -> Response {
        match self {
            Self::Door(door) => refused(door),
            Self::Malformed(why) => {
                let mut answer =
                    text(StatusCode::BAD_REQUEST, refusal("malformed_request", why, None).to_string());
                answer.extensions_mut().insert(Told { code: Some("malformed_request"), ..Told::default() });
                answer
            }
            Self::Session(no) => no.answer(),
        }
    }
}

impl NoSession {
    fn answer(&self) -> Response {
        let (status, code, body) = match self {
            Self::Grant(refusal) => {
                let body = json!({"ok": false, "refusal": refusal});
                (status_of(refusal), refusal.code.as_str(), body)
            }
            Self::Unknown => {
                let said = "there is no such session: it is over, or was never here, or is not yours";
                of_own(StatusCode::NOT_FOUND, "no_such_session", said, None)
            }
            Self::TooMany => {
                let said = "as many sessions are open as may be: end those that are not needed any more";
                of_own(StatusCode::TOO_MANY_REQUESTS, "too_many_sessions", said, Some(60))
            }
            Self::TooMuch(said) => of_own(StatusCode::FORBIDDEN, "too_many_tools", said, None),
            Self::Entropy => {
                let said = "this host has no entropy to draw an id from";
                of_own(StatusCode::INTERNAL_SERVER_ERROR, "no_entropy", said, None)
            }
        };
        let mut answer = text(status, body.to_string());
        if matches!(self, Self::TooMany) {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
        }
        answer.extensions_mut().insert(Told { code: Some(code), ..Told::default() });
        answer
    }
}

fn of_own(
    status: StatusCode,
    code: &'static str,
    message: &str,
    retry_after: Option<u64>,
) -> (StatusCode, &'static str, Value) {
    (status, code, refusal(code, message, retry_after))
}

fn refusal(code: &str, message: &str, retry_after: Option<u64>) -> Value {
    let mut refusal = json!({"code": code, "message": message, "hint": HINT, "sent": "no"});
    if let (Some(members), Some(seconds)) = (refusal.as_object_mut(), retry_after) {
        members.insert("retry_after".to_owned(), seconds.into());
    }
    json!({"ok": false, "refusal": refusal})
}

/// Every code of the sidecar's own.
pub(super) const CODES: [&str; 18] = [
    "malformed_request",
    "no_token",
    "not_for_you",
    "not_found",
    "wrong_method",
    "too_slow",
    "too_large",
    "not_json",
    "too_many_failures",
    "not_now",
    "no_such_session",
    "too_many_sessions",
    "too_many_tools",
    "no_such_tool",
    "session_over",
    "no_calls_left",
    "no_bytes_left",
    "no_entropy",
];

fn code_of(refused: &Refused) -> &'static str {
    match refused {
        Refused::Header(_) | Refused::TokenInAddress | Refused::CutOff => "malformed_request",
        Refused::NoToken(_) | Refused::NotBearer(_) | Refused::BadToken(_) => "no_token",
        Refused::Host | Refused::Origin | Refused::TooLittleScope(_) => "not_for_you",
        Refused::NotFound(_) => "not_found",
        Refused::Method(_) => "wrong_method",
        Refused::TooSlow => "too_slow",
        Refused::TooLarge(_) => "too_large",
        Refused::MediaType => "not_json",
        Refused::TooManyFailures(_) | Refused::TooFast(_) => "too_many_failures",
        Refused::Busy | Refused::Store => "not_now",
    }
}
