//! Inspecting: what a grant says, for its bot's operator, without its secrets and without making it a permission.
//!
//! Says of a grant from an unknown member that nothing vouches for it. DESIGN, "CLI": `grant inspect`.

use std::collections::BTreeSet;

use pinhole_manifest::{Access, ApiHost, Digest, OpId, ServiceId};
use serde::Serialize;

use super::rules::{self, RuleBroken};
use super::{Grant, Inconsistency, open, wire};
use crate::approval::ActionDigest;
use crate::credential::{CredentialKind, Dial};
use crate::keys::{KeyId, KeyKind, PublicKey, SecretKey};
use crate::scope::Where;
use crate::seal::{self, Kind, UnsealError};
use crate::sign::{self, VerifyError};
use crate::text::{Account, CredentialId, GrantId, Label, SourceName};
use crate::time::UnixTime;

/// What stands in place of a secret.
const SECRET_WORD: &str = "<secret>";

/// Why a grant could not be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The envelope does not open with this key.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// What was sealed is not signed as a grant, or the signature does not hold.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was signed is no grant.
    #[error("what was signed is not a grant")]
    Malformed,
}

/// How far a grant can be relied on, time and use aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Signed by a known member, sound, for this bot.
    Good,
    /// The signature could not be checked: the member is not known here. Nothing it says is vouched for.
    UnknownIssuer,
    /// Signed by a known key, but it names another member or bot, disagrees with its credential or breaks a rule: it will
    /// not open.
    Unsound,
}

/// What a grant says, its secrets replaced by a fixed word.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "each is documented at the method of `Grant` or field of `Scope` of the same name"
)]
pub struct Inspection {
    /// How far it can be relied on.
    pub standing: Standing,
    pub id: GrantId,
    pub issuer: KeyId,
    pub bot: KeyId,
    pub connection: CredentialId,
    pub account: Account,
    pub service: ServiceId,
    pub host: ApiHost,
    pub manifest: Digest,
    pub access: Access,
    pub ops: Option<BTreeSet<OpId>>,
    #[serde(rename = "where")]
    pub wheres: Where,
    pub iat: UnixTime,
    pub not_before: UnixTime,
    pub expires_at: UnixTime,
    pub uses: Option<u32>,
    pub return_to: Option<PublicKey>,
    pub approves: Option<ActionDigest>,
    pub credential: InspectedCredential,
}

/// The credential in a grant, its secrets replaced by a fixed word.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is documented at the method of `Credential` of the same name")]
pub struct InspectedCredential {
    #[serde(rename = "gen")]
    pub generation: u64,
    pub label: Label,
    pub token_url: Option<String>,
    pub registry: SourceName,
    pub kind: CredentialKind,
    /// Always the fixed word.
    pub secret: &'static str,
    /// The fixed word where there is one.
    pub refresh: Option<&'static str>,
    pub expires_at: Option<UnixTime>,
    pub cap: Access,
    pub dial: Dial,
}

/// Opens a grant only to show what it says: no check of time, and a member who is not among `issuers` is reported.
pub fn inspect(envelope: &[u8], bot: &SecretKey, issuers: &[PublicKey]) -> Result<Inspection, InspectError> {
    let signed = seal::open(Kind::Grant, envelope, bot)?;
    let (grant, standing) = match sign::verify(Kind::Grant, &signed, issuers) {
        Ok(verified) if verified.signer().kind() == KeyKind::Member => {
            let grant = wire::read(verified.payload()).ok_or(InspectError::Malformed)?;
            let named = grant.issuer == verified.signer().id() && grant.bot == bot.public().id();
            let standing = if named && sound(&grant) { Standing::Good } else { Standing::Unsound };
            (grant, standing)
        }
        Ok(_) | Err(VerifyError::UnknownSigner) => {
            let (_claimed, payload) = sign::peek(Kind::Grant, &signed)?;
            (wire::read(&payload).ok_or(InspectError::Malformed)?, Standing::UnknownIssuer)
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Inspection::of(&grant, standing))
}

fn sound(grant: &Grant) -> bool {
    let consistent: Result<(), Inconsistency> = open::consistent(grant);
    let ruled: Result<(), RuleBroken> =
        rules::check(&grant.scope, grant.issued_at, grant.approves, grant.credential.cap());
    consistent.is_ok() && ruled.is_ok()
}

impl Inspection {
    fn of(grant: &Grant, standing: Standing) -> Self {
        let (scope, credential) = (grant.scope(), grant.credential());
        Self {
            standing,
            id: grant.id,
            issuer: grant.issuer,
            bot: grant.bot,
            connection: grant.connection,
            account: grant.account.clone(),
            service: grant.service.clone(),
            host: grant.host.clone(),
            manifest: grant.manifest,
            access: scope.access,
            ops: scope.ops.clone(),
            wheres: scope.wheres.clone(),
            iat: grant.issued_at,
            not_before: scope.not_before,
            expires_at: scope.expires_at,
            uses: scope.uses.map(std::num::NonZeroU32::get),
            return_to: grant.return_to.clone(),
            approves: grant.approves,
            credential: InspectedCredential {
                generation: credential.generation(),
                label: credential.label().clone(),
                token_url: credential.token_url().map(|url| url.as_str().to_owned()),
                registry: credential.registry().clone(),
                kind: credential.kind(),
                secret: SECRET_WORD,
                refresh: credential.refresh().map(|_refresh| SECRET_WORD),
                expires_at: credential.expires_at(),
                cap: credential.cap(),
                dial: credential.dial(),
            },
        }
    }
}
