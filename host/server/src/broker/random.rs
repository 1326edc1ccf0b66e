//! What nobody can guess: states, one-time codes, cookies, and what the broker tells its own forms by.
//!
//! INVARIANT: 256 random bits each; what is looked up is found by its SHA-256, so that how long it takes says nothing of it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use pinhole_runtime::entropy::{Entropy, EntropyError};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Random bits as text: 43 characters of base64url. `Debug` shows none of them.
pub(super) struct Random(Zeroizing<String>);

/// What something random is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Handle([u8; 32]);

impl Random {
    pub(super) fn draw(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(&mut *bytes)?;
        Ok(Self(Zeroizing::new(URL_SAFE_NO_PAD.encode(*bytes))))
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn handle(&self) -> Handle {
        Handle::of(&self.0)
    }
}

impl std::fmt::Debug for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Random(<secret>)")
    }
}

impl Handle {
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }
}

/// A key of this process alone, under which forms are signed.
pub(super) struct FormKey(Zeroizing<[u8; 64]>);

impl FormKey {
    pub(super) fn draw(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        let mut bytes = Zeroizing::new([0; 64]);
        entropy.fill(&mut *bytes)?;
        Ok(Self(bytes))
    }

    /// What a form of these parts carries.
    pub(super) fn sign(&self, parts: &[&str]) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(parts).finalize().into_bytes())
    }

    /// Whether a form of these parts carries what it should; compared in constant time.
    pub(super) fn is_own(&self, parts: &[&str], carried: &str) -> bool {
        let carried = URL_SAFE_NO_PAD.decode(carried).unwrap_or_default();
        self.mac(parts).verify_slice(&carried).is_ok()
    }

    fn mac(&self, parts: &[&str]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new((&*self.0).into());
        for part in parts {
            // With its length, so that no two lists of parts are one text.
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

impl std::fmt::Debug for FormKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FormKey(<secret>)")
    }
}
