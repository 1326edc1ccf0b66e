//! `pinhole approvals page`: the same questions and answers in a browser on this machine, until it is stopped.
//!
//! INVARIANT: the one-time address stands on stdout and nowhere else. The member's key is opened with what she types on the
//! page, for one answer.

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use pinhole_grant::{Passphrase, SecretKey};
use pinhole_runtime::clock::{SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_server::page::{
    Announced, Ended, Keyholder, KeyholderError, MemberSide, Page, PageError, Patience,
};

use crate::args::LocalManifests;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::out::Reader;
use crate::{member, occasion, out, wait};

/// The flags of `pinhole approvals page`.
#[derive(Debug, Args)]
pub(crate) struct PageFlags {
    /// Listen on this port of 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1024..))]
    port: Option<u16>,
    #[command(flatten)]
    local: LocalManifests,
}

pub(super) async fn main(flags: &PageFlags, config: &Config) -> anyhow::Result<End> {
    // Listened for before anybody is told of the page, so that its file goes with it.
    let stop = wait::told_to_stop()?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let Desktop { store, member, bot, former, .. } = Desktop::open(config)?;
    let side = MemberSide {
        desk: store,
        catalog: Arc::new(catalog),
        member: member.id(),
        bot: bot.keys.public().clone(),
        former,
        keyholder: Box::new(HerKey(config.clone())),
        clock: Box::new(SystemClock),
        timer: Box::new(SystemTimer),
        entropy: Box::new(SystemEntropy),
    };
    let page = Page::bind(flags.port.unwrap_or_default(), side, Patience::default());
    let page = page.await.map_err(|error| unopened(&error))?;
    let announced = Announced::write(config.home(), page.address())
        .context("the page's address could not be written into the home")?;
    if out::lines(&format!("{}\n", page.opening()))? == Reader::Gone {
        return Ok(End::Done);
    }
    out::note("open this address in a browser on this machine: it works once, in the first that opens it");
    out::note("the page ends with this command (Ctrl-C), or when it was not used for an hour");
    let ended = page.run(stop).await;
    drop(announced);
    if ended == Ended::Unused {
        out::note("the page was not used for an hour, and is over");
    }
    Ok(End::Done)
}

/// The file of the member's key, read anew for each answer.
struct HerKey(Config);

impl Keyholder for HerKey {
    fn ready(&self) -> Result<(), KeyholderError> {
        member::may_permit_writes(&self.0).map_err(|error| unusable(&error))
    }

    fn open(&self, passphrase: &Passphrase) -> Result<SecretKey, KeyholderError> {
        let opened = member::opened(passphrase, &self.0).map_err(|error| unusable(&error))?;
        opened.ok_or(KeyholderError::Wrong)
    }
}

fn unusable(error: &anyhow::Error) -> KeyholderError {
    let (message, hint, _end) = out::explained(error);
    KeyholderError::Unusable { message, hint }
}

fn unopened(error: &PageError) -> anyhow::Error {
    let hint = "say another `--port`, or none";
    match error {
        PageError::Port { source, .. } => Failure::new(End::Local, format!("{error}: {source}"), hint).into(),
        other => Failure::new(End::Local, other.to_string(), "look at the system's entropy").into(),
    }
}
