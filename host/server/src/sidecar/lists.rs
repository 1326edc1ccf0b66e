//! What can be asked besides calls: which services there are, how the sidecar is, what it counts, how it is spoken to.
//!
//! INVARIANT: who has no token learns whether the sidecar is well and how it is spoken to, and nothing of what is here.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use pinhole_grant::PublicKey;
use pinhole_manifest::Access;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::answer::{self, No};
use super::door::{Caller, Door};
use super::listed::Service;
use crate::http::{NamedHost, metadata};

const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The services whose ops may be called, and the bot that grants are to be sealed to.
pub(super) async fn services(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    match door.admit(&parts).await {
        Ok(caller) => {
            let (bot, services) = (door.executor.bot.public(), door.services(&caller));
            answer::document(&List { ok: true, bot, services })
        }
        Err(no) => no.answer(),
    }
}

impl Door {
    fn services<'d>(&'d self, caller: &Caller) -> Vec<One<'d>> {
        let one = |service: &'d Service| {
            let shows = |(access, op): &'d (Access, Box<RawValue>)| {
                caller.reach.covers(&service.id, *access).then_some(&**op)
            };
            let ops: Vec<&RawValue> = service.ops.iter().filter_map(shows).collect();
            (!ops.is_empty()).then_some(One { said: &service.said, ops })
        };
        self.listed.services(&self.executor.catalog).iter().filter_map(one).collect()
    }
}

/// What is answered.
#[derive(Serialize)]
struct List<'d> {
    ok: bool,
    bot: &'d PublicKey,
    services: Vec<One<'d>>,
}

/// A service of it.
struct One<'d> {
    said: &'d Map<String, Value>,
    ops: Vec<&'d RawValue>,
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.said {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("ops", &self.ops)?;
        map.end()
    }
}

/// Whether calls could run: the store answers.
pub(super) async fn health(State(door): State<Arc<Door>>) -> Response {
    let (desk, now) = (Arc::clone(&door.desk), door.executor.clock.now());
    let well = match tokio::task::spawn_blocking(move || desk.high_water(now)).await {
        Ok(Ok(_latest)) => true,
        Ok(Err(error)) => {
            tracing::error!(%error, "the store does not answer");
            false
        }
        Err(_stopped) => false,
    };
    let mut answer = answer::document(&json!({"ok": well}));
    if !well {
        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    answer
}

/// What is counted.
pub(super) async fn metrics(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    match door.admit(&parts).await {
        Ok(_caller) => {
            let mut answer = Response::new(door.metrics.text(&door.queue.standings()).into());
            answer.headers_mut().insert(CONTENT_TYPE, PROMETHEUS);
            answer
        }
        Err(no) => no.answer(),
    }
}

/// How the sidecar is spoken to.
pub(super) async fn openapi(State(door): State<Arc<Door>>) -> Response {
    answer::document(&door.listed.description())
}

/// Where tokens come from, for clients that look for it.
pub(super) async fn about(State(door): State<Arc<Door>>, request: Request) -> Response {
    let Some(NamedHost(host)) = request.extensions().get::<NamedHost>() else {
        return No::Door(crate::http::Refused::Host).answer();
    };
    metadata::document(&door.settings.base(host), door.scope())
}
