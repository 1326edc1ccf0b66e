//! The first outcome of a write that carried its caller's key, kept by the bot's host for whoever asks with the same key again.
//!
//! What is kept is sealed by ChaCha20-Poly1305 under a key derived from the bot's secret key, and bound to the call that it
//! answers. INVARIANT: an outcome opens for the caller, the connection and the key that it was kept for, and nowhere else.

use std::fmt;

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _};
use pinhole_manifest::model::Args;
use pinhole_manifest::{OpId, ServiceId};

use crate::keyed::KeyedDigest;
use crate::keys::{KeyId, SecretKey};
use crate::text::{CredentialId, PrincipalId};

/// Longest key of a caller, in characters.
pub const CALL_KEY_CHARS_MAX: usize = 128;
/// Random bytes that a seal takes.
pub const KEPT_NONCE_BYTES: usize = 12;

const OUTCOME: &[u8] = b"pinhole/kept/v1";
const CALL: &[u8] = b"pinhole/call-key/v1";
const ACT: &[u8] = b"pinhole/call-act/v1";

/// What a caller names a write with, so that the same one is not carried out twice: 1 to 128 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallKey(Box<str>);

/// Why a text is no key of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to {CALL_KEY_CHARS_MAX} visible ASCII characters without spaces")]
pub struct CallKeyError;

impl CallKey {
    /// Takes a text that can be one.
    pub fn parse(text: &str) -> Result<Self, CallKeyError> {
        let fits = (1..=CALL_KEY_CHARS_MAX).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(CallKeyError)
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Under which key, of which caller, on whose connection.
#[derive(Debug, Clone, Copy)]
pub struct Keyed<'a> {
    /// The member whose grant it is.
    pub issuer: KeyId,
    /// On whose behalf the bot calls; `None` for its host's own.
    pub principal: Option<PrincipalId>,
    /// The connection.
    pub connection: CredentialId,
    /// The caller's key.
    pub key: &'a CallKey,
}

impl Keyed<'_> {
    /// What tells it from all others, for this bot. `None` only where the library refuses a length, which it does not.
    pub fn digest(&self, bot: &SecretKey) -> Option<KeyedDigest> {
        let principal = self.principal.map(|principal| principal.to_string()).unwrap_or_default();
        let (issuer, connection) = (self.issuer.to_string(), self.connection.to_string());
        let parts = [issuer.as_bytes(), principal.as_bytes(), connection.as_bytes(), self.key.0.as_bytes()];
        KeyedDigest::of(bot, CALL, parts)
    }
}

/// What was asked for with it: service, op, and the RFC 8785 form of the args. `None` where the args have none.
pub fn act_digest(bot: &SecretKey, service: &ServiceId, op: &OpId, args: &Args) -> Option<KeyedDigest> {
    let args = serde_json_canonicalizer::to_vec(&args.to_json()).ok()?;
    KeyedDigest::of(bot, ACT, [service.as_str().as_bytes(), op.as_str().as_bytes(), &args])
}

/// Why an outcome was not kept, or does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the outcome could not be sealed, or does not open: it was changed, or is another call's")]
pub struct KeptError;

/// Seals an outcome for the bot's own host. `nonce` is random, and never used twice.
pub fn seal_kept(
    outcome: &[u8],
    of: KeyedDigest,
    bot: &SecretKey,
    nonce: [u8; KEPT_NONCE_BYTES],
) -> Result<Vec<u8>, KeptError> {
    let sealed = cipher(bot)
        .and_then(|cipher| cipher.encrypt(&nonce.into(), Payload { msg: outcome, aad: of.as_bytes() }).ok())
        .ok_or(KeptError)?;
    Ok([nonce.as_slice(), &sealed].concat())
}

/// Opens what [`seal_kept`] sealed for the same call.
pub fn open_kept(sealed: &[u8], of: KeyedDigest, bot: &SecretKey) -> Result<Vec<u8>, KeptError> {
    let (nonce, sealed) = sealed.split_first_chunk::<KEPT_NONCE_BYTES>().ok_or(KeptError)?;
    cipher(bot)
        .and_then(|cipher| cipher.decrypt(&(*nonce).into(), Payload { msg: sealed, aad: of.as_bytes() }).ok())
        .ok_or(KeptError)
}

fn cipher(bot: &SecretKey) -> Option<ChaCha20Poly1305> {
    let key = bot.derived(OUTCOME)?;
    Some(ChaCha20Poly1305::new((&*key).into()))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;
    use crate::keys::KeyKind;

    fn bot(seed: u64) -> SecretKey {
        SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(seed))
    }

    #[test]
    fn a_key_is_a_short_visible_text() {
        for text in ["", "a b", "a\n", "caf\u{e9}", "\u{7f}", &"x".repeat(129)] {
            assert_eq!(CallKey::parse(text), Err(CallKeyError), "{text:?}");
        }
        assert_eq!(CallKey::parse(&"x".repeat(128)).unwrap().as_str().len(), 128);
    }

    #[test]
    fn each_part_of_a_call_tells_it_from_others() {
        let mut rng = StdRng::seed_from_u64(7);
        let (key, other_key) = (CallKey::parse("k1").unwrap(), CallKey::parse("k2").unwrap());
        let (one, two) = (bot(1), bot(2));
        let (connection, principal) = (CredentialId::random(&mut rng), PrincipalId::random(&mut rng));
        let first = Keyed { issuer: one.public().id(), principal: None, connection, key: &key };
        let others = [
            Keyed { issuer: two.public().id(), ..first },
            Keyed { principal: Some(principal), ..first },
            Keyed { connection: CredentialId::random(&mut rng), ..first },
            Keyed { key: &other_key, ..first },
        ];
        let digest = first.digest(&one).unwrap();
        assert_eq!(first.digest(&one), Some(digest));
        assert!(others.iter().all(|other| other.digest(&one) != Some(digest)));
        assert_ne!(first.digest(&two), Some(digest), "another bot's is another");
        assert_eq!(KeyedDigest::parse(&digest.to_string()), Some(digest));
        assert_eq!(KeyedDigest::parse("short"), None);
        // Text that moves from one part into the next is another list of parts.
        let of = |parts: [&[u8]; 2]| KeyedDigest::of(&one, ACT, parts);
        assert_ne!(of([b"ab", b"c"]), of([b"a", b"bc"]));
    }

    #[test]
    fn what_is_kept_opens_for_its_own_call_alone() {
        let (one, two) = (bot(1), bot(2));
        let [mine, other] = [b"mine", b"else"].map(|part| KeyedDigest::of(&one, CALL, [&part[..]]).unwrap());
        let sealed = seal_kept(b"{\"ok\":true}", mine, &one, [3; 12]).unwrap();
        assert_eq!(open_kept(&sealed, mine, &one).unwrap(), b"{\"ok\":true}");
        assert_eq!(open_kept(&sealed, other, &one), Err(KeptError));
        assert_eq!(open_kept(&sealed, mine, &two), Err(KeptError));
        for at in 0..sealed.len() {
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert_eq!(open_kept(&flipped, mine, &one), Err(KeptError), "byte {at}");
        }
        assert_eq!(open_kept(&sealed[..11], mine, &one), Err(KeptError));
    }
}
