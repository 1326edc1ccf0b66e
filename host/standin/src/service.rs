//! One request: read it, write it into the log, ask the world, and send the reply, spoiled if a rule says so.
//!
//! INVARIANT: a request is logged before anything else is decided about it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use rustls::ServerConfig;
use tokio::sync::mpsc::UnboundedSender;

use crate::body::Outgoing;
use crate::connection::Order;
use crate::github::Github;
use crate::log::{Log, Seen};
use crate::{Protocol, Reply, Route};

/// Largest request body, in bytes; a larger one gets 413 and is logged without its body.
const REQUEST_MAX: usize = 16 << 20;

/// What all connections of a stand-in share.
pub(crate) struct Stage {
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) protocol: Protocol,
    pub(crate) token: Option<String>,
    pub(crate) scene: Scene,
    pub(crate) log: Log,
}

/// A world that has been set up.
pub(crate) enum Scene {
    Github(Box<Github>),
    Routes(Vec<Route>),
}

/// Who is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) sni: Option<String>,
    pub(crate) alpn: Option<String>,
    pub(crate) connection: usize,
}

/// Why a request gets no reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    /// The client went away in the middle of its request.
    #[error("the request did not arrive whole")]
    Request(#[source] hyper::Error),
}

/// Answers one request.
pub(crate) async fn answer(
    stage: Arc<Stage>,
    peer: Arc<Peer>,
    _orders: UnboundedSender<Order>,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Stopped> {
    let (parts, body) = request.into_parts();
    let collected = Limited::new(body, REQUEST_MAX).collect().await;
    let (body, too_large) = match collected {
        Ok(collected) => (collected.to_bytes(), None),
        Err(error) => match error.downcast::<hyper::Error>() {
            Ok(error) => return Err(Stopped::Request(*error)),
            Err(_limit) => (Bytes::new(), Some(Reply::new(413, "the request is too large\n"))),
        },
    };
    let seen = seen(&parts, body, &peer);
    stage.log.saw(seen.clone());
    let reply = match too_large {
        Some(reply) => reply,
        None => stage.reply(&seen),
    };
    Ok(whole(reply))
}

fn seen(parts: &http::request::Parts, body: Bytes, peer: &Peer) -> Seen {
    let mut headers: HeaderMap = parts.headers.clone();
    if let (Some(authority), false) = (parts.uri.authority(), headers.contains_key("host")) {
        if let Ok(value) = authority.as_str().parse() {
            headers.insert("host", value);
        }
    }
    Seen {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: Seen::headers_of(&headers),
        body,
        sni: peer.sni.clone(),
        alpn: peer.alpn.clone(),
        connection: peer.connection,
    }
}

impl Stage {
    /// What a well-behaved server would answer.
    fn reply(&self, seen: &Seen) -> Reply {
        if let Some(refusal) = self.token.as_deref().and_then(|token| refuse_key(seen, token)) {
            return refusal;
        }
        match &self.scene {
            Scene::Github(github) => github.reply(seen),
            Scene::Routes(routes) => routes
                .iter()
                .find(|route| route.matches(&seen.method, &seen.path, &seen.query))
                .map_or_else(not_found, |route| route.reply.clone()),
        }
    }
}

/// GitHub's 401, where the key is absent or another; a user agent is asked for first by the world itself.
fn refuse_key(seen: &Seen, token: &str) -> Option<Reply> {
    let given = seen.header("authorization").and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token")).then_some(key)
    });
    match given {
        Some(key) if key == token => None,
        _ if seen.header("authorization").is_some() => Some(message(401, "Bad credentials")),
        _ => Some(message(401, "Requires authentication")),
    }
}

/// The reply to what is not there.
pub(crate) fn not_found() -> Reply {
    message(404, "Not Found")
}

/// A failure in GitHub's shape.
pub(crate) fn message(status: u16, message: &str) -> Reply {
    let body = serde_json::json!({
        "message": message,
        "documentation_url": "https://docs.github.com/rest",
        "status": status.to_string(),
    });
    Reply::json(status, &body)
}

/// The reply as it stands.
fn whole(reply: Reply) -> Response<Outgoing> {
    let mut response = Response::new(Outgoing::Whole(reply.body));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}
