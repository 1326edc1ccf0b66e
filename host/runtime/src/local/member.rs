//! The member's side: she is there, her key is open. What she keeps is in `keep.rs`, what she renews and caps in `renew.rs`,
//! what she answers in `answer.rs`.
//!
//! Refuses whatever does not agree with what she sealed herself.

use pinhole_grant::{Credential, KeyId, MintError, MintRequest, PublicKey, Scope, SecretKey, UnixTime};
use pinhole_manifest::Access;

use super::READ_GRANT_SECS;
use crate::catalog::{Catalog, Entry};
use crate::entropy::{self, Entropy, EntropyError};
use crate::store::{ConnectionRow, Desk, GrantRow, StoreError};

/// The member, with her key open, at the host of her bot.
#[expect(missing_debug_implementations, reason = "it holds the member's key")]
#[derive(Clone, Copy)]
pub struct Present<'a> {
    /// Her key.
    pub key: &'a SecretKey,
    /// The bot of this host.
    pub bot: &'a PublicKey,
    /// The keys that it had before: what they signed on its way to her is taken in.
    pub former: &'a [PublicKey],
    /// What is stored here.
    pub desk: &'a dyn Desk,
    /// The manifests.
    pub catalog: &'a Catalog,
    /// Randomness, for what is sealed.
    pub entropy: &'a dyn Entropy,
    /// What the machine's clock says.
    pub wall: UnixTime,
    /// The high-water time: the latest that was seen here.
    pub now: UnixTime,
}

impl Present<'_> {
    pub(super) fn member(&self) -> KeyId {
        self.key.public().id()
    }

    /// The bot's key and those that it had before.
    pub(super) fn bots(&self) -> impl Iterator<Item = &PublicKey> {
        std::iter::once(self.bot).chain(self.former)
    }

    /// What a connection seals, once its columns agree.
    pub(super) fn open(&self, row: &ConnectionRow) -> Result<Credential, StoreError> {
        let credential =
            pinhole_grant::open_credential(&row.sealed, self.key).map_err(|_error| row.tampered())?;
        row.check(&credential)?;
        Ok(credential)
    }

    /// The same request, with a way back to her for a pair that is renewed under it.
    pub(super) fn returning(&self, request: MintRequest, credential: &Credential) -> MintRequest {
        match credential.refresh() {
            Some(_) => request.returning_to(self.key.public().clone()),
            None => request,
        }
    }

    /// A grant for every read of the manifest as it is, each named, so that what is reviewed later cannot add one.
    pub(super) fn read_grant(
        &self,
        credential: &Credential,
        entry: &Entry,
    ) -> Result<GrantRow, ReadGrantError> {
        let reads = entry.manifest.ops().values().filter(|op| op.access == Access::Read);
        let until = self.now.plus_secs(READ_GRANT_SECS);
        let scope = Scope::new(Access::Read, self.now, until).with_ops(reads.map(|op| op.id.clone()));
        let request = MintRequest::new(self.bot.clone(), entry.manifest.digest(), scope);
        let request = self.returning(request, credential);
        let mut rng = entropy::seeded(self.entropy)?;
        let sealed = pinhole_grant::mint(&request, credential, self.key, self.now, &mut rng)?;
        Ok(GrantRow::new(sealed, &request, credential, self.member()))
    }
}

/// Why no read grant was made.
#[derive(Debug, thiserror::Error)]
pub enum ReadGrantError {
    /// It could not be minted.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}
