//! What a module's requests come to. All of a batch are held against the manifest before the first is sent.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt as _, stream};
use http::HeaderMap;
use pinhole_manifest::model::Request;

use super::super::fresh::Keys;
use super::super::open::Agreed;
use super::super::prepare::{self, scheme_of};
use super::super::retry::Repeat;
use super::super::send::{Sending, Within};
use super::super::wire::wire_refusal;
use super::super::{Executor, Trace};
use super::line::{Lines, Mismatch};
use super::refused;
use crate::net::{Body, Outgoing, Sent};
use crate::outcome::{Code, Refusal, UntrustedText};
use crate::render::Change;
use crate::sandbox::{Fault, GuestAnswer, GuestFailure, GuestRequest, GuestResponse, Limit};

/// Most requests of a module that are under way at once.
const AT_ONCE: usize = 8;
/// Headers that a module is not shown: they set or carry credentials, or ask for them.
const KEPT_BACK: [&str; 8] = [
    "authentication-info",
    "authorization",
    "cookie",
    "proxy-authenticate",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
    "www-authenticate",
];

/// What a module's requests are held against and made with.
pub(super) struct Asking<'c, 'a> {
    pub(super) agreed: &'c Agreed<'a>,
    pub(super) lines: Lines<'c>,
    pub(super) keys: &'c Keys,
    /// How many bytes of answers the module may yet be given.
    pub(super) bytes_left: AtomicU64,
}

/// Why a request has no answer that the module is given.
enum Unanswered {
    /// The module is told.
    Told(Refusal),
    /// The call ends.
    Ended(Refusal),
}

impl Unanswered {
    /// Without a key the module can do nothing more: what is to be done about that is for whoever called.
    fn of(refusal: Refusal) -> Self {
        match refusal.code {
            Code::ReconnectRequired | Code::RenewalFailed | Code::StoreFailed => Self::Ended(refusal),
            _ => Self::Told(refusal),
        }
    }
}

impl Asking<'_, '_> {
    /// The answers, in the order of the requests. `sent` grows with what is known of them.
    pub(super) async fn answers(
        &self,
        asked: &[GuestRequest],
        executor: &Executor,
        trace: &mut Trace,
        sent: &mut Sent,
    ) -> Result<Vec<GuestAnswer>, Refusal> {
        let requests: Result<Vec<(Request, String)>, Refusal> = asked
            .iter()
            .map(|asked| self.lines.matched(asked).map_err(|mismatch| self.not_declared(asked, mismatch)))
            .collect();
        let outgoing: Result<Vec<(Outgoing, String)>, Refusal> =
            requests?.into_iter().map(|(request, path)| Ok((self.outgoing(&request)?, path))).collect();
        let sending = outgoing?.into_iter().map(|outgoing| self.answer(outgoing, executor, trace.beside()));
        let answered: Vec<_> = stream::iter(sending).buffered(AT_ONCE).collect().await;
        let mut answers = Vec::with_capacity(answered.len());
        for (answer, part, left) in answered {
            trace.take_in(part);
            *sent = (*sent).max(left);
            answers.push(answer);
        }
        let told = |answer| match answer {
            Ok(response) => Ok(Ok(response)),
            Err(Unanswered::Told(Refusal { code, message, .. })) => {
                Ok(Err(GuestFailure { code: code.as_str(), message }))
            }
            Err(Unanswered::Ended(refusal)) => Err(refusal),
        };
        answers.into_iter().map(told).collect()
    }

    /// The request with its credential.
    fn outgoing(&self, request: &Request) -> Result<Outgoing, Refusal> {
        let manifest = self.agreed.manifest;
        let rendered = prepare::render(manifest, request, self.lines.args, &Change::Nothing)?;
        prepare::with_credential(rendered, manifest, self.keys.current().credential(self.agreed))
    }

    /// One request, with all its tries, and what it took.
    async fn answer(
        &self,
        (outgoing, path): (Outgoing, String),
        executor: &Executor,
        mut trace: Trace,
    ) -> (Result<GuestResponse, Unanswered>, Trace, Sent) {
        let limits = self.agreed.op.limits;
        let within = Within {
            path: &path,
            response_bytes: limits.response_bytes,
            timeout_ms: limits.timeout_ms,
            repeat: Repeat::of(self.agreed.op),
        };
        let sending = Sending { agreed: self.agreed, keys: self.keys, executor };
        let incoming = match sending.exchange(&outgoing, within, &mut trace).await {
            Ok(incoming) => incoming,
            Err(refusal) => {
                let sent = refusal.sent;
                return (Err(Unanswered::of(refusal)), trace, sent);
            }
        };
        let (status, headers) = (incoming.status.as_u16(), self.shown(&incoming.headers));
        let body = self.whole(incoming.body, within.response_bytes, executor, &mut trace).await;
        let response = body.map(|body| GuestResponse { status, headers, body: self.keys.scrub().body(body) });
        (response, trace, Sent::Yes)
    }

    /// The body, to its end.
    async fn whole(
        &self,
        mut body: Body,
        cap: u64,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Vec<u8>, Unanswered> {
        let mut whole = Vec::new();
        let broken = |error| Unanswered::Told(wire_refusal(&error, cap));
        while let Some(piece) = body.next().await.map_err(broken)? {
            let size = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            trace.meta.bytes_in = trace.meta.bytes_in.saturating_add(size);
            let less = |left: u64| left.checked_sub(size);
            if self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
                let limit = Fault::Limit(Limit::BytesIn(executor.sandbox.settings().bytes_in));
                return Err(Unanswered::Ended(refused::refusal(limit, &self.keys.scrub())));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }

    /// The headers that a module is shown.
    fn shown(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        let own = scheme_of(self.agreed.manifest, self.agreed.grant().credential()).header_name();
        let scrub = self.keys.scrub();
        let kept_back = |name: &str| KEPT_BACK.contains(&name) || name == own;
        headers
            .iter()
            .filter(|(name, _)| !kept_back(name.as_str()))
            .filter_map(|(name, value)| Some((name, value.to_str().ok()?)))
            .map(|(name, value)| (scrub.text(name.as_str()).into(), scrub.text(value).into()))
            .collect()
    }

    fn not_declared(&self, asked: &GuestRequest, mismatch: Mismatch) -> Refusal {
        let refusal = Refusal::new(Code::ModuleRequestRefused);
        let message = format!("{}: {mismatch}", refusal.message);
        let keys: Vec<&str> = asked.query.iter().map(|(key, _)| key.as_str()).collect();
        let query =
            if keys.is_empty() { String::new() } else { format!(" with the query keys {}", keys.join(", ")) };
        let said = format!("{} {}{query}", asked.method.as_str(), asked.path);
        let untrusted = Some(UntrustedText::new(&self.keys.scrub().text(&said)));
        Refusal { untrusted, ..refusal.saying(message) }
    }
}
