//! What must hold before a write is asked about, and again before it is sent: reads of the same service, with the same
//! credential, of which nothing goes on but the one value that the condition looks at, to the member who is asked.

use pinhole_manifest::OpId;
use pinhole_manifest::model::{Args, Requirement};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::{Answer, Look, found, holds};
use super::fresh::Keys;
use super::open::Agreed;
use super::prepare::{self, Prepared};
use super::receipt::shape;
use super::retry::Repeat;
use super::send::{Sending, Within};
use super::{Call, Executor, Trace, authorize};
use crate::net::Sent;
use crate::outcome::{Code, Refusal, UntrustedText};
use crate::project::Tree;
use crate::render::{Change, fill_json};
use crate::scrub::Scrub;

impl Call<Prepared<'_>> {
    /// Checks every requirement of the op. A refusal here says `sent: no`: the write itself has not left.
    pub(super) async fn require(&self, executor: &Executor, trace: &mut Trace) -> Result<(), Refusal> {
        let authorized = &self.stage.page.authorized;
        let keys = &self.stage.keys;
        let conditions = Conditions { agreed: &authorized.agreed, keys, args: &authorized.args };
        conditions.hold(executor, trace).await.map(|_found| ())
    }
}

/// What a write requires, with what it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions<'c, 'a> {
    /// Whose credential reads it.
    pub(super) agreed: &'c Agreed<'a>,
    /// Its keys.
    pub(super) keys: &'c Keys,
    /// The args of the write.
    pub(super) args: &'c Args,
}

/// What a condition was found to be: it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The read.
    pub op: OpId,
    /// Its args.
    pub args: Map<String, Value>,
    /// Where in its answer.
    pub path: String,
    /// What stands there, where anything does: a scalar as the service has it, text clipped and characters that do not show
    /// made visible; `…` for anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Found {
    /// Whether this is what the requirement looks at, fed from these args, and of the shape that a look gives it. That it is
    /// true is the word of whoever looked.
    pub(crate) fn is_of(&self, requirement: &Requirement, args: &Args) -> bool {
        let shaped = self.value.as_ref().is_none_or(|value| match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => requirement.condition.holds(Some(value)),
            Value::String(text) => UntrustedText::is_one(text),
            Value::Array(_) | Value::Object(_) => false,
        });
        shaped
            && self.op == requirement.op
            && self.path == requirement.condition.path.as_str()
            && requirement_args(requirement, args).is_ok_and(|filled| filled == self.args)
    }
}

impl Conditions<'_, '_> {
    /// Checks all of them, in their order. A refusal here says `sent: no`: the write itself has not left.
    pub(super) async fn hold(&self, executor: &Executor, trace: &mut Trace) -> Result<Vec<Found>, Refusal> {
        let mut found = Vec::new();
        for requirement in &self.agreed.op.require {
            let held = self.check(requirement, executor, trace).await;
            found.push(held.map_err(|refusal| refusal.sent(Sent::No))?);
        }
        Ok(found)
    }

    async fn check(
        &self,
        requirement: &Requirement,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Found, Refusal> {
        let agreed = self.agreed;
        let failed = || Refusal::new(Code::RequirementFailed).saying(requirement.otherwise.clone());
        let read = agreed.manifest.op(&requirement.op).ok_or_else(failed)?;
        let request = read.request().ok_or_else(failed)?;
        let filled = requirement_args(requirement, self.args)?;
        let args = read.args.normalise(filled.clone()).map_err(|faults| authorize::args_refusal(&faults))?;
        let rendered = prepare::render(agreed.manifest, request, &args, &Change::Nothing)?;
        let key = self.keys.current();
        let outgoing = prepare::with_credential(rendered, agreed.manifest, key.credential(agreed))?;
        let path = shape(&request.path);
        let within = Within {
            path: &path,
            response_bytes: read.limits.response_bytes,
            timeout_ms: agreed.op.limits.timeout_ms,
            repeat: Repeat::of(read),
        };
        let incoming =
            Sending { agreed, keys: self.keys, executor }.exchange(&outgoing, within, trace).await?;
        let look = Look::Condition(&requirement.condition);
        let scrub = || self.keys.scrub();
        let now = executor.clock.now();
        let answer = Answer::received((agreed.manifest, read), look, scrub(), incoming, now);
        let document = answer.judge(trace).await?.into_document();
        let document = document.ok_or_else(failed)?;
        if !holds(&document, &requirement.condition)? {
            return Err(failed());
        }
        let path = &requirement.condition.path;
        let value = found(&document, path.steps()).map(|value| shown(value, &scrub()));
        Ok(Found { op: requirement.op.clone(), args: filled, path: path.as_str().to_owned(), value })
    }
}

/// A value of an answer, for a person.
fn shown(value: &Tree, scrub: &Scrub) -> Value {
    match value {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Number(digits) => serde_json::from_str(digits.as_str()).unwrap_or_else(|_huge| "…".into()),
        Tree::String(text) => UntrustedText::new(&scrub.text(text)).as_str().into(),
        Tree::Array(_) | Tree::Object(_) => "…".into(),
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
