//! What one principal may take of the server.
//!
//! INVARIANT: nobody's requests keep anybody else's out: at once and by the minute, each principal has a share of their own.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pinhole_grant::PrincipalId;
use pinhole_manifest::Access;
use pinhole_runtime::clock::Timer;

use crate::http::{HttpLimits, Refused, Windows};

/// Most principals whose windows are kept apart. There is one for each token that the member made.
const PRINCIPALS_MAX: usize = 4_096;

/// Most values that the messages of one principal have at once: what is made of them is some 25 MiB.
const VALUES_AT_ONCE: usize = 100_000;

/// All shares.
pub(super) struct Shares {
    at_once: usize,
    running: Running,
    reads: Mutex<Windows<PrincipalId>>,
    writes: Mutex<Windows<PrincipalId>>,
    timer: Arc<dyn Timer>,
}

type Running = Arc<Mutex<HashMap<PrincipalId, Taken>>>;

#[derive(Default)]
struct Taken {
    requests: usize,
    values: usize,
}

/// One request's part of a share; it is given back when this is dropped.
pub(super) struct Share {
    running: Running,
    of: PrincipalId,
    values: AtomicUsize,
}

impl Shares {
    pub(super) fn new(limits: &HttpLimits, timer: Arc<dyn Timer>) -> Self {
        Self {
            at_once: limits.requests,
            running: Running::default(),
            reads: Mutex::new(Windows::new(limits.reads, PRINCIPALS_MAX)),
            writes: Mutex::new(Windows::new(limits.writes, PRINCIPALS_MAX)),
            timer,
        }
    }

    /// Takes part of a share for a request that is about to be read.
    pub(super) fn take(&self, of: PrincipalId) -> Result<Share, Refused> {
        let mut running = held(&self.running);
        let taken = running.entry(of).or_default();
        if taken.requests >= self.at_once {
            return Err(Refused::Busy);
        }
        taken.requests = taken.requests.saturating_add(1);
        drop(running);
        Ok(Share { running: Arc::clone(&self.running), of, values: AtomicUsize::new(0) })
    }

    /// Counts a request in its window.
    pub(super) fn weigh(&self, of: PrincipalId, access: Access) -> Result<(), Refused> {
        let windows = match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        };
        let now = self.timer.now();
        held(windows).pass(of, now).map_err(Refused::TooFast)
    }
}

impl Share {
    /// Takes so many values of the share too; once.
    pub(super) fn hold(&self, values: usize) -> Result<(), Refused> {
        let mut running = held(&self.running);
        let taken = running.entry(self.of).or_default();
        let all = taken.values.saturating_add(values);
        if all > VALUES_AT_ONCE {
            return Err(Refused::Busy);
        }
        taken.values = all;
        self.values.store(values, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut running = held(&self.running);
        if let Some(taken) = running.get_mut(&self.of) {
            taken.requests = taken.requests.saturating_sub(1);
            taken.values = taken.values.saturating_sub(self.values.load(Ordering::Relaxed));
            if taken.requests == 0 {
                running.remove(&self.of);
            }
        }
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("of", &self.of).finish_non_exhaustive()
    }
}

/// Each change is one step, so what a thread left behind when it panicked is whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
