//! Where the time comes from: passed in, so that nobody reads the machine's clock, or waits, on the quiet.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use pinhole_grant::UnixTime;

/// A source of the time.
pub trait Clock: Send + Sync {
    /// Now, in seconds since 1970-01-01 UTC.
    fn now(&self) -> UnixTime;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// A clock that stands before 1970 reads as 0: everything then is not yet valid.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> UnixTime {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        UnixTime::from_secs(since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX)))
    }
}

/// A clock that always says the same, for tests and recorded cases.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub UnixTime);

impl Clock for FixedClock {
    fn now(&self) -> UnixTime {
        self.0
    }
}

/// The future of a wait.
pub type Wait<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What measures how long a call takes, and waits between two tries of it.
pub trait Timer: Send + Sync {
    /// A moment that only ever moves forward, by the time that [`Self::wait`] took among others.
    fn now(&self) -> Instant;

    /// Waits. Dropping the future ends the wait.
    fn wait(&self, time: Duration) -> Wait<'_>;
}

/// The machine's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemTimer;

impl Timer for SystemTimer {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wait(&self, time: Duration) -> Wait<'_> {
        Box::pin(tokio::time::sleep(time))
    }
}
