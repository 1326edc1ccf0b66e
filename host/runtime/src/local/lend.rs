//! Writes that the member leaves to her bot for a while: a grant of her own for what can be put back, so many times, until a
//! time. A door may then take a person's word in her client for the yes to each.
//!
//! Refuses a connection that only reads. INVARIANT: what is lent names each op, none of which needs an approval, and the
//! spine holds it to that again. DESIGN, "Crypto": Grant.

use std::num::NonZeroU32;

use pinhole_grant::{Account, ActionDigest, Caution, KeyId, MintRequest, Scope, UnixTime};
use pinhole_manifest::model::Op;
use pinhole_manifest::{Access, OpId};

use super::bot::is_denied;
use super::member::ReadGrantError;
use super::{LocalBot, Present, Skipped, Stored, StoredCall, manifest_of};
use crate::entropy;
use crate::outcome::{Code, Refusal};
use crate::store::{ConnectionRow, Desk, GrantError, GrantFilter, GrantRow, QuestionState, StoreError};

/// Why nothing was lent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LendError {
    /// Its service has no manifest here, or it is not the one that it was connected under.
    #[error("the connection cannot be used as it is: {0}")]
    Stale(Skipped),
    /// The connection only reads.
    #[error("the connection only reads")]
    ReadOnly,
    /// No write of the service can be put back.
    #[error("no write of the service goes without an approval of its own")]
    Nothing,
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store did not take it.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// The grant could not be made.
    #[error(transparent)]
    Mint(#[from] ReadGrantError),
}

/// What was lent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lent {
    /// The ops, in order of their names.
    pub ops: Vec<OpId>,
    /// Until when.
    pub until: UnixTime,
}

/// Whether an op is one that a member may lend: a write that can be put back, and needs no approval of its own.
pub fn may_be_lent(op: &Op) -> bool {
    op.access == Access::Write && Caution::of(op) == Caution::Ordinary
}

impl Present<'_> {
    /// Lets the bot of this host run the writes of a connection that can be put back, `uses` times until `until` (at most
    /// 24 hours from now), without an approval of each. Takes the place of what was lent before, which is revoked.
    pub fn lend(&self, row: &ConnectionRow, uses: NonZeroU32, until: UnixTime) -> Result<Lent, LendError> {
        let credential = self.open(row)?;
        let entry = manifest_of(self.catalog, &credential).map_err(LendError::Stale)?;
        if credential.cap() != Access::Write {
            return Err(LendError::ReadOnly);
        }
        let ops = entry.manifest.ops().values().filter(|op| may_be_lent(op));
        let ops: Vec<OpId> = ops.map(|op| op.id.clone()).collect();
        if ops.is_empty() {
            return Err(LendError::Nothing);
        }
        let scope = Scope::new(Access::Write, self.now, until).with_ops(ops.iter().cloned()).with_uses(uses);
        let request = MintRequest::new(self.bot.clone(), entry.manifest.digest(), scope);
        let request = self.returning(request, &credential);
        let mut rng = entropy::seeded(self.entropy).map_err(ReadGrantError::from)?;
        let sealed = pinhole_grant::mint(&request, &credential, self.key, self.now, &mut rng)
            .map_err(ReadGrantError::from)?;
        let grant = GrantRow::new(sealed, &request, &credential, self.member());
        take_back(self.desk, self.bot.id(), row)?;
        self.desk.put_grant(&grant)?;
        Ok(Lent { ops, until })
    }
}

/// Revokes what was lent of a connection; whether there was anything. It takes no key: it can only take away.
pub fn take_back(desk: &dyn Desk, bot: KeyId, row: &ConnectionRow) -> Result<bool, StoreError> {
    let lent = desk.grants(&lent_of(row, bot))?;
    for grant in &lent {
        desk.revoke_grant(row.member, grant.id)?;
    }
    Ok(!lent.is_empty())
}

/// A write that a person's word in her client would run, as it is to be shown to her.
#[derive(Debug)]
#[non_exhaustive]
pub struct Confirmable {
    /// What exactly would be done, as an approval names it.
    pub action: ActionDigest,
    /// The question, in the manifest's words.
    pub confirm: String,
    /// Every arg, in its normal form.
    pub args: serde_json::Value,
    /// Whose account it would be done to.
    pub account: Account,
}

impl LocalBot {
    /// Whether a person's word in her client would run this write: it can be put back, and the member has lent a write grant
    /// that covers it and has a use left. Sends and spends nothing.
    pub async fn confirmable(&self, call: &StoredCall) -> Result<Option<Confirmable>, Refusal> {
        if !may_be_lent(self.op(call)?) {
            return Ok(None);
        }
        let stored = self.stored(call).await?;
        if self.lent(&stored).await?.is_none() {
            return Ok(None);
        }
        let request = super::bot::request(call, stored.grant.sealed);
        let mut trace = self.trace(call);
        let asking = self.executor.consider(&request, &mut trace).await?;
        if self.has_answered(call, asking.digest(), asking.now()).await? {
            return Ok(None);
        }
        let action = asking.action();
        let shown = asking.describe(String::new(), &self.executor, &trace)?;
        let confirm = shown.confirm.ok_or_else(|| Refusal::new(Code::UnknownOp))?;
        let account = action.account.clone();
        Ok(Some(Confirmable { action: asking.digest(), confirm, args: shown.args, account }))
    }

    /// Whether the member has said yes or no to exactly this, and it counts.
    async fn has_answered(
        &self,
        call: &StoredCall,
        action: ActionDigest,
        now: UnixTime,
    ) -> Result<bool, Refusal> {
        let last = self.last(call, action, now).await?;
        Ok(last.is_some_and(|last| last.state == QuestionState::Approved || is_denied(&last, now)))
    }

    /// The lent grant of a connection that opens, agrees with its row and has a use left.
    pub(super) async fn lent(&self, stored: &Stored) -> Result<Option<Vec<u8>>, Refusal> {
        let filter = lent_of(&stored.connection, self.executor.bot.public().id());
        let wall = self.executor.clock.now();
        let look =
            move |desk: &dyn Desk| Ok::<_, StoreError>((desk.grants(&filter)?, desk.high_water(wall)?));
        let (rows, now) = self.with_desk(look).await??;
        for row in rows {
            let Ok(opened) = self.executor.bot.open(&row.sealed, &self.executor.issuers, now) else {
                continue;
            };
            row.check(opened.grant()).map_err(Refusal::from)?;
            let Some(uses) = opened.grant().scope().uses else { continue };
            let id = row.id;
            if self.with_desk(move |desk| desk.has_use_left(&id, uses)).await?? {
                return Ok(Some(row.sealed));
            }
        }
        Ok(None)
    }
}

fn lent_of(row: &ConnectionRow, bot: KeyId) -> GrantFilter {
    GrantFilter {
        member: Some(row.member),
        bot: Some(bot),
        connection: Some(row.id),
        access: Some(Access::Write),
        ..GrantFilter::default()
    }
}
