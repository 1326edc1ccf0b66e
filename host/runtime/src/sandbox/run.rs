//! One call of a module: a fresh store, a fresh instance, and what it does until it has a result or is ended.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::Utf8Error;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use wasmtime::component::ResourceTableError;
use wasmtime::{Error, Store, Trap};

use super::fault::{Fault, Limit};
use super::guest::{Event, State};
use super::program::Program;
use super::request::{GuestAnswer, GuestRequest};
use super::settings::SandboxSettings;
use super::{Inner, Sandbox};

/// The least that a call may hand over at once, in bytes, whatever its op's caps: its requests need it.
const BYTES_OUT_MIN: u64 = 1 << 20;
/// Most handles that the parts of a component hold at once.
const HANDLES_MAX: usize = 4096;

/// What a module is to compute.
#[derive(Debug)]
pub(crate) struct Job {
    /// The op.
    pub(crate) op: String,
    /// Its args, as the text of a JSON object.
    pub(crate) args: String,
    /// The time, in seconds since 1970.
    pub(crate) now: i64,
    /// Randomness, for a program that draws some.
    pub(crate) random: Option<StdRng>,
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
    events: mpsc::UnboundedReceiver<Event>,
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
        let (send, events) = mpsc::unbounded_channel();
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
    events: mpsc::UnboundedSender<Event>,
) -> Result<String, Fault> {
    let broken = |error: &dyn fmt::Display| Fault::Broken(error.to_string());
    let _place = Arc::clone(&inner.places).acquire_owned().await.map_err(|error| broken(&error))?;
    let running = inner.engine()?;
    let _beat = running.beat();
    let bytes_out = inner.settings.bytes_out.min(job.result_bytes.max(BYTES_OUT_MIN));
    let settings = SandboxSettings { bytes_out, ..inner.settings };
    let mut store = Store::new(running.engine(), State::new(settings, job.now, job.random, events));
    store.set_max_component_handles(HANDLES_MAX);
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(settings.fuel).map_err(|error| broken(&error))?;
    store.set_hostcall_fuel(usize::try_from(bytes_out).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    let module = match program.pre().instantiate_async(&mut store).await {
        Ok(module) => module,
        // What does not fit into the pool is no trap.
        Err(error) => {
            tracing::debug!(%error, "a module is not instantiated");
            return Err(fault(&error, &store.into_data()).unwrap_or(Fault::Limit(Limit::Parts)));
        }
    };
    let done = module.call_run(&mut store, &job.op, &job.args).await;
    let state = store.into_data();
    let done = done.and_then(|done| state.said.end().map(|()| done));
    match done {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(Fault::Failed(error.message)),
        // What is no trap is a value that its type does not have.
        Err(error) => Err(fault(&error, &state).unwrap_or_else(|| trapped(&state))),
    }
}

/// Why a call ended, as far as it is the engine or a limit that says so.
fn fault(error: &Error, state: &State) -> Option<Fault> {
    let limit = state.said.ended().or(state.wasi.ended).map(Fault::Limit);
    if let Some(fault) = state.ended.clone().or(limit).or_else(|| state.limiter.refused.clone()) {
        return Some(fault);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Some(Fault::OutOfFuel),
        Some(Trap::Interrupt) => Some(Fault::OutOfTime),
        Some(Trap::StackOverflow) => Some(Fault::StackOverflow),
        Some(_) => Some(trapped(state)),
        None if error.is::<Utf8Error>() => Some(Fault::NotText),
        None if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) => {
            Some(Fault::Limit(Limit::Handles))
        }
        // The engine has no types for these.
        None => {
            let text = error.root_cause().to_string();
            if text.contains("fuel allocated for hostcalls") {
                Some(Fault::Limit(Limit::BytesOut(state.settings.bytes_out)))
            } else if text.contains("handle limit exceeded") {
                Some(Fault::Limit(Limit::Handles))
            } else {
                None
            }
        }
    }
}

fn trapped(state: &State) -> Fault {
    // A line that would be one too many is not shown in the log; what was said last is.
    drop(state.said.end());
    Fault::Trapped(state.said.last())
}
