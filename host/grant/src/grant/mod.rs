//! A grant: a member's signed and sealed permission to one bot, which carries the credential it permits to use.
//!
//! `mint` makes one, `open` is the only way to an [`OpenedGrant`], `check` decides what it covers, `rules` is what both
//! ends hold it to, `inspect` shows it without its secrets. DESIGN, "Crypto": Grant.

mod check;
mod inspect;
mod mint;
mod open;
mod rules;
mod wire;

use pinhole_manifest::{Access, ApiHost, Digest, ServiceId};

use crate::approval::ActionDigest;
use crate::credential::Credential;
use crate::keys::{KeyId, PublicKey};
use crate::scope::Scope;
use crate::text::{Account, CredentialId, GrantId};
use crate::time::UnixTime;

pub use check::{Caution, Succession, Target};
pub use inspect::{InspectError, InspectedCredential, Inspection, Standing, inspect};
pub use mint::{MintError, MintRequest, SealedGrant, mint};
pub use open::{Inconsistency, OpenError, OpenedGrant, open};
pub use rules::{READ_LIFETIME_SECS_MAX, RuleBroken, WRITE_LIFETIME_SECS_MAX};

/// What a grant says. Not yet a permission: that is an [`OpenedGrant`].
#[derive(Debug)]
pub struct Grant {
    id: GrantId,
    issuer: KeyId,
    bot: KeyId,
    connection: CredentialId,
    account: Account,
    service: ServiceId,
    host: ApiHost,
    manifest: Digest,
    scope: Scope,
    issued_at: UnixTime,
    credential: Credential,
    return_to: Option<PublicKey>,
    approves: Option<ActionDigest>,
}

impl Grant {
    /// Which grant: uses are counted and revocations kept under it.
    pub fn id(&self) -> GrantId {
        self.id
    }

    /// The member who gave it.
    pub fn issuer(&self) -> KeyId {
        self.issuer
    }

    /// The bot that it was given to.
    pub fn bot(&self) -> KeyId {
        self.bot
    }

    /// The connection that it lets use.
    pub fn connection(&self) -> CredentialId {
        self.connection
    }

    /// The account that it lets use.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The service that it is for.
    pub fn service(&self) -> &ServiceId {
        &self.service
    }

    /// The one host that the credential may be sent to.
    pub fn host(&self) -> &ApiHost {
        &self.host
    }

    /// The manifest that it was given under.
    pub fn manifest(&self) -> Digest {
        self.manifest
    }

    /// Its bounds.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The most that it lets do.
    pub fn access(&self) -> Access {
        self.scope.access
    }

    /// When it was given.
    pub fn issued_at(&self) -> UnixTime {
        self.issued_at
    }

    /// The credential: the runtime puts it into the request, last of all.
    pub fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Where a rotated pair is to be sent.
    pub fn return_to(&self) -> Option<&PublicKey> {
        self.return_to.as_ref()
    }

    /// The one action that it approves.
    pub fn approves(&self) -> Option<ActionDigest> {
        self.approves
    }
}
