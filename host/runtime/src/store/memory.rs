//! A store that forgets: for recorded cases and for embedders whose grants live no longer than the process.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pinhole_grant::{CredentialId, GrantId, UnixTime};

use super::{SpendError, Store, StoreError};

/// A [`Store`] in memory. Uses spent here are forgotten with the process: give it only grants that are, too.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spent: HashMap<GrantId, u32>,
    revoked: HashSet<GrantId>,
    latest: Option<UnixTime>,
}

impl MemoryStore {
    /// Each change is one step, so what another thread left behind when it panicked is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        let mut state = self.state();
        let spent = state.spent.entry(*grant).or_default();
        if *spent >= allowed.get() {
            return Err(SpendError::UsedUp);
        }
        *spent = spent.saturating_add(1);
        Ok(())
    }

    fn has_use_left(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError> {
        Ok(self.state().spent.get(grant).is_none_or(|spent| *spent < allowed.get()))
    }

    fn revoke(&self, grant: &GrantId) -> Result<(), StoreError> {
        self.state().revoked.insert(*grant);
        Ok(())
    }

    fn is_revoked(&self, grant: &GrantId) -> Result<bool, StoreError> {
        Ok(self.state().revoked.contains(grant))
    }

    /// It keeps no connections.
    fn has_ended(&self, _connection: &CredentialId) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn high_water(&self, now: UnixTime) -> Result<UnixTime, StoreError> {
        let mut state = self.state();
        let latest = state.latest.map_or(now, |latest| latest.max(now));
        state.latest = Some(latest);
        Ok(latest)
    }
}
