//! What a renewal is given, and why it comes to nothing.
//!
//! INVARIANT: a kept pair is used only where it agrees with the columns of its line.

use pinhole_grant::seal::UnsealError;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use pinhole_grant::{
    CredentialId, Dial, KeptPair, KeyId, OpenPairError, PairDigest, Renewer, Ring, Secret, open_pair,
};
use pinhole_manifest::ServiceId;
use pinhole_manifest::model::OAuth;

use super::ask::Unanswered;
use crate::entropy::EntropyError;
use crate::store::{Line, StoreError};

/// What the grant at hand says of the pair that is to be renewed. The secrets are copies.
#[derive(Debug)]
pub struct Given {
    /// The member.
    pub issuer: KeyId,
    /// Her credential.
    pub credential: CredentialId,
    /// Its service.
    pub service: ServiceId,
    /// The service's endpoints.
    pub oauth: OAuth,
    /// Who renews.
    pub renewer: Renewer,
    /// How that is to be dialled.
    pub dial: Dial,
    /// The generation of the grant's pair.
    pub generation: u64,
    /// The digest of the grant's pair.
    pub digest: PairDigest,
    /// The refresh token of the grant's pair.
    pub refresh: Secret,
    /// The digest of the pair that will not do, be it due or refused by the service.
    pub bad: PairDigest,
    /// How many requests left for whoever gave this.
    pub sent: Arc<AtomicU32>,
}

/// Why there is no fresh pair. Exhaustive: each has its own refusal.
#[derive(Debug, thiserror::Error)]
pub enum NotRenewed {
    /// The line has ended: reconnect.
    #[error("the pair is good for nothing any more")]
    Dead,
    /// It is not tried before so many seconds have passed.
    #[error("the pair was not renewed a moment ago either")]
    Wait(u64),
    /// It was tried, and may be again in so many seconds.
    #[error("the pair was not renewed: {why}")]
    Failed {
        /// In how many seconds.
        again: u64,
        /// What happened.
        #[source]
        why: Unanswered,
    },
    /// The store failed before anything was sent.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fresh pair came and could not be stored, so it is not used; the one before it is spent.
    #[error("a fresh pair came and could not be stored")]
    Unstored {
        /// The pair, for its member alone.
        pair: Box<KeptPair>,
        /// Why not.
        #[source]
        why: StoreError,
    },
    /// There is no randomness, or the pair could not be sealed.
    #[error("a fresh pair could not be sealed")]
    Sealing,
    /// The task broke off.
    #[error("the renewal broke off")]
    BrokeOff,
}

impl From<EntropyError> for NotRenewed {
    fn from(_none: EntropyError) -> Self {
        Self::Sealing
    }
}

/// The newest pair of a line, where it is another than its first; held against the line's columns.
pub fn newest(line: &Line, bot: &Ring) -> Result<Option<KeptPair>, StoreError> {
    let Some(sealed) = &line.sealed else { return Ok(None) };
    let pair = open_pair(sealed, bot.addressed(sealed)).map_err(|error| match error {
        OpenPairError::Unseal(UnsealError::WrongRecipient) => another_key(),
        _ => line.tampered(),
    })?;
    let same = pair.issuer == line.member
        && pair.credential == line.credential
        && pair.generation == line.generation
        && pair.digest(bot.root()) == Some(line.newest);
    if same { Ok(Some(pair)) } else { Err(line.tampered()) }
}

/// A process that was started before the bot's key was changed has not got the new one.
fn another_key() -> StoreError {
    let source = "it is sealed to a key that this process does not have: if the bot's key was changed, start the process anew";
    StoreError::Failed { doing: "open a renewed pair", source: source.into() }
}
