//! The manifests that are part of the binary and their modules, a table that the build makes (`build.rs`).

/// A manifest of the binary.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BuiltIn {
    /// The service.
    pub id: &'static str,
    /// The manifest's exact bytes.
    pub manifest: &'static [u8],
    /// Their SHA-256 when the binary was built.
    pub sha256: [u8; 32],
    /// The files of its modules: the name that the manifest has for each, and the component.
    pub modules: &'static [(&'static str, &'static [u8])],
}

impl BuiltIn {
    /// The binary's manifest of a service.
    pub fn of(service: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|one| one.id == service)
    }
}

/// The manifests that are part of the binary, in order of their services.
pub const BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));
