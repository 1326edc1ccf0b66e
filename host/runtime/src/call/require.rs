//! What must hold before a write is sent: reads of the same service, with the same credential, of which nothing is passed
//! on but whether the condition holds.

use pinhole_manifest::model::{Args, Requirement};
use serde_json::{Map, Value};

use super::answer::{Answer, Look, holds};
use super::prepare::{self, Prepared};
use super::retry::Repeat;
use super::send::{self, Within};
use super::{Call, Executor, Trace, authorize};
use crate::net::Sent;
use crate::outcome::{Code, Refusal};
use crate::render::{Change, fill_json};

impl Call<Prepared<'_>> {
    /// Checks every requirement of the op. A refusal here says `sent: no`: the write itself has not left.
    pub(super) async fn require(&self, executor: &Executor, trace: &mut Trace) -> Result<(), Refusal> {
        for requirement in &self.stage.page.authorized.agreed.op.require {
            self.check(requirement, executor, trace).await.map_err(|refusal| refusal.sent(Sent::No))?;
        }
        Ok(())
    }

    async fn check(
        &self,
        requirement: &Requirement,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let authorized = &self.stage.page.authorized;
        let agreed = &authorized.agreed;
        let failed = || Refusal::new(Code::RequirementFailed).saying(requirement.otherwise.clone());
        let read = agreed.manifest.op(&requirement.op).ok_or_else(failed)?;
        let request = read.request().ok_or_else(failed)?;
        let args = requirement_args(requirement, &authorized.args)?;
        let args = read.args.normalise(args).map_err(|faults| authorize::args_refusal(&faults))?;
        let rendered = prepare::render(agreed.manifest, request, &args, &Change::Nothing)?;
        let outgoing = prepare::with_credential(rendered, agreed.manifest, agreed.grant().credential())?;
        let within = Within {
            response_bytes: read.limits.response_bytes,
            timeout_ms: agreed.op.limits.timeout_ms,
            repeat: Repeat::of(read),
        };
        let incoming = send::exchange(executor, agreed.manifest, &outgoing, within, trace).await?;
        let look = Look::Condition(&requirement.condition);
        let scrub = send::scrub_of(agreed.grant().credential());
        let now = executor.clock.now();
        let answer = Answer::received((agreed.manifest, read), look, scrub, incoming, now);
        let document = answer.judge(trace).await?.into_document();
        let document = document.ok_or_else(failed)?;
        if holds(&document, &requirement.condition)? { Ok(()) } else { Err(failed()) }
    }
}

/// The args of a requirement, fed from those of the write.
pub(super) fn requirement_args(
    requirement: &Requirement,
    args: &Args,
) -> Result<Map<String, Value>, Refusal> {
    let mut filled = Map::new();
    for (name, template) in &requirement.args {
        let value = fill_json(template, args)
            .map_err(|error| Refusal::new(Code::ArgRefused).saying(error.to_string()))?;
        filled.extend(value.map(|value| (name.to_string(), value)));
    }
    Ok(filled)
}
