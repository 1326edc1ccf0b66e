//! What some bytes are, without running or compiling them: what a component imports and exports, and whether it would load.
//!
//! Refuses what is no component. INVARIANT: it says of a component what loading it in a sandbox with default settings would.

use wasmtime::component::Component;
use wasmtime::{Config, Engine};

use super::fault::Misfit;
use super::settings::SandboxSettings;
use super::skeleton::skeleton;
use super::{engine, imports};

#[cfg(test)]
mod tests;

/// What a component has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspected {
    /// What it imports, in its order.
    pub imports: Vec<Import>,
    /// The names that it exports, in its order.
    pub exports: Vec<String>,
    /// Its size in bytes.
    pub bytes: usize,
    /// Why it would not load, if it would not.
    pub misfit: Option<Misfit>,
}

/// An import of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Import {
    /// The interface, with its version.
    pub name: String,
    /// Whether a module is given it.
    pub given: bool,
}

impl Inspected {
    /// The component's fitness: an error where it would not load.
    pub fn fits(&self) -> Result<(), Misfit> {
        self.misfit.clone().map_or(Ok(()), Err)
    }
}

/// Looks at the bytes of what may be a component. Takes about as long as to check each of its instructions, and makes an
/// engine for it.
///
/// # Errors
///
/// What is no component, or none that can be looked into. One that would not load for another reason is described, with
/// the reason.
pub fn inspect(bytes: &[u8]) -> Result<Inspected, Misfit> {
    let pooled = engine::idle(&SandboxSettings::default()).map_err(|error| unseen(&error))?;
    let bones = skeleton(&pooled, bytes)?;
    let describe = |engine: &Engine, component: &Component, misfit: Option<Misfit>| {
        let ty = component.component_type();
        let import = |name: &str| Import { name: name.to_owned(), given: imports::is_given(name) };
        Inspected {
            imports: ty.imports(engine).map(|(name, _)| import(name)).collect(),
            exports: ty.exports(engine).map(|(name, _)| name.to_owned()).collect(),
            bytes: bytes.len(),
            misfit: imports::tie(engine, component).err().or(misfit),
        }
    };
    if let Ok(component) = Component::from_binary(&pooled, &bones) {
        return Ok(describe(&pooled, &component, None));
    }
    let plain = plain()?;
    let component = Component::from_binary(&plain, &bones).map_err(|_invalid| Misfit::Invalid)?;
    Ok(describe(&plain, &component, Some(Misfit::Parts)))
}

/// Why a component is none for an engine with a pool, which says of all that it refuses the same.
pub(super) fn unfit(bytes: &[u8]) -> Misfit {
    match plain().and_then(|plain| Ok(Component::from_binary(&plain, &skeleton(&plain, bytes)?).is_ok())) {
        Ok(true) => Misfit::Parts,
        Ok(false) => Misfit::Invalid,
        Err(misfit) => misfit,
    }
}

/// An engine without a pool: it takes what is valid.
fn plain() -> Result<Engine, Misfit> {
    Engine::new(&Config::new()).map_err(|error| unseen(&error))
}

fn unseen(error: &wasmtime::Error) -> Misfit {
    Misfit::Unseen(error.root_cause().to_string())
}
