//! The exchange with the service: the one place that makes a permit and hands a request to the client.

use std::time::Duration;

use pinhole_manifest::Manifest;

use super::answer::{Answer, Look, Raw};
use super::prepare::Prepared;
use super::{Call, Executor, Trace};
use crate::net::{Incoming, Outgoing, Permit, WireError, WireErrorKind, WireLimits};
use crate::outcome::{Code, Refusal};

impl<'a> Call<Prepared<'a>> {
    /// Sends the request and takes the answer, within the op's caps.
    pub(super) async fn send(
        self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Answer<'a, Raw>, Refusal> {
        let Prepared { authorized, outgoing } = self.stage;
        let agreed = authorized.agreed;
        let limits = WireLimits {
            response_bytes: agreed.op.limits.response_bytes,
            deadline: trace.left_of(agreed.op.limits.timeout_ms),
        };
        let incoming = exchange(executor, agreed.manifest, outgoing, limits, trace).await?;
        trace.meta.status = Some(incoming.status.as_u16());
        Ok(Answer::received(agreed.manifest, agreed.op, Look::Pick, agreed.grant().credential(), incoming))
    }
}

/// One exchange with the manifest's host.
pub(super) async fn exchange(
    executor: &Executor,
    manifest: &Manifest,
    outgoing: Outgoing,
    limits: WireLimits,
    trace: &mut Trace,
) -> Result<Incoming, Refusal> {
    if limits.deadline == Duration::ZERO {
        return Err(Refusal::new(Code::TimedOut));
    }
    trace.meta.requests = trace.meta.requests.saturating_add(1);
    let permit = Permit::new(manifest.host().clone());
    let taken = executor.wire.exchange(permit, outgoing, limits).await;
    taken.map_err(|error| wire_refusal(&error, limits.response_bytes))
}

/// What a failure of the wire comes to, for an op that allows so many bytes of an answer.
pub(super) fn wire_refusal(error: &WireError, response_bytes: u64) -> Refusal {
    let code = match &error.kind {
        WireErrorKind::Unsendable => Code::Unsendable,
        WireErrorKind::AddressRefused => Code::AddressRefused,
        WireErrorKind::NameNotFound => Code::NameNotFound,
        WireErrorKind::Connect => Code::ConnectFailed,
        WireErrorKind::Tls => Code::TlsFailed,
        WireErrorKind::Timeout { .. } => Code::TimedOut,
        WireErrorKind::Redirected { .. } => Code::Redirected,
        WireErrorKind::ResponseTooLarge => Code::ResponseTooLarge,
        WireErrorKind::HeadersTooLarge => Code::HeadersTooLarge,
        WireErrorKind::BadEncoding => Code::BadEncoding,
        WireErrorKind::Interrupted => Code::Interrupted,
        WireErrorKind::BadResponse => Code::BadResponse,
    };
    let refusal = Refusal::new(code).sent(error.sent).detail(error.detail());
    match &error.kind {
        WireErrorKind::ResponseTooLarge => {
            refusal.saying(format!("the answer is larger than the {response_bytes} bytes that the op allows"))
        }
        WireErrorKind::Redirected { status } => refusal.saying(format!(
            "the service answered with a redirect (HTTP {}), which is never followed",
            status.as_u16()
        )),
        _ => refusal,
    }
}
