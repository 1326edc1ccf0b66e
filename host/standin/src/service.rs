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
use crate::misbehaviour::Rules;
use crate::spoil::{Act, spoil, whole};
use crate::{Protocol, Provider, Reply, Route, Shelf};

/// Largest request body, in bytes; a larger one gets 413 and is logged without its body.
const REQUEST_MAX: usize = 16 << 20;

/// What all connections of a stand-in share.
pub(crate) struct Stage {
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) protocol: Protocol,
    pub(crate) token: Option<String>,
    pub(crate) provider: Option<Provider>,
    pub(crate) scene: Scene,
    pub(crate) rules: Rules,
    pub(crate) log: Log,
}

/// A world that has been set up.
pub(crate) enum Scene {
    Github(Box<Github>),
    /// And the host in its links.
    Shelf(Shelf, String),
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
    /// The stream is to be reset; hyper takes the code from the source.
    #[error("the stream is reset")]
    Reset(#[source] h2::Error),
    /// The connection speaks no HTTP any more.
    #[error("the connection was taken over")]
    TakenOver,
}

/// Answers one request.
pub(crate) async fn answer(
    stage: Arc<Stage>,
    peer: Arc<Peer>,
    orders: UnboundedSender<Order>,
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
    let act = match (too_large, stage.rules.due(&seen.path)) {
        (Some(reply), _) => Act::Send(whole(reply)),
        (None, None) => Act::Send(whole(stage.reply(&seen))),
        (None, Some(how)) => spoil(how, &seen, parts.version, || stage.reply(&without_packing(&seen))),
    };
    carry_out(act, &orders).await
}

async fn carry_out(act: Act, orders: &UnboundedSender<Order>) -> Result<Response<Outgoing>, Stopped> {
    match act {
        Act::Send(response) => Ok(response),
        Act::Later(delay, response) => {
            tokio::time::sleep(delay).await;
            Ok(response)
        }
        Act::SendThenFinish(response) => {
            orders.send(Order::Finish).map_err(|_ended| Stopped::TakenOver)?;
            Ok(response)
        }
        Act::SendThenCut(response) => {
            orders.send(Order::CutSoon).map_err(|_ended| Stopped::TakenOver)?;
            Ok(response)
        }
        Act::Script(script) => {
            orders.send(Order::Script(script)).map_err(|_ended| Stopped::TakenOver)?;
            // The connection drops hyper, and this with it; over HTTP/2 this is a task of its own and ends here.
            orders.closed().await;
            Err(Stopped::TakenOver)
        }
        Act::Reset(code) => Err(Stopped::Reset(h2::Reason::from(code).into())),
    }
}

/// The request as if it took no packed reply, so that there is something to spoil.
fn without_packing(seen: &Seen) -> Seen {
    let mut seen = seen.clone();
    seen.headers.retain(|(name, _)| name != "accept-encoding");
    seen
}

fn seen(parts: &http::request::Parts, body: Bytes, peer: &Peer) -> Seen {
    let mut headers: HeaderMap = parts.headers.clone();
    if !headers.contains_key("host")
        && let Some(authority) = parts.uri.authority()
        && let Ok(value) = authority.as_str().parse()
    {
        headers.insert("host", value);
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
        if let Some(reply) = self.provider.as_ref().and_then(|provider| provider.reply(seen)) {
            return reply;
        }
        if let Some(refusal) = self.refuse_key(seen) {
            return refusal;
        }
        match &self.scene {
            Scene::Github(github) => github.reply(seen),
            Scene::Shelf(world, host) => world.reply(host, seen),
            Scene::Routes(routes) => routes
                .iter()
                .find(|route| route.matches(&seen.method, &seen.path, &seen.query))
                .map_or_else(not_found, |route| route.reply.clone()),
        }
    }

    /// GitHub's 401, where the key is absent or another. It comes before the world is asked, whichever world it is.
    fn refuse_key(&self, seen: &Seen) -> Option<Reply> {
        let given = given_key(seen);
        let good = match (&self.provider, self.token.as_deref()) {
            (Some(provider), _) => given.is_some_and(|key| provider.takes(key)),
            (None, Some(token)) => given == Some(token),
            (None, None) => true,
        };
        match seen.header("authorization") {
            _ if good => None,
            Some(_) => Some(message(401, "Bad credentials")),
            None => Some(message(401, "Requires authentication")),
        }
    }
}

/// The key of a request.
fn given_key(seen: &Seen) -> Option<&str> {
    seen.header("authorization").and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token")).then_some(key)
    })
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
