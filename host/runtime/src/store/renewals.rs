//! Lines: the pairs of tokens that came one out of the other, by renewal, and what is known of the newest.
//!
//! A line begins with the pair of a grant; every pair of it leads to it by its digest, so that a grant with an older one
//! finds the newest. INVARIANT: a change is made only of the line as it was looked at, so that whoever lost a lock cannot
//! put an older pair in the place of a newer one; a dead line stays dead. Sealed bytes are the truth: whoever opens them
//! holds the columns against them. DESIGN, "Crypto": Rotated pairs.

use pinhole_grant::{CredentialId, KeyId, PairDigest, UnixTime};
use pinhole_manifest::ServiceId;

use super::{StoreError, Table};

/// How often in all the renewal of one pair is tried when nobody can say whether it was carried out.
pub const TRIES_MAX: u32 = 5;

/// What may be done with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineState {
    /// Its newest pair may be renewed.
    Live,
    /// A request to renew it was about to leave, and what came of it is not known.
    Sent,
    /// Its refresh token is good for nothing any more: reconnect.
    Dead,
}

impl LineState {
    /// Its name in a database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Sent => "sent",
            Self::Dead => "dead",
        }
    }
}

/// A line as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The digest of its first pair.
    pub id: PairDigest,
    /// Whose credential it renews.
    pub member: KeyId,
    /// Which bot's it is.
    pub bot: KeyId,
    /// The credential.
    pub credential: CredentialId,
    /// Its service.
    pub service: ServiceId,
    /// How often the credential was rotated when its newest pair was obtained.
    pub generation: u64,
    /// What may be done with it.
    pub state: LineState,
    /// How often the renewal of the newest pair was begun and may have been carried out.
    pub tries: u32,
    /// How often it failed in any way.
    pub failures: u32,
    /// Before when it is not tried again.
    pub again_at: Option<UnixTime>,
    /// The digest of its newest pair.
    pub newest: PairDigest,
    /// The newest pair, sealed; `None` while that is the first, which is in the grants.
    pub sealed: Option<Vec<u8>>,
}

/// Whether a renewal that failed may have been carried out all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// Certainly not: the refresh token is as good as before.
    Not,
    /// Perhaps: the refresh token may be spent.
    Perhaps,
}

/// A pair that takes the place of the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextPair {
    /// Its generation.
    pub generation: u64,
    /// Its digest.
    pub digest: PairDigest,
    /// The pair, sealed to the bot.
    pub sealed: Vec<u8>,
}

impl Line {
    /// A line that begins with the pair of this digest.
    pub fn begin(
        first: PairDigest,
        (member, bot): (KeyId, KeyId),
        (credential, service): (CredentialId, ServiceId),
        generation: u64,
    ) -> Self {
        Self {
            id: first,
            member,
            bot,
            credential,
            service,
            generation,
            state: LineState::Live,
            tries: 0,
            failures: 0,
            again_at: None,
            newest: first,
            sealed: None,
        }
    }

    /// A request is about to leave; should nothing more be heard of it, the next is not before `again_at`.
    #[must_use]
    pub fn sending(&self, again_at: UnixTime) -> Self {
        let (tries, failures) = (self.tries.saturating_add(1), self.failures.saturating_add(1));
        Self { state: LineState::Sent, tries, failures, again_at: Some(again_at), ..self.clone() }
    }

    /// The request that was about to leave failed, and the next is not before `again_at`.
    #[must_use]
    pub fn put_off(&self, carried: Carried, again_at: UnixTime) -> Self {
        let tries = match carried {
            Carried::Perhaps => self.tries,
            Carried::Not => self.tries.saturating_sub(1),
        };
        let state = if tries == 0 { LineState::Live } else { LineState::Sent };
        Self { state, tries, again_at: Some(again_at), ..self.clone() }
    }

    /// A pair came.
    #[must_use]
    pub fn renewed(&self, pair: NextPair) -> Self {
        let NextPair { generation, digest, sealed } = pair;
        Self {
            generation,
            state: LineState::Live,
            tries: 0,
            failures: 0,
            again_at: None,
            newest: digest,
            sealed: Some(sealed),
            ..self.clone()
        }
    }

    /// Nothing more comes of it.
    #[must_use]
    pub fn ended(&self) -> Self {
        Self { state: LineState::Dead, again_at: None, ..self.clone() }
    }

    /// The error for a line whose sealed bytes do not open, or say something else than its columns.
    pub fn tampered(&self) -> StoreError {
        StoreError::Tampered { table: Table::Lines, id: self.id.to_string() }
    }
}

/// Why a line was not changed.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not any more what it was when it was looked at.
    #[error("the pair was renewed or given up by somebody else meanwhile")]
    Changed,
    /// The store failed; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The lines of the bots on a host. Calls block for as long as the disk takes; each change is whole and on the disk when it
/// returns, or not there.
pub trait Renewals: Send + Sync {
    /// The line that the pair of this digest belongs to.
    fn line(&self, pair: &PairDigest) -> Result<Option<Line>, StoreError>;

    /// Stores a line that begins, unless its first pair belongs to one already: the line that then is there.
    fn begin_line(&self, line: &Line) -> Result<Line, StoreError>;

    /// Puts `to` in the place of `from`, of the same line, while that is what is stored. A newer pair then leads to the line
    /// too.
    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError>;

    /// All lines of a member's credentials.
    fn lines(&self, member: KeyId) -> Result<Vec<Line>, StoreError>;
}
