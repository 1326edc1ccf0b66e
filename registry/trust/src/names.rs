//! The flat names of what a registry holds: `github.json` is the manifest of GitHub, `github.stale_issues.wasm` the file
//! `modules/stale_issues.wasm` of that manifest.
//!
//! Refuses every other name, so that none leads out of a folder. Flat because clients of the field do not agree on where a
//! consistent snapshot puts a name with a slash. INVARIANT: a name and what it is the name of are the same thing twice.

use std::fmt;

use pinhole_manifest::ServiceId;

/// Longest name of a module, without folder and ending, in bytes: the manifest's rule.
const MODULE_NAME_MAX: usize = 64;

/// What a target of the registry is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// The manifest of a service.
    Manifest(ServiceId),
    /// A file that the service's manifest has for a module.
    Module(ServiceId, ModuleName),
}

/// The name of a module's file, without its folder and ending.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleName(String);

/// A name is none that a registry of manifests has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is neither `<service>.json` nor `<service>.<module>.wasm`")]
pub struct NotHeld;

impl ModuleName {
    /// Takes the file as a manifest has it: `modules/<name>.wasm`.
    pub fn of_file(file: &str) -> Result<Self, NotHeld> {
        let name = file.strip_prefix("modules/").and_then(|rest| rest.strip_suffix(".wasm"));
        Self::parse(name.ok_or(NotHeld)?)
    }

    fn parse(name: &str) -> Result<Self, NotHeld> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        let good = (1..=MODULE_NAME_MAX).contains(&name.len()) && name.bytes().all(plain);
        if good { Ok(Self(name.to_owned())) } else { Err(NotHeld) }
    }

    /// The file as a manifest has it.
    pub fn file(&self) -> String {
        format!("modules/{}.wasm", self.0)
    }
}

impl Held {
    /// Reads the name of a target.
    pub fn parse(name: &str) -> Result<Self, NotHeld> {
        let (service, rest) = name.split_once('.').ok_or(NotHeld)?;
        let service = ServiceId::parse(service).map_err(|_not_an_id| NotHeld)?;
        match rest.strip_suffix(".wasm") {
            None if rest == "json" => Ok(Self::Manifest(service)),
            None => Err(NotHeld),
            Some(module) => Ok(Self::Module(service, ModuleName::parse(module)?)),
        }
    }

    /// The service that it belongs to.
    pub fn service(&self) -> &ServiceId {
        match self {
            Self::Manifest(service) | Self::Module(service, _) => service,
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(service) => write!(f, "{service}.json"),
            Self::Module(service, module) => write!(f, "{service}.{}.wasm", module.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_as_it_was() {
        for name in ["github.json", "github.stale_issues.wasm", "s3x.a-b_c.wasm"] {
            assert_eq!(Held::parse(name).unwrap().to_string(), name);
        }
        let module = ModuleName::of_file("modules/stale_issues.wasm").unwrap();
        assert_eq!(module.file(), "modules/stale_issues.wasm");
    }

    #[test]
    fn every_other_name_is_refused() {
        for name in [
            "",
            "github",
            ".json",
            "GitHub.json",
            "github.json.json",
            "../github.json",
            "a/github.json",
            "github.a/b.wasm",
            "github...wasm",
            "github..wasm",
            "github.A.wasm",
            "github.wasm",
            "github.json\n",
            "github.%2e%2e.wasm",
        ] {
            assert_eq!(Held::parse(name), Err(NotHeld), "{name}");
        }
        assert!(Held::parse(&format!("github.{}.wasm", "a".repeat(64))).is_ok());
        assert!(Held::parse(&format!("github.{}.wasm", "a".repeat(65))).is_err());
        assert!(ModuleName::of_file("stale_issues.wasm").is_err());
    }
}
