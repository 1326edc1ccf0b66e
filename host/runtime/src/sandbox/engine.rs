//! The engine: what every module of a sandbox runs on, and the tick by which none of them runs without end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::settings::SandboxSettings;

/// How often a running module is stopped to see whether its time is over, and to let others run.
const TICK: Duration = Duration::from_millis(10);
/// Most core instances of the parts of one component: a compiled language has three or four, `QuickJS` 13, Python with its
/// libraries 38. They cost no address space.
const INSTANCES_MAX: u32 = 64;
/// Most memories, and most tables, of the parts of one component: an interpreter has up to three. For 16 calls at once each memory
/// takes 68 GB of address space, and nothing else.
const MEMORIES_MAX: u32 = 8;
/// Deepest stack of a module, in bytes.
const WASM_STACK: usize = 512 << 10;
/// The stack of a call, in bytes, with room for the host's functions on top of the module's.
const CALL_STACK: usize = 1 << 20;
/// What stays resident of a stack and of a table between two calls, in bytes.
const KEPT: usize = 64 << 10;

/// An engine that nothing runs on, which takes and refuses what one with such settings does.
pub(super) fn idle(settings: &SandboxSettings) -> Result<Engine, wasmtime::Error> {
    Engine::new(&config(&SandboxSettings { calls: 1, ..*settings }))
}

/// An engine and its tick.
#[derive(Debug)]
pub(super) struct Running {
    engine: Engine,
    pulse: Arc<Pulse>,
}

impl Running {
    pub(super) fn start(settings: &SandboxSettings) -> Result<Self, String> {
        let engine = Engine::new(&config(settings)).map_err(|error| format!("{error:#}"))?;
        let pulse = Arc::new(Pulse::default());
        let (ticked, beat) = (engine.clone(), Arc::clone(&pulse));
        let thread = std::thread::Builder::new().name("pinhole-tick".to_owned());
        let tick = move || {
            while beat.is_wanted() {
                std::thread::sleep(TICK);
                ticked.increment_epoch();
            }
        };
        thread.spawn(tick).map_err(|error| error.to_string())?;
        Ok(Self { engine, pulse })
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Keeps the tick going while a call runs.
    pub(super) fn beat(&self) -> Beat {
        self.pulse.state().calls += 1;
        self.pulse.changed.notify_one();
        Beat(Arc::clone(&self.pulse))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.pulse.state().over = true;
        self.pulse.changed.notify_one();
    }
}

/// Who needs the tick.
#[derive(Debug, Default)]
struct Pulse {
    state: Mutex<PulseState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PulseState {
    calls: usize,
    over: bool,
}

impl Pulse {
    fn state(&self) -> MutexGuard<'_, PulseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a call runs; false when none will any more.
    fn is_wanted(&self) -> bool {
        let idle = |state: &mut PulseState| state.calls == 0 && !state.over;
        let state = self.changed.wait_while(self.state(), idle).unwrap_or_else(PoisonError::into_inner);
        !state.over
    }
}

/// A running call.
#[derive(Debug)]
pub(super) struct Beat(Arc<Pulse>);

impl Drop for Beat {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.calls = state.calls.saturating_sub(1);
    }
}

fn config(settings: &SandboxSettings) -> Config {
    let calls = u32::from(settings.calls);
    let of_all = |of_one: u32| calls.saturating_mul(of_one);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(of_all(INSTANCES_MAX))
        .total_memories(of_all(MEMORIES_MAX))
        .total_tables(of_all(MEMORIES_MAX))
        .total_stacks(calls)
        .max_core_instances_per_component(INSTANCES_MAX)
        .max_memories_per_component(MEMORIES_MAX)
        .max_tables_per_component(MEMORIES_MAX)
        // How much memory a call has is counted over all its memories, elsewhere.
        .table_elements(settings.table_elements)
        // What these do was measured: without them two threads are slower than one.
        .decommit_batch_size(32)
        .async_stack_keep_resident(KEPT)
        .table_keep_resident(KEPT);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .memory_init_cow(true)
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(CALL_STACK)
        // Where in it a module trapped is nobody's business but its author's.
        .wasm_backtrace_max_frames(None);
    config
}
