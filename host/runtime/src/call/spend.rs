//! The use of a grant that a call takes, durably, before the first byte leaves.
//!
//! INVARIANT: only a whole request gets here, and nothing is sent before this. Whatever happens afterwards, the use stays
//! spent.

use super::prepare::Prepared;
use super::{Call, Executor};
use crate::outcome::{Code, Refusal};
use crate::store::{SpendError, StoreError};

impl Call<Prepared<'_>> {
    /// Spends a use of a grant that has a number of them.
    pub(super) async fn spend(&self, executor: &Executor) -> Result<(), Refusal> {
        let grant = self.stage.authorized.agreed.grant();
        let Some(allowed) = grant.scope().uses else {
            return Ok(());
        };
        let id = grant.id();
        executor.with_store(move |store| store.spend(&id, allowed)).await
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
        Self::new(Code::StoreFailed).detail(&detail)
    }
}
