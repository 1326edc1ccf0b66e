//! The door to whoever renews: a public client at the token URL, or a broker.
//!
//! INVARIANT: an answer that is not a pair says whether the refresh token may be spent; what is not known counts as spent.

use std::future::Future;
use std::pin::Pin;

use pinhole_grant::{Dial, Renewer, Secret, SecretKey, UnixTime};
use pinhole_manifest::ServiceId;
use pinhole_manifest::model::OAuth;

use crate::entropy::Entropy;
use crate::net::Wire;
use crate::store::Carried;

/// What is asked for, of whom, and with what.
#[expect(missing_debug_implementations, reason = "it holds the bot's key and the way out")]
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The way out.
    pub wire: &'a dyn Wire,
    /// The bot that asks.
    pub bot: &'a SecretKey,
    /// Randomness.
    pub entropy: &'a dyn Entropy,
    /// Whose tokens they are.
    pub service: &'a ServiceId,
    /// The service's endpoints, by the manifest in force.
    pub oauth: &'a OAuth,
    /// Who renews.
    pub renewer: &'a Renewer,
    /// How its host must be dialled: as the credential says.
    pub dial: Dial,
    /// The refresh token.
    pub refresh: &'a Secret,
    /// When the asking begins.
    pub now: UnixTime,
}

/// A pair that was just obtained.
#[derive(Debug)]
pub struct Fresh {
    /// The access token.
    pub access: Secret,
    /// The refresh token; `None`: the old one stays.
    pub refresh: Option<Secret>,
    /// When the asking began.
    pub obtained_at: UnixTime,
    /// When the access token runs out, where that is known.
    pub expires_at: Option<UnixTime>,
}

/// Why there is no pair. Exhaustive: each is followed by something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The refresh token is worth nothing any more.
    #[error("the service takes the refresh token no more")]
    Dead,
    /// Whoever asks is not let, or the request is not one that is answered; the refresh token is as good as before.
    #[error("the renewal is refused: {detail}")]
    Refused {
        /// Why, in words of our own.
        detail: String,
    },
    /// There is no answer, or one that says to come back.
    #[error("whoever renews the token is away: {detail}")]
    Away {
        /// Whether it may have been renewed all the same.
        carried: Carried,
        /// In how many seconds to come back.
        retry_after: Option<u64>,
        /// What happened, in words of our own.
        detail: String,
    },
    /// There is an answer that nobody can read: the refresh token may be spent.
    #[error("the answer is not readable: {detail}")]
    Unreadable {
        /// What is wrong with it, in words of our own.
        detail: String,
    },
}

/// The future of one question.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Fresh, Unanswered>> + Send + 'a>>;

/// Asks nobody: for recorded cases, and for hosts whose keys do not run out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Ask for Nobody {
    fn ask<'a>(&'a self, _asked: Asked<'a>) -> Asking<'a> {
        let detail = "this host renews nothing".to_owned();
        Box::pin(std::future::ready(Err(Unanswered::Refused { detail })))
    }
}

/// Something that asks for a fresh pair, once.
pub trait Ask: Send + Sync {
    /// Asks. Nothing is repeated.
    fn ask<'a>(&'a self, asked: Asked<'a>) -> Asking<'a>;
}
