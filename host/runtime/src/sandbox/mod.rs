//! Op modules: Wasm components that compute an op out of what the service answers. The only user of `wasmtime`.
//!
//! Refuses every import but those of `pinhole:op` and a closed list of WASI. INVARIANT: a component reaches nothing but what
//! its caller answers it: no socket, file, environment or key is here. What it may take is counted, and whatever ends it ends one call and nothing
//! else. DESIGN, "Op modules".

mod cache;
mod engine;
mod fault;
mod guest;
mod imports;
mod inspect;
mod limiter;
mod outline;
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
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pinhole_manifest::Digest;
use tokio::sync::{OnceCell, Semaphore};

use cache::Cache;
pub use cache::{CacheContent, CacheError, look_at_cache};
use engine::Running;
pub use fault::{Cost, Misfit};
pub(crate) use fault::{Fault, Limit};
pub use inspect::{Import, Inspected, inspect};
pub(crate) use program::Program;
pub(crate) use request::{GuestAnswer, GuestFailure, GuestRequest, GuestResponse};
pub(crate) use run::{Job, Step};
pub use settings::SandboxSettings;

use crate::entropy::Entropy;

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
    cache: Option<Cache>,
    compiled: AtomicU64,
}

impl Default for Inner {
    fn default() -> Self {
        Self::new(SandboxSettings::default(), None)
    }
}

impl Inner {
    fn new(settings: SandboxSettings, cache: Option<Cache>) -> Self {
        let places = Arc::new(Semaphore::new(usize::from(settings.calls)));
        Self {
            settings,
            engine: OnceLock::new(),
            programs: Mutex::default(),
            places,
            cache,
            compiled: AtomicU64::new(0),
        }
    }

    /// The engine, made when it is first asked for. What kept it from being made is kept.
    fn engine(&self) -> Result<&Running, Fault> {
        let made = self.engine.get_or_init(|| Running::start(&self.settings));
        made.as_ref().map_err(|error| Fault::Broken(error.clone()))
    }

    /// The program of a component's bytes, whose digest this is: out of the cache, or compiled.
    fn program(&self, digest: Digest, bytes: &[u8]) -> Result<Program, Fault> {
        let engine = self.engine()?.engine();
        if let Some(component) = self.cache.as_ref().and_then(|cache| cache.find(engine, digest)) {
            return Program::link(engine, &component);
        }
        let component = Program::compile(engine, bytes)?;
        self.compiled.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(module = %digest, "a module is compiled");
        let program = Program::link(engine, &component)?;
        // What does not run here is not worth keeping.
        if let Some(cache) = &self.cache {
            cache.keep(engine, digest, &component);
        }
        Ok(program)
    }
}

impl Sandbox {
    /// A sandbox with such limits.
    pub fn new(settings: SandboxSettings) -> Self {
        Self { inner: Arc::new(Inner::new(settings, None)) }
    }

    /// The same limits and, from now on, a folder in which compiled modules are kept for other processes, up to the bytes
    /// that the settings name. The key that proves them is made beside it, out of `entropy`. A folder that cannot be used is
    /// none: what is wrong with it goes to the log, and modules are compiled.
    #[must_use]
    pub fn with_cache(self, folder: PathBuf, entropy: impl Entropy + 'static) -> Self {
        let settings = self.inner.settings;
        let keeps = settings.cache_bytes > 0;
        let cache = keeps.then(|| Cache::new(folder, settings.cache_bytes, Box::new(entropy)));
        Self { inner: Arc::new(Inner::new(settings, cache)) }
    }

    /// How many modules were compiled here so far; what came out of a cache was not.
    pub fn compiled(&self) -> u64 {
        self.inner.compiled.load(Ordering::Relaxed)
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
                inner.program(digest, &bytes)
            };
            let worked = tokio::task::spawn_blocking(work).await;
            worked.unwrap_or_else(|error| Err(Fault::Broken(error.to_string())))
        });
        compiled.await.cloned()
    }
}
