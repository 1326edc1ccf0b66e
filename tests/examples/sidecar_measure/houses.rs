//! Sidecars of one bot in this process, each with a store and a socket of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pinhole_client::{Call, Client, Outcome};
use pinhole_grant::UnixTime;
use pinhole_runtime::Executor;
use pinhole_runtime::book::Book;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::clock::{Clock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::renew::Renewing;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::{Desk, Store};
use pinhole_server::Reach;
use pinhole_server::http::{HttpSettings, SocketFile};
use pinhole_server::sidecar::{At, QueueLimits, Sidecar, http_limits, serve};
use pinhole_tests::{NOW, Stage};
use tokio_util::sync::CancellationToken;

/// A clock that begins at the time of the stage, and goes: what is written once a second is written.
struct Going(Instant);

impl Clock for Going {
    fn now(&self) -> UnixTime {
        NOW.plus_secs(i64::try_from(self.0.elapsed().as_secs()).unwrap_or_default())
    }
}

/// Another executor of the stage's bot, on this store.
pub(crate) fn executor(stage: &Stage, store: Arc<dyn Store>) -> anyhow::Result<Executor> {
    Ok(Executor {
        bot: Arc::clone(&stage.executor.bot),
        issuers: stage.executor.issuers.clone(),
        catalog: Catalog::built_in()?,
        store,
        clock: Box::new(Going(Instant::now())),
        timer: Box::new(SystemTimer),
        entropy: Box::new(SystemEntropy),
        retries: stage.executor.retries,
        sandbox: Sandbox::default(),
        book: Book::default(),
        renewing: Renewing::default(),
        wire: Arc::new(stage.client()),
    })
}

/// A sidecar that serves until the run ends.
pub(crate) struct House {
    client: Client,
    _folder: tempfile::TempDir,
    _stops: tokio_util::sync::DropGuard,
}

impl House {
    pub(crate) fn new(stage: &Stage, desk: Arc<dyn Desk>) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let socket: PathBuf = folder.path().join("sidecar.sock");
        let sidecar = Sidecar {
            executor: executor(stage, desk.clone())?,
            desk,
            timer: Arc::new(SystemTimer),
            reach: Reach::default(),
            queue: QueueLimits::default(),
            http: HttpSettings::default().with_limits(http_limits()),
        };
        let stop = CancellationToken::new();
        tokio::spawn(serve(sidecar, At::File(SocketFile::listen(&socket)?), stop.clone()));
        Ok(Self { client: Client::unix(&socket), _folder: folder, _stops: stop.drop_guard() })
    }

    /// Posts a call, which must be done.
    pub(crate) async fn run(&self, call: &Call) -> anyhow::Result<()> {
        match self.client.run(call).await? {
            Outcome::Done(_) => Ok(()),
            Outcome::Refused(refusal) => Err((*refusal).into()),
        }
    }
}
