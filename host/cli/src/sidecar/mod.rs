//! `pinhole sidecar`: runs what bots post with a sealed grant, until it is told to stop.
//!
//! Has the bot's key and never the member's. Refuses to start where no member's grants would be believed. What it says to a person
//! goes to stderr, but for the line that says where it serves.

mod args;
mod log;

use std::path::Path;
use std::sync::Arc;

use pinhole_grant::PublicKey;
use pinhole_manifest::Access;
use pinhole_runtime::Executor;
use pinhole_runtime::clock::{SystemClock, SystemTimer};
use pinhole_runtime::store::Desk;
use pinhole_server::Reach;
use pinhole_server::http::{Bearer, HttpLimits, HttpSettings, ListenError};
use pinhole_server::sidecar::{At, QueueLimits, Sidecar, http_limits, serve};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::end::{End, Failure};
use crate::{database, dial, grant, keys, occasion, out, settings, wait};
pub(crate) use args::{EXAMPLES, SidecarFlags};
pub(crate) use log::start as start_log;

/// The name of the socket file in a home.
const SOCKET: &str = "sidecar.sock";

pub(crate) async fn main(flags: SidecarFlags, config: &Config) -> anyhow::Result<End> {
    let catalog = occasion::catalog(&flags.local, config)?;
    let client = dial::client_of_later_grants(&flags.dial, &catalog)?;
    let issuers = issuers(&flags, config)?;
    let bot = keys::bot(config)?;
    let desk = database::open_desk(&bot.home, &flags.database)?;
    let reach = if flags.read_only { Reach::default().only(&[Access::Read]) } else { Reach::default() };
    let told = wait::told_to_stop()?;
    let http = HttpSettings::default().with_limits(limits(&flags)?);
    let book = settings::book_of(&bot.home, &flags.database, config)?;
    let executor =
        occasion::executor(catalog, bot.keys, issuers, client, desk.clone(), settings::sandbox(config)?);
    let executor = Executor { book, ..executor };
    // Whoever is told that it serves finds all of it ready.
    let at = listen(&flags, &http, &desk, &reach, config).await?;
    let sidecar = Sidecar { executor, desk, timer: Arc::new(SystemTimer), reach, queue: queue(&flags), http };
    let stop = CancellationToken::new();
    let mut served = Box::pin(serve(sidecar, at, stop.clone()));
    let ended = tokio::select! {
        ended = &mut served => ended,
        () = told => {
            stop.cancel();
            served.await
        }
    };
    ended.map_err(|error| Failure::new(End::Local, error.to_string(), "say another `--listen ADDR:PORT`"))?;
    Ok(End::Done)
}

/// The members whose grants are believed: whom the operator names, and nobody else.
fn issuers(flags: &SidecarFlags, config: &Config) -> anyhow::Result<Vec<PublicKey>> {
    let mut named = flags.issuer.clone();
    named.extend(settings::read(&config.file())?.issuers);
    if named.is_empty() {
        let message = "no member's grants would be believed here";
        let hint = "name each whose grants are to be: `--issuer KEY` (`pinhole keys show` at hers), or in `config.toml`: \
                    `[sidecar]`, `issuers = [\"pin1…\"]`";
        return Err(Failure::new(End::Usage, message, hint).into());
    }
    keys::issuers(&named)
}

async fn listen(
    flags: &SidecarFlags,
    http: &HttpSettings,
    desk: &Arc<dyn Desk>,
    reach: &Reach,
    config: &Config,
) -> anyhow::Result<At> {
    if let Some(address) = flags.listen {
        let member = keys::member_public(config)?.ok_or_else(|| {
            let message = "there are no tokens here: nobody could be let in";
            Failure::new(
                End::Refused,
                message,
                "`pinhole keys new`, then `pinhole tokens new NAME`; or `--socket FILE`",
            )
        })?;
        let listener = http.listen(address).await.map_err(|error| unheard(&error))?;
        out::line(format_args!(
            "serving http://{} to whoever has a token (`pinhole tokens new`)",
            listener.local_addr()?
        ));
        let (clock, timer) = (Arc::new(SystemClock), Arc::new(SystemTimer));
        let (desk, reach) = (Arc::clone(desk), reach.clone());
        return Ok(At::Tcp(listener, Bearer { desk, member: member.id(), clock, timer, reach }));
    }
    at_file(&flags.socket.clone().unwrap_or_else(|| config.home().join(SOCKET)))
}

#[cfg(unix)]
fn at_file(path: &Path) -> anyhow::Result<At> {
    use pinhole_server::http::SocketFile;
    let socket = SocketFile::listen(path).map_err(|error| {
        let source = std::error::Error::source(&error).map(|why| format!(": {why}")).unwrap_or_default();
        Failure::new(
            End::Usage,
            format!("{error}{source}"),
            "say where with `--socket FILE` or `--listen 127.0.0.1:PORT`",
        )
    })?;
    out::line(format_args!("serving unix:{}", socket.path().display()));
    Ok(At::File(socket))
}

#[cfg(not(unix))]
fn at_file(_path: &Path) -> anyhow::Result<At> {
    let message = "there are no socket files on this system";
    Err(Failure::new(End::Usage, message, "say `--listen 127.0.0.1:PORT`").into())
}

fn limits(flags: &SidecarFlags) -> anyhow::Result<HttpLimits> {
    let seconds = u64::try_from(grant::seconds(&flags.drain)?).unwrap_or_default();
    Ok(HttpLimits { drain: std::time::Duration::from_secs(seconds), ..http_limits() })
}

fn queue(flags: &SidecarFlags) -> QueueLimits {
    let most = |said: Option<std::num::NonZeroU32>, usual: usize| {
        said.and_then(|most| usize::try_from(most.get()).ok()).unwrap_or(usual)
    };
    let usual = QueueLimits::default();
    QueueLimits {
        calls: most(flags.calls, usual.calls),
        calls_of_a_service: most(flags.calls_of_a_service, usual.calls_of_a_service),
        waiting: most(flags.waiting, usual.waiting),
        waiting_for_a_service: most(flags.waiting_for_a_service, usual.waiting_for_a_service),
    }
}

fn unheard(error: &ListenError) -> anyhow::Error {
    Failure::new(End::Usage, error.to_string(), "say where with `--listen 127.0.0.1:PORT`").into()
}
