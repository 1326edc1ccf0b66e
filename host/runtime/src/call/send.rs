//! The exchange with the service: the one place that makes a permit and hands a request to the client.

use std::time::Duration;

use pinhole_manifest::Manifest;

use super::answer::{Answer, Look, Raw};
use super::prepare::Prepared;
use super::wire::wire_refusal;
use super::{Call, Executor, Trace};
use crate::net::{Incoming, Outgoing, Permit, WireLimits};
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
