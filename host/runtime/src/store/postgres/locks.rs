//! Locks as PostgreSQL's advisory locks, each on a connection of its own: the server ends them with it.
//!
//! The key is the first 64 bits of the name's digest, which no other lock of Pinhole's uses. INVARIANT: a connection whose
//! lock was not given back for certain is closed. A server that restarts forgets all locks; who held one then goes on not
//! knowing it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_postgres::Client;

use super::broken::{Kind, kind};
use super::pool::Session;
use super::{PATIENCE, PostgresStore};
use crate::store::{Held, LockError, LockName, Locks, StoreError};

/// Most locks that a process holds or waits for at once.
const LOCKS_MAX: usize = 16;

/// The connections that hold locks, or did.
#[derive(Default)]
pub(super) struct Holders {
    all: Arc<All>,
}

#[derive(Default)]
struct All {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Client>,
    open: usize,
}

/// One of the connections that may be open, until it is dropped.
struct Place {
    all: Arc<All>,
    /// It holds nothing, and may be used again.
    idle: Option<Client>,
}

/// A lock that is held.
struct Lock {
    client: Option<(Client, Place)>,
    driver: Handle,
}

impl Locks for PostgresStore {
    fn hold(&self, what: &LockName, patience: Duration) -> Result<Held, LockError> {
        let mut place = place(&self.locks.all, patience)?;
        let key = what.digest().first_chunk().map_or(0, |first| i64::from_be_bytes(*first));
        let mut tries = 0_u8;
        let client = loop {
            let kept = place.idle.take().filter(|client| !client.is_closed());
            let was_kept = kept.is_some();
            let all = async {
                let client = match kept {
                    Some(client) => client,
                    None => Session::open(&self.address, &self.driver, &self.place).await?.client,
                };
                let taken = lock(&client, key, patience).await;
                Ok::<_, StoreError>((client, taken))
            };
            let waits = PATIENCE.saturating_add(patience);
            let (client, taken) = self.driver.wait(waits, all).unwrap_or_else(|| Err(self.place.silent()))?;
            match taken {
                Ok(true) => break client,
                Ok(false) => {
                    place.idle = Some(client);
                    return Err(LockError::Busy { waited: patience });
                }
                // One that was at rest when the server went.
                Err(error) if was_kept && tries == 0 && kind(&error) == Kind::Lost => tries = 1,
                Err(error) => return Err(self.place.fault("lock", error).into()),
            }
        };
        let driver = self.driver.handle().clone();
        Ok(Held::until_dropped(Lock { client: Some((client, place)), driver }))
    }
}

/// Whether the lock is taken in time.
async fn lock(client: &Client, key: i64, patience: Duration) -> Result<bool, tokio_postgres::Error> {
    if patience.is_zero() {
        return client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await?.try_get(0);
    }
    let limit = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX).max(1).to_string();
    // The limits of this connection alone: it waits for locks and does nothing else.
    let limits = "SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', '0', false)";
    client.execute(limits, &[&limit]).await?;
    match client.execute("SELECT pg_advisory_lock($1)", &[&key]).await {
        Ok(_one_row) => Ok(true),
        Err(error) if error.code().is_some_and(|code| code.code() == "55P03") => Ok(false),
        Err(error) => Err(error),
    }
}

fn place(all: &Arc<All>, patience: Duration) -> Result<Place, LockError> {
    let full = |state: &mut State| state.open >= LOCKS_MAX;
    let wait = all.freed.wait_timeout_while(state(all), patience, full);
    let (mut state, _timed_out) = wait.unwrap_or_else(PoisonError::into_inner);
    if state.open >= LOCKS_MAX {
        return Err(LockError::Busy { waited: patience });
    }
    state.open = state.open.saturating_add(1);
    Ok(Place { all: Arc::clone(all), idle: state.idle.pop() })
}

/// Each change of it is one step, so what a thread left behind when it panicked is whole.
fn state(all: &All) -> MutexGuard<'_, State> {
    all.state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = state(&self.all);
        state.open = state.open.saturating_sub(1);
        state.idle.extend(self.idle.take());
        drop(state);
        self.all.freed.notify_one();
    }
}

impl Drop for Lock {
    /// Not waited for: whoever drops it may be driving tasks. The server has it free a moment later.
    fn drop(&mut self) {
        if let Some((client, place)) = self.client.take() {
            drop(self.driver.spawn(unlock(client, place)));
        }
    }
}

async fn unlock(client: Client, mut place: Place) {
    if client.batch_execute("SELECT pg_advisory_unlock_all()").await.is_ok() {
        place.idle = Some(client);
    }
}
