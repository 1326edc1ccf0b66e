//! The member's side of this host, as far as the page needs it: what is stored, who asks, who is asked, and how her key opens.
//!
//! The page never has her key but between her passphrase and her answer: [`Keyholder`] reads the file, nothing here does.

use std::sync::Arc;

use pinhole_grant::{KeyId, Passphrase, PublicKey, SecretKey, UnixTime};
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::clock::{Clock, Timer};
use pinhole_runtime::entropy::Entropy;
use pinhole_runtime::local::Present;
use pinhole_runtime::store::{Desk, StoreError};

/// Who has the file of the member's key. Calls block for as long as the disk and the derivation take.
pub trait Keyholder: Send + Sync {
    /// Whether the key could permit a write, as far as can be seen without a passphrase.
    fn ready(&self) -> Result<(), KeyholderError>;

    /// Opens the key with the member's passphrase.
    fn open(&self, passphrase: &Passphrase) -> Result<SecretKey, KeyholderError>;
}

/// Why the member's key was not opened. Holds nothing of the passphrase.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyholderError {
    /// The passphrase does not open it.
    #[error("the passphrase does not open your key")]
    Wrong,
    /// It is not there, or cannot be used, or has no passphrase and so permits no write.
    #[error("{message}")]
    Unusable {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
}

impl KeyholderError {
    /// What the member can do.
    pub fn hint(&self) -> &str {
        match self {
            Self::Wrong => "try again",
            Self::Unusable { hint, .. } => hint,
        }
    }
}

/// The member's side of a host.
#[expect(
    missing_debug_implementations,
    reason = "it holds the doors to what is stored and to the member's key"
)]
pub struct MemberSide {
    /// What is stored.
    pub desk: Arc<dyn Desk>,
    /// The manifests.
    pub catalog: Arc<Catalog>,
    /// Who is asked.
    pub member: KeyId,
    /// The bot of this host.
    pub bot: PublicKey,
    /// The keys that it had before.
    pub former: Vec<PublicKey>,
    /// Who opens her key.
    pub keyholder: Box<dyn Keyholder>,
    /// The machine's clock.
    pub clock: Box<dyn Clock>,
    /// What waits, and measures how long the page was not used.
    pub timer: Box<dyn Timer>,
    /// Randomness.
    pub entropy: Box<dyn Entropy>,
}

impl MemberSide {
    /// The latest time that was seen.
    pub(super) fn now(&self) -> Result<UnixTime, StoreError> {
        self.desk.high_water(self.clock.now())
    }

    /// The member herself, her key open.
    pub(super) fn present<'a>(&'a self, key: &'a SecretKey) -> Result<Present<'a>, StoreError> {
        Ok(Present {
            key,
            bot: &self.bot,
            former: &self.former,
            desk: self.desk.as_ref(),
            catalog: &self.catalog,
            entropy: self.entropy.as_ref(),
            wall: self.clock.now(),
            now: self.now()?,
        })
    }
}
