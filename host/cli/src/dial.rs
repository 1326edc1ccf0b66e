//! The client of a command: where it dials, by `--resolve` and `--ca-cert`.
//!
//! Refuses to dial a host elsewhere that nothing here has: whoever names one meant another, and a real key would go to the real
//! service. Known are the hosts of the manifests, with their authorization servers, and the brokers: the one that the command
//! names; those that renew what is stored here, or the grant that is used, as the bot's own grants say. A sidecar's grants come
//! later, and its brokers with them. There a host of no manifest is taken for a broker's only beside one that is a service's: a
//! broker is dialled as its credential is, so that one elsewhere is of use to keys of a service elsewhere alone, and a
//! mistyped host by itself is still refused. That `--ca-cert` is there would not do: it says nothing of the host that was meant.
//! INVARIANT: a key that was connected or minted for the real service is sent to no stand-in, and the other way round, whatever
//! is said here: the runtime holds each credential against how its host is dialled.

use std::collections::BTreeSet;

use pinhole_grant::{Credential, PublicKey, Renewer, Ring};
use pinhole_manifest::ApiHost;
use pinhole_manifest::model::OAuth;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::local::{Standing, Stored};
use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient};
use pinhole_runtime::store::ConnectionRow;

use crate::args::DialFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::{files, out};

const HINT: &str = "`pinhole services` shows each one's host";

/// The client, dialling where the flags say. A host that no manifest has would be dialled by nothing: whoever names one meant
/// another, and her key would go to the real one.
pub(crate) fn client(flags: &DialFlags, catalog: &Catalog) -> anyhow::Result<PinnedClient> {
    let is_known = |host: &ApiHost| has_host(catalog, host);
    client_for(flags, &is_known, "no service here", HINT)
}

/// The same where calls run on what is stored here: the brokers that renew that are known too.
pub(crate) fn client_of_stored(
    flags: &DialFlags,
    catalog: &Catalog,
    config: &Config,
) -> anyhow::Result<PinnedClient> {
    let brokers = if names_others(flags, catalog) { stored_brokers(config) } else { BTreeSet::new() };
    client_of_brokers(flags, catalog, &brokers)
}

/// The same where calls run under this grant.
pub(crate) fn client_of_grant(
    flags: &DialFlags,
    catalog: &Catalog,
    (grant, bot, issuers): (&[u8], &Ring, &[PublicKey]),
) -> anyhow::Result<PinnedClient> {
    let opened = bot.open(grant, issuers, SystemClock.now()).ok();
    let broker = opened.and_then(|opened| broker(opened.grant().credential()));
    client_of_brokers(flags, catalog, &broker.into_iter().collect())
}

fn client_of_brokers(
    flags: &DialFlags,
    catalog: &Catalog,
    brokers: &BTreeSet<ApiHost>,
) -> anyhow::Result<PinnedClient> {
    let is_known = |host: &ApiHost| brokers.contains(host) || has_host(catalog, host);
    client_for(flags, &is_known, "neither a service here nor a broker of what is used", HINT)
}

/// The same where grants come later, and with them the brokers: a host that no service has is taken for a broker's where
/// a service is dialled elsewhere too, and is said.
pub(crate) fn client_of_later_grants(flags: &DialFlags, catalog: &Catalog) -> anyhow::Result<PinnedClient> {
    let dials = flags.resolve.iter().filter_map(|text| DialOverride::parse(text).ok());
    let (services, others): (Vec<_>, Vec<_>) = dials.partition(|dial| has_host(catalog, dial.host()));
    if services.is_empty() {
        return client(flags, catalog);
    }
    let client = client_for(flags, &|_host| true, "nobody", HINT)?;
    for dial in others {
        out::note(format_args!(
            "note: no service here has the host `{}`: it is dialled elsewhere as a broker's, and for nothing else",
            dial.host()
        ));
    }
    Ok(client)
}

fn names_others(flags: &DialFlags, catalog: &Catalog) -> bool {
    let mut dials = flags.resolve.iter().filter_map(|text| DialOverride::parse(text).ok());
    dials.any(|dial| !has_host(catalog, dial.host()))
}

/// The brokers that renew the connections of this machine, as far as the bot's grants of them open. What is wrong with the
/// others is said by what uses them.
fn stored_brokers(config: &Config) -> BTreeSet<ApiHost> {
    let Ok(desktop) = Desktop::open(config) else { return BTreeSet::new() };
    let rows = desktop.store.connections(desktop.member.id()).unwrap_or_default();
    rows.iter().filter_map(|row| broker_of(row, &desktop)).collect()
}

/// The broker that a connection was made through, as far as the bot's grant of it says.
pub(crate) fn broker_of(row: &ConnectionRow, desktop: &Desktop) -> Option<ApiHost> {
    let bot = &desktop.bot.keys;
    let stored = Stored::of(row.clone(), bot.public().id(), &*desktop.store).ok()??;
    let opened = stored.open(bot, std::slice::from_ref(&desktop.member), desktop.now).ok()?;
    let Standing::Open(grant) = opened else { return None };
    broker(grant.grant().credential())
}

fn broker(credential: &Credential) -> Option<ApiHost> {
    match credential.renewer()? {
        Renewer::Broker { url, .. } => Some(url.host()),
        Renewer::Client(_) => None,
    }
}

/// The same where a broker is asked too.
pub(crate) fn client_beside(
    flags: &DialFlags,
    catalog: &Catalog,
    broker: &ApiHost,
) -> anyhow::Result<PinnedClient> {
    let is_known = |host: &ApiHost| host == broker || has_host(catalog, host);
    client_for(flags, &is_known, "neither a service here nor the broker", HINT)
}

/// The same for a broker, which asks the services' authorization servers and nobody else.
pub(crate) fn client_of_providers(flags: &DialFlags, catalog: &Catalog) -> anyhow::Result<PinnedClient> {
    let is_known = |host: &ApiHost| {
        let mut servers = catalog.iter().filter_map(|entry| entry.manifest.auth().oauth.as_ref());
        servers.any(|oauth| is_asked(oauth, host))
    };
    client_for(flags, &is_known, "no service's authorization server", "a manifest's `token_url` names it")
}

fn has_host(catalog: &Catalog, host: &ApiHost) -> bool {
    catalog.iter().any(|entry| {
        let oauth = entry.manifest.auth().oauth.as_ref();
        entry.manifest.host() == host || oauth.is_some_and(|oauth| is_asked(oauth, host))
    })
}

/// Whether a host is one of those that are asked for tokens.
fn is_asked(oauth: &OAuth, host: &ApiHost) -> bool {
    let urls = [Some(&oauth.token_url), oauth.revoke_url.as_ref(), oauth.device_url.as_ref()];
    urls.into_iter().flatten().any(|url| url.host() == *host)
}

/// The same for whatever has hosts here; `nobody` and `hint` say of one that nothing here has.
pub(crate) fn client_for(
    flags: &DialFlags,
    is_known: &dyn Fn(&ApiHost) -> bool,
    nobody: &str,
    hint: &str,
) -> anyhow::Result<PinnedClient> {
    let mut settings = NetSettings::default();
    for text in &flags.resolve {
        let dial = DialOverride::parse(text).map_err(|error| {
            Failure::new(End::Usage, format!("`--resolve {text}`: {error}"), "write HOST:443:ADDR:PORT")
        })?;
        if !is_known(dial.host()) {
            let message = format!("`--resolve {text}`: {nobody} has the host `{}`", dial.host());
            return Err(Failure::new(End::Usage, message, hint).into());
        }
        settings = settings.with_override(dial);
    }
    if let Some(path) = &flags.ca_cert {
        settings = settings.with_ca_pem(&files::read(path)?).map_err(|error| {
            Failure::new(
                End::Usage,
                format!("`{}`: {error}", path.display()),
                "pass a PEM file of CA certificates",
            )
        })?;
    }
    PinnedClient::new(settings).map_err(|error| {
        let hint = "give `--ca-cert` together with `--resolve`, and each host one `--resolve`";
        Failure::new(End::Usage, format!("the client: {error}"), hint).into()
    })
}
