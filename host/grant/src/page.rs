//! The token that stands for a further page of a read: sealed by the bot's host to itself, opaque to everybody else.
//!
//! ChaCha20-Poly1305 under a key that HKDF-SHA256 (RFC 5869) derives from the bot's secret key with a label of its own, so
//! that one bot's tokens open nowhere else and no other use of the key has this one. INVARIANT: an [`OpenedPage`] was made
//! by [`seal_page`] with the same key, no longer than an hour ago; for which call it is, [`OpenedPage::check`] says.
//! DESIGN, "Manifest": `page`.

use std::fmt;

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _};
use serde::{Deserialize, Serialize};

use crate::approval::ActionDigest;
use crate::keys::{KeyId, KeyKind, SecretKey};
use crate::text::{self, GrantId, PrincipalId};
use crate::time::UnixTime;

/// How long a token is good for, in seconds.
pub const PAGE_LIFE_SECS: i64 = 3600;
/// Longest place that a token takes, in bytes.
pub const PLACE_BYTES_MAX: usize = 10 << 10;
/// Longest token that is opened, in bytes of its text.
pub const PAGE_TOKEN_BYTES_MAX: usize = 16 << 10;
/// Random bytes that a seal takes.
pub const PAGE_NONCE_BYTES: usize = 12;

/// What a token begins with: its kind and its version.
const PREFIX: &str = "pnx1";
/// The same of a token of any version.
const ANY_VERSION: &str = "pnx";
const LABEL: &[u8] = b"pinhole/page/v1";

/// A further page of one call: who may have it, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageParts {
    /// The member whose grant the call ran under.
    pub issuer: KeyId,
    /// The call: service, op, normalised args, manifest, connection, account and bot.
    pub action: ActionDigest,
    /// The grant that its first page was paid with.
    pub grant: GrantId,
    /// On whose behalf the bot called; `None` for its host's own.
    pub principal: Option<PrincipalId>,
    /// Where the page is, in the words of whoever seals; at most [`PLACE_BYTES_MAX`] bytes.
    pub place: String,
}

/// A sealed token: visible ASCII, at most [`PAGE_TOKEN_BYTES_MAX`] bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PageToken(Box<str>);

impl PageToken {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PageToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A token that was opened: in time and sealed by this bot's host. Not yet one for the call at hand.
#[derive(Debug)]
pub struct OpenedPage {
    parts: PageParts,
}

impl OpenedPage {
    /// Whether the token is for this call of this principal under a grant of this member, of which it then gives the grant
    /// and the place.
    pub fn check(
        self,
        issuer: KeyId,
        action: ActionDigest,
        principal: Option<PrincipalId>,
    ) -> Result<(GrantId, String), OpenPageError> {
        let PageParts { issuer: whose, action: which, grant, principal: by, place } = self.parts;
        if (whose, which, by) == (issuer, action, principal) {
            Ok((grant, place))
        } else {
            Err(OpenPageError::OtherCall)
        }
    }
}

/// Why a token was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealPageError {
    /// The key is a member's.
    #[error("a page is handed out by a bot's host: this key is not a bot's")]
    NotABot,
    /// The place is larger than [`PLACE_BYTES_MAX`].
    #[error("the page's place is longer than {PLACE_BYTES_MAX} bytes")]
    TooLong,
    /// The encryption failed.
    #[error("the page could not be sealed")]
    Encryption,
}

/// Why a token was not opened. Exhaustive: each has its own answer. Holds nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenPageError {
    /// It is longer than [`PAGE_TOKEN_BYTES_MAX`].
    #[error("longer than any page token")]
    TooLong,
    /// It is not a page token.
    #[error("not a page token")]
    NotAToken,
    /// It is of another version.
    #[error("a page token of another version; this program reads version 1")]
    Version,
    /// It was changed, cut short, or sealed with another bot's key.
    #[error("the page token does not open: it was changed or cut short, or is another bot's")]
    CannotOpen,
    /// It is more than an hour old.
    #[error("the page token has expired")]
    Expired,
    /// It is for another call.
    #[error("the page token is for another call")]
    OtherCall,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageWire {
    issuer: KeyId,
    action: ActionDigest,
    grant: GrantId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<PrincipalId>,
    until: UnixTime,
    place: String,
}

/// Seals a further page for the bot's own host. `now` is a clock that never goes back; `nonce` is random, and never used
/// twice.
pub fn seal_page(
    parts: PageParts,
    bot: &SecretKey,
    now: UnixTime,
    nonce: [u8; PAGE_NONCE_BYTES],
) -> Result<PageToken, SealPageError> {
    if bot.public().kind() != KeyKind::Bot {
        return Err(SealPageError::NotABot);
    }
    let PageParts { issuer, action, grant, principal, place } = parts;
    if place.len() > PLACE_BYTES_MAX {
        return Err(SealPageError::TooLong);
    }
    let until = now.plus_secs(PAGE_LIFE_SECS);
    let wire = PageWire { issuer, action, grant, principal, until, place };
    let plain = serde_json::to_vec(&wire).map_err(|_source| SealPageError::Encryption)?;
    let sealed = cipher(bot)
        .and_then(|cipher| cipher.encrypt(&nonce.into(), Payload { msg: &plain, aad: LABEL }).ok())
        .ok_or(SealPageError::Encryption)?;
    let token = format!("{PREFIX}{}", text::encode(&[nonce.as_slice(), &sealed].concat()));
    // A place full of what JSON escapes grows.
    if token.len() > PAGE_TOKEN_BYTES_MAX {
        return Err(SealPageError::TooLong);
    }
    Ok(PageToken(token.into()))
}

/// Opens a token as the bot's host. `now` is a clock that never goes back.
pub fn open_page(token: &str, bot: &SecretKey, now: UnixTime) -> Result<OpenedPage, OpenPageError> {
    if token.len() > PAGE_TOKEN_BYTES_MAX {
        return Err(OpenPageError::TooLong);
    }
    let Some(encoded) = token.strip_prefix(PREFIX) else {
        let later = token.starts_with(ANY_VERSION);
        return Err(if later { OpenPageError::Version } else { OpenPageError::NotAToken });
    };
    let bytes = text::decode(encoded).ok_or(OpenPageError::NotAToken)?;
    let (nonce, sealed) = bytes.split_first_chunk::<PAGE_NONCE_BYTES>().ok_or(OpenPageError::NotAToken)?;
    let plain = cipher(bot)
        .and_then(|cipher| cipher.decrypt(&(*nonce).into(), Payload { msg: sealed, aad: LABEL }).ok())
        .ok_or(OpenPageError::CannotOpen)?;
    let wire: PageWire = serde_json::from_slice(&plain).map_err(|_source| OpenPageError::CannotOpen)?;
    // One that is good for longer than any is was made under a clock that this host has forgotten.
    let left = wire.until.secs_since(now).filter(|left| (1..=PAGE_LIFE_SECS).contains(left));
    if left.is_none() {
        return Err(OpenPageError::Expired);
    }
    let PageWire { issuer, action, grant, principal, until: _, place } = wire;
    Ok(OpenedPage { parts: PageParts { issuer, action, grant, principal, place } })
}

fn cipher(bot: &SecretKey) -> Option<ChaCha20Poly1305> {
    let key = bot.derived(LABEL)?;
    Some(ChaCha20Poly1305::new((&*key).into()))
}
