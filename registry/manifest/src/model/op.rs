//! One op: what it may do, what it takes, what it sends, what comes back. DESIGN, "Manifest".

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::args::ArgsSchema;
use super::page::{Module, Page};
use super::request::{JsonTemplate, Request, Template};
use crate::ids::{Access, ArgName, OpId};
use crate::pick::{Condition, Pick};

/// One operation of a service.
#[derive(Debug)]
#[non_exhaustive]
pub struct Op {
    /// Its id.
    pub id: OpId,
    /// Whether it looks or changes.
    pub access: Access,
    /// A sentence for people and models.
    pub summary: String,
    /// What it takes.
    pub args: ArgsSchema,
    /// What a person is asked before a write; every write has one, and its placeholders are required args.
    pub confirm: Option<Template>,
    /// What a write does; every write has one.
    pub effect: Option<Effect>,
    /// Whether a write cannot be taken back.
    pub irreversible: bool,
    /// The header by which the service knows a repeated write, in lower case.
    pub idempotency: Option<String>,
    /// What must hold before a write is sent.
    pub require: Vec<Requirement>,
    /// What is sent, or what computes it.
    pub action: Action,
    /// How further pages are found.
    pub page: Option<Page>,
    /// What comes back.
    pub pick: Pick,
    /// Sizes and times.
    pub limits: Limits,
}

impl Op {
    /// The request of a declarative op.
    pub fn request(&self) -> Option<&Request> {
        match &self.action {
            Action::Request(request) => Some(request),
            Action::Module(_) => None,
        }
    }
}

/// How an op gets its answer.
#[derive(Debug)]
pub enum Action {
    /// One request, spelled out.
    Request(Box<Request>),
    /// A Wasm component that makes the requests it declares.
    Module(Box<Module>),
}

/// What a write does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Something new comes to be.
    Create,
    /// Something changes.
    Update,
    /// Something goes away.
    Delete,
    /// Somebody is told something.
    Send,
    /// Money moves.
    Spend,
}

impl Effect {
    /// The word in the manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Send => "send",
            Self::Spend => "spend",
        }
    }

    /// Whether a write grant that approves nothing in particular may run it: only what can be undone.
    pub fn needs_approval(self) -> bool {
        matches!(self, Self::Delete | Self::Send | Self::Spend)
    }
}

impl Serialize for Effect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A read that must find what is expected before a write is sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Requirement {
    /// A read op of the same manifest, with one plain request.
    pub op: OpId,
    /// Its args, fed from the write's.
    pub args: BTreeMap<ArgName, JsonTemplate>,
    /// What its answer must hold (judged on the whole answer, of which nothing is passed on).
    pub condition: Condition,
    /// What the person or bot is told if it does not hold.
    pub otherwise: String,
}

/// Largest `response_bytes`: 64 MiB.
pub const RESPONSE_BYTES_MAX: u64 = 64 << 20;
/// Largest `result_bytes`: 1 MiB.
pub const RESULT_BYTES_MAX: u64 = 1 << 20;
/// Largest `timeout_ms`: two minutes.
pub const TIMEOUT_MS_MAX: u64 = 120_000;

/// Sizes and times of one op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes of an answer, after decompression.
    pub response_bytes: u64,
    /// Most bytes of an outcome, as compact JSON.
    pub result_bytes: u64,
    /// Longest time for the whole op, in milliseconds.
    pub timeout_ms: u64,
}

impl Default for Limits {
    /// 8 MiB, 64 KiB, 20 s.
    fn default() -> Self {
        Self { response_bytes: 8 << 20, result_bytes: 65_536, timeout_ms: 20_000 }
    }
}
