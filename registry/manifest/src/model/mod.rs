//! A manifest as the rest of the world sees it: already parsed, already checked.
//!
//! INVARIANT: every value here came out of `parse`, the only code that makes one. The structs are `#[non_exhaustive]`
//! and not `Clone`, and a [`Manifest`] only lends them, so nobody else can make or change one.

mod args;
mod auth;
mod op;
mod page;
mod request;

use std::collections::BTreeMap;

pub(crate) use args::LazyValidator;
pub use args::{ArgDef, ArgFault, ArgKind, Args, ArgsSchema, SAFE_INTEGER_MAX};
pub use auth::{Auth, AuthScheme, ClientAuth, OAuth, Pat, Pkce};
pub use op::{Action, Effect, Limits, Op, RESPONSE_BYTES_MAX, RESULT_BYTES_MAX, Requirement, TIMEOUT_MS_MAX};
pub use page::{LineValues, Module, ModuleRequest, ModuleSegment, Page, PathPattern, PatternSegment};
pub(crate) use request::decoded;
pub use request::{
    Body, JsonTemplate, Method, PathTemplate, Piece, QueryParam, Request, Template, is_dot_segment,
};

pub use crate::parse::{is_graphql_segment, is_method_key};

use crate::digest::Digest;
use crate::host::{ApiHost, HttpsUrl};
use crate::ids::{OpId, ServiceId};
use crate::pick::{Condition, SingularPath};

/// One service: its host, how a credential is put in, and the closed list of ops.
#[derive(Debug)]
pub struct Manifest {
    pub(crate) digest: Digest,
    pub(crate) id: ServiceId,
    pub(crate) version: semver::Version,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) docs: Option<HttpsUrl>,
    pub(crate) verified: Option<String>,
    pub(crate) host: ApiHost,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) auth: Auth,
    pub(crate) failure: Option<Failure>,
    pub(crate) error: Option<SingularPath>,
    pub(crate) ops: BTreeMap<OpId, Op>,
}

/// When an answer with a 2xx status is a failure all the same.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Holds for a failure.
    pub when: Condition,
    /// Where the text of the failure stands.
    pub message: Option<SingularPath>,
}

impl Manifest {
    /// The SHA-256 of the file's exact bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// The service.
    pub fn id(&self) -> &ServiceId {
        &self.id
    }
    /// The version of the manifest, not of the service.
    pub fn version(&self) -> &semver::Version {
        &self.version
    }
    /// The service's name for people.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// A sentence on what the service offers here.
    pub fn summary(&self) -> &str {
        &self.summary
    }
    /// The service's own documentation.
    pub fn docs(&self) -> Option<&HttpsUrl> {
        self.docs.as_ref()
    }
    /// The day (`YYYY-MM-DD`) on which somebody tried it on the live service; absent if nobody did.
    pub fn verified(&self) -> Option<&str> {
        self.verified.as_deref()
    }
    /// The one host that its ops are sent to.
    pub fn host(&self) -> &ApiHost {
        &self.host
    }
    /// Headers that every request carries; names in lower case.
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }
    /// How a credential is put into a request, and how a person gets one.
    pub fn auth(&self) -> &Auth {
        &self.auth
    }
    /// The rule for failures that come with a 2xx status.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
    /// Where the body of a 4xx or 5xx answer keeps its text.
    pub fn error_message(&self) -> Option<&SingularPath> {
        self.error.as_ref()
    }
    /// The ops, in order of their ids.
    pub fn ops(&self) -> &BTreeMap<OpId, Op> {
        &self.ops
    }
    /// The op of this id.
    pub fn op(&self, id: &OpId) -> Option<&Op> {
        self.ops.get(id)
    }
    /// `github@1.0.0`, as outcomes name it.
    pub fn label(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }
}
