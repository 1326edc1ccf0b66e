//! Proof Key for Code Exchange: who exchanges a code is who began the flow. RFC 7636, method S256 alone.
//!
//! Refuses a verifier that is too short to be one. INVARIANT: it is 256 random bits where it is made here, and zeroised.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::entropy::{Entropy, EntropyError};

/// What is shown when the code is exchanged: 43 to 128 unreserved characters.
pub struct Verifier(Zeroizing<String>);

/// Why a text is no verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a code verifier: it has 43 to 128 of A-Z, a-z, 0-9, `-`, `.`, `_` and `~`")]
pub struct VerifierError;

impl Verifier {
    /// A new one, of 43 characters.
    pub fn new(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        random_text(entropy).map(Self)
    }

    /// Takes one that somebody else made.
    pub fn parse(text: &str) -> Result<Self, VerifierError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if (43..=128).contains(&text.len()) && text.bytes().all(plain) {
            Ok(Self(Zeroizing::new(text.to_owned())))
        } else {
            Err(VerifierError)
        }
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Its challenge, which anybody may see.
    pub fn challenge(&self) -> String {
        challenge(self.expose())
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier(<secret>)")
    }
}

/// The S256 challenge of a verifier's text.
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// 32 random bytes as 43 characters of unpadded base64url.
pub(super) fn random_text(entropy: &dyn Entropy) -> Result<Zeroizing<String>, EntropyError> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    entropy.fill(&mut *bytes)?;
    let mut text = Zeroizing::new(String::with_capacity(43));
    URL_SAFE_NO_PAD.encode_string(*bytes, &mut text);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SystemEntropy;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = Verifier::parse("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").unwrap();
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn each_is_new_and_long_enough_and_never_printed() {
        let (one, other) = (Verifier::new(&SystemEntropy).unwrap(), Verifier::new(&SystemEntropy).unwrap());
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().len(), 43);
        assert!(Verifier::parse(one.expose()).is_ok());
        assert_eq!(format!("{one:?}"), "Verifier(<secret>)");
        for text in
            ["", &"a".repeat(42), &"a".repeat(129), &format!("{} ", "a".repeat(43)), &"\u{e9}".repeat(43)]
        {
            assert_eq!(Verifier::parse(text).unwrap_err(), VerifierError);
        }
    }
}
