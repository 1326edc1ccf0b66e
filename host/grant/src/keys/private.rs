//! Private keys: zeroised on drop, never cloned, printed or serialised but into a key file.
//!
//! What they do is in `seal` and `sign`; how they are kept is in `file`.

use std::fmt;

use ed25519_dalek::SigningKey;
use hkdf::Hkdf;
use rand_core::CryptoRng;
use sha2::Sha256;
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

use super::public::{KeyKind, PublicKey, PublicKeyError};

/// A member's, bot's or broker's private keys, with the public ones.
pub struct SecretKey {
    x25519: StaticSecret,
    ed25519: SigningKey,
    public: PublicKey,
}

impl SecretKey {
    /// A new pair of pairs.
    pub fn generate<R: CryptoRng>(kind: KeyKind, rng: &mut R) -> Self {
        loop {
            let mut seeds = Zeroizing::new([0; 64]);
            rng.fill_bytes(&mut *seeds);
            // An honest generator's keys are always sound; the loop is there because the types cannot say so.
            if let Ok(key) = Self::from_seeds(kind, &seeds) {
                return key;
            }
        }
    }

    /// The keys that these seeds make: X25519, then Ed25519.
    pub(super) fn from_seeds(kind: KeyKind, seeds: &[u8; 64]) -> Result<Self, PublicKeyError> {
        let (x25519, ed25519) = seeds.split_first_chunk::<32>().ok_or(PublicKeyError::Length)?;
        let ed25519 = ed25519.first_chunk::<32>().ok_or(PublicKeyError::Length)?;
        let x25519 = StaticSecret::from(*x25519);
        let ed25519 = SigningKey::from_bytes(ed25519);
        let public = PublicKey::from_parts(
            kind,
            x25519_dalek::PublicKey::from(&x25519).to_bytes(),
            ed25519.verifying_key().as_bytes(),
        )?;
        Ok(Self { x25519, ed25519, public })
    }

    pub(super) fn seeds(&self) -> Zeroizing<[u8; 64]> {
        let mut seeds = Zeroizing::new([0; 64]);
        let parts = self.x25519.as_bytes().iter().chain(self.ed25519.as_bytes());
        seeds.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        seeds
    }

    /// What others may know of it.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// A key for one purpose of the holder's own: HKDF-SHA256 (RFC 5869) over both secret keys, the label as `info`.
    /// `None` only where the library refuses a length, which it does not for 32 bytes.
    pub(crate) fn derived(&self, label: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, &*self.seeds()).expand(label, &mut *key).ok()?;
        Some(key)
    }

    pub(crate) fn x25519(&self) -> &StaticSecret {
        &self.x25519
    }

    pub(crate) fn ed25519(&self) -> &SigningKey {
        &self.ed25519
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(<secret>)")
    }
}
