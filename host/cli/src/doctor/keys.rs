//! The key files: there or not, readable by their owner alone, whole, of the right kind, and going together. No passphrase
//! is asked for: of a protected key only the public half is looked at.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pinhole_grant::{KeyFileError, KeyKind, PublicKey, Ring, SecretKey};

use super::finding::Findings;
use super::modes;
use crate::config::Config;
use crate::{files, keys};

/// What the keys are good for.
pub(super) struct Keys {
    /// Whose connections are looked at.
    pub(super) member: Member,
    /// How her private key is protected, where it is here and whole.
    pub(super) protection: Option<Protection>,
    /// The bot, where its key may be used.
    pub(super) bot: Bot,
    /// The home whose database is the bot's.
    pub(super) home: PathBuf,
}

/// The local member.
pub(super) enum Member {
    /// Her public key.
    There(Box<PublicKey>),
    /// There is none.
    None,
    /// There is one, and what is wrong with her key was said.
    Unusable,
}

/// The local bot.
pub(super) enum Bot {
    /// Its key.
    There(Box<Ring>),
    /// There is no key.
    None,
    /// It has a key that may not be used.
    Unusable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    Passphrase,
    None,
}

/// What is known of a key file.
enum File {
    Absent,
    /// What is wrong was said.
    Unreadable,
    There {
        bytes: Vec<u8>,
        /// Others can get at it, which was said.
        exposed: bool,
    },
}

pub(super) fn look(config: &Config, findings: &mut Findings) -> Keys {
    let private = member(config, findings);
    let public = member_public(config, private.as_ref().map(|(key, _)| key), findings);
    let bot = bot(config, findings);
    let home = keys::bot_home(config).unwrap_or_else(|error| {
        findings.failed(BOT, &error);
        config.home().to_owned()
    });
    if is_another(&home, config.home()) {
        let found = format!("is a link: the database is the one of `{}`", home.display());
        findings.ok(BOT, found);
        super::home::folder("home of the bot's key", &home, "not there", findings);
    }
    broker(config, findings);
    let (key, protection) = private.unzip();
    let there =
        [keys::file(KeyKind::Member, config), keys::public_file(config)].iter().any(|path| path.exists());
    let member = match public.or(key) {
        Some(key) => Member::There(Box::new(key)),
        None if there => Member::Unusable,
        None => Member::None,
    };
    Keys { member, protection, bot, home }
}

const MEMBER: &str = "keys/member.json";
const MEMBER_PUBLIC: &str = "keys/member.pub";
const BOT: &str = "keys/bot.json";
const BROKER: &str = "keys/broker.json";

fn is_another(home: &Path, own: &Path) -> bool {
    match (home.canonicalize(), own.canonicalize()) {
        (Ok(home), Ok(own)) => home != own,
        _ => false,
    }
}

/// The public half of the member's private key.
fn member(config: &Config, findings: &mut Findings) -> Option<(PublicKey, Protection)> {
    let path = keys::file(KeyKind::Member, config);
    let File::There { bytes, exposed } = file(MEMBER, &path, findings) else {
        absent_member(&path, config, findings);
        return None;
    };
    let looked = pinhole_grant::keys::is_protected(&bytes).and_then(|protected| {
        let key = pinhole_grant::keys::public_key(&bytes)?;
        if !protected {
            SecretKey::from_file(&bytes, None)?;
        }
        Ok((key, if protected { Protection::Passphrase } else { Protection::None }))
    });
    match looked {
        Err(error) => unusable(MEMBER, &path, error, findings),
        Ok((key, _)) if key.kind() != KeyKind::Member => other_kind(MEMBER, "member", findings),
        Ok((key, protection)) => {
            if !exposed {
                let how = match protection {
                    Protection::Passphrase => "with a passphrase",
                    Protection::None => "without a passphrase: it permits reads alone",
                };
                findings.ok(MEMBER, format!("the member's key, {how}"));
            }
            return Some((key, protection));
        }
    }
    None
}

fn absent_member(path: &Path, config: &Config, findings: &mut Findings) {
    if path.is_symlink() || path.exists() {
        return;
    }
    if keys::public_file(config).exists() {
        findings.ok(
            MEMBER,
            "not here, and `member.pub` is: nothing can be connected, renewed or approved meanwhile",
        );
    } else {
        findings.ok(MEMBER, "none yet; `pinhole keys new` or `pinhole connect SERVICE` makes it");
    }
}

/// The member whom the bot's side believes.
fn member_public(config: &Config, private: Option<&PublicKey>, findings: &mut Findings) -> Option<PublicKey> {
    let path = keys::public_file(config);
    let File::There { bytes, exposed } = file(MEMBER_PUBLIC, &path, findings) else { return None };
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let key = text.trim_end().parse::<PublicKey>().ok().filter(|key| key.kind() == KeyKind::Member);
    let Some(key) = key else {
        let hint = if private.is_some() {
            "remove the file: it is made anew from the member's key"
        } else {
            "restore it from a copy"
        };
        findings.wrong(MEMBER_PUBLIC, "not a member's public key", hint);
        return None;
    };
    match private {
        Some(private) if *private != key => {
            let hint = format!(
                "restore whichever is not yours from a copy; if `member.json` is, remove `{}`: it is made anew from it",
                path.display()
            );
            findings.wrong(MEMBER_PUBLIC, "the public key of another member than `member.json`", hint);
        }
        _ if exposed => {}
        Some(_) => findings.ok(MEMBER_PUBLIC, "her public key"),
        None => findings.ok(MEMBER_PUBLIC, "a member's public key"),
    }
    Some(key)
}

fn bot(config: &Config, findings: &mut Findings) -> Bot {
    let path = keys::file(KeyKind::Bot, config);
    let (bytes, exposed) = match file(BOT, &path, findings) {
        File::There { bytes, exposed } => (bytes, exposed),
        File::Unreadable => return Bot::Unusable,
        File::Absent => {
            findings.ok(BOT, "none yet; `pinhole keys new` or `pinhole connect SERVICE` makes it");
            return Bot::None;
        }
    };
    match Ring::from_file(&bytes) {
        Err(error) => unusable(BOT, &path, error, findings),
        Ok(key) if key.public().kind() != KeyKind::Bot => other_kind(BOT, "bot", findings),
        Ok(_) if exposed => {}
        Ok(key) => {
            findings.ok(
                BOT,
                match key.former().len() {
                    0 => "the bot's key".to_owned(),
                    1 => "the bot's key, and one that it had before".to_owned(),
                    many => format!("the bot's key, and {many} that it had before"),
                },
            );
            return Bot::There(Box::new(key));
        }
    }
    Bot::Unusable
}

/// Most homes have none, and nothing is said of it.
fn broker(config: &Config, findings: &mut Findings) {
    let path = keys::file(KeyKind::Broker, config);
    let File::There { bytes, exposed } = file(BROKER, &path, findings) else { return };
    match SecretKey::from_file(&bytes, None) {
        Err(error) => unusable(BROKER, &path, error, findings),
        Ok(key) if key.public().kind() != KeyKind::Broker => other_kind(BROKER, "broker", findings),
        Ok(_) if exposed => {}
        Ok(_) => findings.ok(BROKER, "the broker's key"),
    }
}

fn unusable(about: &str, path: &Path, error: KeyFileError, findings: &mut Findings) {
    findings.failed(about, &keys::unusable(path, error).into());
}

fn other_kind(about: &str, wanted: &str, findings: &mut Findings) {
    let hint = "restore the file from a copy, or remove it and make new keys";
    findings.wrong(about, format!("a key, but not a {wanted}'s"), hint);
}

fn file(about: &str, path: &Path, findings: &mut Findings) -> File {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            findings.wrong(
                about,
                "is a link that leads nowhere",
                "bring back what it leads to, or remove it",
            );
            return File::Unreadable;
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return File::Absent;
        }
        Err(error) => {
            let hint = "look at the rights of the folders that lead to it";
            findings.wrong(about, format!("cannot be looked at: {error}"), hint);
            return File::Unreadable;
        }
    };
    if !metadata.is_file() {
        findings.wrong(about, "is not a file", "look at what is in its place");
        return File::Unreadable;
    }
    let after = if about == MEMBER_PUBLIC { "" } else { "; if somebody may have read it, make new keys" };
    let exposed = modes::is_exposed(about, path, &metadata, after, findings);
    match files::read(path) {
        Ok(bytes) => File::There { bytes, exposed },
        Err(error) => {
            findings.failed(about, &error);
            File::Unreadable
        }
    }
}
