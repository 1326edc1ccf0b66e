//! From bytes to a program: compiled, its imports known and tied to the host's functions.

use std::fmt;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use super::fault::{Fault, Misfit};
use super::guest::{Module, ModulePre, State};

/// What a component may import: all of it stands in `wit/`.
const IMPORTS: [&str; 3] = ["pinhole:op/http@1.0.0", "pinhole:op/log@1.0.0", "pinhole:op/clock@1.0.0"];
/// How a core module begins (WebAssembly core specification, 5.5.16).
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// A component that runs here, ready to be instantiated any number of times.
#[derive(Clone)]
pub(crate) struct Program(Arc<ModulePre<State>>);

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program(..)")
    }
}

impl Program {
    /// Compiles a component. Takes a while: not for a thread that serves other calls.
    pub(super) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, Fault> {
        if bytes.starts_with(CORE_MODULE) {
            return Err(Fault::Misfit(Misfit::CoreModule));
        }
        Component::from_binary(engine, bytes).map_err(|_invalid| Fault::Misfit(Misfit::Invalid))
    }

    /// Looks at what a component imports and ties it to the host's functions, whether it was compiled now or before.
    pub(super) fn link(engine: &Engine, component: &Component) -> Result<Self, Fault> {
        for (name, _) in component.component_type().imports(engine) {
            if !IMPORTS.contains(&name) {
                return Err(Fault::Misfit(Misfit::Import(name.to_owned())));
            }
        }
        let mut linker = Linker::new(engine);
        Module::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)
            .map_err(|error| Fault::Broken(error.to_string()))?;
        let other_world = |_other| Fault::Misfit(Misfit::OtherWorld);
        let pre = linker.instantiate_pre(component).map_err(other_world)?;
        ModulePre::new(pre).map(|pre| Self(Arc::new(pre))).map_err(other_world)
    }

    pub(super) fn pre(&self) -> &ModulePre<State> {
        &self.0
    }
}
