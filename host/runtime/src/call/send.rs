//! The exchange with the service: the one place that makes a permit and hands a request to the client.

use pinhole_grant::Credential;
use pinhole_manifest::Manifest;

use super::answer::{Answer, Asked, Judged, Look, Raw};
use super::page::OnPage;
use super::prepare::{Prepared, Work};
use super::receipt::shape;
use super::retry::{self, Repeat};
use super::wire::wire_refusal;
use super::{Call, Executor, Trace};
use crate::net::{Incoming, Outgoing, Permit, Sent, WireLimits};
use crate::outcome::{Code, Refusal};
use crate::scrub::Scrub;

impl<'a> Call<Prepared<'a>> {
    /// Sends the request and judges the answer, or has the module compute one.
    pub(super) async fn carry_out(
        self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Answer<'a, Judged>, Refusal> {
        let Prepared { page, work } = self.stage;
        match work {
            Work::Request(outgoing) => send(page, outgoing, executor, trace).await?.judge(trace).await,
            // In a box, so that a call without a module is no larger for it.
            Work::Module(ready) => Box::pin(ready.compute(page, executor, trace)).await,
        }
    }
}

/// Sends the request and takes the answer, within the op's caps.
async fn send<'a>(
    page: OnPage<'a>,
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
    let incoming = exchange(executor, manifest, &outgoing, within, trace).await?;
    trace.meta.status = Some(incoming.status.as_u16());
    let scrub = scrub_of(page.authorized.agreed.grant().credential());
    let look = Look::Pick(Box::new(Asked { page, target: outgoing.target }));
    Ok(Answer::received((manifest, op), look, scrub, incoming, executor.clock.now()))
}

/// The scrub that looks for this credential.
pub(super) fn scrub_of(credential: &Credential) -> Scrub {
    let mut secrets = vec![credential.secret().expose()];
    secrets.extend(credential.refresh().map(pinhole_grant::Secret::expose));
    Scrub::new(&secrets)
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

/// One exchange with the manifest's host: the answer to the last try, of however many there were.
pub(super) async fn exchange(
    executor: &Executor,
    manifest: &Manifest,
    outgoing: &Outgoing,
    within: Within<'_>,
    trace: &mut Trace,
) -> Result<Incoming, Refusal> {
    let mut tried = 0_u32;
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
        let permit = Permit::new(manifest.host().clone());
        let limits = WireLimits { response_bytes: within.response_bytes, deadline };
        let taken = executor.wire.exchange(permit, outgoing.again(), limits).await;
        if let Ok(answer) = &taken {
            trace.record.answered(answer.status.as_u16());
        }
        sent = sent.max(taken.as_ref().map_or_else(|error| error.sent, |_| Sent::Yes));
        let left = trace.left_of(executor, within.timeout_ms);
        let Some(wait) = retry::wait(executor, within.repeat, tried, &taken, left) else {
            return taken.map_err(|error| wire_refusal(&error, within.response_bytes).sent(sent));
        };
        // An answer that is not read is let go before the wait, and its connection with it.
        drop(taken);
        executor.timer.wait(wait).await;
    }
}
