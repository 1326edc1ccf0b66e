//! What every grant is held to, at both ends: minting refuses to make one that breaks a rule, opening refuses one that
//! somebody made anyway.
//!
//! DESIGN, "Crypto": Grant, Approval.

use pinhole_manifest::Access;

use crate::approval::ActionDigest;
use crate::scope::Scope;
use crate::time::UnixTime;

/// Longest life of a read grant, in seconds from its issue: 90 days.
pub const READ_LIFETIME_SECS_MAX: i64 = 90 * 24 * 60 * 60;
/// Longest life of a write grant, in seconds from its issue: 24 hours.
pub const WRITE_LIFETIME_SECS_MAX: i64 = 24 * 60 * 60;

/// Which rule a grant breaks. Exhaustive: each has its own answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleBroken {
    /// It gives more than the connection's cap.
    #[error("the grant gives more than the connection's cap")]
    AboveCap,
    /// It ends when or before it begins, or begins before it was issued.
    #[error("the grant ends before it begins")]
    NoLifetime,
    /// It lives longer than grants of its access may.
    #[error("the grant lives longer than {limit_secs} seconds")]
    TooLong {
        /// The longest life of a grant of this access, in seconds.
        limit_secs: i64,
    },
    /// It writes and does not say how often.
    #[error("a write grant says how many uses it has")]
    WriteWithoutUses,
    /// It approves an action without being a write of exactly one use.
    #[error("an approval is a write grant of one use")]
    ApprovalShape,
    /// Its list of ops is empty.
    #[error("the grant covers no op")]
    NoOps,
    /// An arg is narrowed to no value.
    #[error("the grant narrows an arg to no value")]
    NoValues,
}

pub(super) fn check(
    scope: &Scope,
    issued_at: UnixTime,
    approves: Option<ActionDigest>,
    cap: Access,
) -> Result<(), RuleBroken> {
    if !cap.covers(scope.access) {
        return Err(RuleBroken::AboveCap);
    }
    if scope.not_before < issued_at || scope.expires_at <= scope.not_before {
        return Err(RuleBroken::NoLifetime);
    }
    let limit_secs = match scope.access {
        Access::Read => READ_LIFETIME_SECS_MAX,
        Access::Write => WRITE_LIFETIME_SECS_MAX,
    };
    // From the issue, not from `not_before`: a grant dated ahead lives no longer.
    if scope.expires_at.secs_since(issued_at).is_none_or(|life| life > limit_secs) {
        return Err(RuleBroken::TooLong { limit_secs });
    }
    if scope.access == Access::Write && scope.uses.is_none() {
        return Err(RuleBroken::WriteWithoutUses);
    }
    let one_write = scope.access == Access::Write && scope.uses.is_some_and(|uses| uses.get() == 1);
    if approves.is_some() && !one_write {
        return Err(RuleBroken::ApprovalShape);
    }
    if scope.ops.as_ref().is_some_and(std::collections::BTreeSet::is_empty) {
        return Err(RuleBroken::NoOps);
    }
    if scope.wheres.has_empty_list() { Err(RuleBroken::NoValues) } else { Ok(()) }
}
