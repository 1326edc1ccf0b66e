//! The time of a stage: a clock that a test sets, and a timer that waits for nobody.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pinhole_grant::UnixTime;
use pinhole_runtime::clock::{Clock, Timer, Wait};

use crate::stage::NOW;

/// A clock that a test sets. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl Default for TestClock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(NOW.as_secs())))
    }
}

impl TestClock {
    /// Sets it so many seconds after [`NOW`].
    pub fn set(&self, after_now: i64) {
        self.0.store(NOW.plus_secs(after_now).as_secs(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> UnixTime {
        UnixTime::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// A timer whose waits are over at once, though it says that they took their time. Clones are the same timer.
#[derive(Debug, Clone, Default)]
pub struct TestTimer(Arc<Mutex<Vec<Duration>>>);

impl TestTimer {
    /// What was waited for, in order.
    pub fn waits(&self) -> Vec<Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Timer for TestTimer {
    fn now(&self) -> Instant {
        Instant::now() + self.waits().iter().sum::<Duration>()
    }

    fn wait(&self, time: Duration) -> Wait<'_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(time);
        Box::pin(std::future::ready(()))
    }
}
