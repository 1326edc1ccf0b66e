//! `pinhole connections take`: a token pair that a bot elsewhere has renewed becomes the connection's.
//!
//! Refuses one that is not newer than what is stored, and one that none of the named bots has signed.

use std::path::Path;

use pinhole_grant::OpenReturnedError;
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::TakeInError;
use serde_json::Value;

use crate::args::PassphraseFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::{self, Desktop};
use crate::{files, keys, member, out};

pub(super) fn main(
    file: &Path,
    bots: &[String],
    passphrase: &PassphraseFlags,
    catalog: &Catalog,
    config: &Config,
) -> anyhow::Result<End> {
    let dash = |path: &Path| path.as_os_str() == "-";
    files::one_reader_of_stdin(&[
        ("the outcome", dash(file)),
        ("--passphrase-file -", passphrase.passphrase_file.as_deref().is_some_and(dash)),
    ])?;
    let desktop = Desktop::open(config)?;
    let mut signers = desktop.former.clone();
    signers.push(desktop.bot.keys.public().clone());
    for bot in bots {
        signers.push(keys::parse_public(bot)?);
    }
    let envelope = envelope(&files::read_text(file)?)?;
    let key = member::key(passphrase, Access::Read, "to take in a renewed token", config)?;
    let desktop = desktop.later()?;
    let present = desktop.present(&key, catalog);
    let row = present.take(&envelope, &signers).map_err(not_taken)?;
    local::renew_by_the_way(&present);
    out::line(format_args!("taken in: {} {}", row.service, visible(row.label.as_str())));
    Ok(End::Done)
}

/// The sealed pair, alone or in the outcome of a run.
fn envelope(text: &str) -> anyhow::Result<Vec<u8>> {
    let hint = "pass an outcome of `pinhole run --json` or of a sidecar, or what it has as `rotated`";
    let none = |why: &str| Failure::new(End::Invalid, format!("no renewed token: {why}"), hint);
    let document: Value =
        serde_json::from_str(text.trim()).map_err(|_error| none("it is not one JSON document"))?;
    let envelope = match (document.get("rotated"), document.get("ct")) {
        (Some(rotated), _) => rotated,
        (None, Some(_)) => &document,
        (None, None) => return Err(none("the outcome has no `rotated`").into()),
    };
    Ok(envelope.to_string().into_bytes())
}

fn not_taken(error: TakeInError) -> anyhow::Error {
    let hint = match &error {
        TakeInError::Store(_) => return error.into(),
        TakeInError::Pair(OpenReturnedError::Verify(_)) => {
            "pass the key of the bot that renewed it: `--bot KEY`; `pinhole keys show` there shows it"
        }
        TakeInError::Pair(OpenReturnedError::Stale) => {
            "there is nothing to do: what is stored is as new or newer"
        }
        _ => "`pinhole connections` lists what there is; `pinhole connect SERVICE --oauth` makes it anew",
    };
    Failure::new(End::Refused, format!("not taken in: {error}"), hint).into()
}
