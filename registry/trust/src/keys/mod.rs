//! The keys that sign a registry: Ed25519, each in a file of its own.
//!
//! Refuses every other algorithm. INVARIANT: a secret key has no `Clone` and no `Serialize`, prints a fixed word and is
//! zeroised on drop; it leaves this module only as a key file or as a signature. DESIGN, "Registry".

mod file;
mod pem;
mod public;

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use file::{KEY_FILE_BYTES_MAX, KeyFileError, Protection};
pub use pem::{KeyTextError, PBKDF2_ROUNDS_MAX, SCRYPT_MEMORY_MAX};
pub(crate) use public::tuf_text;
pub use public::{KeyId, PublicKey, PublicKeyError};

/// Longest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1024;

/// A key of a maintainer, or of the machine that signs what is online.
pub struct RegistryKey(SigningKey);

impl RegistryKey {
    /// A new key.
    pub fn generate<R: CryptoRng>(rng: &mut R) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *seed);
        Self::from_seed(&seed)
    }

    /// The key that these 32 bytes are the secret of (RFC 8032, 5.1.5).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// What others may know of it.
    pub fn public(&self) -> PublicKey {
        PublicKey::of(self.0.verifying_key())
    }

    /// Signs these bytes, and nothing says what they mean: the callers sign the canonical form of a role.
    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    fn seed(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for RegistryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryKey(<secret>)")
    }
}

/// What a person types to open a protected key file. Its bytes are used as typed, without Unicode normalisation.
pub struct Passphrase(Zeroizing<String>);

/// Why a text is not taken for a passphrase. Says nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassphraseError {
    /// There is nothing.
    #[error("the passphrase is empty")]
    Empty,
    /// It is longer than [`PASSPHRASE_BYTES_MAX`].
    #[error("the passphrase is longer than {PASSPHRASE_BYTES_MAX} bytes")]
    TooLong,
}

impl Passphrase {
    /// Takes a text over; a refused one is zeroised too.
    pub fn new(text: String) -> Result<Self, PassphraseError> {
        let text = Zeroizing::new(text);
        if text.is_empty() {
            return Err(PassphraseError::Empty);
        }
        if text.len() > PASSPHRASE_BYTES_MAX {
            return Err(PassphraseError::TooLong);
        }
        Ok(Self(text))
    }

    fn expose(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(<secret>)")
    }
}

#[cfg(test)]
mod tests;
