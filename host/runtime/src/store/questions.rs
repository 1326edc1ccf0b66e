//! Questions: writes that wait for the member's yes, and her answers.
//!
//! ```text
//! pending ─► approved ─► used
//!    │ │         ├─────► expired
//!    │ └► expired└─────► denied   (she takes it back, or her connection is removed)
//!    └──► denied
//! ```
//! INVARIANT: a question is approved at most once, what is denied stays so, and the grant of an approved one is given out at most once, over all
//! processes and crashes. Nothing leaves `denied`, `expired` and `used`. DESIGN, "Who holds what"; "Crypto": Approval.

mod id;

use pinhole_grant::{
    Account, Action, ActionDigest, ActionError, CredentialId, GrantId, KeyId, PrincipalId, UnixTime,
};
use pinhole_manifest::model::Args;
use pinhole_manifest::{Digest, OpId, ServiceId};
use serde::{Serialize, Serializer};
use serde_json::Value;

pub use id::{QuestionId, QuestionIdError};

use super::{Removal, StoreError, Table};

/// Most questions of one caller of a bot that may wait for one member at once.
pub const QUESTIONS_PENDING_MAX: u32 = 32;
/// Most questions of one caller of a bot to one member that are kept after they ended; older ones are forgotten.
pub const QUESTIONS_KEPT: u32 = 1_000;
/// Longest text of args, and of what was found, in bytes: 256 KiB each.
pub const QUESTION_TEXT_BYTES_MAX: usize = 256 << 10;

/// How far a question has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionState {
    /// It waits for an answer.
    Pending,
    /// The member said yes, and the approval waits to be used.
    Approved,
    /// The member said no, or removed the connection.
    Denied,
    /// Nobody answered, or used the approval, in time.
    Expired,
    /// The approval was given out.
    Used,
}

impl QuestionState {
    /// One word, such as `pending`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Used => "used",
        }
    }
}

impl Serialize for QuestionState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A question as it is stored. Not believed until [`Question::check`] has recomputed its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What a person types.
    pub id: QuestionId,
    /// Who is asked.
    pub member: KeyId,
    /// The service.
    pub service: ServiceId,
    /// The op.
    pub op: OpId,
    /// Its args in their normal form, as the text of one JSON object.
    pub args: String,
    /// The manifest that says what the op does.
    pub manifest: Digest,
    /// The connection that would be used.
    pub connection: CredentialId,
    /// The account that it opens.
    pub account: Account,
    /// The bot that would run it.
    pub bot: KeyId,
    /// On whose behalf the bot asks; `None` for its host's own. The bot's host says so, and no approval binds it.
    pub principal: Option<PrincipalId>,
    /// What an approval would bind.
    pub action: ActionDigest,
    /// What the conditions of the op were found to be.
    pub found: Value,
    /// When it was raised.
    pub raised_at: UnixTime,
    /// From when on it can be answered no more.
    pub expires_at: UnixTime,
    /// When it was answered.
    pub answered_at: Option<UnixTime>,
    /// The approval, and from when on it can be used no more.
    pub approval: Option<(GrantId, UnixTime)>,
    /// How far it has come at the time that was passed in.
    pub state: QuestionState,
}

impl Question {
    /// The action that an approval would bind, with `args` parsed from [`Question::args`] by the op's own schema.
    pub fn action<'a>(&'a self, args: &'a Args) -> Action<'a> {
        Action {
            service: &self.service,
            op: &self.op,
            args,
            manifest: self.manifest,
            connection: self.connection,
            account: &self.account,
            bot: self.bot,
        }
    }

    /// Recomputes the digest; [`StoreError::Tampered`] where the row says another. Show nothing of a question before.
    pub fn check(&self, args: &Args) -> Result<(), StoreError> {
        match self.action(args).digest() {
            Ok(digest) if digest == self.action => Ok(()),
            Ok(_) | Err(ActionError::UnsafeNumber { .. } | _) => Err(self.tampered()),
        }
    }

    /// The error for a question whose args are none of its op's.
    pub fn tampered(&self) -> StoreError {
        StoreError::Tampered { table: Table::Questions, id: self.id.to_string() }
    }
}

/// A question to raise.
#[derive(Debug, Clone, Copy)]
pub struct NewQuestion<'a> {
    /// A new random id.
    pub id: QuestionId,
    /// Who is asked.
    pub member: KeyId,
    /// On whose behalf; `None` for the host's own.
    pub principal: Option<PrincipalId>,
    /// What is asked.
    pub action: Action<'a>,
    /// What the conditions of the op were found to be: any JSON.
    pub found: &'a Value,
    /// The high-water time.
    pub raised_at: UnixTime,
    /// From when on it can be answered no more: later than `raised_at`.
    pub expires_at: UnixTime,
}

/// On whose behalf questions are looked at: nobody sees those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The member who is asked.
    Member(KeyId),
    /// The bot that asks, on behalf of a principal or of its host itself.
    Bot(KeyId, Option<PrincipalId>),
}

/// The member's answer.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// Yes, with the approval that she minted.
    Approve {
        /// The approval's id.
        grant: GrantId,
        /// The approval, sealed to the bot.
        sealed: &'a [u8],
        /// When the approval expires.
        until: UnixTime,
    },
    /// No.
    Deny,
}

/// An approval that was given out, to this caller and nobody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The approval's id.
    pub grant: GrantId,
    /// The approval, sealed to the bot.
    pub sealed: Vec<u8>,
}

/// Why a question was not raised.
#[derive(Debug, thiserror::Error)]
pub enum RaiseError {
    /// Too many questions of this bot wait for this member.
    #[error("{QUESTIONS_PENDING_MAX} questions of this caller wait for an answer, which is as many as may")]
    TooManyPending,
    /// Args or findings are longer than [`QUESTION_TEXT_BYTES_MAX`].
    #[error("the question is longer than {QUESTION_TEXT_BYTES_MAX} bytes")]
    TooLarge,
    /// There is another question of this id: raise it with a new one.
    #[error("there is another question of this id")]
    IdTaken,
    /// It would have expired before it was raised.
    #[error("the question expires before it is raised")]
    ExpiresAtOnce,
    /// The args have no digest.
    #[error(transparent)]
    Action(#[from] ActionError),
    /// The store failed; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The member was asked no such question.
    #[error("there is no such question")]
    Absent,
    /// It waits no more.
    #[error("the question is {} already", .0.as_str())]
    NotPending(QuestionState),
    /// The store failed; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why no approval was given out.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// The bot asked no such question.
    #[error("there is no such question")]
    Absent,
    /// There is no approval to be used.
    #[error("the question is {}", .0.as_str())]
    NotApproved(QuestionState),
    /// The store failed; whether the approval is gone is then unknown, and nothing may be sent.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The questions of a host. Calls block for as long as the disk takes; each change is whole or not there. `now` is always
/// the high-water time.
pub trait Questions: Send + Sync {
    /// Raises a question. Where the same principal's same action waits already or is approved and not used yet, that question
    /// is the answer and nothing is stored: compare the id.
    fn raise(&self, question: &NewQuestion<'_>) -> Result<Question, RaiseError>;

    /// The question of this id.
    fn question(&self, party: Party, id: QuestionId, now: UnixTime) -> Result<Option<Question>, StoreError>;

    /// All questions of this party, the newest first.
    fn questions(&self, party: Party, now: UnixTime) -> Result<Vec<Question>, StoreError>;

    /// The latest question about this action, however far it has come.
    fn last_question(
        &self,
        party: Party,
        action: ActionDigest,
        now: UnixTime,
    ) -> Result<Option<Question>, StoreError>;

    /// Answers a pending question, once; a yes that was not used yet can be taken back by a no, which revokes it.
    fn answer(
        &self,
        member: KeyId,
        id: QuestionId,
        answer: Answer<'_>,
        now: UnixTime,
    ) -> Result<(), AnswerError>;

    /// Ends a pending question of the bot that asked it, for it was answered otherwise; it reads as expired.
    /// [`TakeError::NotApproved`] where it is not pending (any more).
    fn withdraw(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<(), TakeError>;

    /// Forgets a question, whatever its row says, and revokes its approval: for a row that was tampered with.
    fn forget_question(&self, member: KeyId, id: QuestionId) -> Result<Removal, StoreError>;

    /// Gives out the approval of a question to the bot that asked, once; the store then has it no more.
    fn take(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<Taken, TakeError>;
}
