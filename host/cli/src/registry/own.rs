//! `pinhole registry init --local`: a registry of one's own, made, signed, published and trusted in one go.

use std::path::Path;

use pinhole_registry::author::{Charter, Progress, Seats, Workshop};
use pinhole_registry::client::{Listed, Registries, RegistryName};

use super::args::{InitFlags, SyncFlags};
use super::{failure, host, maintain, now, registries, signing, sync};
use crate::args::DialFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::{files, out};

pub(super) async fn begin(flags: InitFlags, config: &Config) -> anyhow::Result<End> {
    let name = name(&flags)?;
    let registries = registries(config);
    free(&name, &registries)?;
    nothing_there(&flags.folder)?;
    for manifest in &flags.manifests {
        loads(manifest)?;
    }
    let terms = maintain::terms(flags.expiry)?;
    let keys = flags.folder.join("keys");
    files::private_folder(&keys)?;
    let key = signing::made(&keys.join("local.pem"), None)?;
    let seat = || Seats::one(key.public());
    let charter = Charter::new(seat(), seat(), seat(), seat());
    let keys = [key];
    let (workshop, progress) = Workshop::init(&flags.folder, &charter, terms, &keys, now()?)
        .map_err(|error| maintain::not_begun(&error))?;
    if let Progress::Waiting(_) = progress {
        return Err(
            Failure::new(End::Local, "it was not published", "remove the folder and try again").into()
        );
    }
    if !flags.manifests.is_empty() {
        workshop.add(&flags.manifests, now()?).map_err(|error| maintain::not_staged(&error))?;
        let done = workshop.sign_and_publish(&keys, now()?).map_err(|error| maintain::not_begun(&error))?;
        if let Progress::Published(done) = done {
            maintain::published(&done);
        }
    }
    let public = std::path::absolute(workshop.public())?;
    let root = files::read(&public.join("metadata/1.root.json"))?;
    registries.trust(&name, host::folder_location(&public)?, &root).map_err(|error| {
        failure(End::Local, &error, "the registry is there; `pinhole registry trust` trusts it")
    })?;
    out::line(format_args!("this host trusts it as {name}"));
    let end = sync::main(&only(&name), config).await?;
    out::line(format_args!(
        "after a change: `pinhole registry add {0} FOLDER`, `pinhole registry publish {0} --key {0}/keys/local.pem`, `pinhole registry sync {name}`",
        flags.folder.display()
    ));
    Ok(end)
}

fn name(flags: &InitFlags) -> anyhow::Result<RegistryName> {
    if let Some(name) = &flags.name {
        return Ok(name.clone());
    }
    let folder = flags.folder.file_name().map(|name| name.to_string_lossy().to_lowercase());
    RegistryName::parse(&folder.unwrap_or_default())
        .map_err(|error| failure(End::Usage, &error, "say what this host is to call it, with `--name NAME`"))
}

/// No key is made in the folder of a registry that is there: it may be in a repository.
fn nothing_there(folder: &Path) -> anyhow::Result<()> {
    if Workshop::open(folder).is_ok() {
        let message = format!("`{}` is a registry's folder already, and stays as it is", folder.display());
        return Err(Failure::new(End::Refused, message, "choose another").into());
    }
    Ok(())
}

/// Nothing is made either for a manifest that could not be put in.
fn loads(folder: &Path) -> anyhow::Result<()> {
    let bytes = files::read(&folder.join("manifest.json"))?;
    pinhole_manifest::read(&bytes).into_result().map(drop).map_err(|_faults| {
        let message = format!("the manifest in `{}` does not load, so nothing was made", folder.display());
        let hint = format!("`pinhole manifest check {}` says why", folder.display());
        Failure::new(End::Invalid, message, hint).into()
    })
}

/// Nothing is made under a name that another registry has here.
fn free(name: &RegistryName, registries: &Registries) -> anyhow::Result<()> {
    let all =
        registries.list().map_err(|error| failure(End::Local, &error, "look at the home's `registries`"))?;
    if all.iter().any(|one: &Listed| one.name == *name) {
        let message = format!("this host trusts another registry as `{name}`");
        return Err(Failure::new(End::Refused, message, "say another `--name NAME`").into());
    }
    Ok(())
}

fn only(name: &RegistryName) -> SyncFlags {
    let dial = DialFlags { resolve: Vec::new(), ca_cert: None };
    SyncFlags { name: Some(name.clone()), accept_widening: false, json: false, dial }
}
