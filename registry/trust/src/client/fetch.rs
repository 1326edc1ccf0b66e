//! How a file of a registry is got: by a checked path, at most so many bytes. Whoever has the sockets implements [`Fetch`].
//!
//! Refuses a path that could lead out of the registry. INVARIANT: no segment of a [`RemotePath`] is empty, `.` or `..`, and
//! none has a slash, a backslash or a control character.

use std::error::Error;
use std::fmt;
use std::pin::Pin;

use url::Url;

/// Longest name of a file in a registry, in bytes.
const NAME_MAX: usize = 1024;

/// Which of the two folders of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// What says what is to be trusted.
    Metadata,
    /// The manifests and modules.
    Targets,
}

impl Area {
    /// The folder's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Targets => "targets",
        }
    }
}

/// The place of a file in a registry, relative to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemotePath {
    area: Area,
    name: String,
}

/// A name is none of a file in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is no name of a file in a registry", shown = pinhole_manifest::visible::visible(.0))]
pub struct NotAPath(String);

impl NotAPath {
    pub(super) fn clipped(name: &str) -> Self {
        Self(name.chars().take(64).collect())
    }
}

impl RemotePath {
    /// A file of that folder; the name may have slashes.
    pub fn new(area: Area, name: &str) -> Result<Self, NotAPath> {
        let plain = |segment: &str| {
            !matches!(segment, "" | "." | "..") && !segment.contains(|c: char| c == '\\' || c.is_control())
        };
        if name.len() <= NAME_MAX && name.split('/').all(plain) {
            Ok(Self { area, name: name.to_owned() })
        } else {
            Err(NotAPath::clipped(name))
        }
    }

    /// The folder that it is in.
    pub fn area(&self) -> Area {
        self.area
    }

    /// The segments of its name; no URL encoding is done.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.name.split('/')
    }

    /// Where it is below the URL of its folder (with or without a slash at the end); each segment is percent-encoded.
    /// `None` for a URL that has no path to go below.
    pub fn below(&self, folder: &Url) -> Option<Url> {
        let mut url = folder.clone();
        url.path_segments_mut().ok()?.pop_if_empty().extend(self.segments());
        Some(url)
    }

    /// Where it is below the URL of the registry, in which `metadata` and `targets` are.
    pub fn below_registry(&self, registry: &Url) -> Option<Url> {
        let mut url = registry.clone();
        url.path_segments_mut().ok()?.pop_if_empty().push(self.area.as_str());
        self.below(&url)
    }
}

impl fmt::Display for RemotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.area.as_str(), pinhole_manifest::visible::visible(&self.name))
    }
}

/// Why there are no bytes.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The registry says that it has no such file.
    #[error("the registry has no such file")]
    Absent,
    /// It has more bytes than were asked for.
    #[error("the file has more bytes than it may have")]
    TooLarge,
    /// It could not be asked, or has failed to answer.
    #[error("the registry could not be asked")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

/// What comes of fetching.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, FetchError>> + Send + 'a>>;

/// Gets files of one registry.
pub trait Fetch: Send + Sync {
    /// The whole file, where it has at most so many bytes. Must stop reading as soon as there are more, and must end:
    /// nobody here waits with a clock.
    fn fetch<'a>(&'a self, path: &'a RemotePath, at_most: u64) -> Fetching<'a>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_is_none() {
        for name in ["", "/", "a/", "/a", "a//b", "..", "a/../b", ".", "a\\b", "a\nb", "a\0b"] {
            assert!(RemotePath::new(Area::Targets, name).is_err(), "{name:?}");
        }
        assert!(RemotePath::new(Area::Targets, &"a".repeat(1024)).is_ok());
        assert!(RemotePath::new(Area::Targets, &"a".repeat(1025)).is_err());
    }

    #[test]
    fn a_segment_of_a_path_stays_one_in_a_url() {
        let path = RemotePath::new(Area::Targets, "a b/%2e%2e?x#y").unwrap();
        let url = Url::parse("https://example.com/r/").unwrap();
        assert_eq!(path.below(&url).unwrap().as_str(), "https://example.com/r/a%20b/%252e%252e%3Fx%23y");
        let whole = "https://example.com/r/targets/a%20b/%252e%252e%3Fx%23y";
        assert_eq!(path.below_registry(&url).unwrap().as_str(), whole);
        assert!(path.below(&Url::parse("data:x").unwrap()).is_none());
    }
}
