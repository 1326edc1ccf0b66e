//! Minting: a member's permission, held to the rules, signed, sealed to one bot.
//!
//! Refuses anything above the connection's cap and anything that opening would refuse. DESIGN, "Crypto": Grant.

use std::num::NonZeroU32;

use pinhole_manifest::{Access, Digest, OpId};
use rand_core::CryptoRng;

use super::rules::{self, RuleBroken};
use super::wire::GrantWire;
use crate::approval::ActionDigest;
use crate::credential::Credential;
use crate::credential::wire::CredentialWire;
use crate::keys::{KeyKind, PublicKey, SecretKey};
use crate::scope::Scope;
use crate::seal::{self, Kind, SealError};
use crate::sign::{self, SignError};
use crate::text::GrantId;
use crate::time::UnixTime;
use crate::wire::to_secret_json;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct MintRequest {
    /// Who is to have it.
    pub bot: PublicKey,
    /// The manifest that it is given under.
    pub manifest: Digest,
    /// What it is to cover. A `not_before` in the past becomes the time of minting.
    pub scope: Scope,
    /// Where a rotated pair is to be sent.
    pub return_to: Option<PublicKey>,
    /// The one action that it approves.
    pub approves: Option<ActionDigest>,
}

impl MintRequest {
    /// A grant of this scope and nothing more.
    pub fn new(bot: PublicKey, manifest: Digest, scope: Scope) -> Self {
        Self { bot, manifest, scope, return_to: None, approves: None }
    }

    /// An approval: one write of this op, the one whose digest it is, from now until `expires_at`.
    pub fn approval(
        bot: PublicKey,
        manifest: Digest,
        op: OpId,
        action: ActionDigest,
        now: UnixTime,
        expires_at: UnixTime,
    ) -> Self {
        let scope = Scope::new(Access::Write, now, expires_at).with_ops([op]).with_uses(NonZeroU32::MIN);
        Self { approves: Some(action), ..Self::new(bot, manifest, scope) }
    }

    /// The same, with rotated pairs to be sent to this key.
    #[must_use]
    pub fn returning_to(self, key: PublicKey) -> Self {
        Self { return_to: Some(key), ..self }
    }
}

/// Why a grant was not minted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    /// The signing key is a bot's or a broker's.
    #[error("only a member gives grants: this key is not a member's")]
    NotAMember,
    /// The receiving key is a member's or a broker's.
    #[error("a grant is given to a bot: this key is not a bot's")]
    NotABot,
    /// A rotated pair would go to a broker.
    #[error("a rotated pair goes back to a member: this key is a broker's")]
    BackToABroker,
    /// It breaks a rule.
    #[error(transparent)]
    Rule(#[from] RuleBroken),
    /// With its `where` lists it is too large.
    #[error("the grant is too large: list fewer values")]
    TooLarge,
    /// The cryptography failed.
    #[error("the grant could not be sealed")]
    Sealing,
}

impl From<SignError> for MintError {
    fn from(error: SignError) -> Self {
        match error {
            SignError::TooLarge => Self::TooLarge,
            SignError::Envelope => Self::Sealing,
        }
    }
}

impl From<SealError> for MintError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::TooLarge => Self::TooLarge,
            SealError::Encryption => Self::Sealing,
        }
    }
}

/// A sealed grant: bytes that only its bot opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedGrant {
    id: GrantId,
    bytes: Vec<u8>,
}

impl SealedGrant {
    /// Which grant: to be kept, for counting and revoking.
    pub fn id(&self) -> GrantId {
        self.id
    }

    /// The envelope.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The envelope, taken.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Mints a grant: checks it, signs it as `member`, seals it to the bot.
pub fn mint<R: CryptoRng>(
    request: &MintRequest,
    credential: &Credential,
    member: &SecretKey,
    now: UnixTime,
    rng: &mut R,
) -> Result<SealedGrant, MintError> {
    if member.public().kind() != KeyKind::Member {
        return Err(MintError::NotAMember);
    }
    if request.bot.kind() != KeyKind::Bot {
        return Err(MintError::NotABot);
    }
    if request.return_to.as_ref().is_some_and(|key| key.kind() == KeyKind::Broker) {
        return Err(MintError::BackToABroker);
    }
    let scope = Scope { not_before: request.scope.not_before.max(now), ..request.scope.clone() };
    rules::check(&scope, now, request.approves, credential.cap())?;
    let id = GrantId::random(rng);
    let wire = GrantWire {
        id,
        issuer: member.public().id(),
        bot: request.bot.id(),
        connection: credential.id(),
        account: credential.account().clone(),
        service: credential.service().clone(),
        host: credential.host().clone(),
        manifest: request.manifest,
        access: scope.access,
        ops: scope.ops,
        wheres: scope.wheres,
        iat: now,
        not_before: scope.not_before,
        expires_at: scope.expires_at,
        uses: scope.uses,
        credential: CredentialWire::of(credential),
        return_to: request.return_to.clone(),
        approves: request.approves,
    };
    let payload = to_secret_json(&wire, sign::PAYLOAD_BYTES_MAX).ok_or(MintError::Sealing)?;
    let signed = sign::sign(Kind::Grant, &payload, member)?;
    let bytes = seal::seal(Kind::Grant, &request.bot, &signed, rng)?;
    Ok(SealedGrant { id, bytes })
}
