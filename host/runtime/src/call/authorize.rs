//! Whether this call may run: args in their normal form, within the grant's scope, access, approval, and a use to spend.

use pinhole_grant::{Action, ActionDigest, ActionError, Caution};
use pinhole_manifest::Access;
use pinhole_manifest::model::{ArgFault, Args};

use super::fresh::scrub_of_grant;
use super::open::{Agreed, scope_refusal};
use super::{Call, Executor, Trace};
use crate::outcome::{Code, Refusal};

/// Most faults of the args that one refusal names.
const FAULTS_SHOWN: usize = 5;

/// The args are in the form in which everything after this reads them.
#[derive(Debug)]
pub(super) struct Checked<'a> {
    pub(super) agreed: Agreed<'a>,
    pub(super) args: Args,
}

/// The call may run. Only this reaches the credential.
#[derive(Debug)]
pub(super) struct Authorized<'a> {
    pub(super) agreed: Agreed<'a>,
    pub(super) args: Args,
    /// What exactly would be done, as an approval names it.
    pub(super) action: ActionDigest,
    /// Which rule lets it run.
    pub(super) rule: Rule,
}

/// Which rule lets a call run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// It reads, and the grant covers reads.
    ReadGranted,
    /// It writes what can be taken back, and the grant covers such writes.
    WriteGranted,
    /// The member approved exactly this write.
    Approved,
}

impl<'a> Call<Agreed<'a>> {
    /// Reads and normalises the args, once.
    pub(super) fn check_args(
        self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Call<Checked<'a>>, Refusal> {
        let agreed = self.stage;
        let args = agreed.op.args.parse_text(&agreed.request.args).map_err(|faults| args_refusal(&faults))?;
        trace.record.with_args(&args, || scrub_of_grant(&agreed), executor);
        Ok(Call { stage: Checked { agreed, args } })
    }
}

pub(super) fn args_refusal(faults: &[ArgFault]) -> Refusal {
    let shown: Vec<String> = faults
        .iter()
        .take(FAULTS_SHOWN)
        .map(|fault| match fault.pointer.as_str() {
            "" => fault.message.clone(),
            pointer => format!("`{pointer}`: {}", fault.message),
        })
        .collect();
    let more = faults.len().saturating_sub(FAULTS_SHOWN);
    let tail = if more == 0 { String::new() } else { format!("; and {more} more") };
    Refusal::new(Code::InvalidArgs).saying(format!("{}{tail}", shown.join("; ")))
}

impl<'a> Call<Checked<'a>> {
    /// Decides. INVARIANT: a write runs only under a write grant, and one that is irreversible, spends, sends or deletes
    /// only under an approval of exactly this call.
    pub(super) fn authorize(self) -> Result<Call<Authorized<'a>>, Refusal> {
        let Checked { agreed, args } = self.stage;
        agreed.grant.check_where(&args).map_err(|error| scope_refusal(&error))?;
        let action = agreed.action(&args).digest().map_err(|error| no_digest(&error))?;
        agreed.grant.check_approval(Caution::of(agreed.op), action).map_err(|error| scope_refusal(&error))?;
        let rule = Rule::of(&agreed);
        Ok(Call { stage: Authorized { agreed, args, action, rule } })
    }
}

impl Agreed<'_> {
    /// What exactly would be done.
    pub(super) fn action<'s>(&'s self, args: &'s Args) -> Action<'s> {
        Action {
            service: self.manifest.id(),
            op: &self.op.id,
            args,
            manifest: self.manifest.digest(),
            connection: self.grant().connection(),
            account: self.grant().account(),
            bot: self.grant().bot(),
        }
    }
}

pub(super) fn no_digest(error: &ActionError) -> Refusal {
    Refusal::new(Code::InvalidArgs).saying(error.to_string())
}

impl Rule {
    fn of(agreed: &Agreed<'_>) -> Self {
        match (agreed.grant().approves(), agreed.op.access) {
            (Some(_), _) => Self::Approved,
            (None, Access::Read) => Self::ReadGranted,
            (None, Access::Write) => Self::WriteGranted,
        }
    }
}
