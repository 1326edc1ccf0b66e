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

/// The files of a folder of `guest-sdk/`. A test holds each list to its folder.
macro_rules! files {
    ($folder:literal: $($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../../../guest-sdk/", $folder, "/", $name)))),*]
    };
}

const RUST: Files = files! {
    "rust":
    "Cargo.toml", "README.md", "src/error.rs", "src/export.rs", "src/host.rs", "src/lib.rs", "src/log.rs",
    "src/pages.rs", "src/pages/tests.rs", "src/path.rs", "src/recorded/case.rs", "src/recorded/mod.rs",
    "src/recorded/tests.rs", "src/request.rs", "src/response.rs", "src/response/tests.rs", "src/time.rs",
    "src/wasm.rs", "wit/pinhole-op.wit"
};
pub(super) const JAVASCRIPT: Files = files! {
    "js/pinhole-guest":
    "errors.js", "host.js", "index.d.ts", "index.js", "json.js", "module.d.ts", "module.js", "package.json",
    "pages.js", "pinhole-op.d.ts", "request.js", "response.js", "runner.js", "testing.d.ts", "testing.js",
    "text.js"
};
pub(super) const PYTHON: Files = files! {
    "python/pinhole_guest":
    "__init__.py", "errors.py", "host.py", "pages.py", "request.py", "runner.py", "sandbox.py",
    "testing.py", "text.py"
};
const RUST_TEMPLATE: Files = files! {
    "rust/template":
    "Cargo.toml", "src/lib.graphql.rs", "src/lib.rs"
};
const JAVASCRIPT_TEMPLATE: Files = files! {
    "js/template":
    "@OP@.graphql.js", "@OP@.js", "@OP@.test.js", "main.js", "package.json"
};
const PYTHON_TEMPLATE: Files = files! {
    "python/template":
    "@OP@.graphql.py", "@OP@.py", "test_@OP@.py"
};

/// What a new module of a language is made of.
pub(super) fn kit(language: Language) -> Kit {
    let (template, library, library_folder) = match language {
        Language::Rust => (RUST_TEMPLATE, RUST, "pinhole-guest"),
        Language::JavaScript => (JAVASCRIPT_TEMPLATE, JAVASCRIPT, "pinhole-guest"),
        Language::Python => (PYTHON_TEMPLATE, PYTHON, "pinhole_guest"),
    };
    Kit { template, library, library_folder }
}
