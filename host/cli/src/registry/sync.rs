//! `pinhole registry sync`: what the trusted registries have signed since.

use pinhole_manifest::diff::diff;
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Manifest, ServiceId};
use pinhole_registry::client::{
    Consent, FetchError, Happened, Listed, Location, Refused, Registries, SyncError, Synced, Terms, Unfit,
    Verdict, Why,
};
use pinhole_runtime::catalog::BuiltIn;
use pinhole_runtime::net::PinnedClient;
use serde_json::{Value, json};

use super::args::SyncFlags;
use super::{failure, fetch, host, now, registries, unreadable};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::{dial, out, settings};

pub(super) async fn main(flags: &SyncFlags, config: &Config) -> anyhow::Result<End> {
    let registries = registries(config);
    let mut all = registries.list().map_err(|error| unreadable(&error))?;
    if let Some(name) = &flags.name {
        all.retain(|one| one.name == *name);
    }
    if all.is_empty() {
        let message = match &flags.name {
            Some(name) => format!("no registry `{name}` is trusted"),
            None => "no registry is trusted".to_owned(),
        };
        return Err(Failure::new(End::Refused, message, "`pinhole registry trust` begins with one").into());
    }
    let consent = match settings::read(&config.file())?.consent {
        Consent::Held if flags.accept_widening => Consent::AcceptWidening,
        set => set,
    };
    let client = client(flags, &all)?;
    let mut end = End::Done;
    let mut documents = Vec::new();
    for one in &all {
        let synced = sync(&registries, one, &client, consent).await;
        match &synced {
            Err(error) => end = out::explained(error).2,
            // It goes on with what it has, and somebody should know.
            Ok(synced) if end == End::Done && synced.services.iter().any(is_unfit) => end = End::Failed,
            Ok(_) => {}
        }
        if flags.json {
            documents.push(document(one, &synced));
        } else {
            show(one, synced);
        }
    }
    if flags.json {
        out::json(&documents)?;
    }
    Ok(end)
}

/// The guarded client, which dials elsewhere what the flags say: registries' hosts alone.
fn client(flags: &SyncFlags, all: &[Listed]) -> anyhow::Result<PinnedClient> {
    let mut hosts = Vec::new();
    for one in all {
        if let Location::Url(url) = &one.location {
            hosts.push(fetch::base(url.as_str())?.host().clone());
        }
    }
    let is_known = |host: &_| hosts.contains(host);
    dial::client_for(
        &flags.dial,
        &is_known,
        "no registry here",
        "`pinhole registry list` shows each one's place",
    )
}

async fn sync(
    registries: &Registries,
    one: &Listed,
    client: &PinnedClient,
    consent: Consent,
) -> anyhow::Result<Synced> {
    let fetch = fetch::of(&one.location, client)?;
    let owner = |service: &ServiceId| BuiltIn::of(service.as_str()).map(|_built_in| "the binary".to_owned());
    let terms = Terms { owner: &owner, judge: &judge, now: now()?, consent };
    let syncing = registries.sync(&one.name, &*fetch, terms);
    let Ok(synced) = tokio::time::timeout(fetch::SYNC_TIME, syncing).await else {
        let message = format!("the registry `{}` took more than {} s", one.name, fetch::SYNC_TIME.as_secs());
        let hint = "this host goes on with what it has; try again, or ask the registry's maintainers";
        return Err(Failure::new(End::Failed, message, hint).into());
    };
    synced.map_err(|error| match &error {
        SyncError::Unknown(_) => {
            failure(End::Refused, &error, "`pinhole registry list` shows those that are")
        }
        SyncError::Refused { source: Refused::NotFetched { source: FetchError::Failed(_), .. }, .. } => failure(
            End::Failed,
            &error,
            "it could not be asked, which says nothing of what it offers: look at the network, and at its address",
        ),
        SyncError::Refused { .. } => failure(
            End::Invalid,
            &error,
            "this host goes on with what it has, until that expires; ask the registry's maintainers",
        ),
        SyncError::State(_) => unreadable(&error),
    })
}

/// Whatever is not proven to be narrower widens.
fn judge(old: &Manifest, new: &Manifest) -> Verdict {
    if diff(old, new).widens() { Verdict::Widens } else { Verdict::Narrower }
}

fn is_unfit((_, happened): &(ServiceId, Happened)) -> bool {
    matches!(happened, Happened::Unfit(_))
}

/// What came of one registry, for people.
fn show(one: &Listed, synced: anyhow::Result<Synced>) {
    let synced = match synced {
        Ok(synced) => synced,
        Err(error) => {
            let (message, hint, _end) = out::explained(&error);
            out::note(format_args!("{}: {message}\n  {hint}", one.name));
            return;
        }
    };
    out::line(format_args!("{}: version {}, good until {}", one.name, synced.targets, synced.expires));
    for (service, happened) in &synced.services {
        out::line(format_args!("  {service}{}", said(one, service, happened)));
    }
}

fn said(one: &Listed, service: &ServiceId, happened: &Happened) -> String {
    match happened {
        Happened::Added { version, .. } => format!("@{version} is new here"),
        Happened::Unchanged => " is as it was".to_owned(),
        Happened::Updated { from, to, .. } => format!(" {from} -> {to}"),
        Happened::Held { why, from, to, .. } => {
            let because = match why {
                Why::Widens => "it would let agents do or see more",
                Why::Older => "it is an older version",
            };
            format!(" {from} -> {to} waits, for {because}: `pinhole registry accept {service}`")
        }
        Happened::Removed => " has left the registry, and is gone here too".to_owned(),
        Happened::OwnedBy(owner) => {
            let (owner, name) = (visible(owner), &one.name);
            format!(
                " is refused, for it comes from {owner}: `pinhole registry replace {service} --with {name}`"
            )
        }
        Happened::Unfit(unfit) => {
            let stays = if one.services.iter().any(|(known, _, _)| known == service) {
                "stays as it was"
            } else {
                "is left out"
            };
            let first = match unfit {
                Unfit::Manifest(faults) => {
                    faults.first().map(|fault| format!(": {fault}")).unwrap_or_default()
                }
                _ => String::new(),
            };
            format!(" {stays}: {}", visible(&format!("{unfit}{first}")))
        }
    }
}

fn document(one: &Listed, synced: &anyhow::Result<Synced>) -> Value {
    let name = one.name.as_str();
    match synced {
        Ok(synced) => json!({
            "name": name,
            "ok": true,
            "version": synced.targets,
            "root": synced.root,
            "expires": synced.expires.to_string(),
            "services": synced.services.iter().map(|(service, happened)| entry(service, happened)).collect::<Vec<_>>(),
        }),
        Err(error) => {
            let (message, hint, _end) = out::explained(error);
            json!({"name": name, "ok": false, "message": message, "hint": hint})
        }
    }
}

fn entry(service: &ServiceId, happened: &Happened) -> Value {
    match happened {
        Happened::Added { version, digest } => {
            json!({"service": service, "happened": "added", "to": version.to_string(), "digest": digest})
        }
        Happened::Unchanged => json!({"service": service, "happened": "unchanged"}),
        Happened::Updated { from, to, digest } => json!({
            "service": service, "happened": "updated", "from": from.to_string(), "to": to.to_string(),
            "digest": digest,
        }),
        Happened::Held { why, from, to, digest } => json!({
            "service": service, "happened": "held", "from": from.to_string(), "to": to.to_string(),
            "digest": digest, "why": host::why(*why),
        }),
        Happened::Removed => json!({"service": service, "happened": "removed"}),
        Happened::OwnedBy(owner) => json!({"service": service, "happened": "refused", "owner": owner}),
        Happened::Unfit(unfit) => {
            json!({"service": service, "happened": "unfit", "why": unfit.to_string()})
        }
    }
}
