//! The host's side of `wit/pinhole-op.wit`: the functions that a component is given, and what a call has of its own.

use rand::rngs::StdRng;
use tokio::sync::{mpsc, oneshot};
use wasmtime::Error;

use pinhole_manifest::model::Method;

use super::fault::{Fault, Limit};
use super::limiter::Limiter;
use super::request::{GuestAnswer, GuestFailure, GuestRequest, GuestResponse};
use super::said::Said;
use super::settings::SandboxSettings;
use super::wasi::Wasi;
use pinhole::op::http::{Failure, Request, Response};
use pinhole::op::log::Level;
use pinhole::op::{clock, http, log};

pub(super) use bindings::{Module, ModulePre, pinhole};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit/pinhole-op.wit",
        world: "module",
        imports: { default: async | trappable },
        exports: { default: async },
    });
}

/// What a component does that its caller sees.
#[derive(Debug)]
pub(super) enum Event {
    /// It asks for these, and waits.
    Asks(Vec<GuestRequest>, oneshot::Sender<Vec<GuestAnswer>>),
    /// It writes a line to the log.
    Says(&'static str, String),
}

/// What one call has.
#[derive(Debug)]
pub(super) struct State {
    pub(super) limiter: Limiter,
    pub(super) settings: SandboxSettings,
    pub(super) said: Said,
    pub(super) wasi: Wasi,
    events: mpsc::UnboundedSender<Event>,
    now: i64,
    requests: u32,
    /// Why the host ended it.
    pub(super) ended: Option<Fault>,
}

impl State {
    pub(super) fn new(
        settings: SandboxSettings,
        now: i64,
        random: Option<StdRng>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        let said = Said::new(&settings, events.clone());
        Self {
            wasi: Wasi::new(said.clone(), now, random),
            said,
            limiter: Limiter::new(settings.memory_bytes, settings.table_elements),
            settings,
            events,
            now,
            requests: 0,
            ended: None,
        }
    }

    fn end<T>(&mut self, limit: Limit) -> Result<T, Error> {
        self.ended = Some(Fault::Limit(limit));
        Err(Error::msg("a limit of the call"))
    }

    async fn ask(&mut self, requests: Vec<Request>) -> Result<Vec<GuestAnswer>, Error> {
        let count = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        self.requests = self.requests.saturating_add(count);
        if self.requests > self.settings.requests {
            return self.end(Limit::Requests(self.settings.requests));
        }
        let (reply, answers) = oneshot::channel();
        let requests = requests.into_iter().map(GuestRequest::from).collect();
        self.events.send(Event::Asks(requests, reply))?;
        Ok(answers.await?)
    }
}

impl http::Host for State {
    async fn send(&mut self, request: Request) -> Result<Result<Response, Failure>, Error> {
        let answers = self.ask(vec![request]).await?;
        answers.into_iter().next().map(result).ok_or_else(|| Error::msg("no answer"))
    }

    async fn send_all(&mut self, requests: Vec<Request>) -> Result<Vec<Result<Response, Failure>>, Error> {
        Ok(self.ask(requests).await?.into_iter().map(result).collect())
    }
}

impl log::Host for State {
    async fn write(&mut self, level: Level, message: String) -> Result<(), Error> {
        let name = match level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        self.said.line(name, message)
    }
}

impl clock::Host for State {
    async fn now(&mut self) -> Result<clock::Timestamp, Error> {
        Ok(self.now)
    }
}

impl From<Request> for GuestRequest {
    fn from(request: Request) -> Self {
        let Request { method, path, query, headers, body } = request;
        let method = match method {
            http::Method::Get => Method::Get,
            http::Method::Head => Method::Head,
            http::Method::Post => Method::Post,
            http::Method::Put => Method::Put,
            http::Method::Patch => Method::Patch,
            http::Method::Delete => Method::Delete,
        };
        Self { method, path, query, headers, body }
    }
}

fn result(answer: GuestAnswer) -> Result<Response, Failure> {
    match answer {
        Ok(GuestResponse { status, headers, body }) => Ok(Response { status, headers, body }),
        Err(GuestFailure { code, message }) => Err(Failure { code: code.to_owned(), message }),
    }
}
