//! Op modules: Wasm components that compute an op out of what the service answers. The only user of `wasmtime`.
//!
//! Refuses every import but those of `pinhole:op` and a closed list of WASI. INVARIANT: a component reaches nothing but what
//! its caller answers it: no socket, file, environment or key is here. What it may take is counted, and whatever ends it ends one call and nothing
//! else. DESIGN, "Op modules".

mod engine;
mod fault;
mod guest;
mod imports;
mod inspect;
mod limiter;
mod program;
mod request;
mod run;
mod said;
mod settings;
mod skeleton;
#[cfg(test)]
mod tests;
mod wasi;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pinhole_manifest::Digest;
use tokio::sync::{OnceCell, Semaphore};

use engine::Running;
pub use fault::Misfit;
pub(crate) use fault::{Fault, Limit};
pub use inspect::{Import, Inspected, inspect};
pub(crate) use program::Program;
pub(crate) use request::{GuestAnswer, GuestFailure, GuestRequest, GuestResponse};
pub(crate) use run::{Job, Step};
pub use settings::SandboxSettings;

/// Where modules run. Made with an executor and nearly nothing until the first module is called: only then is there an
/// engine. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: SandboxSettings,
    engine: OnceLock<Result<Running, String>>,
    programs: Mutex<HashMap<Digest, Arc<OnceCell<Program>>>>,
    places: Arc<Semaphore>,
}

impl Default for Inner {
    fn default() -> Self {
        Self::new(SandboxSettings::default())
    }
}

impl Inner {
    fn new(settings: SandboxSettings) -> Self {
        let places = Arc::new(Semaphore::new(usize::from(settings.calls)));
        Self { settings, engine: OnceLock::new(), programs: Mutex::default(), places }
    }

    /// The engine, made when it is first asked for. What kept it from being made is kept.
    fn engine(&self) -> Result<&Running, Fault> {
        let made = self.engine.get_or_init(|| Running::start(&self.settings));
        made.as_ref().map_err(|error| Fault::Broken(error.clone()))
    }
}

impl Sandbox {
    /// A sandbox with such limits.
    pub fn new(settings: SandboxSettings) -> Self {
        Self { inner: Arc::new(Inner::new(settings)) }
    }

    /// Its limits.
    pub(crate) fn settings(&self) -> &SandboxSettings {
        &self.inner.settings
    }

    /// The program of a component's bytes, which are asked for and compiled once in the life of this sandbox. Bytes of
    /// another digest are no program.
    pub(crate) async fn program<L, E>(&self, digest: Digest, load: L) -> Result<Program, Fault>
    where
        L: FnOnce() -> Result<Vec<u8>, E> + Send + 'static,
        E: ToString,
    {
        let cell = {
            let mut programs = self.inner.programs.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(programs.entry(digest).or_default())
        };
        let compiled = cell.get_or_try_init(|| async {
            let inner = Arc::clone(&self.inner);
            let work = move || {
                let bytes = load().map_err(|error| Fault::Unreadable(error.to_string()))?;
                if Digest::of(&bytes) != digest {
                    return Err(Fault::OtherDigest);
                }
                Program::compile(inner.engine()?.engine(), &bytes)
            };
            let worked = tokio::task::spawn_blocking(work).await;
            worked.unwrap_or_else(|error| Err(Fault::Broken(error.to_string())))
        });
        compiled.await.cloned()
    }
}
