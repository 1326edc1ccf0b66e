//! The use of a grant that a call takes, durably, before the first byte leaves.
//!
//! INVARIANT: only a whole request gets here, and nothing is sent before this. Whatever happens afterwards, the use stays
//! spent.

use super::prepare::Prepared;
use super::{Call, Executor, Trace};
use crate::net::Sent;
use crate::outcome::{Code, Refusal};
use crate::store::{SpendError, StoreError, Use};

impl Call<Prepared<'_>> {
    /// Spends a use of a grant that has a number of them, unless the run that this page belongs to was paid with it.
    /// In the same step it is noted that the call begins.
    pub(super) async fn spend(&self, executor: &Executor, trace: &mut Trace) -> Result<Spent, Refusal> {
        let page = &self.stage.page;
        let grant = page.authorized.agreed.grant();
        let uses = grant.scope().uses.filter(|_| !page.is_paid());
        let spends = uses.map(|allowed| Use { grant: grant.id(), allowed });
        executor.begin(trace, spends).await?;
        Ok(if spends.is_some() { Spent::Use } else { Spent::Nothing })
    }
}

/// Whether a use is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spent {
    /// The grant has as many as anybody likes, or this is a further page of a run that took one.
    Nothing,
    /// One is.
    Use,
}

impl Spent {
    /// Says so in a refusal of a request that did not leave: whoever tries again may need another grant.
    pub(super) fn noted(self, refusal: Refusal) -> Refusal {
        if self == Self::Nothing || refusal.sent != Sent::No {
            return refusal;
        }
        let hint = format!(
            "{}; a use of the grant is spent: if it was the last, it takes a new grant, or on a connection another yes",
            refusal.hint
        );
        Refusal { use_spent: true, hint, ..refusal }
    }
}

impl From<SpendError> for Refusal {
    fn from(error: SpendError) -> Self {
        match error {
            SpendError::UsedUp => Self::new(Code::GrantUsedUp),
            SpendError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let detail = match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        let refusal = Self::new(Code::StoreFailed).hinting(error.hint()).detail(&detail);
        match error {
            // Which row it is says nothing that its bot may not know.
            StoreError::Tampered { .. } => refusal.saying(error.to_string()),
            // The path is the operator's to know.
            _ => refusal,
        }
    }
}
