//! Checkpoints: how far a bot's chain had come at a time, signed by the bot (DSSE).
//!
//! Whoever can edit receipts cannot make one without the bot's key, and kept elsewhere they outlive an edit. INVARIANT: a
//! [`Checkpoint`] was signed by the key that it was read with, for that key's own chain.

use pinhole_grant::sign::VerifyError;
use pinhole_grant::{KeyId, Kind, PublicKey, SecretKey, UnixTime, sign};
use pinhole_manifest::Digest;
use serde::{Deserialize, Serialize};

use super::chain::Head;

/// Longest checkpoint that is read, in bytes: more than any has.
pub const CHECKPOINT_LINE_MAX: usize = 4 << 10;

/// What a checkpoint vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covers {
    /// The chain went on to here.
    Head,
    /// All up to here was removed on purpose: the chain begins behind it.
    Pruned,
}

/// The bot's word for where its chain stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    bot: KeyId,
    head: Head,
    at: UnixTime,
    covers: Covers,
}

/// Why there is no checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The bot's key did not sign it, or not as one.
    #[error("it is not signed by the bot's key")]
    NotSigned,
    /// Another bot's chain, or another form.
    #[error("it is not a checkpoint of this bot's receipts")]
    NotOne,
    /// It could not be signed.
    #[error("the checkpoint could not be signed")]
    Sign,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointWire {
    v: u8,
    bot: KeyId,
    seq: u64,
    hash: Digest,
    at: UnixTime,
    covers: Covers,
}

impl Checkpoint {
    /// Signs where a bot's chain stands. One line of text.
    pub fn sign(
        head: Head,
        covers: Covers,
        at: UnixTime,
        bot: &SecretKey,
    ) -> Result<Vec<u8>, CheckpointError> {
        let wire =
            CheckpointWire { v: 1, bot: bot.public().id(), seq: head.seq, hash: head.hash, at, covers };
        let payload = serde_json::to_vec(&wire).map_err(|_unwritable| CheckpointError::Sign)?;
        let envelope =
            sign::sign(Kind::Checkpoint, &payload, bot).map_err(|_source| CheckpointError::Sign)?;
        Ok(envelope.to_vec())
    }

    /// Reads one of this bot's.
    pub fn read(envelope: &[u8], bot: &PublicKey) -> Result<Self, CheckpointError> {
        if envelope.len() > CHECKPOINT_LINE_MAX {
            return Err(CheckpointError::NotOne);
        }
        let signed = sign::verify(Kind::Checkpoint, envelope, std::slice::from_ref(bot)).map_err(
            |error| match error {
                // Another key of the same home, or of nobody's: it says nothing of this bot.
                VerifyError::UnknownSigner => CheckpointError::NotOne,
                _ => CheckpointError::NotSigned,
            },
        )?;
        let wire: CheckpointWire =
            serde_json::from_slice(signed.payload()).map_err(|_source| CheckpointError::NotOne)?;
        let CheckpointWire { v, bot: of, seq, hash, at, covers } = wire;
        if v != 1 || of != bot.id() || seq == 0 {
            return Err(CheckpointError::NotOne);
        }
        Ok(Self { bot: of, head: Head { seq, hash }, at, covers })
    }

    /// Whose chain.
    pub fn bot(&self) -> KeyId {
        self.bot
    }

    /// The receipt that it stands at.
    pub fn head(&self) -> Head {
        self.head
    }

    /// When it was made, by the machine's clock.
    pub fn at(&self) -> UnixTime {
        self.at
    }

    /// What it vouches for.
    pub fn covers(&self) -> Covers {
        self.covers
    }
}
