//! What a call would do, without doing it: the same stages as a run up to the request, then a description of it. Spends
//! nothing, sends nothing.

use pinhole_manifest::model::{Action, Args, Limits, Module, Op};
use pinhole_manifest::pick::Pick;
use pinhole_manifest::{Access, Digest, OpId, ServiceId};
use serde::Serialize;
use serde_json::Value;

use super::authorize::{Authorized, Rule};
use super::module::ShownModule;
use super::open::Agreed;
use super::page::OnPage;
use super::prepare::credential_value_shown;
use super::{Call, CallRequest, Executor, Received, Trace};
use crate::outcome::{Code, Meta, Refusal};
use crate::render::Rendered;

/// What a call would come to.
#[derive(Debug)]
pub enum Explained {
    /// It would be sent.
    WouldRun(Box<Explanation>),
    /// The member would be asked, and nothing would be sent before her yes.
    WouldAsk(Box<Explanation>),
    /// It would be refused, with nothing sent.
    Refused(Refusal),
}

/// What would be sent, and why it may be.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The service.
    pub service: ServiceId,
    /// The op.
    pub op: OpId,
    /// What the op does, in the manifest's words.
    pub summary: String,
    /// Whether it looks or changes.
    pub access: Access,
    /// What the member was or would be asked, for a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// The args in their normal form.
    pub args: Value,
    /// What must hold before it is sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Required>,
    /// The request, where the op has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<ShownRequest>,
    /// What computes the op instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<ShownModule>,
    /// The fields that would come back.
    pub returns: Vec<String>,
    /// Where in the answer they stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Sizes and times.
    pub limits: ShownLimits,
    /// The grant that permits it.
    pub grant: Value,
    /// The rule that decides.
    pub rule: String,
    /// The manifest, such as `github@1.0.0`.
    pub manifest: String,
    /// Its digest.
    pub digest: Digest,
    /// Whether nobody signed it and it is not part of the binary.
    pub unsigned: bool,
}

/// A request with its credential left out.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ShownRequest {
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The headers, the credential as `<credential>`.
    pub headers: Vec<(String, String)>,
    /// The body: JSON as JSON, a form as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// A read that would be made first.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Required {
    /// The read op.
    pub op: OpId,
    /// Its args.
    pub args: Value,
    /// What the refusal would say if its condition did not hold.
    pub otherwise: String,
}

/// An op's limits.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ShownLimits {
    pub response_bytes: u64,
    pub result_bytes: u64,
    pub timeout_ms: u64,
}

impl From<Limits> for ShownLimits {
    fn from(limits: Limits) -> Self {
        let Limits { response_bytes, result_bytes, timeout_ms, .. } = limits;
        Self { response_bytes, result_bytes, timeout_ms }
    }
}

impl Executor {
    /// What a call would do. Nothing is spent and nothing is sent.
    pub async fn explain(&self, request: CallRequest) -> Explained {
        match self.walk_to_request(&request).await {
            Ok(explanation) => Explained::WouldRun(Box::new(explanation)),
            Err(refusal) => Explained::Refused(refusal),
        }
    }

    pub(super) async fn walk_to_request(&self, request: &CallRequest) -> Result<Explanation, Refusal> {
        let mut trace = Trace::of(self, request);
        let call = Call { stage: Received { request } };
        let call = call.open_grant(self, &mut trace).await?;
        let call = call.agree(self, &mut trace)?;
        let call = call.check_args(self, &mut trace)?;
        let call = call.authorize()?;
        let call = call.open_page(self)?;
        call.look_for_use(self).await?;
        call.describe(self, &trace.meta)
    }
}

impl Call<OnPage<'_>> {
    async fn look_for_use(&self, executor: &Executor) -> Result<(), Refusal> {
        let grant = self.stage.authorized.agreed.grant();
        let Some(allowed) = grant.scope().uses.filter(|_| !self.stage.is_paid()) else {
            return Ok(());
        };
        let id = grant.id();
        if executor.with_store(move |store| store.has_use_left(&id, allowed)).await? {
            Ok(())
        } else {
            Err(Refusal::new(Code::GrantUsedUp))
        }
    }

    fn describe(&self, executor: &Executor, meta: &Meta) -> Result<Explanation, Refusal> {
        let Authorized { agreed, args, rule, .. } = &self.stage.authorized;
        let would = match &agreed.op.action {
            Action::Request(_) => Would::Send(self.stage.render()?, self.stage.idempotency_header(executor)),
            Action::Module(module) => Would::Compute(module),
        };
        describe(agreed, args, would, rule_sentence(*rule, executor), executor, meta)
    }
}

/// What a call would do.
pub(super) enum Would<'m> {
    /// Send this, with the header by which the service knows it again.
    Send(Rendered, Option<(String, String)>),
    /// Have it computed.
    Compute(&'m Module),
}

/// What a call comes to that would do this.
pub(super) fn describe(
    agreed: &Agreed<'_>,
    args: &Args,
    would: Would<'_>,
    rule: String,
    executor: &Executor,
    meta: &Meta,
) -> Result<Explanation, Refusal> {
    let (manifest, op) = (agreed.manifest, agreed.op);
    let fill = |template| {
        crate::render::fill_confirm(template, args)
            .map_err(|error| Refusal::new(Code::ArgRefused).saying(error.to_string()))
    };
    let mut requires = Vec::new();
    for requirement in &op.require {
        requires.push(Required {
            op: requirement.op.clone(),
            args: super::require::requirement_args(requirement, args)?.into(),
            otherwise: requirement.otherwise.clone(),
        });
    }
    let (request, module) = match would {
        Would::Send(rendered, idempotency) => (Some(shown_request(agreed, rendered, idempotency)), None),
        Would::Compute(module) => (None, Some(ShownModule::of(module, args))),
    };
    Ok(Explanation {
        service: manifest.id().clone(),
        op: op.id.clone(),
        summary: op.summary.clone(),
        access: op.access,
        confirm: op.confirm.as_ref().map(fill).transpose()?,
        args: args.to_json(),
        requires,
        request,
        module,
        returns: returns(op),
        root: root(op),
        limits: op.limits.into(),
        grant: shown_grant(&agreed.request.grant, executor),
        rule,
        manifest: manifest.label(),
        digest: manifest.digest(),
        unsigned: meta.unsigned,
    })
}

fn shown_request(
    agreed: &Agreed<'_>,
    rendered: Rendered,
    idempotency: Option<(String, String)>,
) -> ShownRequest {
    let manifest = agreed.manifest;
    let scheme = super::prepare::scheme_of(manifest, agreed.grant().credential());
    let body = rendered.shown_body();
    let mut headers = rendered.headers;
    headers.extend(idempotency);
    headers.push((scheme.header_name().to_owned(), credential_value_shown(scheme)));
    headers.sort();
    ShownRequest {
        method: rendered.method.as_str().to_owned(),
        url: format!("https://{}{}", manifest.host(), rendered.target),
        headers,
        body,
    }
}

fn returns(op: &Op) -> Vec<String> {
    match &op.pick {
        Pick::None => Vec::new(),
        Pick::Fields(projection) => projection
            .fields
            .iter()
            .map(|field| match &field.alias {
                Some(alias) => format!("{} as {alias}", field.text),
                None => field.text.clone(),
            })
            .collect(),
    }
}

fn root(op: &Op) -> Option<String> {
    match &op.pick {
        Pick::None => None,
        Pick::Fields(projection) => Some(projection.to_string()),
    }
}

fn rule_sentence(rule: Rule, executor: &Executor) -> String {
    let bot = executor.bot.public().id();
    match rule {
        Rule::ReadGranted => format!("the grant lets bot {bot} read"),
        Rule::WriteGranted => format!("the grant lets bot {bot} write what can be taken back"),
        Rule::Approved => format!("the member approved exactly this write by bot {bot}"),
    }
}

/// What the grant says, its secrets left out. It has opened already.
fn shown_grant(sealed: &[u8], executor: &Executor) -> Value {
    let shown = executor.bot.inspect(sealed, &executor.issuers);
    shown.ok().and_then(|shown| serde_json::to_value(shown).ok()).unwrap_or_default()
}
