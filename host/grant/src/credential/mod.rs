//! A credential: the key or token pair of one account at one service, sealed by a member to herself.
//!
//! Refuses to be made in a shape that could not be used or refreshed. INVARIANT: it names the host that it was proved
//! against, and whether that was the real one; nothing changes either afterwards. DESIGN, "Crypto": Credential.

mod renewer;
pub(crate) mod wire;

use pinhole_manifest::{Access, ApiHost, ServiceId, host::HttpsUrl};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::keys::{KeyKind, SecretKey};
use crate::returned::GENERATIONS_AHEAD_MAX;
use crate::seal::{self, Kind, SealError, UnsealError};
use crate::secret::Secret;
use crate::sign::{self, SignError, VerifyError};
use crate::text::{Account, CredentialId, Label, SourceName};
use crate::time::UnixTime;
use crate::wire::to_secret_json;

pub use renewer::{ClientId, ClientIdError, Renewer};

/// How a credential was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A key that the person made at the service.
    Pat,
    /// A token from an OAuth exchange.
    Oauth,
}

/// What a credential was proved against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dial {
    /// The host that its name resolves to.
    Real,
    /// An address that the operator put in its place. Where it was `Real`, such an address is always refused.
    Overridden,
}

/// What a new credential is made of.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is documented at the method of `Credential` of the same name")]
pub struct CredentialParts {
    pub id: CredentialId,
    pub service: ServiceId,
    pub label: Label,
    pub account: Account,
    pub host: ApiHost,
    pub token_url: Option<HttpsUrl>,
    pub registry: SourceName,
    pub kind: CredentialKind,
    pub secret: Secret,
    pub refresh: Option<Secret>,
    pub expires_at: Option<UnixTime>,
    pub renewer: Option<Box<Renewer>>,
    pub cap: Access,
    pub dial: Dial,
}

/// A key or token pair, with what it is for. `Debug` shows neither secret.
#[derive(Debug)]
pub struct Credential {
    parts: CredentialParts,
    generation: u64,
}

/// Why a credential was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// It has a refresh token or somebody to renew it, and no token URL.
    #[error("a refresh token needs the token URL that takes it")]
    RefreshWithoutTokenUrl,
    /// A key that was not obtained through OAuth has a refresh token, a token URL or somebody to renew it.
    #[error("only a credential from OAuth has a refresh token, a token URL or somebody to renew it")]
    RefreshWithoutOauth,
    /// The new key is for another service.
    #[error("a connection stays with its service")]
    OtherService,
    /// It was rotated as often as can be counted.
    #[error("the credential was rotated too often: reconnect")]
    Generations,
}

impl Credential {
    /// A credential of generation 0.
    pub fn new(parts: CredentialParts) -> Result<Self, CredentialError> {
        Self::of_generation(parts, 0)
    }

    pub(crate) fn of_generation(parts: CredentialParts, generation: u64) -> Result<Self, CredentialError> {
        let refreshable = parts.refresh.is_some() || parts.renewer.is_some();
        if parts.kind == CredentialKind::Pat && (refreshable || parts.token_url.is_some()) {
            return Err(CredentialError::RefreshWithoutOauth);
        }
        if refreshable && parts.token_url.is_none() {
            return Err(CredentialError::RefreshWithoutTokenUrl);
        }
        if generation > GENERATION_MAX {
            return Err(CredentialError::Generations);
        }
        Ok(Self { parts, generation })
    }

    /// Which credential, and so which connection.
    pub fn id(&self) -> CredentialId {
        self.parts.id
    }

    /// How often the pair was rotated. A pair of a lower generation never replaces one of a higher.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The service it is for.
    pub fn service(&self) -> &ServiceId {
        &self.parts.service
    }

    /// What the person calls the connection.
    pub fn label(&self) -> &Label {
        &self.parts.label
    }

    /// Whose account it opens.
    pub fn account(&self) -> &Account {
        &self.parts.account
    }

    /// The one host that it may be sent to.
    pub fn host(&self) -> &ApiHost {
        &self.parts.host
    }

    /// The one URL that its refresh token may be sent to.
    pub fn token_url(&self) -> Option<&HttpsUrl> {
        self.parts.token_url.as_ref()
    }

    /// Where the manifest came from under which it was connected.
    pub fn registry(&self) -> &SourceName {
        &self.parts.registry
    }

    /// How it was obtained.
    pub fn kind(&self) -> CredentialKind {
        self.parts.kind
    }

    /// The key or access token.
    pub fn secret(&self) -> &Secret {
        &self.parts.secret
    }

    /// The refresh token.
    pub fn refresh(&self) -> Option<&Secret> {
        self.parts.refresh.as_ref()
    }

    /// When the access token runs out, where that is known.
    pub fn expires_at(&self) -> Option<UnixTime> {
        self.parts.expires_at
    }

    /// Who may renew the pair. Without one the access token is good until it runs out, and then a new one is obtained by
    /// hand.
    pub fn renewer(&self) -> Option<&Renewer> {
        self.parts.renewer.as_deref()
    }

    /// The most access that a grant of it may give.
    pub fn cap(&self) -> Access {
        self.parts.cap
    }

    /// What it was proved against.
    pub fn dial(&self) -> Dial {
        self.parts.dial
    }

    /// The same credential with another cap. Grants that were minted before are not changed by it: revoke them.
    #[must_use]
    pub fn with_cap(mut self, cap: Access) -> Self {
        self.parts.cap = cap;
        self
    }

    /// The same credential with a fresh pair, one generation on. Without a new refresh token the old one stays.
    pub fn rotated(
        mut self,
        secret: Secret,
        refresh: Option<Secret>,
        expires_at: Option<UnixTime>,
    ) -> Result<Self, CredentialError> {
        let generation = self.generation.checked_add(1).ok_or(CredentialError::Generations)?;
        self.parts.secret = secret;
        self.parts.refresh = refresh.or(self.parts.refresh);
        self.parts.expires_at = expires_at;
        Self::of_generation(self.parts, generation)
    }

    /// The same connection with what was proved anew: a key or a host of another time, under the same id. It is one generation
    /// on; where the one before could be renewed, so many on that no pair of its family that comes back later is newer.
    pub fn reconnected(&self, parts: CredentialParts) -> Result<Self, CredentialError> {
        if parts.service != self.parts.service {
            return Err(CredentialError::OtherService);
        }
        let on = if self.parts.refresh.is_some() { GENERATIONS_AHEAD_MAX.saturating_add(1) } else { 1 };
        let generation = self.generation.checked_add(on).ok_or(CredentialError::Generations)?;
        Self::of_generation(CredentialParts { id: self.parts.id, ..parts }, generation)
    }

    /// What it is made of, for another that is to be made of the same key.
    pub fn into_parts(self) -> CredentialParts {
        self.parts
    }

    /// A copy that holds another pair of a given generation.
    pub(crate) fn replaced(
        &self,
        generation: u64,
        secret: Secret,
        refresh: Option<Secret>,
        expires_at: Option<UnixTime>,
    ) -> Result<Self, CredentialError> {
        let parts = CredentialParts {
            id: self.id(),
            service: self.service().clone(),
            label: self.label().clone(),
            account: self.account().clone(),
            host: self.host().clone(),
            token_url: self.token_url().cloned(),
            registry: self.registry().clone(),
            kind: self.kind(),
            secret,
            refresh,
            expires_at,
            renewer: self.parts.renewer.clone(),
            cap: self.cap(),
            dial: self.dial(),
        };
        Self::of_generation(parts, generation)
    }
}

/// Beyond 2^53 - 1 other JSON readers would round it.
const GENERATION_MAX: u64 = 9_007_199_254_740_991;

/// Why a credential was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealCredentialError {
    /// The key is not a member's.
    #[error("a credential is sealed by a member: this key is not a member's")]
    NotAMember,
    /// It could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Why a stored credential was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenCredentialError {
    /// The key is not a member's.
    #[error("a credential is opened by a member: this key is not a member's")]
    NotAMember,
    /// The envelope does not open.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// It is not signed by the member.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was signed is no credential.
    #[error("what was sealed is not a credential")]
    Malformed,
}

/// Signs a credential as its member and seals it to herself.
pub fn seal_credential<R: CryptoRng>(
    credential: &Credential,
    member: &SecretKey,
    rng: &mut R,
) -> Result<Vec<u8>, SealCredentialError> {
    if member.public().kind() != KeyKind::Member {
        return Err(SealCredentialError::NotAMember);
    }
    let wire = wire::CredentialWire::of(credential);
    let payload = to_secret_json(&wire, sign::PAYLOAD_BYTES_MAX).ok_or(SignError::Envelope)?;
    let signed = sign::sign(Kind::Credential, &payload, member)?;
    Ok(seal::seal(Kind::Credential, member.public(), &signed, rng)?)
}

/// Opens a credential that this member sealed to herself.
pub fn open_credential(envelope: &[u8], member: &SecretKey) -> Result<Credential, OpenCredentialError> {
    if member.public().kind() != KeyKind::Member {
        return Err(OpenCredentialError::NotAMember);
    }
    let signed = seal::open(Kind::Credential, envelope, member)?;
    let verified = sign::verify(Kind::Credential, &signed, std::slice::from_ref(member.public()))?;
    wire::read(verified.payload()).ok_or(OpenCredentialError::Malformed)
}
