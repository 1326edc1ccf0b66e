//! What an opened grant covers: pure decisions, one for each thing that a call could get wrong.
//!
//! The runtime makes all of them before it spends a use: `check_op`, `check_where`, `check_approval`, `check_use`. None
//! of them looks anything up. DESIGN, "Crypto": Grant; "The way of a call".

use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::{Args, Effect, Op};
use pinhole_manifest::{Access, ApiHost, Digest, OpId, ServiceId};

use super::open::OpenedGrant;
use crate::approval::ActionDigest;
use crate::scope::ScopeError;
use crate::time::UnixTime;

/// What is about to be called, as the manifest has it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The service.
    pub service: &'a ServiceId,
    /// The op.
    pub op: &'a OpId,
    /// What the op does.
    pub access: Access,
    /// The manifest.
    pub manifest: Digest,
    /// The manifest's host.
    pub host: &'a ApiHost,
    /// The manifest's token URL.
    pub token_url: Option<&'a HttpsUrl>,
    /// Whether another manifest than the recorded one may still be read by.
    pub succession: Succession,
}

/// Whether a grant still holds under another manifest than the one that it was given under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Succession {
    /// The host has both manifests, and it is proven that the op does, shows and takes no more under the present one. A grant
    /// covers it as it did.
    Narrower,
    /// A change of this manifest is reviewed before it gets here, and the op's request cannot change anything. A grant that
    /// lists the op covers it.
    Reviewed,
    /// Nobody vouches for the change, or the request is one that only its manifest says to be a read.
    Unreviewed,
}

/// Whether an op may run on a grant that approves nothing in particular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// It reads, or it makes or changes something that can be put back.
    Ordinary,
    /// It deletes, sends, spends or cannot be taken back: only an approval runs it.
    NeedsApproval,
}

impl Caution {
    /// What an op needs, by its manifest. A write that does not say what it does needs an approval.
    pub fn of(op: &Op) -> Self {
        let reversibility = if op.irreversible { Reversibility::Final } else { Reversibility::CanBeUndone };
        Self::judge(op.access, op.effect, reversibility)
    }

    fn judge(access: Access, effect: Option<Effect>, reversibility: Reversibility) -> Self {
        let grave = reversibility == Reversibility::Final || effect.is_none_or(Effect::needs_approval);
        if access == Access::Write && grave { Self::NeedsApproval } else { Self::Ordinary }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reversibility {
    CanBeUndone,
    Final,
}

impl OpenedGrant {
    /// Whether the grant covers this op of this manifest.
    ///
    /// An explicit list of ops holds for reads under a later manifest if changes of it are reviewed: the person named what
    /// may be read. An op that is proven no wider than it was is covered as it was. Everything else needs the very manifest
    /// that the grant was given under: a write, a grant without a list (it covers what that manifest had and no more), and one
    /// that narrows args (a later manifest may use an arg for something else).
    pub fn check_op(&self, target: &Target<'_>) -> Result<(), ScopeError> {
        self.check_service(target)?;
        let grant = self.grant();
        grant.scope().allows_op(target.op, target.access)?;
        let scope = grant.scope();
        let listed_read = target.access == Access::Read && scope.ops.is_some() && scope.wheres.is_empty();
        let succeeds = match target.succession {
            Succession::Narrower => true,
            Succession::Reviewed => listed_read,
            Succession::Unreviewed => false,
        };
        if grant.manifest() != target.manifest && !succeeds {
            return Err(ScopeError::ManifestChanged);
        }
        Ok(())
    }

    /// Whether the member may be asked about a write on the grant's connection: of the very manifest that the grant was given
    /// under or one under which the op is proven no wider, and within the connection's cap. Permits nothing; an approval does.
    pub fn check_question(&self, target: &Target<'_>) -> Result<(), ScopeError> {
        self.check_service(target)?;
        let grant = self.grant();
        if !grant.credential().cap().covers(target.access) {
            return Err(ScopeError::ReadOnlyConnection);
        }
        if grant.approves().is_some() {
            return Err(ScopeError::WrongAction);
        }
        let succeeds = target.succession == Succession::Narrower;
        if succeeds || grant.manifest() == target.manifest {
            Ok(())
        } else {
            Err(ScopeError::ManifestChanged)
        }
    }

    /// Whether the grant covers a read that a write requires, which [`Self::check_question`] has passed.
    pub fn check_required(&self, read: &OpId) -> Result<(), ScopeError> {
        self.grant().scope().allows_op(read, Access::Read)
    }

    fn check_service(&self, target: &Target<'_>) -> Result<(), ScopeError> {
        let grant = self.grant();
        if grant.service() != target.service {
            return Err(ScopeError::WrongService);
        }
        let credential = grant.credential();
        let token_url_changed = credential.token_url().is_some_and(|url| target.token_url != Some(url));
        if credential.host() != target.host || token_url_changed {
            return Err(ScopeError::HostChanged);
        }
        Ok(())
    }

    /// Whether the args are within the grant's `where`. Every key of it must be an arg of the call.
    pub fn check_where(&self, args: &Args) -> Result<(), ScopeError> {
        self.grant().scope().wheres.check(|arg| args.get(arg))
    }

    /// Whether this action may run: an approval runs the one action that it approves and nothing else, not even a read; any
    /// other grant runs what needs no approval.
    pub fn check_approval(&self, caution: Caution, action: ActionDigest) -> Result<(), ScopeError> {
        match (self.grant().approves(), caution) {
            (Some(approved), _) if approved == action => Ok(()),
            (Some(_), _) => Err(ScopeError::WrongAction),
            (None, Caution::Ordinary) => Ok(()),
            (None, Caution::NeedsApproval) => Err(ScopeError::NeedsApproval),
        }
    }

    /// Whether a use is left after so many.
    pub fn check_use(&self, used: u32) -> Result<(), ScopeError> {
        self.grant().scope().allows_use(used)
    }

    /// Whether it is still in time, for a grant that was opened a while ago.
    pub fn check_time(&self, now: UnixTime) -> Result<(), ScopeError> {
        self.grant().scope().allows_time(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_put_back_needs_an_approval() {
        use Reversibility::{CanBeUndone, Final};
        let judge = |effect, reversibility| Caution::judge(Access::Write, effect, reversibility);
        for effect in [Effect::Create, Effect::Update] {
            assert_eq!(judge(Some(effect), CanBeUndone), Caution::Ordinary);
            assert_eq!(judge(Some(effect), Final), Caution::NeedsApproval);
        }
        for effect in [Effect::Delete, Effect::Send, Effect::Spend] {
            assert_eq!(judge(Some(effect), CanBeUndone), Caution::NeedsApproval);
        }
        assert_eq!(judge(None, CanBeUndone), Caution::NeedsApproval);
        assert_eq!(Caution::judge(Access::Read, None, CanBeUndone), Caution::Ordinary);
    }
}
