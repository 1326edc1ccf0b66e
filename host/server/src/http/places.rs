//! Places: so many connections at once, and who gives way.
//!
//! INVARIANT: a connection that has shown no good token (at a socket file: asked for nothing) keeps nobody out: where all places are taken, who comes gets the place of
//! the one that is there longest without. Whoever has shown one is never sent away for another. By peer nothing could be told
//! apart: on loopback all are one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    room: Arc<Semaphore>,
    most: usize,
    strangers: Arc<Strangers>,
}

/// The connections that have shown no good token yet, the oldest first.
#[derive(Debug, Default)]
struct Strangers(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    leave: BTreeMap<u64, CancellationToken>,
}

/// One connection's place; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    standing: Standing,
    leave: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

/// How a connection stands, for those who answer its requests. It holds no place.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    strangers: Arc<Strangers>,
    number: u64,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        Self { room: Arc::new(Semaphore::new(most)), most, strangers: Arc::default() }
    }

    /// A place; where there is none, a stranger's, as soon as it has left. `None` where all are kept.
    pub(super) async fn take(&self) -> Option<Place> {
        let permit = if let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() {
            permit
        } else {
            let (_number, oldest) = self.strangers.held().leave.pop_first()?;
            oldest.cancel();
            Arc::clone(&self.room).acquire_owned().await.ok()?
        };
        let leave = CancellationToken::new();
        let number = self.strangers.enter(leave.clone());
        let standing = Standing { strangers: Arc::clone(&self.strangers), number };
        Some(Place { standing, leave, _permit: permit })
    }

    /// Returns when every place is free.
    pub(super) async fn all_free(&self) {
        drop(self.room.acquire_many(u32::try_from(self.most).unwrap_or(u32::MAX)).await);
    }
}

impl Strangers {
    fn enter(&self, leave: CancellationToken) -> u64 {
        let mut waiting = self.held();
        let number = waiting.next;
        waiting.next = number.saturating_add(1);
        waiting.leave.insert(number, leave);
        number
    }

    /// Each change is one step, so what a thread left behind when it panicked is whole.
    fn held(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn standing(&self) -> Standing {
        self.standing.clone()
    }

    /// Returns when another needs the place.
    pub(super) async fn is_needed(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.standing.keep();
    }
}

impl Standing {
    /// A good token came through this connection.
    pub(crate) fn keep(&self) {
        self.strangers.held().leave.remove(&self.number);
    }
}
