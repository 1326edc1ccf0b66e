//! Bearer tokens: their text, and how far their holders reach.
//!
//! A token is `pinm_`, then 48 characters of base64url: 256 random bits and a check of 32 more, so that a scanner that finds
//! one knows it for one, and a mistyped one is refused unasked. INVARIANT: its text shows once, to who makes it; after that
//! only its SHA-256 is anywhere. DESIGN, "Doors".

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_manifest::Digest;
use pinhole_runtime::entropy::{Entropy, EntropyError};
use pinhole_runtime::store::TokenScope;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::Reach;

/// What every token begins with.
pub const TOKEN_PREFIX: &str = "pinm_";
const SECRET_BYTES: usize = 32;
const CHECK_BYTES: usize = 4;
const ENCODED: usize = (SECRET_BYTES + CHECK_BYTES) / 3 * 4;

/// A token. Overwritten when it is dropped; never printed but by whoever calls [`BearerToken::expose`].
pub struct BearerToken(Zeroizing<String>);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a token: it is `{TOKEN_PREFIX}` and 48 characters, as `pinhole tokens new` printed it")]
pub struct NoToken;

impl BearerToken {
    /// A new one.
    pub fn random(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES + CHECK_BYTES]);
        let (secret, check) = bytes.split_at_mut(SECRET_BYTES);
        entropy.fill(secret)?;
        check.copy_from_slice(&check_of(secret));
        let mut text = Zeroizing::new(String::with_capacity(TOKEN_PREFIX.len() + ENCODED));
        text.push_str(TOKEN_PREFIX);
        URL_SAFE_NO_PAD.encode_string(bytes.as_slice(), &mut text);
        Ok(Self(text))
    }

    /// Takes the text of one; proves nothing but that it is well-formed.
    pub fn parse(text: &str) -> Result<Self, NoToken> {
        let encoded = text.strip_prefix(TOKEN_PREFIX).filter(|rest| rest.len() == ENCODED).ok_or(NoToken)?;
        let mut bytes = Zeroizing::new([0; SECRET_BYTES + CHECK_BYTES]);
        URL_SAFE_NO_PAD.decode_slice(encoded, &mut *bytes).or(Err(NoToken))?;
        let (secret, check) = bytes.split_at(SECRET_BYTES);
        if check_of(secret) == check { Ok(Self(Zeroizing::new(text.to_owned()))) } else { Err(NoToken) }
    }

    /// What is stored of it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// The text, to be shown once.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(hidden)")
    }
}

/// A check against typing errors and for scanners; it keeps nobody out.
fn check_of(secret: &[u8]) -> [u8; CHECK_BYTES] {
    let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(secret));
    [a, b, c, d]
}

impl From<&TokenScope> for Reach {
    fn from(scope: &TokenScope) -> Self {
        let accesses: Vec<_> = scope.accesses().iter().copied().collect();
        let reach = Self::default().only(&accesses);
        match scope.services() {
            None => reach,
            Some(services) => reach.of(services.iter().cloned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pinhole_manifest::{Access, ServiceId};
    use pinhole_runtime::entropy::SystemEntropy;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_is_known_for_one_and_none_is_like_another() {
        let [one, other] = [(); 2].map(|()| BearerToken::random(&SystemEntropy).unwrap());
        assert_ne!(one.expose(), other.expose());
        assert!(one.expose().starts_with("pinm_") && one.expose().len() == 53, "{}", one.expose());
        assert_eq!(BearerToken::parse(one.expose()).unwrap().digest(), one.digest());
        assert_eq!(one.digest(), Digest::of(one.expose().as_bytes()));
        assert_eq!(format!("{one:?}"), "BearerToken(hidden)");
    }

    proptest! {
        #[test]
        fn a_token_with_a_character_changed_is_none(place in 0_usize..53, with in "[ -~]") {
            let token = BearerToken::random(&SystemEntropy).unwrap();
            let mut text = token.expose().to_owned();
            text.replace_range(place..=place, &with);
            prop_assert_eq!(BearerToken::parse(&text).is_ok(), text == token.expose());
        }

        #[test]
        fn any_text_is_judged(text in "(pinm_)?\\PC{0,60}") {
            prop_assert!(BearerToken::parse(&text).is_err());
        }
    }

    #[test]
    fn a_holder_reaches_as_far_as_the_scope() {
        let [github, stripe] = ["github", "stripe"].map(|id| ServiceId::parse(id).unwrap());
        let of = |accesses: &[Access], services: Option<&ServiceId>| {
            let services = services.map(|service| [service.clone()].into());
            Reach::from(&TokenScope::new(accesses.iter().copied(), services).unwrap())
        };
        let reads = of(&[Access::Read], None);
        assert!(reads.covers(&github, Access::Read) && !reads.covers(&github, Access::Write));
        let writes = of(&[Access::Write], Some(&github));
        assert!(writes.covers(&github, Access::Write) && !writes.covers(&github, Access::Read));
        assert!(!writes.covers(&stripe, Access::Write));
        assert_eq!(of(&[Access::Read, Access::Write], None), Reach::default());
    }
}
