//! What a registry is called on this host, where it is, and what it is to a credential.
//!
//! INVARIANT: two registries under one name, one after the other, are two sources: an [`Identity`] has the digest of the
//! root that the operator said to trust.

use std::fmt;
use std::path::{Path, PathBuf};

use pinhole_manifest::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

/// Longest name of a registry, in characters.
const NAME_MAX: usize = 32;
/// Digits of the first root's digest in an identity.
const DIGITS: usize = 16;

/// What the operator calls a registry: `[a-z][a-z0-9-]{0,31}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryName(String);

/// A text is no name of a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is no name of a registry: write at most {NAME_MAX} of a-z, 0-9 and `-`, a letter first", shown = pinhole_manifest::visible::visible(.0))]
pub struct NotAName(String);

impl RegistryName {
    /// Takes a text that follows the grammar.
    pub fn parse(text: &str) -> Result<Self, NotAName> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let first = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        if first && text.len() <= NAME_MAX && text.bytes().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAName(text.chars().take(64).collect()))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RegistryName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RegistryName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// What a credential records of the registry that its manifest came from: `<name>.<16 hexadecimal digits>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(String);

impl Identity {
    pub(super) fn new(name: &RegistryName, pinned: &Digest) -> Self {
        let digits: String = pinned.hex().chars().take(DIGITS).collect();
        Self(format!("{name}.{digits}"))
    }

    /// The identity as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a registry is. `metadata` and `targets` are below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields, try_from = "Wire", into = "Wire")]
pub enum Location {
    /// On the web.
    Url(Url),
    /// In a folder of this machine.
    Folder(PathBuf),
}

/// A registry cannot be there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotALocation {
    /// It is no URL of a registry.
    #[error("`{shown}` is no place of a registry: write an https URL without user, query and fragment", shown = pinhole_manifest::visible::visible(.0))]
    Url(String),
    /// It is a path from no known place.
    #[error("`{}` is no place of a registry: write the whole path of its folder", .0.display())]
    Relative(PathBuf),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Wire {
    Url(String),
    Folder(PathBuf),
}

impl Location {
    /// A registry on the web; https alone.
    pub fn url(text: &str) -> Result<Self, NotALocation> {
        let refused = || NotALocation::Url(text.chars().take(200).collect());
        let url = Url::parse(text).map_err(|_not_a_url| refused())?;
        let plain = url.scheme() == "https"
            && url.host().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if plain { Ok(Self::Url(url)) } else { Err(refused()) }
    }

    /// A registry in a folder, by its whole path.
    pub fn folder(path: &Path) -> Result<Self, NotALocation> {
        if path.is_absolute() {
            Ok(Self::Folder(path.to_path_buf()))
        } else {
            Err(NotALocation::Relative(path.to_path_buf()))
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url.as_str()),
            Self::Folder(path) => {
                f.write_str(&pinhole_manifest::visible::visible(&path.display().to_string()))
            }
        }
    }
}

impl TryFrom<Wire> for Location {
    type Error = NotALocation;

    fn try_from(wire: Wire) -> Result<Self, NotALocation> {
        match wire {
            Wire::Url(text) => Self::url(&text),
            Wire::Folder(path) => Self::folder(&path),
        }
    }
}

impl From<Location> for Wire {
    fn from(location: Location) -> Self {
        match location {
            Location::Url(url) => Self::Url(url.into()),
            Location::Folder(path) => Self::Folder(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        assert!(RegistryName::parse("acme-2").is_ok());
        for name in ["", "-a", "2a", "A", "a.b", "a/b", "a\n", &"a".repeat(33)] {
            assert!(RegistryName::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_registry_is_on_https_or_in_a_whole_path() {
        assert!(Location::url("https://example.com/pinhole").is_ok());
        for url in
            ["http://example.com", "https://u:p@example.com", "https://e.com/?a", "https://e.com/#a", "x"]
        {
            assert!(Location::url(url).is_err(), "{url}");
        }
        assert!(Location::folder(Path::new("a/b")).is_err());
    }
}
