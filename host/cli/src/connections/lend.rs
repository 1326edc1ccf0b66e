//! `pinhole connections lend`: writes that can be put back, for a while, where a person says yes in her client.
//!
//! INVARIANT: she sees each op that she lends before her passphrase lends it.

use std::num::NonZeroU32;

use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::{self as runtime, LendError, Lent};
use pinhole_runtime::store::{ConnectionRow, GrantError};

use crate::args::{PassphraseFlags, WhichConnection};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::{grant, local, member, out};

/// Longest time that writes are lent for, in seconds: 24 hours.
const LENT_SECS_MAX: i64 = 24 * 3_600;

/// What is to become of what is lent.
pub(super) enum Lending<'a> {
    /// Lend this often, for so long.
    Lend { uses: NonZeroU32, ttl: &'a str },
    /// Take it back.
    TakeBack,
}

pub(super) fn main(
    which: &WhichConnection,
    lending: &Lending<'_>,
    passphrase: &PassphraseFlags,
    catalog: &Catalog,
    config: &Config,
) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let row = desktop.connection(&which.service, which.label.as_deref())?;
    let name = format!("{} {}", row.service, visible(row.label.as_str()));
    match lending {
        Lending::TakeBack => {
            let was_lent = runtime::take_back(&*desktop.store, desktop.bot.keys.public().id(), &row)?;
            out::line(if was_lent {
                format!("nothing of {name} is lent any more")
            } else {
                format!("nothing of {name} was lent")
            });
        }
        // The row's word is enough to say so; lending goes by what she sealed.
        Lending::Lend { .. } if row.cap == Access::Read => return Err(not_lent(LendError::ReadOnly, &row)),
        Lending::Lend { uses, ttl } => {
            member::may_permit_writes(config)?;
            let seconds = grant::seconds(ttl)?;
            if seconds > LENT_SECS_MAX {
                let message = format!("`{ttl}` is too long: a write grant lives 24 hours at most");
                return Err(Failure::new(End::Usage, message, "give a shorter `--ttl`").into());
            }
            member::tell(passphrase, &shown(&row, &name, (*uses, ttl), catalog)?)?;
            let purpose = format!("to lend these writes on {name}");
            let key = member::key(passphrase, Access::Write, &purpose, config)?;
            let desktop = desktop.later()?;
            let present = desktop.present(&key, catalog);
            let Lent { until, .. } = present
                .lend(&row, *uses, desktop.now.plus_secs(seconds))
                .map_err(|error| not_lent(error, &row))?;
            local::renew_by_the_way(&present);
            out::line(format_args!("lent: {uses} writes on {name}, until {}", out::moment(until)));
            out::note(
                "`pinhole mcp --ask-in-client` runs them on a yes in the client; `--take-back` ends it",
            );
        }
    }
    Ok(End::Done)
}

/// What she is about to lend.
fn shown(
    row: &ConnectionRow,
    name: &str,
    (uses, ttl): (NonZeroU32, &str),
    catalog: &Catalog,
) -> anyhow::Result<Vec<String>> {
    let entry = local::service(catalog, row.service.as_str())?;
    let mut lines = vec![format!(
        "For {ttl}, {uses} times, bots here may do this on {name} (account {}) without your passphrase:",
        visible(row.account.as_str())
    )];
    for op in entry.manifest.ops().values() {
        if runtime::may_be_lent(op) {
            lines.push(format!("  {}: {}", op.id, visible(&op.summary)));
        }
    }
    Ok(lines)
}

fn not_lent(error: LendError, row: &ConnectionRow) -> anyhow::Error {
    let service = &row.service;
    let hint = match &error {
        LendError::Store(_) | LendError::Grant(GrantError::Store(_)) => return error.into(),
        LendError::ReadOnly => format!("`pinhole connections cap {service} write` lets bots ask for writes"),
        LendError::Stale(_) => format!("connect it anew: `pinhole connect {service}`"),
        LendError::Mint(_) => "a write grant lives 24 hours at most: give a shorter `--ttl`".to_owned(),
        _ => "nothing was lent".to_owned(),
    };
    Failure::new(End::Refused, error.to_string(), hint).into()
}
