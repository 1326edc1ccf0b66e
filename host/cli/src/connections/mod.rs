//! `pinhole connections`: what is connected, and what it may be used for. Never shows a key.

mod lend;
mod remove;
mod take;

use lend::Lending;
use pinhole_grant::{Dial, OpenError, UnixTime};
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::{CapError, RenewError, Skipped, Standing, Stored};
use pinhole_runtime::store::{ConnectionError, ConnectionRow, GrantError, StoreError};
pub(crate) use remove::RemoveFlags;
use serde_json::{Value, json};

use crate::args::{ConnectionsCommand, WhichConnection};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::member::Member;
use crate::wait::block_on;
use crate::{connect, keys, local, occasion, out};

pub(crate) fn main(command: Option<ConnectionsCommand>, json: bool, config: &Config) -> anyhow::Result<End> {
    match command {
        None => list(json, config),
        Some(ConnectionsCommand::List { json }) => list(json, config),
        Some(ConnectionsCommand::Cap { which, cap, passphrase, local }) => {
            let catalog = occasion::catalog(&local, config)?;
            set_cap(&which, connect::access(&cap), &passphrase, &catalog, config)
        }
        Some(ConnectionsCommand::Renew { passphrase, local }) => {
            renew(&passphrase, &occasion::catalog(&local, config)?, config)
        }
        Some(ConnectionsCommand::Lend { which, uses, ttl, take_back, passphrase, local }) => {
            let lending = if take_back { Lending::TakeBack } else { Lending::Lend { uses, ttl: &ttl } };
            lend::main(&which, &lending, &passphrase, &occasion::catalog(&local, config)?, config)
        }
        Some(ConnectionsCommand::Take { file, bot, passphrase, local }) => {
            take::main(&file, &bot, &passphrase, &occasion::catalog(&local, config)?, config)
        }
        Some(ConnectionsCommand::Remove { which, flags }) => block_on(remove::main(&which, &flags, config)),
    }
}

const NOTHING: &str =
    "nothing is connected; `pinhole connect SERVICE` begins, `pinhole services` lists services";

fn list(json: bool, config: &Config) -> anyhow::Result<End> {
    let rows = if keys::member_public(config)?.is_some() { rows(config)? } else { Vec::new() };
    if json {
        let rows: Vec<Value> = rows.iter().map(|(until, row)| in_json(row, *until)).collect();
        out::json(&rows)?;
        return Ok(End::Done);
    }
    if rows.is_empty() {
        out::note(NOTHING);
        return Ok(End::Done);
    }
    let mut lines = Vec::new();
    for (until, row) in rows {
        let until = until.map_or_else(
            || "no read grant (`pinhole connections renew`)".to_owned(),
            |until| format!("reads until {}", out::moment(until)),
        );
        let stand_in = if row.dial == Dial::Overridden { ", for a stand-in" } else { "" };
        // What others wrote comes last, so that it passes for nothing else.
        lines.push(format!(
            "{:<10} {:<12} {:<5} {until}{stand_in}, account {}",
            row.service.as_str(),
            visible(row.label.as_str()),
            row.cap.as_str(),
            visible(row.account.as_str())
        ));
    }
    out::document(lines.join("\n"))?;
    Ok(End::Done)
}

/// Every connection, and until when the local bot may read on it.
fn rows(config: &Config) -> anyhow::Result<Vec<(Option<UnixTime>, ConnectionRow)>> {
    let desktop = Desktop::open(config)?;
    let rows = desktop.store.connections(desktop.member.id())?;
    rows.into_iter().map(|row| Ok((reads_until(&row, &desktop)?, row))).collect()
}

fn in_json(row: &ConnectionRow, reads_until: Option<UnixTime>) -> Value {
    json!({
        "id": row.id, "service": row.service, "label": row.label, "account": row.account, "host": row.host,
        "cap": row.cap, "stand_in": row.dial == Dial::Overridden, "generation": row.generation,
        "connected_at": row.created_at, "reads_until": reads_until,
    })
}

/// Until when the local bot may read, once the row agrees with what is sealed in the bot's grant of it.
fn reads_until(row: &ConnectionRow, desktop: &Desktop) -> Result<Option<UnixTime>, StoreError> {
    let bot = &desktop.bot.keys;
    let Some(stored) = Stored::of(row.clone(), bot.public().id(), &*desktop.store)? else { return Ok(None) };
    match stored.open(bot, std::slice::from_ref(&desktop.member), desktop.now)? {
        Standing::Open(_) => Ok(Some(stored.grant.expires_at)),
        Standing::Refused(OpenError::Expired | OpenError::NotYetValid | OpenError::UnknownIssuer) => Ok(None),
        Standing::Refused(_) => Err(stored.grant.tampered()),
    }
}

fn set_cap(
    which: &WhichConnection,
    cap: Access,
    passphrase: &crate::args::PassphraseFlags,
    catalog: &Catalog,
    config: &Config,
) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let row = desktop.connection(&which.service, which.label.as_deref())?;
    let label = visible(row.label.as_str());
    let purpose = match cap {
        Access::Read => format!("to let {} {label} only read", row.service),
        Access::Write => format!("to let bots ask for writes on {} {label}", row.service),
    };
    let member = Member::present(passphrase, cap, &purpose, config)?;
    let member = if cap == Access::Write { member.protected(passphrase, config)? } else { member };
    let present = desktop.present(&member.key, catalog);
    present.set_cap(&row, cap).map_err(|error| match error {
        CapError::Store(store) | CapError::Connection(ConnectionError::Store(store)) => {
            anyhow::Error::from(store)
        }
        CapError::Stale(_) => {
            let hint = format!("connect it anew: `pinhole connect {}`", which.service);
            Failure::new(End::Refused, error.to_string(), hint).into()
        }
        error => Failure::new(End::Refused, error.to_string(), "nothing was changed: try again").into(),
    })?;
    local::renew_by_the_way(&present);
    let (service, label) = (&row.service, visible(row.label.as_str()));
    out::line(match cap {
        Access::Read => format!(
            "{service} {label} only reads from now on; what waited for a yes, or had one and was not used, has ended"
        ),
        Access::Write => {
            format!("bots here may ask for writes on {service} {label}; each waits for your passphrase")
        }
    });
    Ok(End::Done)
}

fn renew(
    passphrase: &crate::args::PassphraseFlags,
    catalog: &Catalog,
    config: &Config,
) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let member = Member::present(passphrase, Access::Read, "to let bots here read for thirty days", config)?;
    let renewals = desktop.present(&member.key, catalog).renew().map_err(|error| match error {
        RenewError::Store(store) | RenewError::Grant(GrantError::Store(store)) => anyhow::Error::from(store),
        error => error.into(),
    })?;
    if renewals.is_empty() {
        out::note(NOTHING);
    }
    let mut end = End::Done;
    for renewal in renewals {
        let (service, label) = (&renewal.connection.service, visible(renewal.connection.label.as_str()));
        match renewal.reads_until {
            Ok(until) => {
                out::line(format_args!("{service} {label}: bots here may read until {}", out::moment(until)));
            }
            Err(skipped) => {
                out::note(format_args!("{service} {label}: not renewed: {skipped}"));
                if skipped == Skipped::Tampered {
                    end = End::Local;
                    let id = renewal.connection.id;
                    out::note(format_args!("  `pinhole connections remove {id}`, then connect it anew"));
                } else {
                    end = if end == End::Local { end } else { End::Failed };
                    let label = out::shell_word(renewal.connection.label.as_str());
                    out::note(format_args!("  connect it anew: `pinhole connect {service} --label {label}`"));
                }
            }
        }
    }
    Ok(end)
}
