//! The exchange with the service: the one place that makes a permit and hands a request to the client.

use http::StatusCode;

use super::answer::{Answer, Asked, Judged, Look, Raw};
use super::fresh::Keys;
use super::open::Agreed;
use super::page::OnPage;
use super::prepare::{self, Prepared, Work};
use super::receipt::shape;
use super::retry::{self, Repeat};
use super::wire::wire_refusal;
use super::{Call, Executor, Trace};
use crate::net::{Incoming, Outgoing, Permit, Sent, WireLimits};
use crate::outcome::{Code, Refusal};

impl<'a> Call<Prepared<'a>> {
    /// Sends the request and judges the answer, or has the module compute one.
    pub(super) async fn carry_out(
        self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Answer<'a, Judged>, Refusal> {
        let Prepared { page, keys, work } = self.stage;
        match work {
            Work::Request(outgoing) => send(page, &keys, outgoing, executor, trace).await?.judge(trace).await,
            // In a box, so that a call without a module is no larger for it.
            Work::Module(ready) => Box::pin(ready.compute(page, keys, executor, trace)).await,
        }
    }
}

/// Sends the request and takes the answer, within the op's caps.
async fn send<'a>(
    page: OnPage<'a>,
    keys: &Keys,
    outgoing: Outgoing,
    executor: &Executor,
    trace: &mut Trace,
) -> Result<Answer<'a, Raw>, Refusal> {
    let (manifest, op) = (page.authorized.agreed.manifest, page.authorized.agreed.op);
    let path = page.authorized.agreed.op.request().map(|request| shape(&request.path)).unwrap_or_default();
    let within = Within {
        path: &path,
        response_bytes: op.limits.response_bytes,
        timeout_ms: op.limits.timeout_ms,
        repeat: Repeat::of(op),
    };
    let asking = Sending { agreed: &page.authorized.agreed, keys, executor };
    let incoming = asking.exchange(&outgoing, within, trace).await?;
    trace.meta.status = Some(incoming.status.as_u16());
    let scrub = keys.scrub();
    let look = Look::Pick(Box::new(Asked { page, target: outgoing.target }));
    Ok(Answer::received((manifest, op), look, scrub, incoming, executor.clock.now()))
}

/// What one request may take, all its tries together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Within<'p> {
    /// The path as the manifest has it, for the receipt.
    pub(super) path: &'p str,
    pub(super) response_bytes: u64,
    pub(super) timeout_ms: u64,
    pub(super) repeat: Repeat,
}

/// Who sends requests of a call.
#[derive(Clone, Copy)]
pub(super) struct Sending<'c, 'a> {
    pub(super) agreed: &'c Agreed<'a>,
    pub(super) keys: &'c Keys,
    pub(super) executor: &'c Executor,
}

impl Sending<'_, '_> {
    /// One exchange with the manifest's host: the answer to the last try, of however many there were. A key that the service
    /// refuses is renewed once, where it can be, and the request goes out once more: one that was refused so was not
    /// carried out.
    pub(super) async fn exchange(
        self,
        outgoing: &Outgoing,
        within: Within<'_>,
        trace: &mut Trace,
    ) -> Result<Incoming, Refusal> {
        let Self { agreed, keys, executor } = self;
        let mut tried = 0_u32;
        let mut renewed = false;
        // What is known of all tries: one that was not sent does not undo one that was.
        let mut sent = Sent::No;
        loop {
            let deadline = trace.left_of(executor, within.timeout_ms);
            if deadline.is_zero() {
                return Err(Refusal::new(Code::TimedOut).sent(sent));
            }
            tried = tried.saturating_add(1);
            trace.meta.requests = trace.meta.requests.saturating_add(1);
            trace.record.requests(outgoing.method.as_str(), within.path, &trace.meta);
            let permit = Permit::new(agreed.manifest.host().clone());
            let limits = WireLimits { response_bytes: within.response_bytes, deadline };
            let key = keys.current();
            let credential = prepare::credential_header(agreed.manifest, key.credential(agreed))?;
            let taken = executor.wire.exchange(permit, outgoing.again(credential), limits).await;
            if let Ok(answer) = &taken {
                trace.record.answered(answer.status.as_u16());
            }
            sent = sent.max(taken.as_ref().map_or_else(|error| error.sent, |_| Sent::Yes));
            if !renewed && taken.as_ref().is_ok_and(|answer| answer.status == StatusCode::UNAUTHORIZED) {
                renewed = true;
                if agreed.other_than(&key, keys, executor, trace).await?.is_some() {
                    continue;
                }
            }
            let left = trace.left_of(executor, within.timeout_ms);
            let Some(wait) = retry::wait(executor, within.repeat, tried, &taken, left) else {
                return taken.map_err(|error| wire_refusal(&error, within.response_bytes).sent(sent));
            };
            // An answer that is not read is let go before the wait, and its connection with it.
            drop(taken);
            executor.timer.wait(wait).await;
        }
    }
}
