//! What a component may import, and how it is tied to the host's functions: the contract of `wit/`.
//!
//! Refuses all else, and names all of it. INVARIANT: nothing is linked that does not stand on the closed list.

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use super::fault::Misfit;
use super::guest::{Module, ModulePre, State};

/// All of `wit/pinhole-op.wit`.
const CONTRACT: [&str; 3] = ["pinhole:op/http@1.0.0", "pinhole:op/log@1.0.0", "pinhole:op/clock@1.0.0"];

/// Whether a component is given this.
pub(super) fn is_given(name: &str) -> bool {
    CONTRACT.contains(&name)
}

/// Ties a component to what it imports.
pub(super) fn tie(engine: &Engine, component: &Component) -> Result<ModulePre<State>, Misfit> {
    let ty = component.component_type();
    let names = ty.imports(engine).map(|(name, _)| name);
    let not_given: Vec<String> = names.filter(|name| !is_given(name)).map(str::to_owned).collect();
    if !not_given.is_empty() {
        return Err(Misfit::Imports(not_given));
    }
    let mut linker = Linker::new(engine);
    let added = Module::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state);
    let pre = added.and_then(|()| linker.instantiate_pre(component)).and_then(ModulePre::new);
    pre.map_err(|_other| Misfit::OtherWorld)
}
