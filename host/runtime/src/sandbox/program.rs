//! From bytes to a program: compiled, and tied to the host's functions.

use std::fmt;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::fault::Fault;
use super::guest::{ModulePre, State};
use super::imports::{self, Tied};
use super::{inspect, outline};

/// A component that runs here, ready to be instantiated any number of times.
#[derive(Clone)]
pub(crate) struct Program(Arc<Tied>);

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program(..)")
    }
}

impl Program {
    /// Compiles a component. Takes a while: not for a thread that serves other calls.
    pub(super) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, Fault> {
        outline::outline(bytes).map_err(Fault::Misfit)?;
        let misfit = |_error| Fault::Misfit(inspect::unfit(bytes));
        Component::from_binary(engine, bytes).map_err(misfit)
    }

    /// Looks at what a component imports and ties it to the host's functions, whether it was compiled now or before.
    pub(super) fn link(engine: &Engine, component: &Component) -> Result<Self, Fault> {
        let tied = imports::tie(engine, component).map_err(Fault::Misfit)?;
        Ok(Self(Arc::new(tied)))
    }

    /// Whether it draws randomness, which its [`super::Job`] is then to bring.
    pub(crate) fn draws(&self) -> bool {
        self.0.draws
    }

    pub(super) fn pre(&self) -> &ModulePre<State> {
        &self.0.pre
    }
}
