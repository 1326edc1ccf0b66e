//! A store that forgets: for recorded cases and for embedders whose grants live no longer than the process.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pinhole_grant::{CredentialId, GrantId, KeyedDigest, UnixTime};

use super::{Again, Claim, Claiming, Fate, KEPT_SECS, Kept, SpendError, Store, StoreError};

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
    kept: HashMap<KeyedDigest, Write>,
}

/// A write under its caller's key.
#[derive(Debug)]
struct Write {
    act: KeyedDigest,
    over_by: UnixTime,
    kept_until: UnixTime,
    fate: Option<Known>,
}

#[derive(Debug)]
enum Known {
    Unknown,
    Done(Vec<u8>),
}

impl Write {
    fn says(&self, claiming: &Claiming) -> Claim {
        if self.act != claiming.act {
            return Claim::Conflict;
        }
        match &self.fate {
            Some(Known::Done(sealed)) => Claim::Done(sealed.clone()),
            None if claiming.now < self.over_by => Claim::UnderWay(self.over_by),
            None | Some(Known::Unknown) => Claim::Unknown,
        }
    }
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

impl Kept for MemoryStore {
    fn claim(&self, claiming: &Claiming) -> Result<Claim, StoreError> {
        let mut state = self.state();
        state.kept.retain(|_, write| claiming.now < write.kept_until);
        let known = state.kept.get(&claiming.id).map(|write| (write.says(claiming), write.kept_until));
        let kept_until = match known {
            Some((Claim::Unknown, kept_until)) if claiming.again == Again::Known => kept_until,
            Some((known, _)) => return Ok(known),
            None => claiming.now.plus_secs(KEPT_SECS),
        };
        let write = Write { act: claiming.act, over_by: claiming.over_by, kept_until, fate: None };
        state.kept.insert(claiming.id, write);
        Ok(Claim::Mine)
    }

    fn kept(&self, claiming: &Claiming) -> Result<Option<Claim>, StoreError> {
        let state = self.state();
        let write = state.kept.get(&claiming.id).filter(|write| claiming.now < write.kept_until);
        Ok(write.map(|write| write.says(claiming)))
    }

    fn ended(&self, id: KeyedDigest, fate: Fate<'_>) -> Result<(), StoreError> {
        let mut state = self.state();
        match fate {
            Fate::NotSent => drop(state.kept.remove(&id)),
            Fate::Unknown => {
                if let Some(write) = state.kept.get_mut(&id) {
                    write.fate = Some(Known::Unknown);
                }
            }
            Fate::Done(sealed) => {
                if let Some(write) = state.kept.get_mut(&id) {
                    write.fate = Some(Known::Done(sealed.to_vec()));
                }
            }
        }
        Ok(())
    }
}
