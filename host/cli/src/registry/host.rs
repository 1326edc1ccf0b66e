//! A host's half: which registries are trusted, what each gave, what waits for a yes.

use std::path::Path;

use pinhole_manifest::diff::{Comparison, Kind, diff};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Manifest, ServiceId};
use pinhole_registry::client::{
    ConsentError, HeldUpdate, Listed, Location, RegistryName, TrustError, UntrustError, Why,
};
use serde_json::{Value, json};

use super::args::{AcceptFlags, ReplaceFlags, TrustFlags};
use super::{failure, fetch, now, registries, unreadable};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::{files, manifest, out, terminal};

pub(super) fn trust(flags: &TrustFlags, config: &Config) -> anyhow::Result<End> {
    let root = files::read(&flags.root)?;
    let location = location(&flags.place)?;
    let trusting =
        registries(config).trust(&flags.name, location, &root).map_err(|error| untrusted(&error))?;
    let (name, root) = (&flags.name, &trusting.root);
    out::line(format_args!("{name} is trusted by root {}, {}", root.version, root.digest));
    out::line("  compare that digest with what its maintainers say, by another way than the registry");
    for (role, threshold, keys) in &root.thresholds {
        out::line(format_args!("  {role}: {threshold} of {keys} keys sign"));
    }
    out::line(format_args!("`pinhole registry sync {name}` gets its services"));
    Ok(End::Done)
}

/// An address on the web, or a folder here.
fn location(text: &str) -> anyhow::Result<Location> {
    if text.contains("://") {
        fetch::base(text)?;
        return Location::url(text)
            .map_err(|error| failure(End::Usage, &error, "pass the address under which `metadata` is"));
    }
    let folder = std::path::absolute(text)?;
    if !folder.join("metadata").is_dir() {
        let message = format!("`{}` has no folder `metadata`", visible(&folder.display().to_string()));
        return Err(Failure::new(
            End::Usage,
            message,
            "pass an https URL, or the folder `public` of a registry that is on this machine",
        )
        .into());
    }
    folder_location(&folder)
}

pub(super) fn folder_location(folder: &Path) -> anyhow::Result<Location> {
    Location::folder(folder).map_err(|error| failure(End::Usage, &error, "pass it from `/` on"))
}

fn untrusted(error: &TrustError) -> anyhow::Error {
    match error {
        TrustError::Root(_) => failure(
            End::Invalid,
            error,
            "pass the file `N.root.json` as the registry's maintainers gave it to you",
        ),
        TrustError::NameTaken { .. } => failure(End::Refused, error, "nothing was changed"),
        TrustError::State(_) => unreadable(error),
    }
}

pub(super) fn untrust(name: &RegistryName, config: &Config) -> anyhow::Result<End> {
    let gone = registries(config).untrust(name).map_err(|error| match &error {
        UntrustError::Unknown(_) => failure(End::Refused, &error, "nothing was changed"),
        UntrustError::State(_) => unreadable(&error),
    })?;
    out::line(format_args!(
        "{name} is not trusted any more, and what this host has seen and accepted of it is forgotten:"
    ));
    out::line("  trusted again, it begins anew, and nothing of it waits for a yes");
    for service in &gone.services {
        out::line(format_args!("  {service} is not its own any more; connections made under it do not run"));
    }
    Ok(End::Done)
}

pub(super) fn list(as_json: bool, config: &Config) -> anyhow::Result<End> {
    let registries = registries(config);
    let all = registries.list().map_err(|error| unreadable(&error))?;
    let held = registries.held().map_err(|error| unreadable(&error))?;
    let now = now()?;
    if as_json {
        let all: Vec<Value> = all.iter().map(|one| listed_json(one, &held)).collect();
        out::json(&all)?;
        return Ok(End::Done);
    }
    if all.is_empty() {
        out::line("no registry is trusted; `pinhole registry trust` begins with one");
    }
    for one in &all {
        out::line(format_args!("{}  {}", one.name, visible(&one.location.to_string())));
        match &one.synced {
            None => out::line("  never synced"),
            Some((version, seen, expires)) if *expires <= now => out::line(format_args!(
                "  EXPIRED {expires}: its services are refused until `pinhole registry sync {}` (version {version} of {seen})",
                one.name
            )),
            Some((version, seen, expires)) => {
                out::line(format_args!("  version {version}, synced {seen}, good until {expires}"));
            }
        }
        for (service, version, digest) in &one.services {
            out::line(format_args!("  {service}@{version} {digest}"));
        }
        for (service, owner) in &one.refused {
            out::line(format_args!(
                "  {service} is refused: it comes from {owner}; `pinhole registry replace {service} --with {}`",
                one.name
            ));
        }
        for update in held.iter().filter(|update| update.registry == one.name) {
            out::line(format_args!("  {}", waits(update)));
        }
    }
    Ok(End::Done)
}

fn listed_json(one: &Listed, held: &[HeldUpdate]) -> Value {
    let synced = one.synced.as_ref().map(|(version, seen, expires)| {
        json!({"version": version, "seen": seen.to_string(), "expires": expires.to_string()})
    });
    let held = held.iter().filter(|update| update.registry == one.name).map(|update| {
        json!({
            "service": update.service, "from": update.from.to_string(), "to": update.to.to_string(),
            "digest": update.digest, "why": why(update.why),
        })
    });
    json!({
        "name": one.name.as_str(),
        "identity": one.identity.as_str(),
        "location": one.location.to_string(),
        "root": one.pinned,
        "synced": synced,
        "services": one.services.iter().map(|(service, version, digest)| {
            json!({"service": service, "version": version.to_string(), "digest": digest})
        }).collect::<Vec<_>>(),
        "held": held.collect::<Vec<_>>(),
        "refused": one.refused.iter().map(|(service, owner)| {
            json!({"service": service, "owner": owner})
        }).collect::<Vec<_>>(),
    })
}

pub(super) fn why(why: Why) -> &'static str {
    match why {
        Why::Widens => "widens",
        Why::Older => "older_version",
    }
}

fn waits(update: &HeldUpdate) -> String {
    let HeldUpdate { service, from, to, why, digest, .. } = update;
    let because = match why {
        Why::Widens => "lets agents do or see more",
        Why::Older => "is an older version",
    };
    format!(
        "{service} {from} -> {to} waits ({digest}): it {because}; `pinhole registry accept {service}` shows what"
    )
}

pub(super) fn accept(flags: &AcceptFlags, config: &Config) -> anyhow::Result<End> {
    let registries = registries(config);
    let service = &flags.service;
    let held = registries.held().map_err(|error| unreadable(&error))?;
    let waiting: Vec<&HeldUpdate> = held.iter().filter(|update| update.service == *service).collect();
    let update = match (waiting.as_slice(), flags.digest) {
        ([], _) => return Err(unheld(&ConsentError::NothingHeld(service.clone()))),
        ([only], _) => only,
        ([first, others @ ..], Some(digest)) => {
            others.iter().find(|update| update.digest == digest).unwrap_or(first)
        }
        (_, None) => {
            let message = format!("updates of `{service}` from several registries wait");
            return Err(Failure::new(End::Refused, message, "name one with `--digest`").into());
        }
    };
    let digest = match flags.digest {
        Some(digest) => digest,
        None if agreed(update)? => update.digest,
        None => {
            out::note("nothing was changed");
            return Ok(End::Refused);
        }
    };
    let version = registries.accept(service, &digest, now()?).map_err(|error| unheld(&error))?;
    out::line(format_args!("{service} is {version} from now on, {digest}"));
    out::line(
        "  what the bot may read on its connections stays as it was; `pinhole connections renew` renews it",
    );
    Ok(End::Done)
}

/// Shows the update where she is asked, and asks.
fn agreed(update: &HeldUpdate) -> anyhow::Result<bool> {
    if !terminal::is_there() {
        for line in sheet(update)? {
            out::line(line);
        }
        let message =
            format!("there is no terminal to ask at whether the update of `{}` is right", update.service);
        let hint = format!("pass `--digest {}` once you have read it", update.digest);
        return Err(Failure::new(End::Usage, message, hint).into());
    }
    terminal::show(&sheet(update)?)?;
    let answer = terminal::line(&format!("Accept {} {} (yes or no)? ", update.service, update.to))?;
    Ok(answer.trim() == "yes")
}

/// What an update changes, as lines.
fn sheet(update: &HeldUpdate) -> anyhow::Result<Vec<String>> {
    let new = read(&update.offered, &update.service)?;
    let mut lines = vec![format!(
        "{} {} -> {}, from the registry {}, {}",
        update.service, update.from, update.to, update.registry, update.digest
    )];
    match update.accepted.as_deref().map(|bytes| read(bytes, &update.service)).transpose()? {
        Some(old) => {
            let comparison = diff(&old, &new);
            lines.extend(manifest::diff::lines(&comparison));
            lines.extend(new_ops(&comparison, &update.offered)?);
        }
        None => lines
            .push("the manifest that it would replace cannot be read any more: all of it is new".to_owned()),
    }
    Ok(lines)
}

/// The ops that were not there, as the manifest has them: nothing of them has been seen before.
fn new_ops(comparison: &Comparison, offered: &[u8]) -> anyhow::Result<Vec<String>> {
    let manifest: Value = serde_json::from_slice(offered)?;
    let mut lines = Vec::new();
    for change in comparison.changes().iter().filter(|change| change.kind() == Kind::OpAdded) {
        let Some(op) = manifest.pointer(change.pointer()) else { continue };
        lines.push(format!("the whole of {}:", change.pointer()));
        lines.extend(serde_json::to_string_pretty(op)?.lines().map(|line| format!("  {}", visible(line))));
    }
    Ok(lines)
}

fn read(bytes: &[u8], service: &ServiceId) -> anyhow::Result<Manifest> {
    pinhole_manifest::read(bytes).into_result().map_err(|_faults| {
        let message = format!("the manifest of `{service}` does not load with this version of Pinhole");
        Failure::new(End::Invalid, message, "update Pinhole, or `pinhole registry sync`").into()
    })
}

fn unheld(error: &ConsentError) -> anyhow::Error {
    match error {
        ConsentError::State(_) => unreadable(error),
        _ => failure(End::Refused, error, "nothing was changed"),
    }
}

pub(super) fn replace(flags: &ReplaceFlags, config: &Config) -> anyhow::Result<End> {
    let ReplaceFlags { service, registry } = flags;
    let replaced = registries(config).replace(service, registry).map_err(|error| unheld(&error))?;
    match replaced.before {
        Some(before) => out::line(format_args!(
            "{service} comes from {registry} from the next sync on, not from {before}"
        )),
        None => out::line(format_args!("{service} comes from {registry} already")),
    }
    out::line(format_args!(
        "`pinhole registry sync {registry}` takes it over; connections made before must be made anew"
    ));
    Ok(End::Done)
}
