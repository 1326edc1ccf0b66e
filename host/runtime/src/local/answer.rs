//! The member's yes and no.
//!
//! INVARIANT: an approval is minted for the very write that was on the sheet, with the credential of the very connection and
//! account that it named, and for now.

use pinhole_grant::scope::SKEW_SECS;
use pinhole_grant::{Credential, CredentialId, Dial, KeyId, MintError, MintRequest, UnixTime};
use pinhole_manifest::Access;

use super::{APPROVAL_SECS, Present, Sheet, Skipped, manifest_of};
use crate::entropy::{self, EntropyError};
use crate::store::{Answer, AnswerError, Desk, QuestionId, StoreError};

/// Why a yes was not given. The question waits as it did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproveError {
    /// The connection is not there any more.
    #[error("the connection that it would use is not there any more")]
    NoConnection,
    /// The connection only reads (now).
    #[error("the connection that it would use only reads")]
    ReadOnly,
    /// The connection opens another account than the question says.
    #[error("the connection that it would use is not of the account that it names")]
    OtherAccount,
    /// Another bot asked than the one of this host.
    #[error("another bot asked than the one of this host")]
    OtherBot,
    /// The connection is not called what the sheet says, or is for a stand-in where the sheet says otherwise.
    #[error("the connection that it would use is not what was shown")]
    OtherConnection,
    /// The bot that proposes it says otherwise than what was found here.
    #[error("the bot's words differ from what is found here")]
    OtherWords,
    /// The machine's clock stands before the latest time seen: the yes would be good at another time than now.
    #[error("the clock stands before the latest time that was seen here, so a yes would not be for now")]
    ClockBehind,
    /// Its service has no manifest here, or it is not the one that it was connected under.
    #[error("the connection cannot be used as it is: {0}")]
    Stale(Skipped),
    /// It cannot be answered.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The approval could not be minted.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

impl ApproveError {
    /// What the member can do.
    pub fn hint(&self, question: QuestionId) -> String {
        match self {
            Self::ClockBehind => "`pinhole doctor` says what to do about the clock".to_owned(),
            Self::OtherConnection => {
                "`pinhole doctor` looks for rows that were tampered with; nothing was approved".to_owned()
            }
            Self::ReadOnly => "`pinhole connections cap SERVICE write` lets it".to_owned(),
            Self::Answer(AnswerError::Store(error)) | Self::Store(error) => error.hint().to_owned(),
            Self::Answer(_) => "`pinhole approvals list --all` shows what became of each".to_owned(),
            Self::NoConnection
            | Self::OtherAccount
            | Self::OtherBot
            | Self::OtherWords
            | Self::Stale(_)
            | Self::Mint(_)
            | Self::Entropy(_) => format!("`pinhole approvals deny {question}`, and have it asked anew"),
        }
    }
}

/// Says no to a question. It takes no key: whoever may write the store can only take away by it.
pub fn deny(desk: &dyn Desk, member: KeyId, id: QuestionId, now: UnixTime) -> Result<(), AnswerError> {
    desk.answer(member, id, Answer::Deny, now)
}

impl Present<'_> {
    /// Says yes to what is on the sheet: mints the approval and puts it where the bot finds it. Returns until when it may be
    /// used.
    pub fn approve(&self, sheet: &Sheet) -> Result<UnixTime, ApproveError> {
        let bot = self.bots().find(|bot| bot.id() == sheet.bot).ok_or(ApproveError::OtherBot)?;
        if self.wall.plus_secs(SKEW_SECS) < self.now {
            return Err(ApproveError::ClockBehind);
        }
        let credential = self.connected(sheet.connection)?;
        if *credential.service() != sheet.service || *credential.account() != sheet.account {
            return Err(ApproveError::OtherAccount);
        }
        let dial = if sheet.stand_in { Dial::Overridden } else { Dial::Real };
        if sheet.label.as_ref() != Some(credential.label()) || credential.dial() != dial {
            return Err(ApproveError::OtherConnection);
        }
        self.may_write(&credential)?;
        let until = self.now.plus_secs(APPROVAL_SECS);
        let request =
            MintRequest::approval(bot.clone(), sheet.digest, sheet.op.clone(), sheet.action, self.now, until);
        let request = self.returning(request, &credential);
        let mut rng = entropy::seeded(self.entropy)?;
        let grant = pinhole_grant::mint(&request, &credential, self.key, self.now, &mut rng)?;
        let answer = Answer::Approve { grant: grant.id(), sealed: grant.as_bytes(), until };
        self.desk.answer(self.member(), sheet.question, answer, self.now)?;
        Ok(until)
    }

    /// The credential of a connection of hers.
    pub(super) fn connected(&self, connection: CredentialId) -> Result<Credential, ApproveError> {
        let row = self.desk.connection(self.member(), connection)?;
        Ok(self.open(&row.ok_or(ApproveError::NoConnection)?)?)
    }

    /// Whether a credential may be used for a write, under a manifest as it was connected.
    pub(super) fn may_write(&self, credential: &Credential) -> Result<(), ApproveError> {
        if credential.cap() != Access::Write {
            return Err(ApproveError::ReadOnly);
        }
        manifest_of(self.catalog, credential).map(|_entry| ()).map_err(ApproveError::Stale)
    }
}
