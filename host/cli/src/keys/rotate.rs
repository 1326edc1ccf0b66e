//! `pinhole keys rotate` and `retire`: the local bot gets another key, and what was sealed to the one before opens for a while.
//!
//! INVARIANT: the file of the bot's keys is replaced whole, and only after its member's connections were lent to the new key:
//! killed at any moment, the bot runs on under the old one or under the new one, and has every key that it needs.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use pinhole_grant::keys::ENDED;
use pinhole_grant::{KeyKind, PublicKey, Ring, RingError, SecretKey, UnixTime};
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::book;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::local::{RenewError, Renewal};
use pinhole_runtime::store::{Desk, GrantError, GrantFilter, Party, QuestionState, TakeError};
use serde_json::json;

use crate::args::{LocalManifests, PassphraseFlags};
use crate::config::Config;
use crate::database::{self, DatabaseFlags};
use crate::end::{End, Failure};
use crate::{files, grant, local, member, occasion, out};

/// Longest that a former key's grants open, in seconds: the longest life of a grant.
const GRACE_SECS_MAX: i64 = 90 * 24 * 60 * 60;

/// What the help says of it.
pub(crate) const ROTATING: &str = "\
All keys of the bot stay in `keys/bot.json`: the former ones find again what was renewed or kept under them, so copy the file \
whole to the other hosts of the bot, and keep it in your backups. The member must be there where connections are stored in \
this home. What was lent for writes (`pinhole connections lend`) is lent to the new key anew.

Examples:
  pinhole keys rotate --grace 14d
  pinhole keys rotate --grace 0s          # the key leaked
  pinhole keys retire pin1…               # end a former key now";

/// Flags of `pinhole keys rotate`.
#[derive(Debug, Args)]
pub(crate) struct RotateFlags {
    /// How long grants to the key of before still open, such as 12h or 30d, at most 90d; `0s`: no longer, where it leaked
    #[arg(long, value_name = "TIME", default_value = "7d")]
    grace: String,
    /// Change the key even where a connection cannot be lent to it, such as one whose manifest is not here
    #[arg(long)]
    leave: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseFlags,
    #[command(flatten)]
    local: LocalManifests,
    #[command(flatten)]
    passphrase: PassphraseFlags,
}

/// Flags of `pinhole keys retire`.
#[derive(Debug, Args)]
pub(crate) struct RetireFlags {
    /// The former key, as `pinhole keys show` prints it: `pin1…`
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// The bot's keys, which nobody else changes meanwhile.
struct Changing {
    keys: Ring,
    store: Arc<dyn Desk>,
    now: UnixTime,
    /// The home of the keys.
    home: std::path::PathBuf,
    /// Where the file is, wherever a link to it is.
    file: std::path::PathBuf,
    _lock: File,
}

impl Changing {
    fn begin(database: &DatabaseFlags, config: &Config) -> anyhow::Result<Self> {
        // Refuses where there is no bot.
        let home = super::bot(config)?.home;
        let file = super::canonical(&super::file(KeyKind::Bot, config))?;
        // The lock of the folder that the file is in: it is one, whichever database each names.
        let lock = File::open(file.parent().context("a key stands in a folder")?)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "another command is changing the bot's keys";
                let hint = "wait for it, then look at `pinhole keys show`";
                return Err(Failure::new(End::Local, message, hint).into());
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context("the folder of the bot's keys could not be locked");
            }
        }
        let store = database::open_desk(&home, database)?;
        let now = store.high_water(SystemClock.now())?;
        Ok(Self { keys: super::bot(config)?.keys, store, now, home, file, _lock: lock })
    }
}

pub(super) fn rotate(flags: &RotateFlags, config: &Config) -> anyhow::Result<End> {
    let grace = grace(&flags.grace)?;
    let Changing { keys, store, now, home, file, _lock } = Changing::begin(&flags.database, config)?;
    let before = keys.public().clone();
    let next = SecretKey::generate(KeyKind::Bot, &mut occasion::entropy());
    let lent = lend_to(next.public(), &keys, &store, now, flags, config)?;
    if !flags.leave
        && let Err(refused) = all_are_lent(&lent)
    {
        forget(next.public(), store.as_ref())?;
        return Err(refused);
    }
    // By this machine's own clock: the latest time seen here may be ahead of what the bot's other hosts have seen.
    let until = if grace == 0 { ENDED } else { SystemClock.now().plus_secs(grace) };
    let keys = keys.rotated(next, until).map_err(not_changed)?;
    write(&file, &keys)?;
    // The key is changed: what fails from here on is said, and takes nothing back.
    if let Err(error) = end_questions(&before, &store, now, config) {
        out::note(format_args!(
            "note: what waited under the key of before still waits, for nothing: {error}"
        ));
    }
    // What the key of before recorded is signed by it for the last time.
    if let Some(former) = keys.key(before.id()) {
        let checkpoints = database::checkpoints(&home, &flags.database)?;
        if let Err(error) = book::checkpoint(&*store, former, now, Some(&checkpoints)) {
            out::note(format_args!("note: the receipts of the key of before were not signed: {error}"));
        }
    }
    if flags.json {
        let reads_until = |renewal: &Renewal| renewal.reads_until.as_ref().ok().copied();
        let connections: Vec<_> = lent
            .iter()
            .map(|one| json!({"id": one.connection.id, "reads_until": reads_until(one)}))
            .collect();
        out::json(&json!({
            "bot": keys.public(), "former": before, "until": (until != ENDED).then_some(until),
            "connections": connections,
        }))?;
    } else {
        said(&keys, &before, (now, until), &lent)?;
    }
    Ok(if lent.iter().all(|renewal| renewal.reads_until.is_ok()) { End::Done } else { End::Failed })
}

fn grace(text: &str) -> anyhow::Result<i64> {
    let seconds = grant::seconds(text)?;
    if seconds <= GRACE_SECS_MAX {
        return Ok(seconds);
    }
    let message = format!("`--grace {}` is too long: no grant lives longer than 90 days", visible(text));
    Err(Failure::new(End::Usage, message, "give 90d or less").into())
}

/// Lets the new key read on what the member has connected here, for which she must be there.
fn lend_to(
    next: &PublicKey,
    keys: &Ring,
    store: &Arc<dyn Desk>,
    now: UnixTime,
    flags: &RotateFlags,
    config: &Config,
) -> anyhow::Result<Vec<Renewal>> {
    let Some(her) = super::member_public(config)? else { return Ok(Vec::new()) };
    if store.connections(her.id())?.is_empty() {
        return Ok(Vec::new());
    }
    let catalog = occasion::catalog(&flags.local, config)?;
    let purpose = "to let the bot read on your connections under its new key";
    let key = member::key(&flags.passphrase, Access::Read, purpose, config)?;
    let mut former = super::formers(keys, now);
    former.push(keys.public().clone());
    let present = local::present(&key, (next, &former), store.as_ref(), &catalog, now);
    present.renew().map_err(|error| match error {
        RenewError::Store(store) | RenewError::Grant(GrantError::Store(store)) => anyhow::Error::from(store),
        error => {
            let message = format!("your connections could not be lent to a new key: {error}");
            Failure::new(End::Failed, message, "`pinhole doctor` says what is wrong; no key was changed")
                .into()
        }
    })
}

/// Takes back what was lent to a key that is none after all.
fn forget(never: &PublicKey, desk: &dyn Desk) -> anyhow::Result<()> {
    let lent = GrantFilter { bot: Some(never.id()), ..GrantFilter::default() };
    for grant in desk.grants(&lent)? {
        desk.revoke_grant(grant.member, grant.id)?;
    }
    Ok(())
}

/// Refuses to leave a connection behind that nobody said to leave.
fn all_are_lent(lent: &[Renewal]) -> anyhow::Result<()> {
    let skipped =
        lent.iter().find_map(|renewal| renewal.reads_until.as_ref().err().map(|why| (renewal, why)));
    let Some((renewal, why)) = skipped else { return Ok(()) };
    let (service, label) = (&renewal.connection.service, visible(renewal.connection.label.as_str()));
    let message = format!("{service} {label} could not be lent to a new key, so no key was changed: {why}");
    let hint = "`--manifest FILE --unsigned` knows a manifest of your own; `--leave` changes the key all the same, and the bot does \
                not read there until it is connected anew";
    Err(Failure::new(End::Refused, message, hint).into())
}

/// What waits for her under the key of before would be approved for nothing: it is asked again under the new one.
fn end_questions(
    before: &PublicKey,
    store: &Arc<dyn Desk>,
    now: UnixTime,
    config: &Config,
) -> anyhow::Result<()> {
    let Some(her) = super::member_public(config)? else { return Ok(()) };
    for question in store.questions(Party::Member(her.id()), now)? {
        if question.state != QuestionState::Pending || question.bot != before.id() {
            continue;
        }
        match store.withdraw(Party::Bot(before.id(), question.principal), question.id, now) {
            // Answered at this moment.
            Ok(()) | Err(TakeError::Absent | TakeError::NotApproved(_)) => {}
            Err(TakeError::Store(error)) => return Err(error.into()),
        }
    }
    Ok(())
}

fn said(
    keys: &Ring,
    before: &PublicKey,
    (now, until): (UnixTime, UnixTime),
    lent: &[Renewal],
) -> anyhow::Result<()> {
    let opens = if now < until {
        format!("what was sealed to the one before opens until {}", out::moment(until))
    } else {
        "what was sealed to the one before opens no more".to_owned()
    };
    let mut lines = vec![
        format!("the bot's key is from now on  {}", keys.public()),
        format!("{opens}  {before}"),
        "1. copy `keys/bot.json` to its other hosts, and start anew what runs as it (`pinhole sidecar`, `pinhole mcp`)"
            .to_owned(),
        "2. give the new key to whoever mints grants for it, and to the broker that it asks, by that time"
            .to_owned(),
        "3. what waited for a yes, or had one and was not used, is asked again under the new key".to_owned(),
    ];
    for renewal in lent {
        let (service, label) = (&renewal.connection.service, visible(renewal.connection.label.as_str()));
        lines.push(match &renewal.reads_until {
            Ok(until) => format!("{service} {label}: the new key may read until {}", out::moment(*until)),
            Err(skipped) => format!("{service} {label}: NOT lent to the new key: {skipped}"),
        });
    }
    out::document(lines.join("\n"))
}

pub(super) fn retire(flags: &RetireFlags, config: &Config) -> anyhow::Result<End> {
    let key = super::parse_public(&flags.key)?;
    let Changing { mut keys, file, _lock, .. } = Changing::begin(&flags.database, config)?;
    if key == *keys.public() {
        let message = "this is the bot's present key";
        let hint = "`pinhole keys rotate --grace 0s` gives the bot another and ends this one at once";
        return Err(Failure::new(End::Refused, message, hint).into());
    }
    if !keys.end(key.id()).map_err(not_changed)? {
        out::document("it had ended already: nothing was changed")?;
        return Ok(End::Done);
    }
    write(&file, &keys)?;
    out::document("what was sealed to it opens no more, once what runs as this bot has been started anew")?;
    Ok(End::Done)
}

fn write(file: &Path, keys: &Ring) -> anyhow::Result<()> {
    files::replace_private(file, &keys.to_file()?)
        .with_context(|| format!("`{}` could not be written: no key was changed", file.display()))
}

fn not_changed(error: RingError) -> anyhow::Error {
    let hint = match error {
        RingError::NotFormer => "`pinhole keys show` lists the former keys",
        _ => "make new keys in another `--home`, and have everything minted for them",
    };
    Failure::new(End::Refused, error.to_string(), hint).into()
}
