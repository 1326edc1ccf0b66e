//! Waiting, on whatever thread calls, for what the driver's own thread brings.
//!
//! The store's calls block. They are made on threads for blocking, on plain ones, and by mistake on one that drives tasks:
//! a runtime's own `block_on` panics there, so the future is polled here instead, and only its sockets and timers belong to
//! the runtime of the driver.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::unconstrained;
use tokio::time::timeout;

/// The thread that moves bytes between the connections and those who wait for them.
#[derive(Debug)]
pub(super) struct Driver {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Driver {
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What the future comes to; `None` where it takes longer than `limit`, and it is then dropped where it stands.
    pub(super) fn wait<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        let _sockets_and_timers_are_the_drivers = self.handle.enter();
        block_on(unconstrained(timeout(limit, future))).ok()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Not waited for: whoever drops the store may be driving tasks. Open connections are closed, their locks end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // One that comes between the poll and this is not lost: it makes this return at once.
            Poll::Pending => thread::park(),
        }
    }
}
