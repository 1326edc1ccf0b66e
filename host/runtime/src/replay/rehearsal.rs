//! An op tried out: the whole path of a call, on recorded answers or a stand-in, with each exchange written down as a case
//! would have it.
//!
//! Where a case holds an op to exactly its requests, a rehearsal shows what they are. INVARIANT: what is written down has
//! the credential's place in it and never the credential. The real service is never dialled: a rehearsal's credential is
//! one for an overridden host.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pinhole_grant::{Dial, Secret};
use pinhole_manifest::cases::{CaseRequest, CaseResponse, Exchange as Recorded, Expect};
use pinhole_manifest::{Access, ApiHost, OpId};
use rand_core::CryptoRng;

use super::ReplayFault;
use super::stage::Stage;
use super::wire::{Shown, decoded, incoming, no_tokens, same_body};
use crate::catalog::ModuleFiles;
use crate::net::{
    Body, Exchange, Incoming, Outgoing, Permit, PinnedClient, Posting, TokenPermit, Wire, WireError,
    WireLimits,
};
use crate::outcome::Outcome;
use crate::sandbox::Sandbox;
use crate::scrub::Scrub;

/// What is tried out.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    /// The manifest's bytes.
    pub manifest: &'a [u8],
    /// Where its modules are.
    pub modules: ModuleFiles,
    /// Where they run.
    pub sandbox: &'a Sandbox,
    /// The op.
    pub op: &'a OpId,
    /// The args, as the text of one JSON object.
    pub args: &'a str,
    /// The access that the grant allows.
    pub access: Access,
}

/// Who answers.
#[derive(Debug)]
pub enum Answers {
    /// What was recorded: each answer once, to the first request of its method, path, query and, where one is recorded,
    /// body. Any other request breaks off.
    Recorded(Vec<Recorded>),
    /// A stand-in that the client dials in the place of the service's host, and the key for it. Without an override of
    /// the host the call is refused.
    StandIn(Box<PinnedClient>, Secret),
}

/// What came of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rehearsed {
    /// The outcome.
    pub outcome: Outcome,
    /// Each request that was sent, in order, and the answer to it.
    pub exchanges: Vec<(SeenRequest, SeenAnswer)>,
    /// How many recorded answers nobody asked for.
    pub unused: usize,
}

impl Rehearsed {
    /// Whether it went as a case says: each request answered, each answer asked for, and what came of it.
    pub fn holds(
        &self,
        expect: &Expect,
        notes: Option<&[String]>,
        next: Option<bool>,
    ) -> Result<(), ReplayFault> {
        let unrecorded = self.exchanges.iter().position(|(_, answer)| *answer == SeenAnswer::NotRecorded);
        if let Some((number, (sent, _))) = unrecorded.and_then(|at| Some((at, self.exchanges.get(at)?))) {
            let difference = format!("no answer is recorded to `{sent}`");
            return Err(ReplayFault::Request { number: number.saturating_add(1), difference });
        }
        super::compare(expect, notes, next, &self.outcome)?;
        match self.unused {
            0 => Ok(()),
            unsent => Err(ReplayFault::Unsent { unsent, outcome: super::shown(&self.outcome) }),
        }
    }
}

/// A request as a case shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenRequest {
    /// The method.
    pub method: String,
    /// The path as it was sent: encoded, without the query.
    pub path: String,
    /// The query's parameters before encoding, each with its values in their order.
    pub query: BTreeMap<String, Vec<String>>,
    /// The headers, with the credential's place in them.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Option<String>,
}

impl fmt::Display for SeenRequest {
    /// The method, the path and the query, not encoded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        let pairs = self.query.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        for (between, (key, value)) in std::iter::once('?').chain(std::iter::repeat('&')).zip(pairs) {
            write!(f, "{between}{key}={value}")?;
        }
        Ok(())
    }
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeenAnswer {
    /// The service answered.
    Came {
        /// The status.
        status: u16,
        /// The headers that are text, without cookies; names in lower case.
        headers: Vec<(String, String)>,
        /// The body, scrubbed.
        body: Vec<u8>,
    },
    /// Nothing like it is recorded.
    NotRecorded,
    /// There was none, in words.
    Failed(String),
}

/// Tries an op out.
pub async fn rehearse<R: CryptoRng>(
    rehearsal: Rehearsal<'_>,
    answers: Answers,
    rng: &mut R,
) -> Result<Rehearsed, ReplayFault> {
    let Rehearsal { manifest, modules, sandbox, op, args, access } = rehearsal;
    let stage = Stage::set(manifest, modules, op, rng)?.with_sandbox(sandbox);
    let (stage, source) = match answers {
        Answers::Recorded(recorded) => (stage, Source::Recorded(Mutex::new(recorded))),
        Answers::StandIn(client, secret) => (stage.with_secret(secret), Source::StandIn(client)),
    };
    let (scheme, idempotency) = stage.marks()?;
    let book = Arc::new(Book {
        source,
        shown: Shown::new(scheme, stage.key(), idempotency),
        scrub: Scrub::new(&[stage.key()]),
        seen: Mutex::default(),
    });
    let outcome = stage.play(access, args, Arc::new(BookWire(Arc::clone(&book))), rng).await?;
    let exchanges = std::mem::take(&mut *book.seen());
    Ok(Rehearsed { outcome, exchanges, unused: book.unused() })
}

enum Source {
    Recorded(Mutex<Vec<Recorded>>),
    StandIn(Box<PinnedClient>),
}

/// Where exchanges are written down.
struct Book {
    source: Source,
    shown: Shown,
    scrub: Scrub,
    seen: Mutex<Vec<(SeenRequest, SeenAnswer)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    fn seen(&self) -> MutexGuard<'_, Vec<(SeenRequest, SeenAnswer)>> {
        locked(&self.seen)
    }

    fn unused(&self) -> usize {
        match &self.source {
            Source::Recorded(recorded) => locked(recorded).len(),
            Source::StandIn(_) => 0,
        }
    }

    /// Writes a request down, in its place in the order, before there is an answer.
    fn begin(&self, sent: &Outgoing) -> (usize, SeenRequest) {
        let (path, query) = sent.target.split_once('?').unwrap_or((&sent.target, ""));
        let request = SeenRequest {
            method: sent.method.to_string(),
            path: path.to_owned(),
            query: decoded(query),
            headers: self.shown.headers(sent).unwrap_or_default(),
            body: sent.body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned()),
        };
        let mut seen = self.seen();
        seen.push((request.clone(), SeenAnswer::NotRecorded));
        (seen.len().saturating_sub(1), request)
    }

    fn end(&self, place: usize, answer: SeenAnswer) {
        if let Some((_, slot)) = self.seen().get_mut(place) {
            *slot = answer;
        }
    }

    async fn answer(
        &self,
        permit: Permit,
        sent: Outgoing,
        limits: WireLimits,
    ) -> Result<Incoming, WireError> {
        let (place, request) = self.begin(&sent);
        let answered = match &self.source {
            Source::Recorded(recorded) => match take(&mut locked(recorded), &request) {
                Some(answer) => incoming(Some(answer), limits),
                // What stands in its place says it.
                None => return incoming(None, limits),
            },
            Source::StandIn(client) => client.exchange(permit, sent, limits).await,
        };
        let whole = match answered {
            Ok(Incoming { status, headers, body }) => all_of(body).await.map(|body| (status, headers, body)),
            Err(error) => Err(error),
        };
        let (status, headers, body) =
            whole.inspect_err(|error| self.end(place, SeenAnswer::Failed(error.to_string())))?;
        let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            let kept = !matches!(name.as_str(), "set-cookie" | "set-cookie2");
            let value = kept.then(|| value.to_str().ok()).flatten()?;
            Some((name.as_str().to_owned(), self.scrub.text(value).into_owned()))
        };
        let kept = headers.iter().filter_map(text).collect();
        let seen =
            SeenAnswer::Came { status: status.as_u16(), headers: kept, body: self.scrub.body(body.clone()) };
        self.end(place, seen);
        Ok(Incoming { status, headers, body: Body::whole(body) })
    }
}

async fn all_of(mut body: Body) -> Result<Vec<u8>, WireError> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Takes the first recorded answer to such a request out.
fn take(recorded: &mut Vec<Recorded>, request: &SeenRequest) -> Option<CaseResponse> {
    let place = recorded.iter().position(|exchange| is_of(&exchange.request, request))?;
    Some(recorded.remove(place).response)
}

fn is_of(recorded: &CaseRequest, sent: &SeenRequest) -> bool {
    let query: BTreeMap<_, _> = recorded.query.iter().cloned().collect();
    let body = recorded.body.as_ref();
    recorded.method.as_str() == sent.method
        && recorded.path == sent.path
        && query == sent.query
        && body.is_none_or(|body| same_body(Some(body.as_str()), sent.body.as_deref()))
}

struct BookWire(Arc<Book>);

impl Wire for BookWire {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        Box::pin(self.0.answer(permit, request, limits))
    }

    fn post_form(&self, _permit: TokenPermit, _posting: Posting, _limits: WireLimits) -> Exchange<'_> {
        Box::pin(std::future::ready(Err(no_tokens())))
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        match &self.0.source {
            Source::Recorded(_) => Dial::Overridden,
            Source::StandIn(client) => client.dial(host),
        }
    }
}
