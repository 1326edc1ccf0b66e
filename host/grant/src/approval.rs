//! The digest of one action: what a person says yes to, and all that the yes then covers.
//!
//! SHA-256 of the RFC 8785 form of `{service, op, args, manifest, connection, account, bot}`. Refuses numbers that another
//! reader would round before anything is canonicalised. DESIGN, "Crypto": Approval.

use std::fmt;

use pinhole_manifest::model::Args;
use pinhole_manifest::{Digest, OpId, ServiceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::keys::KeyId;
use crate::scope::is_safe;
use crate::text::{Account, CredentialId};

/// Which action: a SHA-256 digest, with the text form of any other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionDigest(Digest);

impl fmt::Display for ActionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ActionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One run of one op, down to who does it on whose account.
#[derive(Debug, Clone, Copy)]
pub struct Action<'a> {
    /// The service.
    pub service: &'a ServiceId,
    /// The op.
    pub op: &'a OpId,
    /// Its args in their normal form.
    pub args: &'a Args,
    /// The manifest that says what the op does.
    pub manifest: Digest,
    /// The connection that is used.
    pub connection: CredentialId,
    /// The account that it opens.
    pub account: &'a Account,
    /// The bot that runs it.
    pub bot: KeyId,
}

/// Why an action has no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// A number is beyond ±(2^53 − 1); normal args have none.
    #[error("the number at `{pointer}` is beyond 2^53 - 1")]
    UnsafeNumber {
        /// Where, as a JSON Pointer into the args.
        pointer: String,
    },
    /// The canonical form could not be written.
    #[error("the action could not be written in its canonical form")]
    Canonical,
}

/// An action but for its args.
struct Parts<'a> {
    service: &'a ServiceId,
    op: &'a OpId,
    manifest: Digest,
    connection: CredentialId,
    account: &'a Account,
    bot: KeyId,
}

#[derive(Serialize)]
struct ActionWire<'a> {
    service: &'a ServiceId,
    op: &'a OpId,
    args: &'a Value,
    manifest: Digest,
    connection: CredentialId,
    account: &'a Account,
    bot: KeyId,
}

impl Action<'_> {
    /// The digest of the action.
    pub fn digest(&self) -> Result<ActionDigest, ActionError> {
        let &Self { service, op, args, manifest, connection, account, bot } = self;
        Parts { service, op, manifest, connection, account, bot }.digest_with(&args.to_json())
    }
}

impl Parts<'_> {
    fn digest_with(&self, args: &Value) -> Result<ActionDigest, ActionError> {
        refuse_unsafe_numbers(args, "")?;
        let &Self { service, op, manifest, connection, account, bot } = self;
        let wire = ActionWire { service, op, args, manifest, connection, account, bot };
        let canonical = serde_json_canonicalizer::to_vec(&wire).map_err(|_source| ActionError::Canonical)?;
        Ok(ActionDigest(Digest::of(&canonical)))
    }
}

fn refuse_unsafe_numbers(value: &Value, pointer: &str) -> Result<(), ActionError> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => {
            let safe = number.as_f64().is_some_and(is_safe);
            if safe { Ok(()) } else { Err(ActionError::UnsafeNumber { pointer: pointer.to_owned() }) }
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| refuse_unsafe_numbers(item, &format!("{pointer}/{index}"))),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            refuse_unsafe_numbers(member, &format!("{pointer}/{name}"))
        }),
    }
}

#[cfg(test)]
mod tests;
