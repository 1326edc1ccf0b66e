//! Bearer tokens by which a door knows who calls, and what each may do.
//!
//! INVARIANT: a token itself is never here, only its SHA-256. One that was revoked stays as a row: the questions of who held
//! it keep a name. DESIGN, "Doors".

use std::collections::BTreeSet;

use pinhole_grant::{KeyId, Label, PrincipalId, UnixTime};
use pinhole_manifest::{Access, Digest, ServiceId};

use super::{Removal, StoreError};

/// What the holder of a token may ask for, of what the connections allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenScope {
    accesses: BTreeSet<Access>,
    services: Option<BTreeSet<ServiceId>>,
}

/// Why there is no such scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token must be for reads, for writes or for both, of one service at least")]
pub struct EmptyScope;

impl TokenScope {
    /// Ops of these accesses, neither of which covers the other; of these services, or of all.
    pub fn new(
        accesses: impl IntoIterator<Item = Access>,
        services: Option<BTreeSet<ServiceId>>,
    ) -> Result<Self, EmptyScope> {
        let accesses: BTreeSet<Access> = accesses.into_iter().collect();
        if accesses.is_empty() || services.as_ref().is_some_and(BTreeSet::is_empty) {
            return Err(EmptyScope);
        }
        Ok(Self { accesses, services })
    }

    /// The accesses, at least one.
    pub fn accesses(&self) -> &BTreeSet<Access> {
        &self.accesses
    }

    /// The services, at least one; `None` for all.
    pub fn services(&self) -> Option<&BTreeSet<ServiceId>> {
        self.services.as_ref()
    }
}

/// A token as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Who holds it: their questions and pages are under this id.
    pub id: PrincipalId,
    /// Whose connections it is for.
    pub member: KeyId,
    /// What the member calls it. No two that can be used have the same name.
    pub name: Label,
    /// The SHA-256 of its text.
    pub digest: Digest,
    /// What it is good for.
    pub scope: TokenScope,
    /// When it was made.
    pub created_at: UnixTime,
    /// From when on it is refused: later than `created_at`.
    pub expires_at: UnixTime,
    /// When it was revoked.
    pub revoked_at: Option<UnixTime>,
}

/// How a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenState {
    /// It can be used.
    Good,
    /// Its time is over.
    Expired,
    /// The member took it back.
    Revoked,
}

impl TokenState {
    /// One word, such as `good`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl TokenRow {
    /// How it stands at this high-water time.
    pub fn state(&self, now: UnixTime) -> TokenState {
        if self.revoked_at.is_some() {
            TokenState::Revoked
        } else if self.expires_at <= now {
            TokenState::Expired
        } else {
            TokenState::Good
        }
    }
}

/// Why a token was not stored.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Another that can be used has the name.
    #[error("there is a token of this name")]
    NameTaken,
    /// There is one of this id or of this text: make another.
    #[error("there is a token of this id or of this text")]
    IdTaken,
    /// It would have expired before it was made.
    #[error("the token expires before it is made")]
    ExpiresAtOnce,
    /// The store failed; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The tokens of a host. Calls block for as long as the disk takes; each change is whole or not there. `now` is always the
/// high-water time.
pub trait Tokens: Send + Sync {
    /// Stores a new token. Its name may be that of one that was revoked or, at `created_at`, had expired.
    fn add_token(&self, row: &TokenRow) -> Result<(), TokenError>;

    /// The member's token whose text has this digest, whatever has become of it: see [`TokenRow::state`].
    fn token(&self, member: KeyId, digest: Digest) -> Result<Option<TokenRow>, StoreError>;

    /// All of the member's, the newest first, with those that are over.
    fn tokens(&self, member: KeyId) -> Result<Vec<TokenRow>, StoreError>;

    /// Refuses a token from now on, whatever else its row says, and ends what its holder has asked: open questions are expired,
    /// approvals that were not used revoked. Revoking twice keeps the first time.
    fn revoke_token(&self, member: KeyId, id: PrincipalId, now: UnixTime) -> Result<Removal, StoreError>;
}
