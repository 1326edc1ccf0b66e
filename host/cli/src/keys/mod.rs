//! `pinhole keys`, and the key files that other commands open. Private keys have mode 0600, else they
//! are not used, and never leave their files. A bot's state belongs to its key.

pub(crate) mod rotate;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pinhole_grant::keys::ENDED;
use pinhole_grant::{Former, KeyFileError, KeyKind, Passphrase, PublicKey, Ring, SecretKey, UnixTime};
use pinhole_manifest::visible::visible;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use serde_json::json;

use crate::args::{KeysCommand, PassphraseFlags};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::files::Written;
use crate::member::new_passphrase;
use crate::{files, occasion, out};

pub(crate) fn main(command: KeysCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        KeysCommand::Show { json } => show(json, config),
        KeysCommand::New { passphrase, protect } => new(&passphrase, protect, config),
        KeysCommand::Protect { passphrase } => protect(&passphrase, config),
        KeysCommand::Rotate(flags) => rotate::rotate(&flags, config),
        KeysCommand::Retire(flags) => rotate::retire(&flags, config),
    }
}

fn show(json: bool, config: &Config) -> anyhow::Result<End> {
    let member = match public(KeyKind::Member, config)? {
        None => member_public(config)?,
        here => here,
    };
    let keys = if file(KeyKind::Bot, config).exists() { Some(bot(config)?.keys) } else { None };
    let bot = keys.as_ref().map(|keys| keys.public().clone());
    let former = keys.as_ref().map_or(&[][..], Ring::former);
    let now = SystemClock.now();
    // A broker's is made by the command that is one.
    let broker = public(KeyKind::Broker, config)?;
    if json {
        let text = |key: Option<PublicKey>| key.map(|key| key.to_string());
        let mut shown = json!({"member": text(member), "bot": text(bot)});
        if let (Some(key), Some(object)) = (text(broker), shown.as_object_mut()) {
            object.insert("broker".to_owned(), key.into());
        }
        if let (Some(object), false) = (shown.as_object_mut(), former.is_empty()) {
            let until = |former: &Former| (former.until() != ENDED).then(|| former.until());
            let one = |former: &Former| json!({"key": former.key().public(), "until": until(former), "open": former.is_open(now)});
            object.insert("former".to_owned(), former.iter().map(one).collect());
        }
        out::json(&shown)?;
        return Ok(End::Done);
    }
    for (name, key) in [("member", member), ("bot", bot)] {
        match key {
            Some(key) => out::line(format_args!("{name:<7} {key}")),
            None => out::line(format_args!("{name:<7} none yet (`pinhole keys new` makes it)")),
        }
    }
    for former in former {
        let (key, until) = (former.key().public(), out::moment(former.until()));
        let end = match former.until() {
            ENDED => "ended".to_owned(),
            _ if former.is_open(now) => format!("until {until}"),
            _ => format!("ended {until}"),
        };
        out::line(format_args!("{:<7} {key}  {end}", "former"));
    }
    if let Some(key) = broker {
        out::line(format_args!("{:<7} {key}", "broker"));
    }
    Ok(End::Done)
}

fn new(passphrase: &PassphraseFlags, protect: bool, config: &Config) -> anyhow::Result<End> {
    her_key_is_not_elsewhere(config)?;
    let mut rng = occasion::entropy();
    let wants_passphrase = protect || passphrase.passphrase_file.is_some();
    let mut unprotected = false;
    for kind in [KeyKind::Member, KeyKind::Bot] {
        let path = file(kind, config);
        if path.exists() {
            let place = path.display().to_string();
            out::note(format_args!("`{}` is there already and stays as it is", visible(&place)));
            unprotected |= kind == KeyKind::Member
                && wants_passphrase
                && !pinhole_grant::keys::is_protected(&read(&path)?)
                    .map_err(|error| unusable(&path, error))?;
            continue;
        }
        let key = SecretKey::generate(kind, &mut rng);
        let passphrase = if kind == KeyKind::Member && wants_passphrase {
            Some(new_passphrase(passphrase)?)
        } else {
            None
        };
        write(&key, passphrase.as_ref(), config)?;
    }
    if unprotected {
        let message = "the member's key was there already and has no passphrase";
        return Err(Failure::new(End::Failed, message, "`pinhole keys protect` gives it one").into());
    }
    show(false, config)
}

fn protect(passphrase: &PassphraseFlags, config: &Config) -> anyhow::Result<End> {
    her_key_is_not_elsewhere(config)?;
    let path = file(KeyKind::Member, config);
    let bytes = read(&path)?;
    if pinhole_grant::keys::is_protected(&bytes).map_err(|error| unusable(&path, error))? {
        let hint = "nothing was changed; to change the passphrase, make new keys in another `--home`";
        return Err(Failure::new(End::Failed, "the member's key has a passphrase already", hint).into());
    }
    let key = SecretKey::from_file(&bytes, None).map_err(|error| unusable(&path, error))?;
    protect_with(&key, &new_passphrase(passphrase)?, config)?;
    out::line("the member's key is protected by the passphrase from now on");
    Ok(End::Done)
}

/// Refuses to make a second member where only the private key of the first is missing.
pub(crate) fn her_key_is_not_elsewhere(config: &Config) -> anyhow::Result<()> {
    let path = file(KeyKind::Member, config);
    if path.exists() || !public_file(config).exists() {
        return Ok(());
    }
    let message = format!("the member's key is not here: `{}` is missing", path.display());
    let hint = "bring it back; or remove `member.pub` beside it to begin with a new member";
    Err(Failure::new(End::Local, message, hint).into())
}

/// Puts a passphrase on the member's key.
pub(crate) fn protect_with(key: &SecretKey, passphrase: &Passphrase, config: &Config) -> anyhow::Result<()> {
    let protected = key.to_file(Some(passphrase), &mut occasion::entropy())?;
    files::replace_private(&file(KeyKind::Member, config), &protected)
}

/// Writes a new key where there is none; a member's public half too, into a file of its own.
pub(crate) fn write(
    key: &SecretKey,
    passphrase: Option<&Passphrase>,
    config: &Config,
) -> anyhow::Result<Written> {
    let kind = key.public().kind();
    let file = file(kind, config);
    let written = files::write_private(&file, &key.to_file(passphrase, &mut occasion::entropy())?)?;
    if kind == KeyKind::Member && written == Written::Now {
        publish(key.public(), config)?;
    }
    Ok(written)
}

/// Where the member's public key stands, so that the bot's side need not touch her private one.
pub(crate) fn public_file(config: &Config) -> PathBuf {
    config.keys().join("member.pub")
}

/// Writes the member's public key into its file; refuses where another's stands there.
pub(crate) fn publish(member: &PublicKey, config: &Config) -> anyhow::Result<()> {
    let path = public_file(config);
    if !path.exists() {
        files::write_private(&path, format!("{member}\n").as_bytes())?;
    }
    if member_public(config)?.as_ref() == Some(member) {
        return Ok(());
    }
    let message = format!("`{}` is the public key of another member than her key beside it", path.display());
    let hint = "bring her key back if that is another one; else remove the file: it is made anew";
    Err(Failure::new(End::Local, message, hint).into())
}

/// Where the member's, the bot's or the broker's private key stands.
pub(crate) fn file(kind: KeyKind, config: &Config) -> PathBuf {
    config.keys().join(match kind {
        KeyKind::Member => "member.json",
        KeyKind::Bot => "bot.json",
        KeyKind::Broker => "broker.json",
    })
}

pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    there_is(path)?;
    files::read_private(path)
}

fn there_is(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let message = format!("there is no key in `{}`", path.display());
    Err(Failure::new(End::Usage, message, "make the keys with `pinhole keys new`").into())
}

pub(crate) fn unusable(path: &Path, error: KeyFileError) -> Failure {
    let message = format!("`{}`: {error}", path.display());
    Failure::new(End::Local, message, "restore the file from a copy, or remove it and make new keys")
}

fn public(kind: KeyKind, config: &Config) -> anyhow::Result<Option<PublicKey>> {
    let path = file(kind, config);
    if !path.exists() {
        return Ok(None);
    }
    let key = pinhole_grant::keys::public_key(&files::read_private(&path)?)
        .map_err(|error| unusable(&path, error))?;
    Ok(Some(key))
}

/// The local member's public key, if there is one. Her private key is not opened; where her public one stands in a file of
/// its own, the file of the private one is not even read.
pub(crate) fn member_public(config: &Config) -> anyhow::Result<Option<PublicKey>> {
    let path = public_file(config);
    if !path.exists() {
        return public(KeyKind::Member, config);
    }
    files::only_ours_to_write(&config.keys())?;
    let text = String::from_utf8(files::read_private(&path)?).unwrap_or_default();
    let member = text.trim_end().parse::<PublicKey>().ok().filter(|key| key.kind() == KeyKind::Member);
    let damaged = || {
        let message = format!("`{}` is not a member's public key", path.display());
        Failure::new(End::Local, message, "remove the file: it is made anew from the member's key")
    };
    member.map(Some).ok_or_else(|| damaged().into())
}

/// The local bot, where there is one; else one that has nothing and ends with the process, so that there is one path.
pub(crate) fn bot_or_nobody(config: &Config) -> anyhow::Result<Bot> {
    if file(KeyKind::Bot, config).exists() {
        return bot(config);
    }
    let key = SecretKey::generate(KeyKind::Bot, &mut occasion::entropy());
    Ok(Bot { keys: key.into(), home: config.home().to_owned() })
}

/// The bot that calls run as.
pub(crate) struct Bot {
    /// Its key, and those that it had before.
    pub(crate) keys: Ring,
    /// The home that its key is in, whose database has its spent uses, its revocations and the latest time.
    pub(crate) home: PathBuf,
}

/// The public halves of the keys that a bot had before and that have not ended: what they sign is believed.
pub(crate) fn formers(bot: &Ring, now: UnixTime) -> Vec<PublicKey> {
    let open = bot.former().iter().filter(|former| former.is_open(now));
    open.map(|former| former.key().public().clone()).collect()
}

/// The local bot.
pub(crate) fn bot(config: &Config) -> anyhow::Result<Bot> {
    let path = file(KeyKind::Bot, config);
    there_is(&path)?;
    files::only_ours_to_write(&config.keys())?;
    let path = canonical(&path)?;
    let keys = Ring::from_file(&read(&path)?).map_err(|error| unusable(&path, error))?;
    Ok(Bot { keys, home: home_of(&path)? })
}

/// The broker's key; it is made where there is none.
pub(crate) fn broker(config: &Config) -> anyhow::Result<SecretKey> {
    let path = file(KeyKind::Broker, config);
    if !path.exists() {
        write(&SecretKey::generate(KeyKind::Broker, &mut occasion::entropy()), None, config)?;
    }
    let key = SecretKey::from_file(&read(&path)?, None).map_err(|error| unusable(&path, error))?;
    if key.public().kind() == KeyKind::Broker {
        return Ok(key);
    }
    let message = format!("`{}` is not a broker's key", path.display());
    Err(Failure::new(
        End::Local,
        message,
        "remove the file: a new key is made, which clients must be told of",
    )
    .into())
}

/// The home that the local bot's key is in; this one where there is no bot.
pub(crate) fn bot_home(config: &Config) -> anyhow::Result<PathBuf> {
    let path = file(KeyKind::Bot, config);
    if path.exists() { home_of(&canonical(&path)?) } else { Ok(config.home().to_owned()) }
}

// INVARIANT: the state belongs to the bot's key, wherever the path leads by which it is reached. Another home whose keys
// are links to these forgets no use that is spent and no revocation.
fn home_of(key: &Path) -> anyhow::Result<PathBuf> {
    Ok(key.parent().and_then(Path::parent).context("a key stands in a folder of a home")?.to_owned())
}

fn canonical(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("`{}` cannot be followed", path.display()))
}

/// The members whom the flags name.
pub(crate) fn issuers(texts: &[String]) -> anyhow::Result<Vec<PublicKey>> {
    texts.iter().map(|text| parse_public(text)).collect()
}

/// A public key from its text form.
pub(crate) fn parse_public(text: &str) -> anyhow::Result<PublicKey> {
    text.parse().map_err(|error| {
        let message = format!("`{text}` is not a public key: {error}");
        Failure::new(End::Usage, message, "`pinhole keys show` prints one: `pin1…`").into()
    })
}
