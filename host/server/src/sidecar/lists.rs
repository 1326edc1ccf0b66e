//! What can be asked besides calls: which services there are, how the sidecar is, what it counts, how it is spoken to.
//!
//! INVARIANT: who has no token learns whether the sidecar is well and how it is spoken to, and nothing of what is here.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use pinhole_manifest::model::{Effect, Op};
use pinhole_runtime::catalog::Entry;
use serde_json::{Value, json};

use super::answer::{self, No};
use super::door::{Caller, Door};
use crate::http::{NamedHost, metadata};

const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The services whose ops may be called, and the bot that grants are to be sealed to.
pub(super) async fn services(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    match door.admit(&parts).await {
        Ok(caller) => answer::document(&json!({
            "ok": true,
            "bot": door.executor.bot.public(),
            "services": door.executor.catalog.iter().filter_map(|entry| service(entry, &caller)).collect::<Vec<_>>(),
        })),
        Err(no) => no.answer(),
    }
}

fn service(entry: &Entry, caller: &Caller) -> Option<Value> {
    let manifest = &entry.manifest;
    let shows = |op: &&Op| caller.reach.covers(manifest.id(), op.access);
    let ops: Vec<Value> = manifest.ops().values().filter(shows).map(op).collect();
    (!ops.is_empty()).then(|| {
        json!({
            "service": manifest.id(), "version": manifest.version().to_string(), "name": manifest.name(),
            "summary": manifest.summary(), "host": manifest.host(), "verified": manifest.verified(),
            "digest": manifest.digest(), "source": entry.source.name(), "ops": ops,
        })
    })
}

fn op(op: &Op) -> Value {
    json!({
        "op": op.id, "access": op.access, "summary": op.summary, "args": op.args.json(),
        "effect": op.effect.map(Effect::as_str), "irreversible": op.irreversible,
    })
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
pub(super) async fn openapi() -> Response {
    answer::document(&super::openapi())
}

/// Where tokens come from, for clients that look for it.
pub(super) async fn about(State(door): State<Arc<Door>>, request: Request) -> Response {
    let Some(NamedHost(host)) = request.extensions().get::<NamedHost>() else {
        return No::Door(crate::http::Refused::Host).answer();
    };
    metadata::document(&door.settings.base(host), door.scope())
}
