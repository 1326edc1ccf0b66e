//! `pinhole grant mint --connection`, `--approve-proposal`: grants of what is connected in this home, for a bot elsewhere.
//!
//! No key of a service is typed or shown: it goes from her connection into what is sealed. INVARIANT: a proposal is approved only
//! after all of it was shown to her, and as it was shown.

use std::path::Path;

use pinhole_grant::SecretKey;
use pinhole_manifest::Access;
use pinhole_runtime::catalog::{Catalog, Entry};
use pinhole_runtime::local::{ApproveError, Given};
use pinhole_runtime::store::ConnectionRow;

use crate::args::MintFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::{keys, member, propose};

/// Mints what the flags ask for, on a stored connection.
pub(super) fn mint(
    flags: &MintFlags,
    catalog: &Catalog,
    entry: &Entry,
    config: &Config,
) -> anyhow::Result<Given> {
    if let Some(file) = &flags.approve_proposal {
        return approve(file, flags, catalog, config);
    }
    let access = super::access(flags);
    if access == Access::Write {
        member::may_permit_writes(config)?;
    }
    let desktop = Desktop::open(config)?;
    let row = desktop.connection(&flags.service, flags.connection.as_deref())?;
    let wanted = super::wanted(flags, entry, &row.account)?;
    let key = member::key(&flags.passphrase, access, "which signs this grant", config)?;
    // She may have thought about it for a while.
    let desktop = desktop.later()?;
    let row = newest(row, &desktop, &key, catalog)?;
    let request = super::request(wanted, flags, entry, (row.id, &row.account), desktop.now)?;
    let request = match &flags.return_to {
        Some(key) => request.returning_to(keys::parse_public(key)?),
        None => request,
    };
    desktop.present(&key, catalog).give(&row, request).map_err(|error| not_given(&error))
}

fn approve(file: &Path, flags: &MintFlags, catalog: &Catalog, config: &Config) -> anyhow::Result<Given> {
    member::may_permit_writes(config)?;
    let proposal = propose::read(file)?;
    let desktop = Desktop::open(config)?;
    let shown = propose::shown(&proposal, &desktop, catalog)?;
    let meant = if shown.service.as_str() != flags.service {
        Err("the proposal is for another service than the one that is named")
    } else if shown.bot != keys::parse_public(&flags.to)? {
        Err("the proposal is of another bot than `--to` names")
    } else if flags.connection.as_ref().is_some_and(|label| label != shown.label.as_str()) {
        Err("the proposal is for another connection than `--connection` names")
    } else {
        Ok(())
    };
    meant.map_err(|why| {
        Failure::new(End::Refused, why, "nothing was approved: look whether it is the right file")
    })?;
    member::tell(&flags.passphrase, &propose::lines(&shown))?;
    if !shown.differs.is_empty() {
        let message = "the bot's words differ from what is found here, so nothing was approved";
        let hint = "have the bot post the call again; if they differ still, its host has another manifest";
        return Err(Failure::new(End::Failed, message, hint).into());
    }
    let key = member::key(&flags.passphrase, Access::Write, "which is your yes to exactly this", config)?;
    let desktop = desktop.later()?;
    take_in(&desktop, &key, catalog)?;
    desktop.present(&key, catalog).approve_proposal(&shown).map_err(|error| not_given(&error))
}

/// The connection with the newest pair that a bot here has renewed: what another bot is given must not be one that is spent.
fn newest(
    row: ConnectionRow,
    desktop: &Desktop,
    key: &SecretKey,
    catalog: &Catalog,
) -> anyhow::Result<ConnectionRow> {
    take_in(desktop, key, catalog)?;
    let stored = desktop.store.connection(row.member, row.id)?;
    Ok(stored.unwrap_or(row))
}

fn take_in(desktop: &Desktop, key: &SecretKey, catalog: &Catalog) -> anyhow::Result<()> {
    desktop.present(key, catalog).take_in().map(|_taken| ()).map_err(|error| {
        let message = format!("what a bot here has renewed could not be taken in: {error}");
        Failure::new(End::Local, message, "`pinhole doctor` says what is wrong; nothing was minted").into()
    })
}

fn not_given(error: &ApproveError) -> anyhow::Error {
    let hint = match error {
        ApproveError::Store(error) => error.hint().to_owned(),
        ApproveError::ReadOnly => "`pinhole connections cap SERVICE write` lets it".to_owned(),
        ApproveError::ClockBehind => "`pinhole doctor` says what to do about the clock".to_owned(),
        ApproveError::Mint(_) => {
            "narrow what it permits, or for how long: `--ttl` is at most 90d for reads and 24h for writes; a write wants \
             `pinhole connections cap SERVICE write`"
                .to_owned()
        }
        _ => "`pinhole connections` shows what is connected; `pinhole doctor` looks what is wrong with it".to_owned(),
    };
    Failure::new(End::Refused, format!("the grant was not minted: {error}"), hint).into()
}
