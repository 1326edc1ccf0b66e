//! `pinhole mcp`: the connected services' ops as tools, for one client on stdin and stdout, or over HTTP behind tokens.
//!
//! Never has the member's key. What it says to a person goes to stderr: stdout is the client's.

pub(crate) mod args;
mod http;
mod install;

use pinhole_grant::KeyKind;
use pinhole_server::mcp::{At, ClientYes, ConfirmArg, Mcp, McpSettings, Offer, stdio};
use pinhole_server::page;

use crate::config::Config;
use crate::end::{End, Failure};
use crate::{dial, keys, local, occasion, out, terminal, wait};
use args::{McpCommand, McpFlags, ServeFlags};

pub(crate) async fn main(flags: McpFlags, config: &Config) -> anyhow::Result<End> {
    match flags.command {
        Some(McpCommand::Install(flags)) => install::main(&flags, config),
        None => Box::pin(serve(&flags.serve, config)).await,
    }
}

async fn serve(flags: &ServeFlags, config: &Config) -> anyhow::Result<End> {
    let catalog = occasion::catalog(&flags.local, config)?;
    let client = dial::client_of_stored(&flags.dial, &catalog, config)?;
    let services =
        flags.services.iter().map(|name| Ok(local::service(&catalog, name)?.manifest.id().clone()));
    let services = services.collect::<anyhow::Result<Vec<_>>>()?;
    who_is_here(flags, config)?;
    let bot = local::bot(catalog, client, config)?;
    let settings = McpSettings {
        offer: offer(flags, services),
        yes: yes(flags),
        page: where_the_page_is(flags, config),
    };
    let mcp = Mcp::new(bot, settings)?;
    match flags.http {
        Some(address) => Box::pin(http::main(address, flags, mcp)).await,
        None => Box::pin(on_stdio(mcp)).await,
    }
}

/// Keys that are made later are not seen by a server that runs. A client's own server goes on and says so; one for many has
/// nobody to serve.
fn who_is_here(flags: &ServeFlags, config: &Config) -> anyhow::Result<()> {
    let (what, hint) = match (keys::member_public(config)?, keys::file(KeyKind::Bot, config).exists()) {
        (None, _) => {
            ("nothing is connected here yet", "`pinhole connect SERVICE` begins; then start this again")
        }
        (Some(_), false) => (
            "the bot's key is not here: `keys/bot.json` is missing",
            "`pinhole doctor` says what to do; then start this again",
        ),
        (Some(_), true) => return Ok(()),
    };
    if flags.http.is_some() {
        return Err(Failure::new(End::Refused, what, hint).into());
    }
    out::note(format_args!("{what}: {hint}"));
    Ok(())
}

async fn on_stdio(mcp: Mcp) -> anyhow::Result<End> {
    if terminal::stdin_is_one() {
        out::note("this speaks MCP to a client on stdin: `pinhole mcp install CLIENT` configures one");
    }
    let told = wait::told_to_stop()?;
    let served = stdio::serve(mcp.at(At::Stdio), tokio::io::stdin(), tokio::io::stdout());
    let served = tokio::select! {
        served = served => served,
        () = told => Ok(()),
    };
    // Writes that were begun are carried to their end.
    mcp.ended().await;
    let not_mcp = "this is for MCP clients: `pinhole mcp install CLIENT`";
    served.map_err(|error| Failure::new(End::Failed, error.to_string(), not_mcp))?;
    Ok(End::Done)
}

/// Where the member's approval page is served now. Through a proxy come people of other machines, whom it is no use to.
fn where_the_page_is(flags: &ServeFlags, config: &Config) -> Box<dyn Fn() -> Option<url::Url> + Send + Sync> {
    if flags.over_http.public_url.is_some() {
        return Box::new(|| None);
    }
    let home = config.home().to_owned();
    Box::new(move || page::address_in(&home))
}

fn offer(flags: &ServeFlags, services: Vec<pinhole_manifest::ServiceId>) -> Offer {
    let mut offer = Offer::default().in_mode(flags.tools.into());
    if !services.is_empty() {
        offer = offer.of_services(services);
    }
    if !flags.ops.is_empty() {
        offer = offer.of_ops(flags.ops.iter().cloned());
    }
    if flags.read_only {
        offer = offer.read_only();
    }
    if flags.confirm_arg { offer.with_confirm_arg(ConfirmArg::Reversible) } else { offer }
}

fn yes(flags: &ServeFlags) -> ClientYes {
    ClientYes { form: flags.ask_in_client, argument: flags.confirm_arg }
}
