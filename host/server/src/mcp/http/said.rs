//! What is answered where no handler answers: JSON-RPC errors, whoever refuses.
//!
//! INVARIANT: every refusal at this address has a JSON-RPC body with the request's id where it is known; none has more of the
//! request, or of what went wrong inside. MCP 2026-07-28, "Errors".

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use serde_json::{Value, json};

use super::era::Era;
use super::message::Message;
use crate::http::Refused;

const JSON: &str = "application/json";
const NOT_PARAMS: &str = "the params are not as the method has them";
/// Longest reason that is passed on, in bytes.
const REASON_BYTES_MAX: usize = 1_024;

/// Why a request is not the handler's to answer.
#[derive(Debug)]
pub(super) enum No {
    /// The door says so.
    Door(Refused, Option<String>),
    /// The body is no JSON.
    NotJson,
    /// The body is a batch, or no object.
    NotOne,
    /// The body is no message.
    NotRpc(Option<String>),
    /// The message has more values than are read.
    TooMany(Option<String>),
    /// There is no method of such a name.
    UnknownMethod(Option<String>, Era),
    /// The params of a call are none.
    NotParams(Option<String>),
    /// The header that names the version is there twice, or is none.
    HeaderMismatch(Option<String>),
    /// Nobody here speaks this version.
    UnsupportedVersion(Option<String>, Value),
    /// There is no such session, or it is somebody else's.
    UnknownSession(Option<String>),
}

impl From<Refused> for No {
    fn from(refused: Refused) -> Self {
        Self::Door(refused, None)
    }
}

impl No {
    /// The door refuses this message.
    pub(super) fn about(message: &Message<'_>, refused: Refused) -> Self {
        Self::Door(refused, message.id_text())
    }

    /// The same about the request of this id.
    pub(super) fn of(self, id: Option<&str>) -> Self {
        let id = id.map(str::to_owned);
        match self {
            Self::Door(refused, _) => Self::Door(refused, id),
            Self::UnknownSession(_) => Self::UnknownSession(id),
            other => other,
        }
    }

    pub(super) fn answer(&self) -> Response {
        match self {
            Self::Door(refused, id) => {
                let message = refused.message();
                let data = refused.retry_after().map(|seconds| json!({"retry_after": seconds}));
                refused.answer(JSON, error(id.as_deref(), code_of(refused), &message, data.as_ref()))
            }
            Self::NotJson => bad(error(None, -32_700, "the body is no JSON", None)),
            Self::NotOne => bad(error(None, -32_600, "send one message a request, not a batch", None)),
            Self::NotRpc(id) => {
                bad(error(id.as_deref(), -32_600, "the body is no JSON-RPC 2.0 message of MCP", None))
            }
            Self::TooMany(id) => {
                let message = "too many values in one message: send less at once";
                bad(error(id.as_deref(), -32_600, message, None))
            }
            Self::UnknownMethod(id, era) => {
                let status = match era {
                    Era::Legacy => StatusCode::OK,
                    Era::Modern => StatusCode::NOT_FOUND,
                };
                answer(status, error(id.as_deref(), -32_601, "there is no method of this name", None))
            }
            Self::NotParams(id) => bad(error(id.as_deref(), -32_602, NOT_PARAMS, None)),
            Self::HeaderMismatch(id) => {
                let message = "send the header `MCP-Protocol-Version` once, and well-formed";
                bad(error(id.as_deref(), -32_020, message, None))
            }
            Self::UnsupportedVersion(id, data) => {
                bad(error(id.as_deref(), -32_022, "unsupported protocol version", Some(data)))
            }
            Self::UnknownSession(id) => {
                let message = "there is no such session: send `initialize` anew";
                answer(StatusCode::NOT_FOUND, error(id.as_deref(), -32_600, message, None))
            }
        }
    }
}

/// An answer of the protocol's own reader, in JSON if it is an error in plain words.
pub(super) async fn in_json(answered: Response, id: Option<&str>) -> Response {
    let status = answered.status();
    let is_json = answered.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == JSON);
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return answered;
    }
    let (mut parts, body) = answered.into_parts();
    let (code, message) = match status {
        // It read JSON, and no message that it knows.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            parts.status = StatusCode::BAD_REQUEST;
            (-32_602, NOT_PARAMS.to_owned())
        }
        status if status.is_server_error() => (-32_603, "the server could not answer".to_owned()),
        _ => {
            let reason = Limited::new(body, REASON_BYTES_MAX).collect().await.ok();
            let reason = reason.map(|reason| String::from_utf8_lossy(&reason.to_bytes()).into_owned());
            (-32_600, reason.unwrap_or_else(|| "the request is refused".to_owned()))
        }
    };
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    Response::from_parts(parts, error(id, code, &message, None).into())
}

fn code_of(refused: &Refused) -> i64 {
    match refused {
        Refused::MediaType
        | Refused::Header(_)
        | Refused::CutOff
        | Refused::TooLarge(_)
        | Refused::Method(_) => -32_600,
        // Of the range that servers define for themselves.
        _ => -32_000,
    }
}

fn error(id: Option<&str>, code: i64, message: &str, data: Option<&Value>) -> String {
    let mut error = json!({"code": code, "message": message});
    if let (Some(data), Some(members)) = (data, error.as_object_mut()) {
        members.insert("data".to_owned(), data.clone());
    }
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}", id.unwrap_or("null"))
}

fn bad(body: String) -> Response {
    answer(StatusCode::BAD_REQUEST, body)
}

fn answer(status: StatusCode, body: String) -> Response {
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
