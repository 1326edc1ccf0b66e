//! What a receipt says of a run.
//!
//! Everything in it is the host's own word, a name out of a manifest, or an id: no text that a service wrote and no value of
//! a result. What is not known is `null`.

use pinhole_grant::{ActionDigest, CredentialId, GrantId, KeyId, KeyedDigest, PrincipalId, UnixTime};
use pinhole_manifest::{Digest, OpId, ServiceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::net::Sent;

/// Most requests that a receipt lists one by one; of the others it has the number.
pub const REQUESTS_MAX: usize = 64;
/// Most fields that a receipt lists.
pub const FIELDS_MAX: usize = 256;
/// Largest args that a receipt keeps where the operator wants them, in bytes as JSON: larger ones have their digest alone.
pub const ARGS_BYTES_MAX: usize = 16 << 10;

/// The code of a run that gave a result.
pub const OK: &str = "ok";
/// The code of a run that began to send and never came to an end.
pub const INTERRUPTED: &str = "interrupted";

/// What a receipt says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// When the run began, by the machine's clock.
    pub at: UnixTime,
    /// Who ran it.
    pub bot: KeyId,
    /// The service that was asked for.
    pub service: ServiceId,
    /// The op that was asked for.
    pub op: OpId,
    /// [`OK`], [`INTERRUPTED`] or the refusal's code.
    pub code: String,
    /// Whether the op's request left.
    pub sent: Sent,
    /// Who gave the grant; `None` where none opened.
    pub member: Option<KeyId>,
    /// The grant.
    pub grant: Option<GrantId>,
    /// The connection whose credential was used.
    pub connection: Option<CredentialId>,
    /// On whose behalf, where it was not the host's own.
    pub principal: Option<PrincipalId>,
    /// The manifest.
    pub manifest: Option<Digest>,
    /// The write that the grant approves.
    pub approval: Option<ActionDigest>,
    /// Of the normalised args, in the form of RFC 8785, under a key of the bot's; `None` where they were not args.
    pub args_digest: Option<KeyedDigest>,
    /// The args, where the operator has them kept.
    pub args: Option<Value>,
    /// The requests that were made, in their order, each try for itself; at most [`REQUESTS_MAX`].
    pub requests: Vec<RequestMade>,
    /// How many more were made.
    pub more_requests: u32,
    /// How many requests for a fresh token pair this run sent before, or instead of, the op's own. A run that shared another's
    /// renewal sent none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub token_requests: u32,
    /// Bytes of all answers, decompressed.
    pub bytes_in: u64,
    /// Bytes of the result as compact JSON.
    pub bytes_out: u64,
    /// Which of the picked fields were there, as paths of the result; elements as `[*]`; at most [`FIELDS_MAX`].
    pub fields: Vec<String>,
    /// Whether what came of it is what came of an earlier call with the same key, and nothing was sent now.
    pub replayed: bool,
    /// Milliseconds that it took.
    pub ms: u64,
    /// Where nobody was told an outcome: why. `requests` and all after it are then not known.
    pub unended: Option<Unended>,
}

/// A request that was handed to the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestMade {
    /// The HTTP method.
    pub method: String,
    /// The path as the manifest has it, `{arg}` for a value.
    pub path: String,
    /// The status of the answer, if one came.
    pub status: Option<u16>,
    /// Bytes of the answer that were read, decompressed.
    pub bytes: u64,
}

/// Why a run that began has no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unended {
    /// Whoever asked gave it up.
    Abandoned,
    /// The process went away in the middle of it.
    Lost,
}

impl Facts {
    /// A run of which nothing is known but what was asked for.
    pub fn new(at: UnixTime, bot: KeyId, service: ServiceId, op: OpId) -> Self {
        Self {
            at,
            bot,
            service,
            op,
            code: INTERRUPTED.to_owned(),
            sent: Sent::No,
            member: None,
            grant: None,
            connection: None,
            principal: None,
            manifest: None,
            approval: None,
            args_digest: None,
            args: None,
            requests: Vec::new(),
            more_requests: 0,
            token_requests: 0,
            bytes_in: 0,
            bytes_out: 0,
            fields: Vec::new(),
            replayed: false,
            ms: 0,
            unended: None,
        }
    }

    /// The same run, of which nobody will ever hear how it ended.
    #[must_use]
    pub fn unended(self, why: Unended) -> Self {
        Self { code: INTERRUPTED.to_owned(), sent: Sent::Maybe, unended: Some(why), ..self }
    }

    /// Whether a text is a code.
    pub(super) fn is_code(text: &str) -> bool {
        (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    }
}

/// A receipt of before, which says nothing of them, is read and written as it was.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
