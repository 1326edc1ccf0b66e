//! What a host does with the connections that are stored on it: the bot runs calls on them, the member makes and answers.
//!
//! Two doors, and who stands at which: [`LocalBot`] has the bot's key and what was sealed to it, and never the member's;
//! [`Present`] is the member herself with her key open. A read runs under the bot's stored grant. A write raises a question
//! ([`Sheet`] is what the member sees of it) and runs once under the approval that is her yes.
//!
//! INVARIANT: nothing here sends a request or decides whether one may be sent; both are the spine's (`call`). No row is
//! acted upon before it agrees with what is sealed in it. DESIGN, "Who holds what".

mod answer;
mod bot;
mod give_up;
mod keep;
mod lend;
mod member;
mod proposed;
mod prove;
mod renew;
mod sheet;
mod stored;
mod take;
mod view;

use pinhole_grant::{CallKey, Label, PrincipalId};
use pinhole_manifest::{OpId, ServiceId};

pub use answer::{ApproveError, deny};
pub use bot::LocalBot;
pub use give_up::GiveUpError;
pub use keep::{Keep, KeepError, Kept, OtherAccount, Place};
pub use lend::{Confirmable, LendError, Lent, may_be_lent, take_back};
pub use member::{Present, ReadGrantError};
pub use proposed::{Difference, Given, Proposed, ProposedError};
pub use prove::{Obtained, ProveError, Proved, unproved};
pub use renew::{CapError, RenewError, Renewal};
pub use sheet::{Sheet, SheetError, SheetRequest};
pub use stored::{Agreed, Skipped, Standing, Stored, manifest_of};
pub use take::TakeInError;
pub use view::ViewError;

/// How long a question waits for an answer, in seconds: a day.
pub const QUESTION_SECS: i64 = 24 * 60 * 60;
/// How long an approval may be used after the member's yes, in seconds: an hour.
pub const APPROVAL_SECS: i64 = 60 * 60;
/// How long the local bot's read grant of a connection lives, in seconds: thirty days.
pub const READ_GRANT_SECS: i64 = 30 * 24 * 60 * 60;
/// How a connection is called whose member gave it no name.
pub const DEFAULT_LABEL: &str = "default";
/// What stands for the account of a key whose service names none.
pub const UNNAMED_ACCOUNT: &str = "unnamed";

/// A call on a connection that is stored here. Nothing in it is believed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredCall {
    /// The service.
    pub service: ServiceId,
    /// Its op.
    pub op: OpId,
    /// The args, as the text of one JSON object.
    pub args: String,
    /// Which connection, where there are several.
    pub connection: Option<Label>,
    /// The `next` of an earlier outcome of the same read.
    pub next: Option<String>,
    /// On whose behalf, where a door tells callers apart; `None` is the host's own. Questions, approvals and pages of one
    /// are none of another's.
    pub principal: Option<PrincipalId>,
    /// Who says yes to a write.
    pub yes: Yes,
    /// What the caller names a write with, so that it is not carried out twice.
    pub key: Option<CallKey>,
}

/// Who says yes to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yes {
    /// The member, by an approval of exactly this write.
    Approval,
    /// A person was asked in her client and said yes, so the caller says. It runs what can be put back, under a write grant that
    /// the member has lent, if there is one; everything else still takes her approval.
    InTheClient,
}

impl StoredCall {
    /// Asks for `service.op` with args as the text of one JSON object, on the one connection that there is.
    pub fn new(service: ServiceId, op: OpId, args: impl Into<String>) -> Self {
        Self {
            service,
            op,
            args: args.into(),
            connection: None,
            next: None,
            principal: None,
            yes: Yes::Approval,
            key: None,
        }
    }

    /// The same under the caller's own key.
    #[must_use]
    pub fn with_key(self, key: CallKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The same on the connection of this label.
    #[must_use]
    pub fn on(self, connection: Label) -> Self {
        Self { connection: Some(connection), ..self }
    }

    /// The same on behalf of a principal.
    #[must_use]
    pub fn by(self, principal: PrincipalId) -> Self {
        Self { principal: Some(principal), ..self }
    }

    /// The same on this yes.
    #[must_use]
    pub fn on_the_yes(self, yes: Yes) -> Self {
        Self { yes, ..self }
    }

    /// The same for the page that the `next` of an earlier outcome stands for.
    #[must_use]
    pub fn with_next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }
}
