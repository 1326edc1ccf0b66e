//! What a component may import, and how it is tied to the host's functions: the contract of `wit/`, and of WASI a short list.
//!
//! Refuses all else, and names all of it. INVARIANT: nothing is linked that does not stand on the closed list, and nothing
//! of WASI that the component does not import.

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use super::fault::Misfit;
use super::guest::{Module, ModulePre, State};
use super::wasi::Interface;

/// All of `wit/pinhole-op.wit`.
const CONTRACT: [&str; 3] = ["pinhole:op/http@1.0.0", "pinhole:op/log@1.0.0", "pinhole:op/clock@1.0.0"];

/// Whether a component is given this.
pub(super) fn is_given(name: &str) -> bool {
    CONTRACT.contains(&name) || Interface::find(name).is_some()
}

/// A component tied to what it imports.
pub(super) struct Tied {
    pub(super) pre: ModulePre<State>,
    /// Whether it draws randomness.
    pub(super) draws: bool,
}

/// Ties a component to what it imports.
pub(super) fn tie(engine: &Engine, component: &Component) -> Result<Tied, Misfit> {
    let ty = component.component_type();
    let names: Vec<&str> = ty.imports(engine).map(|(name, _)| name).collect();
    let not_given: Vec<String> =
        names.iter().filter(|name| !is_given(name)).map(|name| (*name).to_owned()).collect();
    if !not_given.is_empty() {
        return Err(Misfit::Imports(not_given));
    }
    let wasi: Vec<Interface> = names.into_iter().filter_map(Interface::find).collect();
    let mut linker = Linker::new(engine);
    let mut added = Module::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state);
    for interface in &wasi {
        added = added.and_then(|()| interface.link(&mut linker));
    }
    let pre = added.and_then(|()| linker.instantiate_pre(component)).and_then(ModulePre::new);
    let pre = pre.map_err(|_other| Misfit::OtherWorld)?;
    Ok(Tied { pre, draws: wasi.iter().any(|interface| interface.draws) })
}
