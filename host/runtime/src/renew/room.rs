//! The order in which a renewal is done, whatever dies meanwhile.
//!
//! It runs as a task of its own: whoever waits for it may give up without an answer being lost. A pair that came and could
//! not be stored is kept in the process and stored by the next who comes.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pinhole_grant::{KeptPair, PairDigest, Ring, Secret, UnixTime, seal_pair};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::ask::{Ask, Asked, Unanswered};
use super::decide::{self, Next, Term};
use super::given::{Given, NotRenewed, newest};
use crate::entropy::{Entropy, Seeded};
use crate::net::Wire;
use crate::store::{Held, Line, LineError, Lines, LockError, LockName, NextPair, StoreError};

/// What the locks of renewals are called.
const LOCK_ROOM: &str = "renewal";
/// How long another process that renews the same pair is waited for: longer than one answer takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// From how many lines on those that nobody is at are let go.
const LINES_KEPT: usize = 256;

/// Who is at which line in this process, and whom they ask.
#[expect(missing_debug_implementations, reason = "it holds pairs")]
pub struct Renewing {
    ask: Arc<dyn Ask>,
    lines: Mutex<HashMap<PairDigest, Arc<AsyncMutex<Slot>>>>,
}

/// What one process knows of a line that the store does not: a pair that came and could not be stored.
#[derive(Default)]
struct Slot {
    unstored: Option<Unstored>,
}

struct Unstored {
    from: Line,
    to: Line,
}

impl Renewing {
    /// For whoever asks so.
    pub fn new(ask: Arc<dyn Ask>) -> Self {
        Self { ask, lines: Mutex::default() }
    }

    /// Renews the pair, or finds that somebody has: a pair that is not `given.bad` and not due. `entropy` seals it.
    pub async fn renew(
        &self,
        given: Given,
        (store, wire, bot): (Arc<dyn Lines>, Arc<dyn Wire>, Arc<Ring>),
        entropy: &dyn Entropy,
        now: UnixTime,
    ) -> Result<KeptPair, NotRenewed> {
        let entropy = Seeded::of(entropy)?;
        let first = Line::begin(
            given.digest,
            (given.issuer, bot.root().public().id()),
            (given.credential, given.service.clone()),
            given.generation,
        );
        let looking = Arc::clone(&store);
        let line = blocking(move || looking.begin_line(&first)).await??;
        let slot = self.slot(line.id).lock_owned().await;
        let task = Task { ask: Arc::clone(&self.ask), store, wire, bot, entropy, given, now };
        // Whoever waits may go; what was begun is carried to its end.
        tokio::spawn(task.run(line.id, slot)).await.map_err(|_panicked| NotRenewed::BrokeOff)?
    }

    fn slot(&self, line: PairDigest) -> Arc<AsyncMutex<Slot>> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LINES_KEPT {
            lines.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|slot| slot.unstored.is_some())
            });
        }
        Arc::clone(lines.entry(line).or_default())
    }
}

impl Default for Renewing {
    /// Asks whom the credential names.
    fn default() -> Self {
        Self::new(Arc::new(super::ByRenewer))
    }
}

/// One renewal, with all that it needs.
struct Task {
    ask: Arc<dyn Ask>,
    store: Arc<dyn Lines>,
    wire: Arc<dyn Wire>,
    bot: Arc<Ring>,
    entropy: Seeded,
    given: Given,
    now: UnixTime,
}

impl Task {
    async fn run(self, id: PairDigest, mut slot: OwnedMutexGuard<Slot>) -> Result<KeptPair, NotRenewed> {
        let _held = self.lock(id).await?;
        self.store_what_came(&mut slot).await?;
        let line = self.look().await?;
        let kept = newest(&line, &self.bot)?;
        if line.state == crate::store::LineState::Dead {
            return Err(NotRenewed::Dead);
        }
        if line.newest != self.given.bad
            && let Some(pair) = kept
        {
            let term = Term { obtained_at: Some(pair.obtained_at), expires_at: pair.expires_at };
            if !term.is_due(self.now) {
                return Ok(pair);
            }
            return self.ask(line, Some(pair), &mut slot).await;
        }
        self.ask(line, kept, &mut slot).await
    }

    async fn lock(&self, id: PairDigest) -> Result<Held, NotRenewed> {
        let store = Arc::clone(&self.store);
        let name = LockName::new(LOCK_ROOM, &[&id.to_string()]);
        match blocking(move || store.hold(&name, PATIENCE)).await? {
            Ok(held) => Ok(held),
            Err(LockError::Busy { .. }) => Err(NotRenewed::Wait(1)),
            Err(LockError::Store(error)) => Err(error.into()),
        }
    }

    async fn look(&self) -> Result<Line, NotRenewed> {
        let (store, digest) = (Arc::clone(&self.store), self.given.digest);
        let line = blocking(move || store.line(&digest)).await??;
        // It was there a moment ago: its connection is gone.
        line.ok_or(NotRenewed::Dead)
    }

    /// Stores a pair that came earlier and could not be stored.
    async fn store_what_came(&self, slot: &mut Slot) -> Result<(), NotRenewed> {
        let Some(Unstored { from, to }) = slot.unstored.take() else { return Ok(()) };
        match self.change(&from, &to).await? {
            Ok(()) | Err(LineError::Changed) => Ok(()),
            Err(LineError::Store(why)) => Err(self.unstored(from, to, why, slot)),
        }
    }

    /// Notes that a request leaves, sends it, and stores what comes of it.
    async fn ask(&self, line: Line, kept: Option<KeptPair>, slot: &mut Slot) -> Result<KeptPair, NotRenewed> {
        match decide::next(&line, self.now) {
            Next::Ask => {}
            Next::Wait(seconds) => return Err(NotRenewed::Wait(seconds)),
            Next::Ended => return Err(NotRenewed::Dead),
            Next::End => {
                self.settle(&line, &line.ended()).await?;
                return Err(NotRenewed::Dead);
            }
        }
        let refresh = match &kept {
            Some(pair) => pair.refresh.as_ref().ok_or(NotRenewed::Dead)?,
            None => &self.given.refresh,
        };
        let sending = line.sending(decide::again_at(&line, self.now));
        self.settle(&line, &sending).await?;
        let asked = Asked {
            wire: self.wire.as_ref(),
            bot: self.bot.shared(self.now),
            entropy: &self.entropy,
            service: &self.given.service,
            oauth: &self.given.oauth,
            renewer: &self.given.renewer,
            dial: self.given.dial,
            refresh,
            now: self.now,
        };
        self.given.sent.fetch_add(1, Ordering::Relaxed);
        let fresh = match self.ask.ask(asked).await {
            Ok(fresh) => fresh,
            Err(why) => return Err(self.failed(&sending, why).await),
        };
        let above = line.generation.max(self.given.generation).saturating_add(1);
        let pair = KeptPair {
            issuer: self.given.issuer,
            credential: self.given.credential,
            generation: above,
            access: fresh.access,
            refresh: Some(match fresh.refresh {
                Some(refresh) => refresh,
                None => Secret::new(refresh.expose().to_owned()).map_err(|_never| NotRenewed::Sealing)?,
            }),
            obtained_at: fresh.obtained_at,
            expires_at: fresh.expires_at,
        };
        self.keep(sending, pair, slot).await
    }

    async fn failed(&self, sending: &Line, why: Unanswered) -> NotRenewed {
        let to = decide::after(sending, &why, self.now);
        // Where this cannot be stored the line stays as it was noted before, which is the worse of the two.
        if let Err(error) = self.settle(sending, &to).await {
            tracing::warn!(%error, "what came of a renewal was not noted");
        }
        if decide::next(&to, self.now) == Next::Ended {
            return NotRenewed::Dead;
        }
        let again = match decide::next(&to, self.now) {
            Next::Wait(seconds) => seconds,
            _ => 0,
        };
        NotRenewed::Failed { again, why }
    }

    /// Stores the fresh pair; only then it is used.
    async fn keep(&self, from: Line, pair: KeptPair, slot: &mut Slot) -> Result<KeptPair, NotRenewed> {
        let sealed = seal_pair(&pair, self.bot.shared(self.now), &mut self.entropy.rng()?);
        let sealed = sealed.map_err(|_error| NotRenewed::Sealing)?;
        let digest = pair.digest(self.bot.root()).ok_or(NotRenewed::Sealing)?;
        let to = from.renewed(NextPair { generation: pair.generation, digest, sealed });
        match self.change(&from, &to).await {
            Ok(Ok(())) => Ok(pair),
            Ok(Err(LineError::Store(why))) => Err(self.unstored(from, to, why, slot)),
            Ok(Err(LineError::Changed)) => {
                // Somebody without the lock was faster: theirs is stored.
                let line = self.look().await?;
                newest(&line, &self.bot)?.ok_or(NotRenewed::Wait(1))
            }
            Err(broke_off) => Err(broke_off),
        }
    }

    /// A pair that cannot be stored stays in the process, and goes to its member.
    fn unstored(&self, from: Line, to: Line, why: StoreError, slot: &mut Slot) -> NotRenewed {
        let pair = newest(&to, &self.bot);
        slot.unstored = Some(Unstored { from, to });
        match pair {
            Ok(Some(pair)) => NotRenewed::Unstored { pair: Box::new(pair), why },
            _ => why.into(),
        }
    }

    /// A change that nobody else has made in the meantime, for there is a lock.
    async fn settle(&self, from: &Line, to: &Line) -> Result<(), NotRenewed> {
        match self.change(from, to).await? {
            Ok(()) => Ok(()),
            Err(LineError::Changed) => Err(NotRenewed::Wait(1)),
            Err(LineError::Store(error)) => Err(error.into()),
        }
    }

    async fn change(&self, from: &Line, to: &Line) -> Result<Result<(), LineError>, NotRenewed> {
        let (store, from, to) = (Arc::clone(&self.store), from.clone(), to.clone());
        blocking(move || store.change_line(&from, &to)).await
    }
}

/// Does what blocks away from the threads that serve calls.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotRenewed> {
    tokio::task::spawn_blocking(work).await.map_err(|_panicked| NotRenewed::BrokeOff)
}
