//! A maintainer's half: a registry begins, gets manifests, changes its keys, is published.

use std::path::{Path, PathBuf};

use pinhole_manifest::visible::visible;
use pinhole_registry::RoleName;
use pinhole_registry::author::{
    Charter, InitError, LockError, OfferFault, OpenError, Progress, PublishError, Published, Reseat,
    RotateError, Seats, ShelveError, Staging, Terms, Workshop,
};
use pinhole_registry::keys::{KeyId, PublicKey, RegistryKey};

use super::args::{AddFlags, ExpiryFlags, InitFlags, PublishFlags, RemoveFlags, RotateFlags};
use super::{failure, now, signing};
use crate::end::{End, Failure};
use crate::{files, out};

/// The folder of a registry.
pub(super) fn opened(folder: &Path) -> anyhow::Result<Workshop> {
    Workshop::open(folder).map_err(|error| {
        let end = if matches!(error, OpenError::Io { .. }) { End::Local } else { End::Usage };
        failure(end, &error, "pass the folder that `pinhole registry init` made")
    })
}

pub(super) fn init(flags: &InitFlags) -> anyhow::Result<End> {
    let terms = terms(flags.expiry)?;
    let (charter, keys) = match &flags.keys {
        Some(folder) => with_new_keys(folder, flags)?,
        None => (with_public_keys(flags)?, Vec::new()),
    };
    let (_, progress) =
        Workshop::init(&flags.folder, &charter, terms, &keys, now()?).map_err(|error| not_begun(&error))?;
    match progress {
        Progress::Published(done) => {
            published(&done);
            out::line(format_args!("`pinhole registry add {}` puts manifests in", flags.folder.display()));
        }
        Progress::Waiting(staged) => {
            out::line("it begins once enough have signed:");
            staged.iter().for_each(signing::waiting);
        }
    }
    Ok(End::Done)
}

pub(super) fn terms(flags: ExpiryFlags) -> anyhow::Result<Terms> {
    let set = Terms::default()
        .with(RoleName::Root, flags.root)
        .and_then(|terms| terms.with(RoleName::Targets, flags.targets))
        .and_then(|terms| terms.with(RoleName::Snapshot, flags.online))
        .and_then(|terms| terms.with(RoleName::Timestamp, flags.online));
    set.map_err(|error| failure(End::Usage, &error, "nothing was begun"))
}

/// Keys in a folder of their own, one for each kind.
fn with_new_keys(folder: &Path, flags: &InitFlags) -> anyhow::Result<(Charter, Vec<RegistryKey>)> {
    let names = ["root", "targets", "online"].map(|name| folder.join(format!("{name}.pem")));
    if let Some(taken) = names.iter().find(|path| path.exists()) {
        let message = format!("`{}` is there already and stays as it is", taken.display());
        return Err(Failure::new(End::Refused, message, "choose another folder for the keys").into());
    }
    files::private_folder(folder)?;
    let passphrase =
        if flags.protect { Some(signing::new_passphrase(&flags.passphrase, folder)?) } else { None };
    let keys = names
        .iter()
        .map(|path| {
            // What signs unattended has nobody to type.
            let passphrase = passphrase.as_ref().filter(|_| !path.ends_with("online.pem"));
            signing::made(path, passphrase)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let [root, targets, online] = keys.as_slice() else {
        return Err(Failure::new(End::Local, "the keys were not made", "try again").into());
    };
    let seat = |key: &RegistryKey| Seats::one(key.public());
    Ok((Charter::new(seat(root), seat(targets), seat(online), seat(online)), keys))
}

fn with_public_keys(flags: &InitFlags) -> anyhow::Result<Charter> {
    let Some(online) = flags.online_key.as_ref().filter(|_| !flags.root_key.is_empty()) else {
        let hint = "pass `--local`, or `--keys DIR` to make keys, or `--root-key`, `--targets-key` and `--online-key`";
        return Err(Failure::new(End::Usage, "it is not said whose keys sign", hint).into());
    };
    let online = public(online)?;
    let root = seats(&flags.root_key, flags.root_threshold)?;
    let targets = seats(&flags.targets_key, flags.targets_threshold)?;
    if root.keys().chain(targets.keys()).any(|key| key.id() == online.id()) {
        let message = "the online key would sign for the root or the manifests too";
        let hint = "make another for it: who steals the key that is online is not to sign manifests";
        return Err(Failure::new(End::Usage, message, hint).into());
    }
    let online = Seats::one(online);
    Ok(Charter::new(root, targets, online.clone(), online))
}

fn seats(files: &[PathBuf], threshold: u64) -> anyhow::Result<Seats> {
    let keys = files.iter().map(|file| public(file)).collect::<anyhow::Result<Vec<_>>>()?;
    Seats::new(keys, threshold).map_err(|error| failure(End::Usage, &error, "nothing was begun"))
}

fn public(file: &Path) -> anyhow::Result<PublicKey> {
    let text = files::read_text(file)?;
    PublicKey::parse(&text).map_err(|error| {
        failure(
            End::Usage,
            &error,
            &format!("`{}`: pass what `pinhole registry key` printed", file.display()),
        )
    })
}

pub(super) fn not_begun(error: &InitError) -> anyhow::Error {
    let end = match error {
        InitError::Taken(_) => End::Refused,
        InitError::Lock(_) | InitError::Clock(_) | InitError::Disk { .. } => End::Local,
        InitError::Publish(publish) => return unpublished(publish),
        _ => End::Invalid,
    };
    failure(end, error, "look at the folder; it can be begun again")
}

pub(super) fn add(flags: &AddFlags) -> anyhow::Result<End> {
    let workshop = opened(&flags.folder)?;
    staged(&workshop.add(&flags.manifests, now()?).map_err(|error| not_staged(&error))?);
    Ok(End::Done)
}

pub(super) fn remove(flags: &RemoveFlags) -> anyhow::Result<End> {
    let workshop = opened(&flags.folder)?;
    let services = [flags.service.clone()];
    staged(&workshop.remove(&services, now()?).map_err(|error| not_staged(&error))?);
    Ok(End::Done)
}

fn staged(staging: &Staging) {
    match staging {
        Staging::Unchanged => out::line("the registry has exactly this already"),
        Staging::Staged(staged) => {
            signing::show(&staged.statement);
            signing::waiting(staged);
        }
    }
}

pub(super) fn not_staged(error: &ShelveError) -> anyhow::Error {
    if let ShelveError::Refused(refused) = error {
        for one in refused {
            out::note(format_args!("{}: {}", visible(&one.folder.display().to_string()), fault(&one.fault)));
        }
    }
    let end = match error {
        ShelveError::Lock(_) | ShelveError::Clock(_) | ShelveError::Disk(_) => End::Local,
        ShelveError::NotHeld(_) => End::Refused,
        _ => End::Invalid,
    };
    failure(end, error, "nothing was put in; `pinhole manifest check` shows every fault of a manifest")
}

fn fault(fault: &OfferFault) -> String {
    match fault {
        OfferFault::Modules(faults) => {
            let each: Vec<String> = faults.iter().map(|fault| visible(&fault.to_string())).collect();
            each.join("; ")
        }
        other => visible(&other.to_string()),
    }
}

pub(super) fn publish(flags: &PublishFlags) -> anyhow::Result<End> {
    let workshop = opened(&flags.folder)?;
    let keys = signing::open_all(&flags.key, &flags.passphrase)?;
    let done = workshop.publish(&keys, now()?).map_err(|error| unpublished(&error))?;
    published(&done);
    out::line(format_args!("`{}` is what hosts fetch", workshop.public().display()));
    Ok(End::Done)
}

pub(super) fn published(done: &Published) {
    if done.statements.is_empty() {
        out::line("nothing is new; that this is the newest state is signed again");
    }
    done.statements.iter().for_each(signing::show);
    out::line(format_args!("published, {} services", done.services));
    for (role, version, expires) in &done.roles {
        out::line(format_args!("  {role} {version}, good until {expires}"));
    }
}

fn unpublished(error: &PublishError) -> anyhow::Error {
    let end = match error {
        PublishError::Below(_) | PublishError::Nothing | PublishError::Reseated(_) => End::Refused,
        PublishError::Lock(_) | PublishError::Clock(_) | PublishError::Disk(_) | PublishError::Untidy(_) => {
            End::Local
        }
        _ => End::Invalid,
    };
    failure(end, error, "what was published before still is; `pinhole registry sign` shows what waits")
}

pub(super) fn rotate(flags: &RotateFlags) -> anyhow::Result<End> {
    let workshop = opened(&flags.folder)?;
    if flags.renew == Some(RoleName::Targets) {
        staged(&workshop.renew_targets(now()?).map_err(|error| not_staged(&error))?);
        return Ok(End::Done);
    }
    if flags.renew.is_some_and(|role| role != RoleName::Root) {
        let message = "snapshot and timestamp are not signed by hand";
        return Err(Failure::new(End::Usage, message, "`pinhole registry publish` signs them anew").into());
    }
    let staged = workshop.rotate(&changes(flags)?, now()?).map_err(|error| unrotated(&error))?;
    for one in &staged {
        signing::show(&one.statement);
        signing::waiting(one);
    }
    Ok(End::Done)
}

fn changes(flags: &RotateFlags) -> anyhow::Result<Vec<Reseat>> {
    let Some(role) = flags.role else { return Ok(Vec::new()) };
    let mut changes = Vec::new();
    for file in &flags.add {
        changes.push(Reseat::Seat(role, public(file)?));
    }
    for text in &flags.remove {
        let id = KeyId::parse(text).ok_or_else(|| {
            let message = format!("`{}` is no key's id", visible(text));
            Failure::new(End::Usage, message, "`pinhole registry verify` lists the keys of each role")
        })?;
        changes.push(Reseat::Unseat(role, id));
    }
    changes.extend(flags.threshold.map(|threshold| Reseat::Threshold(role, threshold)));
    if changes.is_empty() {
        let hint = "say `--add`, `--remove` or `--threshold`, or `--renew root` instead of `--role`";
        return Err(Failure::new(End::Usage, "it is not said what changes", hint).into());
    }
    Ok(changes)
}

fn unrotated(error: &RotateError) -> anyhow::Error {
    let end = match error {
        RotateError::Lock(_) | RotateError::Clock(_) | RotateError::Disk(_) => End::Local,
        RotateError::Unpublished | RotateError::Waiting(_) => End::Refused,
        RotateError::Seated { .. } | RotateError::NotSeated { .. } | RotateError::Seats { .. } => End::Usage,
        _ => End::Invalid,
    };
    failure(end, error, "no root was staged")
}

pub(super) fn discard(folder: &Path) -> anyhow::Result<End> {
    let unlocked = |error: LockError| failure(End::Local, &error, "look at the folder");
    opened(folder)?.discard().map_err(unlocked)?;
    out::line("nothing waits for signatures any more; what is published stays");
    Ok(End::Done)
}
