//! Opening: from bytes of unknown origin to a permission, or to the one reason why not.
//!
//! The order is: envelope, seal, signature, shape, identity, credential, rules, time. Nothing of the payload is read
//! before its signature holds, and nothing is kept of a grant that fails. DESIGN, "Crypto": Opening refuses.

use super::rules::{self, RuleBroken};
use super::{Grant, wire};
use crate::keys::{KeyKind, PublicKey, SecretKey};
use crate::scope::ScopeError;
use crate::seal::{self, Kind, UnsealError};
use crate::sign::{self, VerifyError};
use crate::time::UnixTime;

/// A grant that was opened by its bot, signed by a known member, sound and in time. Whether it is used up or revoked is the
/// store's to say.
#[derive(Debug)]
pub struct OpenedGrant {
    grant: Grant,
}

impl OpenedGrant {
    /// What it says.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }
}

/// In what a grant disagrees with the credential that it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each names the member that differs")]
pub enum Inconsistency {
    #[error("the grant and its credential name different connections")]
    Connection,
    #[error("the grant and its credential name different accounts")]
    Account,
    #[error("the grant and its credential name different services")]
    Service,
    #[error("the grant and its credential name different hosts")]
    Host,
}

/// Why a grant was not opened. Exhaustive: each has its own answer. Holds nothing of the grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The opening key is a member's.
    #[error("a grant is opened by a bot: this key is not a bot's")]
    NotABot,
    /// It is larger than any grant.
    #[error("too large for a grant")]
    TooLarge,
    /// It is not a sealed envelope.
    #[error("not a sealed grant")]
    NotAnEnvelope,
    /// It is of a later version.
    #[error("a grant of version {0}; this program reads version 1")]
    Version(u8),
    /// It is a sealed envelope of another kind.
    #[error("sealed, but not a grant")]
    WrongKind,
    /// It was given to another bot.
    #[error("the grant was given to another bot")]
    WrongBot,
    /// It was given to a key that this bot has changed for another since, and whose end has come.
    #[error("the grant was given to a former key of this bot, which has ended")]
    KeyEnded,
    /// It was changed on the way, or never was a grant for this bot.
    #[error("the grant does not open: it was changed or cut short")]
    CannotOpen,
    /// What was sealed is not signed as a grant.
    #[error("what was sealed is not signed as a grant")]
    NotSigned,
    /// It was signed by nobody who is known here.
    #[error("the grant comes from an unknown member")]
    UnknownIssuer,
    /// The signature does not hold.
    #[error("the grant's signature does not match")]
    BadSignature,
    /// What was signed is no grant.
    #[error("what was signed is not a grant")]
    Malformed,
    /// It names another member than the one who signed it.
    #[error("the grant names another member than the one who signed it")]
    IssuerMismatch,
    /// It was given to another bot, which sealed it on to this one.
    #[error("the grant was given to another bot and passed on")]
    Resealed,
    /// It disagrees with the credential that it carries.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistency),
    /// It breaks a rule that every grant is held to.
    #[error(transparent)]
    Rule(#[from] RuleBroken),
    /// It is too early.
    #[error("the grant is not valid yet: compare the clocks")]
    NotYetValid,
    /// It is too late.
    #[error("the grant expired")]
    Expired,
}

impl From<UnsealError> for OpenError {
    fn from(error: UnsealError) -> Self {
        match error {
            UnsealError::TooLarge => Self::TooLarge,
            UnsealError::NotAnEnvelope => Self::NotAnEnvelope,
            UnsealError::Version(version) => Self::Version(version),
            UnsealError::WrongKind => Self::WrongKind,
            UnsealError::WrongRecipient => Self::WrongBot,
            UnsealError::CannotOpen => Self::CannotOpen,
        }
    }
}

impl From<VerifyError> for OpenError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::NotAnEnvelope | VerifyError::WrongType | VerifyError::SignatureCount => {
                Self::NotSigned
            }
            VerifyError::UnknownSigner => Self::UnknownIssuer,
            VerifyError::BadSignature => Self::BadSignature,
        }
    }
}

/// Opens a grant as its bot. `issuers` are the members whose grants are accepted here; `now` is a clock that never goes
/// back.
pub fn open(
    envelope: &[u8],
    bot: &SecretKey,
    issuers: &[PublicKey],
    now: UnixTime,
) -> Result<OpenedGrant, OpenError> {
    if bot.public().kind() != KeyKind::Bot {
        return Err(OpenError::NotABot);
    }
    let dsse = seal::open(Kind::Grant, envelope, bot)?;
    let verified = sign::verify(Kind::Grant, &dsse, issuers)?;
    let signer = verified.signer();
    if signer.kind() != KeyKind::Member {
        return Err(OpenError::UnknownIssuer);
    }
    let grant = wire::read(verified.payload()).ok_or(OpenError::Malformed)?;
    if grant.issuer != signer.id() {
        return Err(OpenError::IssuerMismatch);
    }
    if grant.bot != bot.public().id() {
        return Err(OpenError::Resealed);
    }
    consistent(&grant)?;
    rules::check(&grant.scope, grant.issued_at, grant.approves, grant.credential.cap())?;
    match grant.scope.allows_time(now) {
        Ok(()) => Ok(OpenedGrant { grant }),
        Err(ScopeError::NotYetValid) => Err(OpenError::NotYetValid),
        Err(_expired) => Err(OpenError::Expired),
    }
}

pub(super) fn consistent(grant: &Grant) -> Result<(), Inconsistency> {
    let credential = &grant.credential;
    if grant.connection != credential.id() {
        return Err(Inconsistency::Connection);
    }
    if grant.account != *credential.account() {
        return Err(Inconsistency::Account);
    }
    if grant.service != *credential.service() {
        return Err(Inconsistency::Service);
    }
    if grant.host == *credential.host() { Ok(()) } else { Err(Inconsistency::Host) }
}
