//! The members of a manifest itself. DESIGN, "Manifest".
//!
//! Reads the service's name, host, headers and failure rule, hands on `auth` and `ops`, and puts the parts together.
//! INVARIANT: where a part is `None` a fault was reported.

use std::collections::BTreeMap;

use super::op::{Draft, ServiceContext};
use super::reader::{Object, Value, clip};
use super::text::{self, LINE_MAX, NAME_MAX};
use super::{answer, args, auth, cross, names, op};
use crate::diagnostic::Code;
use crate::digest::Digest;
use crate::host::{ApiHost, HostError, HttpsUrl};
use crate::ids::{OpId, ServiceId, TOOL_NAME_MAX};
use crate::json::Node;
use crate::model::{Failure, Manifest};

/// Most ops of a manifest.
pub(crate) const OPS_MAX: usize = 2_000;
/// Longest version, in characters.
const VERSION_MAX: usize = 64;

/// Reads the whole. What it gives is a manifest only if no fault was reported.
pub(super) fn manifest(top: &Value<'_>, digest: Digest) -> Option<Manifest> {
    let mut object = top.object()?;
    if let Some(value) = object.required("pinhole") {
        format(&value);
    }
    let id = object.required("id").and_then(|value| service_id(&value));
    let version = object.required("version").and_then(|value| version(&value));
    let name = object.required("name").and_then(|value| text::line(&value, NAME_MAX));
    let summary = object.required("summary").and_then(|value| text::line(&value, LINE_MAX));
    let docs = object.optional("docs").and_then(|value| url(&value));
    let verified = object.optional("verified").and_then(|value| text::day(&value));
    let host = object.required("host").and_then(|value| host(&value));
    let auth = object.required("auth").and_then(|value| auth::auth(&value));
    let credential =
        auth.as_ref().and_then(|auth| auth.scheme.as_ref()).map(|scheme| scheme.header_name().to_owned());
    let headers = object.optional("headers").and_then(|value| headers(&value, credential.as_deref()));
    let failure = object.optional("failure").and_then(|value| failure(&value));
    let error = object.optional("error").and_then(|value| error(&value));
    let headers = headers.unwrap_or_default();
    let context = ServiceContext { id: id.as_ref(), credential: credential.as_deref(), headers: &headers };
    let drafts = object.required("ops").and_then(|value| ops(&value, &context));
    if let Some(drafts) = &drafts {
        cross::check(auth.as_ref(), drafts, top);
    }
    object.finish();
    let ops = drafts?.drafts.into_iter().map(|draft| Some((draft.id.clone(), draft.build()?)));
    Some(Manifest {
        digest,
        id: id?,
        version: version?,
        name: name?,
        summary: summary?,
        docs,
        verified,
        host: host?,
        headers,
        auth: auth?.build()?,
        failure,
        error,
        ops: ops.collect::<Option<_>>()?,
    })
}

/// The ops that could be read, and the names of all.
#[derive(Debug)]
pub(super) struct Ops {
    pub(super) drafts: Vec<Draft>,
    pub(super) names: Vec<String>,
}

fn ops(value: &Value<'_>, context: &ServiceContext<'_>) -> Option<Ops> {
    let entries = value.entries()?;
    let names: Vec<_> = entries.iter().map(|(name, _)| (*name).to_owned()).collect();
    if entries.is_empty() {
        value.fault(Code::NoOps, "there is no op", "write at least one");
    }
    if entries.len() > OPS_MAX {
        let message = format!("there are {} ops", entries.len());
        value.fault(Code::TooManyOps, message, format!("keep at most {OPS_MAX}"));
    }
    let compiling = args::count_patterns(&entries);
    let mut drafts = Vec::new();
    // Compiling the args of thousands of ops would take a while, and the file does not load anyway.
    for (name, entry) in entries.iter().take(OPS_MAX) {
        let id = op_id(name, entry, context.id);
        // An op without a name of its own is still read, for its faults.
        let parts = op::op(entry, context, compiling);
        if let (Some(id), Some(parts)) = (id, parts) {
            drafts.push(Draft { id, parts });
        }
    }
    Some(Ops { drafts, names })
}

fn op_id(name: &str, entry: &Value<'_>, service: Option<&ServiceId>) -> Option<OpId> {
    let Ok(id) = OpId::parse(name) else {
        let message = format!("`{}` is not an op id", clip(name));
        let help = "write 1 to 40 lower-case letters, digits and underscores, a letter first";
        entry.faults.add_at_key(Code::OpName, &entry.at, message, help);
        return None;
    };
    let length = service.map_or(0, |service| service.as_str().len()) + 1 + name.len();
    if length > TOOL_NAME_MAX {
        let message = format!("the tool name has {length} characters");
        let help = format!("shorten the op's name: service, `_` and op have at most {TOOL_NAME_MAX}");
        entry.faults.add_at_key(Code::ToolName, &entry.at, message, help);
    }
    Some(id)
}

fn format(value: &Value<'_>) {
    let Node::Number(number) = value.node else {
        value.wrong::<()>("the number 1");
        return;
    };
    if number.as_u64() != Some(1) {
        value.fault(Code::Format, format!("there is no format {number}"), "write 1");
    }
}

fn service_id(value: &Value<'_>) -> Option<ServiceId> {
    let text = value.text()?;
    let parsed = ServiceId::parse(text).ok();
    if parsed.is_none() {
        let help = "write 2 to 24 lower-case letters and digits, a letter first, such as `github`";
        value.fault(Code::ServiceName, format!("`{}` is not a service id", clip(text)), help);
    }
    parsed
}

fn version(value: &Value<'_>) -> Option<semver::Version> {
    let text = value.text()?;
    let parsed = semver::Version::parse(text).ok().filter(|_| text.len() <= VERSION_MAX);
    if parsed.is_none() {
        let message = format!("`{}` is not a semantic version", clip(text));
        value.fault(Code::Version, message, "write three numbers, such as `1.0.0`");
    }
    parsed
}

/// A public `https` URL.
pub(super) fn url(value: &Value<'_>) -> Option<HttpsUrl> {
    value.parsed(HttpsUrl::parse, |error| {
        (
            Code::Url,
            error.to_string(),
            "write a public URL, such as `https://docs.example.com/api`".to_owned(),
        )
    })
}

fn host(value: &Value<'_>) -> Option<ApiHost> {
    value.parsed(ApiHost::parse, |error| {
        let code = match error {
            HostError::Length => Code::HostLength,
            HostError::Scheme => Code::HostScheme,
            HostError::Port => Code::HostPort,
            HostError::Path => Code::HostPath,
            HostError::Wildcard => Code::HostWildcard,
            HostError::Placeholder => Code::HostPlaceholder,
            HostError::Address => Code::HostAddress,
            HostError::SingleLabel => Code::HostSingleLabel,
            HostError::TrailingDot => Code::HostTrailingDot,
            HostError::PrivateSuffix => Code::HostPrivate,
            HostError::Label => Code::HostLabel,
        };
        (code, error.to_string(), "write one public DNS name, such as `api.example.com`".to_owned())
    })
}

fn headers(value: &Value<'_>, credential: Option<&str>) -> Option<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    for (name, entry) in value.entries()? {
        let named = names::header(&entry, name, credential);
        if let Some(text) = entry.text()
            && text::header_value(&entry, text)
            && named
        {
            headers.insert(name.to_owned(), text.to_owned());
        }
    }
    Some(headers)
}

fn failure(value: &Value<'_>) -> Option<Failure> {
    let mut object = value.object()?;
    let when = answer::condition(&mut object);
    let message = message(&mut object);
    object.finish();
    Some(Failure { when: when?, message })
}

fn error(value: &Value<'_>) -> Option<crate::pick::SingularPath> {
    let mut object = value.object()?;
    let path = object.required("message").and_then(|value| answer::path(&value));
    object.finish();
    path
}

fn message(object: &mut Object<'_>) -> Option<crate::pick::SingularPath> {
    object.optional("message").and_then(|value| answer::path(&value))
}
