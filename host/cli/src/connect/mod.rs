//! `pinhole connect`: a key is pasted, proved on the spot, sealed and kept; the local bot gets its read grant.
//!
//! The key is never shown, here or later. Nothing of a key that is refused is kept. With `--oauth` the person says yes at the
//! service's page instead (`oauth.rs`).

mod broker;
mod flags;
pub(crate) mod oauth;

pub(crate) use flags::OAuthFlags;

use pinhole_grant::{Secret, UnixTime};
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::Executor;
use pinhole_runtime::catalog::Entry;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::local::{
    DEFAULT_LABEL, Keep, KeepError, Kept, OtherAccount, Place, Present, ProveError, Proved,
};
use pinhole_runtime::oauth::Client;
use pinhole_runtime::outcome::Refusal;
use pinhole_runtime::store::{ConnectionError, Desk};
use serde_json::json;

use crate::args::ConnectFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::member::Member;
use crate::{dial, files, keys, local, occasion, out, settings, terminal};

pub(crate) async fn main(flags: ConnectFlags, config: &Config) -> anyhow::Result<End> {
    one_reader_of_stdin(&flags)?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let entry = local::service(&catalog, &flags.service)?;
    let label = local::label(flags.label.as_deref().unwrap_or(DEFAULT_LABEL))?;
    let cap = flags.cap.as_deref().map(access);
    let client = match flags.oauth.broker() {
        Some(url) => dial::client_beside(&flags.dial, &catalog, &broker::address(url)?.host())?,
        None => dial::client(&flags.dial, &catalog)?,
    };
    // Before she is asked for anything.
    let sandbox = settings::sandbox(config)?;
    let way = if let Some(url) = flags.oauth.broker() {
        Way::Broker(Box::new(broker::via(url, &flags.oauth, &flags.dial, &catalog, entry).await?))
    } else if flags.oauth.oauth {
        oauth::endpoints(entry)?;
        Way::Page(Box::new(oauth::client(&flags.oauth)?))
    } else {
        Way::Key(if flags.token_stdin { occasion::token_from_stdin()? } else { asked(entry)? })
    };

    let member = Member::present(
        &flags.passphrase,
        cap.unwrap_or(Access::Read),
        &format!("to keep a key of {}", entry.manifest.name()),
        config,
    )?;
    let bot = keys::bot(config)?;
    let store = occasion::open_store(&bot.home)?;
    let now = store.high_water(SystemClock.now())?;
    let issuers = vec![member.key.public().clone()];
    let executor = occasion::executor(catalog, bot.keys, issuers, client, store.clone(), sandbox);
    let executor = Executor { book: settings::book(&bot.home, config)?, ..executor };
    let (catalog, bot) = (&executor.catalog, executor.bot.public());
    let former = keys::formers(&executor.bot, now);
    let entry = local::service(catalog, &flags.service)?;

    let present = local::present(&member.key, (bot, &former), store.as_ref(), catalog, now);
    // What she is asked for at the service, where nothing else is said: what the connection has.
    let cap_of = |store: &dyn Desk| -> anyhow::Result<Access> {
        let had = store.connection_named(member.key.public().id(), entry.manifest.id(), &label)?;
        Ok(cap.or(had.map(|row| row.cap)).unwrap_or(Access::Read))
    };
    let (proved, renewed) = match way {
        Way::Key(secret) => (present.prove(secret, entry, &executor).await, Renewed::No),
        Way::Page(asks) => {
            let cap = cap_of(store.as_ref())?;
            Box::pin(by_page(&flags, &asks, &present, (entry, cap), &executor)).await?
        }
        Way::Broker(via) => {
            let cap = cap_of(store.as_ref())?;
            let proved = Box::pin(by_broker(&flags, &via, &present, (entry, cap), &executor)).await?;
            (proved, Renewed::No)
        }
    };
    let proved = match proved {
        Ok(proved) => proved,
        Err(ProveError::Refused(refusal)) => return refused(&refusal, flags.json),
        Err(error) => return Err(unproved(&error, entry).into()),
    };
    let member =
        if cap == Some(Access::Write) { member.protected(&flags.passphrase, config)? } else { member };
    let present = local::present(&member.key, (bot, &former), store.as_ref(), catalog, now);
    let unnamed = proved.account().is_none();
    let other_account = if flags.replace { OtherAccount::Goes } else { OtherAccount::Stays };
    let kept = present.keep(proved, Keep { label, cap, other_account }).map_err(not_kept)?;
    local::renew_by_the_way(&present);
    said(&kept, unnamed, &flags)?;
    if let Renewed::Ends(until) = renewed {
        out::note(format_args!(
            "note: nobody here can renew it: connect it anew after {}",
            out::moment(until)
        ));
    }
    Ok(End::Done)
}

/// How the key comes.
enum Way {
    /// She pasted it.
    Key(Secret),
    /// The service gives it, to this client.
    Page(Box<Client>),
    /// The service gives it, to this broker's client.
    Broker(Box<broker::Via>),
}

/// Whether what was connected runs out for good.
enum Renewed {
    No,
    Ends(UnixTime),
}

/// Through the service's page. What is not proved is given up again.
async fn by_page(
    flags: &ConnectFlags,
    client: &Client,
    present: &Present<'_>,
    (entry, cap): (&Entry, Access),
    executor: &Executor,
) -> anyhow::Result<(Result<Proved, ProveError>, Renewed)> {
    let wire = executor.wire.as_ref();
    let obtained = oauth::obtain(&flags.oauth, client, entry, wire, cap).await?;
    let copy = |secret: &Secret| Secret::new(secret.expose().to_owned());
    let access = copy(&obtained.pair.access)?;
    let refresh = obtained.pair.refresh.as_ref().map(copy).transpose()?;
    let renewed = match (&obtained.renewer, obtained.pair.expires_at) {
        (None, Some(until)) => Renewed::Ends(until),
        _ => Renewed::No,
    };
    let proved = present.prove_pair(obtained, entry, executor).await;
    if proved.is_err() {
        let endpoint = oauth::endpoint(client, entry, oauth::endpoints(entry)?, wire);
        oauth::give_up(&endpoint, &access, refresh.as_ref()).await;
    }
    Ok((proved, renewed))
}

/// The same through a broker.
async fn by_broker(
    flags: &ConnectFlags,
    via: &broker::Via,
    present: &Present<'_>,
    (entry, cap): (&Entry, Access),
    executor: &Executor,
) -> anyhow::Result<Result<Proved, ProveError>> {
    let wire = executor.wire.as_ref();
    let obtained = via.obtain(&flags.oauth, entry, present.key, wire, cap).await?;
    let copy = |secret: &Secret| Secret::new(secret.expose().to_owned());
    let access = copy(&obtained.pair.access)?;
    let refresh = obtained.pair.refresh.as_ref().map(copy).transpose()?;
    let proved = present.prove_pair(obtained, entry, executor).await;
    if proved.is_err() {
        via.give_up(entry, present.key, wire, (&access, refresh.as_ref())).await;
    }
    Ok(proved)
}

/// A word of the flags.
pub(crate) fn access(word: &str) -> Access {
    if word == "write" { Access::Write } else { Access::Read }
}

fn one_reader_of_stdin(flags: &ConnectFlags) -> anyhow::Result<()> {
    let dash = |path: &std::path::PathBuf| path.as_os_str() == "-";
    files::one_reader_of_stdin(&[
        ("--token-stdin", flags.token_stdin),
        ("--passphrase-file -", flags.passphrase.passphrase_file.as_ref().is_some_and(dash)),
        ("--manifest -", flags.local.manifest.iter().any(dash)),
        ("--client-secret-file -", flags.oauth.client_secret_file.as_ref().is_some_and(dash)),
        ("--ca-cert -", flags.dial.ca_cert.as_ref().is_some_and(dash)),
    ])
}

/// Says where a key is made, and asks for it at the terminal.
fn asked(entry: &Entry) -> anyhow::Result<Secret> {
    let manifest = &entry.manifest;
    if let Some(pat) = &manifest.auth().pat {
        out::note(visible(&pat.help));
        if let Some(url) = &pat.help_url {
            out::note(format_args!("  {}", url.as_str()));
        }
    }
    let text = terminal::secret(&format!("Key of {} (it is not shown): ", visible(manifest.name())));
    let text = text.map_err(|error| {
        let message = format!("no key: {error}");
        Failure::new(End::Usage, message, "run it at a terminal, or pipe the key in with `--token-stdin`")
    })?;
    Ok(Secret::new(text).map_err(|error| {
        Failure::new(End::Usage, format!("no key: {error}"), "paste the key and nothing else")
    })?)
}

/// The service, or the way to it, said no.
fn refused(refusal: &Refusal, json: bool) -> anyhow::Result<End> {
    if json {
        out::json(&json!({"ok": false, "refusal": refusal}))?;
    } else {
        out::refusal(refusal);
        out::note("  nothing was stored");
    }
    Ok(End::of(refusal))
}

fn unproved(error: &ProveError, entry: &Entry) -> Failure {
    let auth = entry.manifest.auth();
    let url = auth.pat.as_ref().and_then(|pat| pat.help_url.as_ref());
    let hint = match (error, url) {
        (ProveError::Pattern, Some(url)) => {
            let url = url.as_str();
            format!("copy the key again, whole and alone; one is made at {url}. Nothing was sent or stored")
        }
        (ProveError::Pattern, None) => {
            "copy the key again, whole and alone. Nothing was sent or stored".to_owned()
        }
        (ProveError::NoViewer, _) => "name a read op as `auth.viewer` in the manifest".to_owned(),
        _ => "nothing was stored".to_owned(),
    };
    Failure::new(End::Refused, error.to_string(), hint)
}

fn not_kept(error: KeepError) -> anyhow::Error {
    let error = match error {
        KeepError::Connection(ConnectionError::Store(store)) | KeepError::Store(store) => {
            return store.into();
        }
        error => error,
    };
    let hint = match &error {
        KeepError::OtherAccount { .. } => {
            "no connection was changed: give it another `--label`, or say `--replace` to let it take that one's place"
        }
        KeepError::Connection(_) => "something else changed the connections at the same time: try again",
        _ => "no connection was changed",
    };
    Failure::new(End::Refused, error.to_string(), hint).into()
}

fn said(kept: &Kept, unnamed: bool, flags: &ConnectFlags) -> anyhow::Result<()> {
    let row = &kept.connection;
    let place = match kept.place {
        Place::New => "connected",
        Place::Newer => "reconnected",
        Place::InsteadOf(_) => "replaced",
    };
    if flags.json {
        return out::json(&json!({
            "ok": true, "connection": row.id, "service": row.service, "label": row.label, "account": row.account,
            "cap": row.cap, "became": place, "stand_in": row.dial == pinhole_grant::Dial::Overridden,
            "reads_until": kept.reads_until,
        }));
    }
    let (service, label) = (&row.service, visible(row.label.as_str()));
    out::line(format_args!("{place}: {service} {label}, account {}", visible(row.account.as_str())));
    if unnamed {
        out::note("note: the service does not say whose key this is");
    }
    let named = match row.label.as_str() {
        DEFAULT_LABEL => String::new(),
        label => format!(" --label {}", out::shell_word(label)),
    };
    match row.cap {
        Access::Read => out::line(format_args!(
            "bots here may read on it until {}; to let them ask for writes: `pinhole connections cap {service} write{named}`",
            out::moment(kept.reads_until)
        )),
        Access::Write => out::line(format_args!(
            "bots here may read on it until {}, and ask for writes; each waits for your passphrase",
            out::moment(kept.reads_until)
        )),
    }
    out::line(format_args!("`pinhole services {service}` lists what can be run"));
    Ok(())
}
