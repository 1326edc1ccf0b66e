//! A store that forgets: for recorded cases and for embedders whose grants live no longer than the process.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pinhole_grant::{CredentialId, GrantId, KeyId, KeyedDigest, PairDigest, UnixTime};

use super::locks::InMemory;
use super::{
    Again, Appended, CheckpointRow, Claim, Claiming, Fate, Held, KEPT_SECS, Kept, Line, LineError, LineState,
    LockError, LockName, Locks, Marked, ReceiptFilter, Receipts, Renewals, Settled, SpendError, Store,
    StoreError, Use,
};
use crate::receipts::{Covers, Facts, Head, Note, NoteId, Receipt, Stored};

/// How many receipts of a bot are kept, and checkpoints: the last ones.
const RECEIPTS_MAX: usize = 4_096;

/// A [`Store`] in memory. Uses spent here are forgotten with the process: give it only grants that are, too. Of its receipts
/// it keeps the last few thousand.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    locks: Arc<InMemory>,
}

#[derive(Debug, Default)]
struct State {
    spent: HashMap<GrantId, u32>,
    revoked: HashSet<GrantId>,
    latest: Option<UnixTime>,
    chains: HashMap<KeyId, Chain>,
    notes: Vec<Note>,
    lines: HashMap<PairDigest, Line>,
    pairs: HashMap<PairDigest, PairDigest>,
    kept: HashMap<KeyedDigest, Write>,
}

#[derive(Debug, Default)]
struct Chain {
    head: Option<Head>,
    receipts: VecDeque<Receipt>,
    checkpoints: VecDeque<CheckpointRow>,
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

impl State {
    fn spend(&mut self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        let spent = self.spent.entry(*grant).or_default();
        if *spent >= allowed.get() {
            return Err(SpendError::UsedUp);
        }
        *spent = spent.saturating_add(1);
        Ok(())
    }

    fn append(&mut self, facts: &Facts) -> Result<Appended, StoreError> {
        let chain = self.chains.entry(facts.bot).or_default();
        let receipt = Receipt::after(chain.head, facts.clone())
            .map_err(|source| StoreError::Failed { doing: "write a receipt", source: source.into() })?;
        let (id, head) = (receipt.id(), receipt.head());
        chain.head = Some(head);
        chain.receipts.push_back(receipt);
        if chain.receipts.len() > RECEIPTS_MAX {
            chain.receipts.pop_front();
        }
        let last = chain.checkpoints.iter().rev().find(|row| row.covers == Covers::Head);
        Ok(Appended { id, head, checkpoint: last.map(|row| Marked { seq: row.seq, at: row.at }) })
    }

    fn take(&mut self, note: NoteId) -> bool {
        let before = self.notes.len();
        self.notes.retain(|kept| kept.id != note);
        self.notes.len() < before
    }
}

impl Store for MemoryStore {
    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        self.state().spend(grant, allowed)
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

impl Locks for MemoryStore {
    fn hold(&self, what: &LockName, patience: Duration) -> Result<Held, LockError> {
        self.locks.hold(what, patience)
    }
}

impl Receipts for MemoryStore {
    fn begin(&self, note: &Note, spends: Option<Use>, _settled: Settled) -> Result<(), SpendError> {
        let mut state = self.state();
        if let Some(Use { grant, allowed }) = spends {
            state.spend(&grant, allowed)?;
        }
        state.notes.push(note.clone());
        Ok(())
    }

    fn append(&self, facts: &Facts, note: Option<NoteId>, _settled: Settled) -> Result<Appended, StoreError> {
        let mut state = self.state();
        let appended = state.append(facts)?;
        if let Some(note) = note {
            state.take(note);
        }
        Ok(appended)
    }

    fn append_unended(&self, facts: &Facts, note: NoteId) -> Result<Option<Appended>, StoreError> {
        let mut state = self.state();
        if state.take(note) { state.append(facts).map(Some) } else { Ok(None) }
    }

    fn notes(&self, bot: KeyId, most: usize) -> Result<Vec<Note>, StoreError> {
        let state = self.state();
        Ok(state.notes.iter().filter(|note| note.facts.bot == bot).take(most).cloned().collect())
    }

    fn keep_checkpoint(&self, row: &CheckpointRow) -> Result<(), StoreError> {
        let mut state = self.state();
        let kept = &mut state.chains.entry(row.bot).or_default().checkpoints;
        if !kept.iter().any(|other| (other.seq, other.covers) == (row.seq, row.covers)) {
            let at = kept.partition_point(|other| other.seq <= row.seq);
            kept.insert(at, row.clone());
        }
        if kept.len() > RECEIPTS_MAX {
            kept.pop_front();
        }
        Ok(())
    }

    fn checkpoints(&self, bot: KeyId) -> Result<Vec<CheckpointRow>, StoreError> {
        let state = self.state();
        Ok(state
            .chains
            .get(&bot)
            .map(|chain| chain.checkpoints.iter().cloned().collect())
            .unwrap_or_default())
    }

    fn receipts_from(&self, bot: KeyId, seq: u64, most: usize) -> Result<Vec<Stored>, StoreError> {
        let state = self.state();
        let receipts = state.chains.get(&bot).into_iter().flat_map(|chain| &chain.receipts);
        Ok(receipts.filter(|receipt| receipt.seq() >= seq).take(most).map(Stored::of).collect())
    }

    fn last_receipts(
        &self,
        bot: KeyId,
        filter: &ReceiptFilter,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let state = self.state();
        let receipts = state.chains.get(&bot).into_iter().flat_map(|chain| chain.receipts.iter().rev());
        Ok(receipts
            .filter(|receipt| filter.lets_through(receipt.facts()))
            .take(most)
            .map(Stored::of)
            .collect())
    }

    fn prune_receipts(&self, anchor: &CheckpointRow) -> Result<u64, StoreError> {
        let mut gone = 0;
        {
            let mut state = self.state();
            let receipts = &mut state.chains.entry(anchor.bot).or_default().receipts;
            while receipts.len() > 1 && receipts.front().is_some_and(|first| first.seq() <= anchor.seq) {
                receipts.pop_front();
                gone += 1;
            }
        }
        if gone > 0 {
            self.keep_checkpoint(anchor)?;
        }
        Ok(gone)
    }
}

impl Renewals for MemoryStore {
    fn line(&self, pair: &PairDigest) -> Result<Option<Line>, StoreError> {
        let state = self.state();
        Ok(state.pairs.get(pair).and_then(|line| state.lines.get(line)).cloned())
    }

    fn begin_line(&self, line: &Line) -> Result<Line, StoreError> {
        if let Some(there) = self.line(&line.id)? {
            return Ok(there);
        }
        let mut state = self.state();
        state.pairs.entry(line.id).or_insert(line.id);
        Ok(state.lines.entry(line.id).or_insert_with(|| line.clone()).clone())
    }

    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError> {
        let mut state = self.state();
        match state.lines.get_mut(&from.id) {
            Some(stored) if *stored == *from && from.state != LineState::Dead => *stored = to.clone(),
            _ => return Err(LineError::Changed),
        }
        state.pairs.entry(to.newest).or_insert(to.id);
        Ok(())
    }

    fn lines(&self, member: KeyId) -> Result<Vec<Line>, StoreError> {
        Ok(self.state().lines.values().filter(|line| line.member == member).cloned().collect())
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
