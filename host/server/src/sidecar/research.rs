//! `POST /v1/research`, `POST /v1/research/{id}/call`, `DELETE /v1/research/{id}`: several grants, for ten minutes, as tools that only
//! read.
//!
//! Each call waits for its turn as every posted call does, and runs under its grant. INVARIANT: writes never, whatever the grants
//! say; a session is of whoever opened it; its id is in no log. What a service wrote stands between marks in `content`, for a model.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::Response;
use pinhole_grant::PrincipalId;
use pinhole_runtime::Outcome;
use serde_json::{Map, Value, json};

use super::answer::{self, No, NoSession};
use super::door::Door;
use super::posted::{Opening, Wish};
use super::sessions::{Moment, NotKept};
use crate::http::Refused;
use crate::research::{Called, NotOpened, Research, Session};

const PATH: &str = "/v1/research/";

/// Opens a session.
pub(super) async fn open(State(door): State<Arc<Door>>, request: Request) -> Response {
    door.open_session(request).await.unwrap_or_else(|no| no.answer())
}

/// Calls a tool of one.
pub(super) async fn call(State(door): State<Arc<Door>>, request: Request) -> Response {
    door.call_in_session(request).await.unwrap_or_else(|no| no.answer())
}

/// Ends one.
pub(super) async fn end(State(door): State<Arc<Door>>, request: Request) -> Response {
    door.end_session(request).await.unwrap_or_else(|no| no.answer())
}

impl Door {
    async fn open_session(&self, request: Request) -> Result<Response, No> {
        let (parts, body) = request.into_parts();
        let caller = self.admit(&parts).await?;
        let opening = Opening::read(&self.body(&parts, body).await?)?;
        if self.stop.is_cancelled() {
            return Err(No::Door(Refused::Busy));
        }
        self.sessions.room(caller.id, self.moment()).map_err(not_kept)?;
        let now = self.moment();
        let research = Research::default().reaching(caller.reach);
        let session = research.open(opening.grants, &self.executor, now.clock).await;
        let session = session.map_err(not_opened)?;
        let tools: Vec<Value> =
            session.tools(&self.executor.catalog).iter().map(|tool| opening.dialect.of(tool)).collect();
        let (until, calls_left, bytes_left) = (session.until(), session.calls_left(), session.bytes_left());
        let lives = u64::try_from(until.as_secs().saturating_sub(now.clock.as_secs())).unwrap_or_default();
        let ends = now.timer + Duration::from_secs(lives);
        let kept =
            self.sessions.keep(session, caller.id, (self.moment(), ends), self.executor.entropy.as_ref());
        let id = kept.map_err(not_kept)?;
        Ok(answer::document(&json!({
            "ok": true, "id": id, "until": until, "calls_left": calls_left, "bytes_left": bytes_left,
            "tools": tools,
        })))
    }

    async fn call_in_session(&self, request: Request) -> Result<Response, No> {
        let (parts, body) = request.into_parts();
        let caller = self.admit(&parts).await?;
        let id = id(parts.uri.path());
        let session = self.session(&id, caller.id)?;
        let Wish { tool, args } = Wish::read(&self.body(&parts, body).await?)?;
        let ready = match session.ready(&tool, args, &self.executor) {
            Ok(ready) => ready.by(caller.id),
            Err(refused) => return Ok(shown(*refused, &session)),
        };
        let slot = match self.turn(ready.request()).await {
            Ok(slot) => slot,
            Err(why) => return Ok(self.no_turn(ready.request().clone(), why).await),
        };
        // It may have waited, and the session may be over or ended since.
        self.session(&id, caller.id)?;
        let ran = ready.run(&self.executor).await;
        drop(slot);
        if ran.outcome.as_ref().is_some_and(|outcome| outcome.rotated.is_some()) {
            self.metrics.rotated();
        }
        Ok(shown(ran, &session))
    }

    async fn end_session(&self, request: Request) -> Result<Response, No> {
        let (parts, _body) = request.into_parts();
        let caller = self.admit(&parts).await?;
        if self.sessions.end(&id(parts.uri.path()), caller.id, self.moment()) {
            Ok(answer::document(&json!({"ok": true})))
        } else {
            Err(No::Session(NoSession::Unknown))
        }
    }

    fn session(&self, id: &str, whose: Option<PrincipalId>) -> Result<Arc<Session>, No> {
        self.sessions.find(id, whose, self.moment()).ok_or(No::Session(NoSession::Unknown))
    }

    fn moment(&self) -> Moment {
        Moment { clock: self.executor.clock.now(), timer: self.timer.now() }
    }
}

/// The id in a path of these routes.
fn id(path: &str) -> String {
    let rest = path.strip_prefix(PATH).unwrap_or_default();
    rest.split('/').next().unwrap_or_default().to_owned()
}

fn not_kept(why: NotKept) -> No {
    No::Session(match why {
        NotKept::Full => NoSession::TooMany,
        NotKept::Entropy(_) => NoSession::Entropy,
    })
}

fn not_opened(why: NotOpened) -> No {
    let said = why.to_string();
    match why {
        NotOpened::Grant { refusal, .. } => {
            let mut refusal = refusal;
            refusal.message = said;
            No::Session(NoSession::Grant(refusal))
        }
        NotOpened::TooMuch(_) => No::Session(NoSession::TooMuch(said)),
        NotOpened::Grants | NotOpened::Text(_) => No::Malformed(said),
    }
}

/// What is answered to a call: for a model, and what is not for one.
fn shown(called: Called, session: &Session) -> Response {
    let Called { text, ok, outcome, declined } = called;
    let mut told = Map::new();
    told.insert("ok".to_owned(), ok.into());
    told.insert("content".to_owned(), text.into());
    told.insert("calls_left".to_owned(), session.calls_left().into());
    told.insert("bytes_left".to_owned(), session.bytes_left().into());
    let mut add = |name: &str, value: Option<Value>| value.map(|value| told.insert(name.to_owned(), value));
    let run = outcome.as_ref();
    add("meta", run.map(|run| json!(run.meta)));
    add("rotated", run.and_then(|run| run.rotated.as_ref()).map(|rotated| json!(rotated)));
    let refusal = declined.as_ref().map(|declined| json!(declined));
    add("refusal", refusal.or_else(|| run.and_then(Outcome::refusal).map(|refusal| json!(refusal))));
    answer::in_session(&Value::Object(told), run, declined.as_ref())
}
