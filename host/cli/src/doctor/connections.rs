//! The connections of the member, the read grants that the bot has of them, the keys that the services should still accept,
//! and the questions that wait.

use std::path::Path;
use std::sync::Arc;

use pinhole_grant::{Dial, OpenError, OpenedGrant, PairDigest, PublicKey, UnixTime};
use pinhole_manifest::Access;
use pinhole_runtime::catalog::{Catalog, Missing};
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::local::{
    Agreed, LocalBot, Skipped, Standing, Stored, UNNAMED_ACCOUNT, ViewError, manifest_of,
};
use pinhole_runtime::net::PinnedClient;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::{
    ConnectionRow, Desk, LineState, Party, QUESTIONS_PENDING_MAX, QuestionState, SqliteStore, StoreError,
    Table,
};

use super::database::{Database, Modes};
use super::finding::Findings;
use super::keys::{Bot, Keys, Member, Protection};
use crate::{occasion, out};

/// How long before its end a read grant is worth a word, in seconds: a week.
const SOON_SECS: i64 = 7 * 24 * 60 * 60;

/// What the connections are held against.
pub(super) struct World {
    pub(super) catalog: Catalog,
    pub(super) client: PinnedClient,
    pub(super) sandbox: Sandbox,
    pub(super) asks: Asks,
}

/// Who is asked whether the keys are still good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Services,
    Nobody,
}

pub(super) async fn look(keys: Keys, database: &Database, world: World, findings: &mut Findings) {
    let Some(store) = database.desk() else {
        if matches!(database, Database::None) {
            return findings.ok("connections", NOTHING);
        }
        let hint = "set right what is said of the database, then look again";
        return findings.warning("connections", "not looked at, for the database cannot be used", hint);
    };
    let member = match keys.member {
        Member::There(member) => member,
        Member::None => return findings.ok("connections", NOTHING),
        Member::Unusable => {
            let hint = "set right what is said of the member's key, then look again";
            return findings.warning(
                "connections",
                "not looked at, for it is not known whose they are",
                hint,
            );
        }
    };
    let seen = store.high_water(SystemClock.now()).map(|now| (now, store.connections(member.id())));
    let (now, rows) = match seen {
        Ok((now, Ok(rows))) => (now, rows),
        Ok((_, Err(error))) | Err(error) => return findings.store("connections", error),
    };
    passphrase(&rows, keys.protection, findings);
    if rows.is_empty() {
        findings.ok("connections", NOTHING);
    } else {
        match keys.bot {
            Bot::There(bot) => {
                let (desk, asks) = asking(database, &store, world.asks, &keys.home, findings);
                let issuers = vec![(*member).clone()];
                let (catalog, client) = (world.catalog, world.client);
                let executor =
                    occasion::executor(catalog, *bot, issuers, client, desk.clone(), world.sandbox);
                let bot = LocalBot { executor, desk, member: member.id(), agreed: Agreed::default() };
                each(&rows, &bot, &*store, asks, now, findings).await;
                if asks == Asks::Services {
                    bot.executor.close().await;
                }
            }
            Bot::None => {
                let found = format!("{} connected, and there is no bot here to use it", rows.len());
                let hint =
                    "bring `keys/bot.json` back; or `pinhole keys new`, then `pinhole connections renew`";
                findings.wrong("connections", found, hint);
            }
            Bot::Unusable => {
                let found =
                    format!("{} connected, not looked at, for the bot's key cannot be used", rows.len());
                findings.warning("connections", found, "set right what is said of it, then look again");
            }
        }
    }
    questions(&*store, &member, now, findings);
}

/// What is asked with. To ask is to run, and a run is written down: where that cannot be, or would change what was only to be
/// looked at, nobody is asked.
fn asking(
    database: &Database,
    store: &Arc<dyn Desk>,
    asks: Asks,
    home: &Path,
    findings: &mut Findings,
) -> (Arc<dyn Desk>, Asks) {
    let looked = || (Arc::clone(store), Asks::Nobody);
    let Database::There(local, modes) = database else { return (Arc::clone(store), asks) };
    if asks == Asks::Nobody {
        return looked();
    }
    let (found, hint) = match (modes, local.is_current()) {
        (Modes::Exposed, _) => (
            "no service was asked, for others can get at the database",
            "set its modes right, then look again",
        ),
        (Modes::Ours, Ok(false)) => (
            "no service was asked, for the database is of an earlier version",
            "any run on it brings it up to date",
        ),
        (Modes::Ours, Err(error)) => {
            findings.store("database", error);
            return looked();
        }
        (Modes::Ours, Ok(true)) => match SqliteStore::open_home(home) {
            Ok(desk) => return (Arc::new(desk), asks),
            Err(error) => {
                findings.store("database", error);
                return looked();
            }
        },
    };
    findings.warning("keys of services", found, hint);
    looked()
}

const NOTHING: &str = "nothing is connected; `pinhole connect SERVICE` begins";

/// A key without a passphrase permits no write, and what may ask for writes was to have one.
fn passphrase(rows: &[ConnectionRow], protection: Option<Protection>, findings: &mut Findings) {
    let writes = rows.iter().filter(|row| row.cap == Access::Write).count();
    if writes > 0 && protection == Some(Protection::None) {
        let found = format!("no passphrase, and bots may ask for writes on {writes} of the connections");
        findings.wrong("passphrase", found, "`pinhole keys protect`");
    }
}

async fn each(
    rows: &[ConnectionRow],
    bot: &LocalBot,
    store: &dyn Desk,
    asks: Asks,
    now: UnixTime,
    findings: &mut Findings,
) {
    for row in rows {
        let about = format!("{} {}", row.service, row.label);
        match is_usable(row, &about, bot, store, now, findings) {
            Ok(true) if asks == Asks::Services => view(row, &about, bot, findings).await,
            Ok(_) => {}
            Err(error @ StoreError::Tampered { table: Table::Connections, .. }) => {
                let hint = format!("`pinhole connections remove {}`, then `{}`", row.id, connect(row));
                findings.wrong(format!("connection {about}"), error, hint);
            }
            Err(error @ StoreError::Tampered { table: Table::Grants, .. }) => {
                findings.wrong(format!("connection {about}"), error, RENEW);
            }
            Err(error) => findings.store(format!("connection {about}"), error),
        }
    }
}

/// Whether the line of a grant's pair has ended.
fn has_ended(opened: &OpenedGrant, bot: &LocalBot, store: &dyn Desk) -> Result<bool, StoreError> {
    let grant = opened.grant();
    let digest = PairDigest::of(bot.executor.bot.root(), grant.issuer(), grant.credential());
    let line = digest.map(|digest| store.line(&digest)).transpose()?.flatten();
    Ok(line.is_some_and(|line| line.state == LineState::Dead))
}

/// Whether the bot can read on a connection, as far as this machine knows.
fn is_usable(
    row: &ConnectionRow,
    name: &str,
    bot: &LocalBot,
    store: &dyn Desk,
    now: UnixTime,
    findings: &mut Findings,
) -> Result<bool, StoreError> {
    let about = format!("connection {name}");
    let Some(stored) = Stored::of(row.clone(), bot.executor.bot.public().id(), store)? else {
        findings.wrong(about, "this machine's bot has no read grant of it", RENEW);
        return Ok(false);
    };
    let opened = match stored.open(&bot.executor.bot, &bot.executor.issuers, now)? {
        Standing::Open(opened) => opened,
        Standing::Refused(error) => {
            not_open(about, &stored, error, findings);
            return Ok(false);
        }
    };
    if store.is_revoked(&stored.grant.id)? {
        findings.wrong(about, "the bot's read grant of it was revoked", RENEW);
        return Ok(false);
    }
    let entry = match manifest_of(&bot.executor.catalog, opened.grant().credential()) {
        Ok(entry) => entry,
        Err(Skipped::Missing(missing)) => {
            let hint = match missing {
                Missing::Unknown => {
                    "pass its manifest with `--manifest FILE --unsigned`, here and to whatever runs on it"
                }
                Missing::Invalid => "`pinhole registry sync` gets what its registry signs now",
            };
            findings.warning(about, Skipped::Missing(missing), hint);
            return Ok(false);
        }
        Err(changed) => {
            let hint = format!("look at why that changed, then `{}`", connect(row));
            findings.wrong(about, changed, hint);
            return Ok(false);
        }
    };
    if has_ended(&opened, bot, store)? {
        let found = "its tokens are good for nothing any more: the service takes none of them, or nobody knows whether it would";
        findings.wrong(about, found, format!("`pinhole connect {} --oauth`", row.service));
        return Ok(false);
    }
    let until = stored.grant.expires_at;
    let (soon, changed) =
        (until < now.plus_secs(SOON_SECS), opened.grant().manifest() != entry.manifest.digest());
    if soon {
        findings.warning(about.clone(), format!("bots may read only until {}", out::moment(until)), RENEW);
    }
    if changed {
        let found = "the bot's read grant is of an earlier manifest: writes are not asked for, and reads may be refused";
        findings.warning(about.clone(), found, RENEW);
    }
    if !soon && !changed {
        let stand_in = if row.dial == Dial::Overridden { ", for a stand-in" } else { "" };
        let (account, cap, until) = (&row.account, row.cap.as_str(), out::moment(until));
        findings.ok(about, format!("account {account}, cap {cap}, reads until {until}{stand_in}"));
    }
    Ok(true)
}

const RENEW: &str = "`pinhole connections renew`";

fn connect(row: &ConnectionRow) -> String {
    format!("pinhole connect {} --label {}", row.service, out::shell_word(row.label.as_str()))
}

fn not_open(about: String, stored: &Stored, error: OpenError, findings: &mut Findings) {
    match error {
        OpenError::Expired => {
            let found =
                format!("the bot's read grant of it expired {}", out::moment(stored.grant.expires_at));
            findings.wrong(about, found, format!("{RENEW}, once the clock is right"));
        }
        OpenError::NotYetValid => {
            findings.wrong(about, "the bot's read grant of it is not valid yet", "set the clock right");
        }
        error => {
            let hint = format!("`{}` makes it anew", connect(&stored.connection));
            findings.wrong(about, error, hint);
        }
    }
}

/// Runs the viewer: the whole way of a read, under the stored grant.
async fn view(row: &ConnectionRow, name: &str, bot: &LocalBot, findings: &mut Findings) {
    let about = format!("key of {name}");
    let recorded = &row.account;
    match bot.view(row).await {
        Ok(Some(account)) if account == *recorded => {
            findings.ok(about, format!("the service accepts it, for {account}"));
        }
        Ok(None) if recorded.as_str() == UNNAMED_ACCOUNT => findings.ok(about, "the service accepts it"),
        Ok(None) => {
            let found = format!("the service accepts it, and no longer says that it is {recorded}'s");
            findings.warning(about, found, format!("`{}` connects it anew", connect(row)));
        }
        Ok(Some(account)) => {
            let found =
                format!("the service says that it is {account}'s, and it was connected as {recorded}'s");
            let hint = format!("if {account} is whom you mean, `{} --replace`; else remove it", connect(row));
            findings.wrong(about, found, hint);
        }
        Err(ViewError::Refused(refusal)) if refusal.code == Code::DialMismatch => {
            let found = match row.dial {
                Dial::Overridden => "not asked: it is for a stand-in, and none is dialled",
                Dial::Real => "not asked: it is for the real service, and a stand-in is dialled",
            };
            findings.warning(about, found, refusal.hint);
        }
        Err(ViewError::Refused(refusal)) => findings.refused(about, *refusal),
        Err(error) => findings.ok(about, format!("not asked: {error}")),
    }
}

fn questions(store: &dyn Desk, member: &PublicKey, now: UnixTime, findings: &mut Findings) {
    let waiting = match store.questions(Party::Member(member.id()), now) {
        Err(error) => return findings.store("questions", error),
        Ok(all) => all.iter().filter(|question| question.state == QuestionState::Pending).count(),
    };
    match u32::try_from(waiting).unwrap_or(u32::MAX) {
        0 => findings.ok("questions", "none waits for an answer"),
        waiting if waiting < QUESTIONS_PENDING_MAX => {
            findings.ok("questions", format!("{waiting} waiting for an answer: `pinhole approvals list`"));
        }
        waiting => {
            let found = format!("{waiting} waiting for an answer, and a bot may ask no more than that");
            findings.warning("questions", found, "`pinhole approvals list`, and answer some");
        }
    }
}
