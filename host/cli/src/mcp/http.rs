//! `pinhole mcp --http`: the same for whoever has a token.

use std::net::SocketAddr;
use std::sync::Arc;

use pinhole_manifest::Access;
use pinhole_runtime::clock::{SystemClock, SystemTimer};
use pinhole_server::Reach;
use pinhole_server::http::{Bearer, HttpSettings, ListenError, Rate, Sessions, SettingError};
use pinhole_server::mcp::http::{MCP_PATH, Weigh, serve};
use pinhole_server::mcp::{At, Mcp};
use tokio_util::sync::CancellationToken;

use super::args::ServeFlags;
use crate::end::{End, Failure};
use crate::{out, wait};

struct Tools(Mcp);

impl Weigh for Tools {
    fn access(&self, tool: &str) -> Option<Access> {
        self.0.access(tool)
    }
}

pub(super) async fn main(address: SocketAddr, flags: &ServeFlags, mcp: Mcp) -> anyhow::Result<End> {
    let settings = settings(flags)
        .map_err(|error| Failure::new(End::Usage, error.to_string(), "`pinhole mcp --help` shows how"))?;
    let told = wait::told_to_stop()?;
    let listener = settings.listen(address).await.map_err(|error| unheard(&error))?;
    let bound = listener.local_addr()?;
    let reach = if flags.read_only { Reach::default().only(&[Access::Read]) } else { Reach::default() };
    let bearer = Bearer {
        desk: Arc::clone(&mcp.bot().desk),
        member: mcp.bot().member,
        clock: Arc::new(SystemClock),
        timer: Arc::new(SystemTimer),
        reach,
    };
    out::line(format_args!("serving http://{bound}{MCP_PATH} to whoever has a token (`pinhole tokens new`)"));
    let stop = CancellationToken::new();
    let weigh: Arc<dyn Weigh> = Arc::new(Tools(mcp.clone()));
    let mut served = Box::pin(serve(listener, settings, bearer, mcp.at(At::Http), weigh, stop.clone()));
    let ended = tokio::select! {
        ended = &mut served => ended,
        () = told => {
            stop.cancel();
            served.await
        }
    };
    // Writes that were begun are carried to their end.
    mcp.ended().await;
    ended.map_err(|error| Failure::new(End::Local, error.to_string(), "say another `--http ADDR:PORT`"))?;
    Ok(End::Done)
}

fn settings(flags: &ServeFlags) -> Result<HttpSettings, SettingError> {
    let said = &flags.over_http;
    let mut settings = HttpSettings::default();
    for host in &said.allow_host {
        settings = settings.with_host(host)?;
    }
    for origin in &said.allow_origin {
        settings = settings.with_origin(origin)?;
    }
    if let Some(url) = &said.public_url {
        settings = settings.with_public_url(url)?;
    }
    let mut limits = settings.limits;
    let set = |rate: &mut Rate, most: Option<std::num::NonZeroU32>| {
        if let Some(count) = most.and_then(|most| usize::try_from(most.get()).ok()) {
            rate.count = count;
        }
    };
    set(&mut limits.reads, said.reads_a_minute);
    set(&mut limits.writes, said.writes_a_minute);
    // Only in a session can a client of the older protocol be asked something.
    let sessions = if said.sessions || flags.ask_in_client { Sessions::On } else { Sessions::Off };
    Ok(settings.with_limits(limits).with_sessions(sessions))
}

fn unheard(error: &ListenError) -> anyhow::Error {
    Failure::new(End::Usage, error.to_string(), "say where with `--http 127.0.0.1:PORT`").into()
}
