//! Keys of a registry, and what is signed with them: shown in words before a passphrase is asked for.

use std::path::{Path, PathBuf};

use pinhole_registry::author::{CollectError, Sheet, SheetError, SignError, Staged, Statement, Workshop};
use pinhole_registry::keys::{KeyFileError, Passphrase, Protection, PublicKey, RegistryKey};

use super::args::{CollectFlags, KeyFlags, SignFlags};
use super::{failure, maintain};
use crate::args::PassphraseFlags;
use crate::end::{End, Failure};
use crate::{files, member, occasion, out, terminal};

pub(super) fn key(flags: &KeyFlags) -> anyhow::Result<End> {
    let path = &flags.file;
    if let Some(public) = public_half(path) {
        return shown(&public);
    }
    let key = if path.exists() {
        if flags.protect {
            let message = format!("`{}` is there already and stays as it is", path.display());
            return Err(
                Failure::new(End::Refused, message, "without `--protect` its public half is shown").into()
            );
        }
        open(path, &flags.passphrase)?
    } else {
        let passphrase = if flags.protect { Some(new_passphrase(&flags.passphrase, path)?) } else { None };
        made(path, passphrase.as_ref())?
    };
    shown(&key.public())
}

/// A file that has only the half that is passed on.
fn public_half(path: &Path) -> Option<PublicKey> {
    let text = path.exists().then(|| files::read_text(path).ok()).flatten()?;
    PublicKey::parse(&text).ok()
}

/// The half that is passed on, and by which id it goes.
fn shown(public: &PublicKey) -> anyhow::Result<End> {
    out::note(format_args!("its id: {}", public.id()));
    out::document(public)?;
    Ok(End::Done)
}

/// Makes a key in a file that is not there yet.
pub(super) fn made(path: &Path, passphrase: Option<&Passphrase>) -> anyhow::Result<RegistryKey> {
    let key = RegistryKey::generate(&mut occasion::entropy());
    key.write(path, passphrase, &mut occasion::entropy()).map_err(|error| unusable(&error))?;
    out::note(format_args!("made the key `{}`; keep it, and pass on its public half alone", path.display()));
    Ok(key)
}

/// A new passphrase for the keys that are made at `path`.
pub(super) fn new_passphrase(flags: &PassphraseFlags, path: &Path) -> anyhow::Result<Passphrase> {
    out::note(format_args!("a passphrase for `{}`; nobody can recover it, so keep it well", path.display()));
    passphrase(member::new_passphrase_text(flags)?)
}

fn passphrase(text: String) -> anyhow::Result<Passphrase> {
    Passphrase::new(text).map_err(|error| failure(End::Usage, &error, "choose another"))
}

/// Opens a key, with its passphrase where it has one.
pub(super) fn open(path: &Path, flags: &PassphraseFlags) -> anyhow::Result<RegistryKey> {
    let opened = match RegistryKey::protection(path).map_err(|error| unusable(&error))? {
        Protection::None => RegistryKey::read(path, None),
        Protection::Passphrase => {
            let text = match &flags.passphrase_file {
                Some(file) => files::read_text(file)?.trim_end_matches(['\r', '\n']).to_owned(),
                None => terminal::secret(&format!("Passphrase of the key `{}`: ", path.display()))?,
            };
            RegistryKey::read(path, Some(&passphrase(text)?))
        }
    };
    opened.map_err(|error| unusable(&error))
}

/// Opens several.
pub(super) fn open_all(paths: &[PathBuf], flags: &PassphraseFlags) -> anyhow::Result<Vec<RegistryKey>> {
    paths.iter().map(|path| open(path, flags)).collect()
}

fn unusable(error: &KeyFileError) -> anyhow::Error {
    let end = match error {
        KeyFileError::Taken(_) => End::Refused,
        KeyFileError::Open { .. } | KeyFileError::Io { .. } => End::Local,
        _ => End::Invalid,
    };
    failure(end, error, "no key was made or used")
}

pub(super) fn sign(flags: &SignFlags) -> anyhow::Result<End> {
    if flags.place.is_dir() {
        return in_folder(flags);
    }
    let bytes = files::read(&flags.place)?;
    let beside = match &flags.beside {
        Some(folder) => Some(maintain::opened(folder)?),
        None => around(&flags.place),
    };
    let mut sheet = read(&bytes, beside.as_ref())?;
    show(sheet.statement());
    let mut signed = None;
    for path in &flags.key {
        let key = open(path, &flags.passphrase)?;
        let done = sheet.sign(&key).map_err(|error| unsigned(&error))?;
        out::note(format_args!("signed with the key {}", done.key));
        done.standing.iter().for_each(out::note);
        sheet = read(&done.bytes, beside.as_ref())?;
        signed = Some(done.bytes);
    }
    match signed {
        Some(bytes) => {
            files::replace(&flags.place, &bytes)?;
            let next = if beside.is_some() { "" } else { "; send it back" };
            out::line(format_args!("`{}` has the signatures now{next}", flags.place.display()));
        }
        None => out::note("nothing was signed; `--key FILE` signs"),
    }
    Ok(End::Done)
}

/// The registry in whose `staged` a file is.
fn around(file: &Path) -> Option<Workshop> {
    let staged = std::path::absolute(file).ok()?.parent()?.to_owned();
    if !staged.ends_with("staged") {
        return None;
    }
    Workshop::open(staged.parent()?).ok()
}

/// Shows what waits in a registry's folder, and signs it where it is.
fn in_folder(flags: &SignFlags) -> anyhow::Result<End> {
    let workshop = maintain::opened(&flags.place)?;
    let pending = workshop.pending().map_err(|error| failure(End::Invalid, &error, "nothing was signed"))?;
    if pending.is_empty() {
        out::line("nothing waits for signatures");
        return Ok(End::Done);
    }
    for staged in &pending {
        show(&staged.statement);
    }
    if flags.key.is_empty() {
        pending.iter().for_each(waiting);
        out::note("nothing was signed; `--key FILE` signs");
        return Ok(End::Done);
    }
    let keys = open_all(&flags.key, &flags.passphrase)?;
    let pending = workshop
        .sign_staged(&pending, &keys)
        .map_err(|error| failure(End::Invalid, &error, "nothing was published"))?;
    pending.iter().for_each(waiting);
    for key in &keys {
        let id = key.public().id();
        let signed = |staged: &Staged| staged.standing.iter().any(|standing| standing.signed.contains(&id));
        if !pending.iter().any(signed) {
            let message = format!("the key {id} has no say in what waits");
            return Err(Failure::new(End::Refused, message, "sign with one that is listed above").into());
        }
    }
    Ok(End::Done)
}

/// How far a staged file is signed.
pub(super) fn waiting(staged: &Staged) {
    out::line(format_args!("`{}`", staged.file.display()));
    staged.standing.iter().for_each(|standing| out::line(format_args!("  {standing}")));
}

/// What a file says that is to be signed.
pub(super) fn show(statement: &Statement) {
    let Statement { role, version, expires, digest, .. } = statement;
    out::line(format_args!("{role} {version}, good until {expires}, {digest}"));
    for change in &statement.changes {
        out::line(format_args!("  {change}"));
    }
    if statement.changes.is_empty() {
        out::line("  changes nothing but how long it is good for");
    }
}

fn read(bytes: &[u8], beside: Option<&Workshop>) -> anyhow::Result<Sheet> {
    Sheet::read(bytes, beside).map_err(|error| {
        let end = if matches!(error, SheetError::State(_)) { End::Local } else { End::Invalid };
        failure(end, &error, "nothing was signed")
    })
}

fn unsigned(error: &SignError) -> anyhow::Error {
    failure(End::Invalid, error, "nothing was written")
}

pub(super) fn collect(flags: &CollectFlags) -> anyhow::Result<End> {
    let workshop = maintain::opened(&flags.folder)?;
    for file in &flags.files {
        let bytes = files::read(file)?;
        let collected = workshop.collect(&bytes).map_err(|error| {
            let end = match &error {
                CollectError::Lock(_) | CollectError::Disk(_) => End::Local,
                _ => End::Invalid,
            };
            failure(end, &error, &format!("nothing of `{}` was taken", file.display()))
        })?;
        let (added, had) = (collected.added.len(), collected.had.len());
        out::line(format_args!("{}: {added} new signatures, {had} that were there", file.display()));
        collected.standing.iter().for_each(|standing| out::line(format_args!("  {standing}")));
    }
    Ok(End::Done)
}
