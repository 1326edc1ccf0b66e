//! One call of a module: a fresh store, a fresh instance, and what it does until it has a result or is ended.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::Utf8Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use wasmtime::{Error, Store, Trap};

use super::fault::{Fault, Limit};
use super::guest::{Event, State};
use super::program::Program;
use super::request::{GuestAnswer, GuestRequest};
use super::settings::SandboxSettings;
use super::{Inner, Sandbox};

/// The least that a call may hand over at once, in bytes, whatever its op's caps: its requests need it.
const BYTES_OUT_MIN: u64 = 1 << 20;

/// What a module is to compute.
#[derive(Debug)]
pub(crate) struct Job {
    /// The op.
    pub(crate) op: String,
    /// Its args, as the text of a JSON object.
    pub(crate) args: String,
    /// The time, in seconds since 1970.
    pub(crate) now: i64,
    /// How long it may take.
    pub(crate) time: Duration,
    /// Most bytes of its result.
    pub(crate) result_bytes: u64,
}

/// What a module does next.
#[derive(Debug)]
pub(crate) enum Step {
    /// It asks for these and waits for [`Run::answer`].
    Asks(Vec<GuestRequest>),
    /// It writes a line to the log: the level and the text.
    Says(&'static str, String),
    /// It is done: its result.
    Done(String),
}

/// A module at work. Dropping it ends it.
pub(crate) struct Run {
    guest: Pin<Box<dyn Future<Output = Result<String, Fault>> + Send>>,
    events: mpsc::Receiver<Event>,
    /// How it ended, while something that it did before has not been seen.
    done: Option<Result<String, Fault>>,
    reply: Option<oneshot::Sender<Vec<GuestAnswer>>>,
    deadline: Instant,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Run(..)")
    }
}

impl Sandbox {
    /// Starts a program on a job. It does nothing until it is asked for its next step.
    pub(crate) fn start(&self, program: &Program, job: Job) -> Run {
        let (send, events) = mpsc::channel(1);
        let deadline = Instant::now().checked_add(job.time).unwrap_or_else(Instant::now);
        let guest = Box::pin(call(Arc::clone(&self.inner), program.clone(), job, send));
        Run { guest, events, done: None, reply: None, deadline }
    }
}

impl Run {
    /// Lets it run to the next thing that it does.
    pub(crate) async fn next(&mut self) -> Result<Step, Fault> {
        if self.done.is_none() {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => return Ok(self.seen(event)),
                done = &mut self.guest => self.done = Some(done),
                () = tokio::time::sleep_until(self.deadline) => return Err(Fault::OutOfTime),
            }
        }
        // What it said last comes before its end.
        if let Ok(event) = self.events.try_recv() {
            return Ok(self.seen(event));
        }
        let again = || Err(Fault::Broken("it has ended before".to_owned()));
        self.done.take().unwrap_or_else(again).map(Step::Done)
    }

    fn seen(&mut self, event: Event) -> Step {
        match event {
            Event::Says(level, text) => Step::Says(level, text),
            Event::Asks(requests, reply) => {
                self.reply = Some(reply);
                Step::Asks(requests)
            }
        }
    }

    /// Gives it what its requests came to, in their order.
    pub(crate) fn answer(&mut self, answers: Vec<GuestAnswer>) -> Result<(), Fault> {
        let reply = self.reply.take().ok_or_else(|| Fault::Broken("nothing was asked".to_owned()))?;
        reply.send(answers).map_err(|_gone| Fault::Broken("nobody waits for the answer".to_owned()))
    }
}

/// The call itself.
async fn call(
    inner: Arc<Inner>,
    program: Program,
    job: Job,
    events: mpsc::Sender<Event>,
) -> Result<String, Fault> {
    let broken = |error: &dyn fmt::Display| Fault::Broken(error.to_string());
    let _place = Arc::clone(&inner.places).acquire_owned().await.map_err(|error| broken(&error))?;
    let running = inner.engine()?;
    let _beat = running.beat();
    let bytes_out = inner.settings.bytes_out.min(job.result_bytes.max(BYTES_OUT_MIN));
    let settings = SandboxSettings { bytes_out, ..inner.settings };
    let mut store = Store::new(running.engine(), State::new(settings, job.now, events));
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(settings.fuel).map_err(|error| broken(&error))?;
    store.set_hostcall_fuel(usize::try_from(bytes_out).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    let module = match program.pre().instantiate_async(&mut store).await {
        Ok(module) => module,
        // What does not fit into the pool is no trap.
        Err(error) if error.is::<Trap>() => return Err(fault(&error, store.into_data())),
        Err(error) => {
            let State { ended, limiter, .. } = store.into_data();
            tracing::debug!(%error, "a module is not instantiated");
            return Err(ended.or(limiter.refused).unwrap_or(Fault::Limit(Limit::Parts)));
        }
    };
    match module.call_run(&mut store, &job.op, &job.args).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(Fault::Failed(error.message)),
        Err(error) => Err(fault(&error, store.into_data())),
    }
}

/// Why a call ended.
fn fault(error: &Error, state: State) -> Fault {
    if let Some(fault) = state.ended.or(state.limiter.refused) {
        return fault;
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Fault::OutOfFuel,
        Some(Trap::Interrupt) => Fault::OutOfTime,
        Some(Trap::StackOverflow) => Fault::StackOverflow,
        None if error.is::<Utf8Error>() => Fault::NotText,
        // The engine has no type for it.
        None if error.root_cause().to_string().contains("fuel allocated for hostcalls") => {
            Fault::Limit(Limit::BytesOut(state.settings.bytes_out))
        }
        // Any other trap, or a value that its type does not have.
        Some(_) | None => Fault::Trapped(state.said),
    }
}
