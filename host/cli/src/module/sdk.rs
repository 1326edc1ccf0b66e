//! What the binary carries for developers of modules: the contract, and per language a library and the files of a new
//! module. The same files stand in `guest-sdk/`.

use super::args::Language;

/// The contract between host and module.
pub(super) const WIT: &str = include_str!("../../../../wit/pinhole-op.wit");
/// The `README.md` of a new module.
pub(super) const NEW_README: &str = include_str!("new.md");

/// Names of files in a folder, each with its text.
pub(super) type Files = &'static [(&'static str, &'static str)];

/// What a new module is made of.
pub(super) struct Kit {
    /// The files that are filled in.
    pub(super) template: Files,
    /// The library, and the folder that it has in a module's.
    pub(super) library: Files,
    pub(super) library_folder: &'static str,
}

pub(super) const JAVASCRIPT: Files = &[];
pub(super) const PYTHON: Files = &[];
const RUST: Files = &[];

/// What a new module of a language is made of.
pub(super) fn kit(language: Language) -> Kit {
    match language {
        Language::Rust => Kit { template: &[], library: RUST, library_folder: "pinhole-guest" },
        Language::JavaScript => Kit { template: &[], library: JAVASCRIPT, library_folder: "pinhole-guest" },
        Language::Python => Kit { template: &[], library: PYTHON, library_folder: "pinhole_guest" },
    }
}
