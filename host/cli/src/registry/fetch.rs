//! A registry's files by way of the guarded client, or out of a folder.

use std::time::Duration;

use pinhole_registry::client::{Fetch, FetchError, Fetching, FolderFetch, Location, RemotePath};
use pinhole_runtime::net::{DownloadBase, DownloadError, PinnedClient, WireErrorKind, WireLimits};

use super::failure;
use crate::end::End;

/// Longest time that a sync of one registry may take; others wait for it meanwhile.
pub(super) const SYNC_TIME: Duration = Duration::from_mins(5);
/// Longest time that one file may take.
const FILE_TIME: Duration = Duration::from_mins(1);

/// A registry on the web.
pub(super) struct WebFetch<'a> {
    client: &'a PinnedClient,
    base: DownloadBase,
}

impl Fetch for WebFetch<'_> {
    fn fetch<'a>(&'a self, path: &'a RemotePath, at_most: u64) -> Fetching<'a> {
        Box::pin(async move {
            let limits = WireLimits { response_bytes: at_most, deadline: FILE_TIME };
            let file = below(path);
            fetched(self.client.download(&self.base, &file, limits).await)
        })
    }
}

/// What came of a download, as what came of fetching.
pub(super) fn fetched(download: Result<Option<Vec<u8>>, DownloadError>) -> Result<Vec<u8>, FetchError> {
    match download {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(FetchError::Absent),
        Err(DownloadError::Wire(error)) if error.kind == WireErrorKind::ResponseTooLarge => {
            Err(FetchError::TooLarge)
        }
        Err(error) => Err(FetchError::Failed(Box::new(error))),
    }
}

/// The file below the registry's address, each segment as it stands in a URL.
fn below(path: &RemotePath) -> String {
    let place = url::Url::parse("https://registry.invalid/").ok().and_then(|url| path.below_registry(&url));
    place.map(|url| url.path().trim_start_matches('/').to_owned()).unwrap_or_default()
}

/// What gets the files of a registry.
pub(super) fn of<'a>(location: &Location, client: &'a PinnedClient) -> anyhow::Result<Box<dyn Fetch + 'a>> {
    match location {
        Location::Folder(folder) => Ok(Box::new(FolderFetch::new(folder))),
        Location::Url(url) => Ok(Box::new(WebFetch { client, base: base(url.as_str())? })),
    }
}

/// The address of a registry, as one that the client dials.
pub(super) fn base(url: &str) -> anyhow::Result<DownloadBase> {
    DownloadBase::parse(url).map_err(|error| {
        failure(End::Usage, &error, "a registry is a folder of a public host, on https and port 443")
    })
}
