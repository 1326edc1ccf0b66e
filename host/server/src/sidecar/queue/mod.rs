//! Who may call now, who waits, and who comes next.
//!
//! So many calls at once in all, and so many of a service; whoever comes beyond waits in a queue of bounded length, beyond which
//! nobody waits. Services take turns, and within a service the members whose grants are used; where it is full, the newest of
//! who has most there gives way to who has fewer. INVARIANT: at no moment more calls run than the limits say; a service that never
//! answers holds its own places and no other's; whoever leaves while it waits has left the queue.

mod state;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use pinhole_grant::KeyId;
use pinhole_manifest::ServiceId;
use tokio::sync::oneshot;

use self::state::{Next, State, Ticket};

/// How many at once, and how many wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Most calls at once.
    pub calls: usize,
    /// Most calls of one service at once.
    pub calls_of_a_service: usize,
    /// Most that wait.
    pub waiting: usize,
    /// Most that wait for one service.
    pub waiting_for_a_service: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { calls: 64, calls_of_a_service: 16, waiting: 256, waiting_for_a_service: 64 }
    }
}

/// Which queue: that of a service that this host knows, or the one of all others.
pub(super) type Lane = Option<ServiceId>;
/// Whose turn within a queue: a member's who is believed, or everybody else's.
pub(super) type Asker = Option<KeyId>;

/// All queues. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Queue(Arc<Mutex<State>>);

/// A place among those that run; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    queue: Queue,
    lane: Lane,
}

/// What comes of asking for a place.
#[derive(Debug)]
pub(super) enum Entered {
    /// It may run.
    Now(Slot),
    /// Others come first.
    Later(Waiting),
    /// As many wait as may, and who asks has no fewer than others.
    Full(Asker),
}

/// It waited, and gave way to somebody who has fewer that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Displaced;

/// A place in a queue; it is given up when this is dropped.
#[derive(Debug)]
pub(super) struct Waiting {
    queue: Queue,
    lane: Lane,
    asker: Asker,
    number: u64,
    given: oneshot::Receiver<Slot>,
}

/// How a service stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) lane: Lane,
    pub(super) running: usize,
    pub(super) waiting: usize,
}

impl Queue {
    pub(super) fn new(limits: QueueLimits) -> Self {
        Self(Arc::new(Mutex::new(State::new(limits))))
    }

    /// A place, or one in the queue. Who asks is only looked at where there must be waited.
    pub(super) fn enter(&self, lane: &Lane, asker: impl FnOnce() -> Asker) -> Entered {
        if self.held().take(lane) {
            return Entered::Now(self.slot(lane.clone()));
        }
        let asker = asker();
        let mut state = self.held();
        // Meanwhile others came and went.
        if state.take(lane) {
            drop(state);
            return Entered::Now(self.slot(lane.clone()));
        }
        let (give, given) = oneshot::channel();
        let Some(number) = state.wait(lane, asker, give) else { return Entered::Full(asker) };
        drop(state);
        Entered::Later(Waiting { queue: self.clone(), lane: lane.clone(), asker, number, given })
    }

    /// Every service of which a call runs or waits, in order.
    pub(super) fn standings(&self) -> Vec<Standing> {
        self.held().standings()
    }

    fn slot(&self, lane: Lane) -> Slot {
        Slot { queue: self.clone(), lane }
    }

    /// Each change is whole once the lock is let go of.
    fn held(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free places to whose turn it is. Who has left meanwhile gives the place back by dropping it.
    fn go_on(&self) {
        loop {
            let next = self.held().next();
            let Some(Next { lane, ticket: Ticket { give, .. } }) = next else { return };
            drop(give.send(self.slot(lane)));
        }
    }
}

impl Waiting {
    /// Who waits.
    pub(super) fn asker(&self) -> Asker {
        self.asker
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.queue.held().free(&self.lane);
        self.queue.go_on();
    }
}

impl Future for Waiting {
    type Output = Result<Slot, Displaced>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The other end lives in the queue, and that in here: it is gone only once it was taken out.
        Pin::new(&mut self.given).poll(context).map_err(|_dropped| Displaced)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.queue.held().leave(&self.lane, &self.asker, self.number);
    }
}
