//! `pinhole registry client`: the bare TUF client, as harnesses for clients drive it.

use pinhole_registry::client::{self, Area, BareError, Fetch, FetchError, Fetching, RemotePath};
use pinhole_runtime::net::LoopbackFiles;
use url::Url;

use super::args::{ClientCommand, ClientFlags};
use super::{failure, fetch, now};
use crate::end::{End, Failure};
use crate::{files, out};

/// A repository on loopback, its two folders at any address there.
struct LoopbackFetch {
    files: LoopbackFiles,
    metadata: Url,
    targets: Option<Url>,
}

impl Fetch for LoopbackFetch {
    fn fetch<'a>(&'a self, path: &'a RemotePath, at_most: u64) -> Fetching<'a> {
        Box::pin(async move {
            let base = match path.area() {
                Area::Metadata => Some(&self.metadata),
                Area::Targets => self.targets.as_ref(),
            };
            let Some(url) = base.and_then(|base| path.below(base)) else { return Err(FetchError::Absent) };
            fetch::fetched(self.files.get(&url, at_most).await)
        })
    }
}

pub(super) async fn main(flags: ClientFlags) -> anyhow::Result<End> {
    if let ClientCommand::Init { root } = &flags.command {
        let root = files::read(root)?;
        client::init(&flags.metadata_dir, &root).map_err(|error| refused(&error))?;
        return Ok(End::Done);
    }
    let fetch = LoopbackFetch {
        files: LoopbackFiles::new()?,
        metadata: url(flags.metadata_url.as_deref(), "--metadata-url")?,
        targets: flags
            .target_base_url
            .as_deref()
            .map(|text| url(Some(text), "--target-base-url"))
            .transpose()?,
    };
    if let ClientCommand::Refresh = flags.command {
        client::refresh(&flags.metadata_dir, &fetch, now()?).await.map_err(|error| refused(&error))?;
        return Ok(End::Done);
    }
    let (Some(folder), Some(name)) = (&flags.target_dir, &flags.target_name) else {
        let hint = "pass `--target-dir`, `--target-name` and `--target-base-url`";
        return Err(Failure::new(End::Usage, "it is not said what is downloaded, or where to", hint).into());
    };
    let file = client::download(&flags.metadata_dir, &fetch, now()?, folder, name).await;
    out::line(file.map_err(|error| refused(&error))?.display());
    Ok(End::Done)
}

fn url(text: Option<&str>, flag: &str) -> anyhow::Result<Url> {
    text.and_then(|text| Url::parse(text).ok()).ok_or_else(|| {
        let message = format!("`{flag}` is missing, or is no URL");
        Failure::new(End::Usage, message, "pass an http URL of this machine's own loopback address").into()
    })
}

/// A harness asks for 1 where an update is refused.
fn refused(error: &BareError) -> anyhow::Error {
    failure(End::Failed, error, "what was trusted before still is")
}
