//! Files that are nobody's answer: what a registry signed, fetched from the address that the operator gave.
//!
//! No credential goes out with them, and nothing but a GET of a file below the base. INVARIANT: a download takes the same
//! guard, TLS, limits and refusals (redirects, addresses that are not public) as an exchange with a pinned host.
//! DESIGN, "Pinned client".

use http::StatusCode;
use pinhole_manifest::ApiHost;
use pinhole_manifest::host::{HostError, HttpsUrl, HttpsUrlError};
use tokio::time::Instant;

use super::assemble::assemble_download;
use super::client::{Allowance, DAY, PinnedClient, timed_out};
use super::error::{Stage, WireError, WireErrorKind};
use super::progress::Progress;
use super::{Sent, WireLimits};

/// Longest name of a file below a base, in bytes.
const FILE_MAX: usize = 1024;

/// Where files are downloaded from: a folder of a public host, by https.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadBase {
    host: ApiHost,
    /// From the first `/` to the last.
    folder: String,
}

/// Why a text is not where files can be downloaded from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DownloadBaseError {
    /// It is not such a URL.
    #[error(transparent)]
    Url(#[from] HttpsUrlError),
    /// Its host is not a public name.
    #[error(transparent)]
    Host(#[from] HostError),
    /// It has a query.
    #[error("it has a `?`: a registry is a folder of files")]
    Query,
}

/// Why a file was not downloaded.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The client refused or failed.
    #[error("{0}")]
    Wire(#[from] WireError),
    /// The host said something else than the file or that there is none.
    #[error("the host answered with status {}", .0.as_u16())]
    Status(StatusCode),
}

impl DownloadBase {
    /// Takes an https URL of a public host, without port, user, query or fragment. A `/` is added at the end if there is none.
    pub fn parse(text: &str) -> Result<Self, DownloadBaseError> {
        let url = HttpsUrl::parse(text)?;
        let after = url.as_str().strip_prefix("https://").unwrap_or_default();
        let (host, path) = after.split_once('/').unwrap_or((after, ""));
        if path.contains('?') {
            return Err(DownloadBaseError::Query);
        }
        let path = path.trim_end_matches('/');
        let folder = if path.is_empty() { "/".to_owned() } else { format!("/{path}/") };
        Ok(Self { host: ApiHost::parse(host)?, folder })
    }

    /// The host.
    pub fn host(&self) -> &ApiHost {
        &self.host
    }

    pub(super) fn target(&self, file: &str) -> String {
        format!("{}{file}", self.folder)
    }
}

/// Whether the status is that of a file, or says that there is none.
pub(super) fn is_there(status: StatusCode) -> Result<bool, DownloadError> {
    match status {
        StatusCode::OK => Ok(true),
        StatusCode::FORBIDDEN | StatusCode::NOT_FOUND | StatusCode::GONE => Ok(false),
        other => Err(DownloadError::Status(other)),
    }
}

impl PinnedClient {
    /// Downloads a file by its name below the base, already encoded as it stands in a URL: at most `limits.response_bytes`,
    /// decompressed. `None` where the host says that there is none (403, 404, 410).
    pub async fn download(
        &self,
        base: &DownloadBase,
        file: &str,
        limits: WireLimits,
    ) -> Result<Option<Vec<u8>>, DownloadError> {
        let progress = Progress::default();
        let now = Instant::now();
        let deadline = now.checked_add(limits.deadline).unwrap_or(now + DAY);
        let whole = self.whole_file(base, file, limits.response_bytes, deadline, &progress);
        match tokio::time::timeout_at(deadline, whole).await {
            Ok(done) => done,
            Err(_elapsed) => Err(timed_out(Stage::Total, &progress).into()),
        }
    }

    async fn whole_file(
        &self,
        base: &DownloadBase,
        file: &str,
        cap: u64,
        deadline: Instant,
        progress: &Progress,
    ) -> Result<Option<Vec<u8>>, DownloadError> {
        let unsendable = |detail: String| WireError::new(WireErrorKind::Unsendable, Sent::No, detail);
        if file.len() > FILE_MAX {
            return Err(unsendable("the name of the file is too long".to_owned()).into());
        }
        let request = assemble_download(&base.host, &base.target(file), progress.clone())
            .map_err(|fault| unsendable(fault.to_string()))?;
        let allowance = Allowance { cap, deadline, bodiless: false };
        let mut incoming = self.send(&base.host, request, allowance, progress).await?;
        if !is_there(incoming.status)? {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        while let Some(piece) = incoming.body.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(Some(bytes))
    }
}
