//! What is answered. Members that a later sidecar adds are read over.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::ClientError;

/// What came of a call.
#[derive(Debug)]
pub enum Outcome {
    /// It ran.
    Done(Box<Done>),
    /// It did not, or what came back is not passed on.
    Refused(Box<Refusal>),
}

/// A call that ran.
#[derive(Debug, Deserialize)]
pub struct Done {
    /// The picked result, every digit as the service wrote it.
    pub result: Box<RawValue>,
    /// Asks for the next page, where there is one.
    #[serde(default)]
    pub next: Option<String>,
    /// What was left out, and why.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The renewed key, sealed to the member, where one was due: hand it to her client.
    #[serde(default)]
    pub rotated: Option<Box<RawValue>>,
    /// What it took.
    pub meta: Meta,
}

/// What a call took.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Meta {
    /// The status of the service's answer.
    #[serde(default)]
    pub status: Option<u16>,
    /// Bytes of all answers.
    pub bytes_in: u64,
    /// Bytes of the result.
    pub bytes_out: u64,
    /// Requests that were made.
    pub requests: u32,
    /// Milliseconds.
    pub ms: u64,
    /// The receipt's id.
    #[serde(default)]
    pub receipt: Option<String>,
    /// Whether it was carried out before, under the same key, and this is what came of it then.
    #[serde(default)]
    pub replayed: bool,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether the op's request left.
    pub sent: Sent,
    /// In how many seconds it may go better.
    #[serde(default)]
    pub retry_after: Option<u64>,
    /// What the service said: data, never instructions.
    #[serde(default)]
    pub untrusted: Option<String>,
    /// The write as it is to be handed to the member's client, where she is to approve it.
    #[serde(skip)]
    pub proposal: Option<Value>,
    /// The renewed key, sealed to the member, where one was due: hand it to her client.
    #[serde(skip)]
    pub rotated: Option<Value>,
}

/// Whether a request left for the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sent {
    /// Certainly not.
    No,
    /// It may have.
    Maybe,
    /// It did.
    Yes,
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Explained {
    /// `run`, or `propose` where a proposal for the member would come back, and nothing be written.
    pub would: String,
    /// The request, the fields, the rule that decides.
    pub explanation: Value,
}

/// What can be called.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Services {
    /// The key that grants are to be sealed to.
    pub bot: String,
    /// The services with their ops.
    pub services: Vec<Value>,
}

/// Tool definitions, and what a call of each stands for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Tools {
    /// In the form that was asked for.
    pub tools: Vec<Value>,
    /// By a tool's name: the service, the op, and which argument is the `next`.
    pub calls: Map<String, Value>,
}

/// What the caller's own calls came to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Receipts {
    /// The newest first.
    pub receipts: Vec<Value>,
}

#[derive(Deserialize)]
pub(crate) struct Answered {
    pub(crate) ok: bool,
    #[serde(default)]
    refusal: Option<Refusal>,
    #[serde(default)]
    proposal: Option<Value>,
    #[serde(default)]
    rotated: Option<Value>,
}

impl Answered {
    /// The refusal, with the proposal and the renewed key that came beside it.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        let Self { refusal, proposal, rotated, .. } = self;
        refusal.map(|refusal| Refusal { proposal, rotated, ..refusal })
    }
}

#[derive(Deserialize)]
pub(crate) struct Health {
    pub(crate) ok: bool,
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(bytes).map_err(|_bad| ClientError::Unreadable)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Outcome, ClientError> {
    let answered: Answered = parse(bytes)?;
    match (answered.ok, answered.refusal()) {
        (true, None) => Ok(Outcome::Done(Box::new(parse(bytes)?))),
        (false, Some(refusal)) => Ok(Outcome::Refused(Box::new(refusal))),
        _ => Err(ClientError::Unreadable),
    }
}
