//! `pinhole registry`: a maintainer's half, which makes and signs a registry, and a host's half, which trusts one.

pub(crate) mod args;
mod bare;
mod fetch;
mod found;
mod host;
mod maintain;
mod own;
mod serve;
pub(crate) mod shelf;
mod signing;
mod sync;

use std::error::Error;

use jiff::Timestamp;
use pinhole_manifest::visible::visible;
use pinhole_registry::client::{Listed, Registries};
use pinhole_runtime::clock::{Clock as _, SystemClock};

use crate::config::Config;
use crate::end::{End, Failure};
use args::RegistryCommand;

pub(crate) use args::RegistryCommand as Registry;

pub(crate) async fn main(command: RegistryCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        RegistryCommand::Key(flags) => signing::key(&flags),
        RegistryCommand::Init(flags) if flags.local => own::begin(flags, config).await,
        RegistryCommand::Init(flags) => maintain::init(&flags),
        RegistryCommand::Add(flags) => maintain::add(&flags),
        RegistryCommand::Remove(flags) => maintain::remove(&flags),
        RegistryCommand::Sign(flags) => signing::sign(&flags),
        RegistryCommand::Collect(flags) => signing::collect(&flags),
        RegistryCommand::Publish(flags) => maintain::publish(&flags),
        RegistryCommand::Rotate(flags) => maintain::rotate(&flags),
        RegistryCommand::Discard { folder } => maintain::discard(&folder),
        RegistryCommand::Verify(flags) => found::verify(&flags),
        RegistryCommand::Serve(flags) => serve::main(&flags).await,
        RegistryCommand::Trust(flags) => host::trust(&flags, config),
        RegistryCommand::Untrust { name } => host::untrust(&name, config),
        RegistryCommand::List { json } => host::list(json, config),
        RegistryCommand::Sync(flags) => sync::main(&flags, config).await,
        RegistryCommand::Accept(flags) => host::accept(&flags, config),
        RegistryCommand::Replace(flags) => host::replace(&flags, config),
        RegistryCommand::Client(flags) => bare::main(flags).await,
    }
}

/// The registries that this home trusts.
pub(crate) fn registries(config: &Config) -> Registries {
    Registries::at(config.registries())
}

/// How a trusted registry stands.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) name: String,
    /// Until when its services run; never synced where there is none.
    pub(crate) good_until: Option<String>,
    pub(crate) expired: bool,
    /// The services of which an update waits for a yes.
    pub(crate) held: Vec<String>,
}

/// How each trusted registry stands.
pub(crate) fn standings(config: &Config) -> anyhow::Result<Vec<Standing>> {
    let now = now()?;
    let all = registries(config).list();
    let all = all.map_err(|error| unreadable(&error))?;
    let standing = |one: Listed| {
        let expires = one.synced.map(|(_, _, expires)| expires);
        Standing {
            name: one.name.to_string(),
            good_until: expires.map(|expires| expires.to_string()),
            expired: expires.is_some_and(|expires| expires <= now),
            held: one.held.iter().map(ToString::to_string).collect(),
        }
    };
    Ok(all.into_iter().map(standing).collect())
}

/// The time, as registries count it.
fn now() -> anyhow::Result<Timestamp> {
    let seconds = SystemClock.now().as_secs();
    Timestamp::from_second(seconds).map_err(|_far| {
        Failure::new(End::Local, "the clock stands at a time that no calendar has", "set it right").into()
    })
}

/// What the home keeps of registries cannot be read or changed.
fn unreadable(error: &(dyn Error + 'static)) -> anyhow::Error {
    failure(End::Local, error, "look at the disk and at the home's `registries`")
}

/// An error with all its causes, as one line, and what to do.
fn failure(end: End, error: &(dyn Error + 'static), hint: &str) -> anyhow::Error {
    let mut said = vec![visible(&error.to_string())];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = visible(&error.to_string());
        // Some errors say their cause themselves.
        if !said.iter().any(|before| before.contains(&text)) {
            said.push(text);
        }
        cause = error.source();
    }
    Failure::new(end, said.join(": "), hint).into()
}
