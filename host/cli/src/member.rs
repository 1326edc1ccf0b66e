//! The member: her key opened with her passphrase, and what she is shown before she types it.
//!
//! INVARIANT: what a passphrase is asked for stands at the same place as the prompt. Where it is asked at the terminal, so is
//! what it does, wherever stdout and stderr lead.

use std::path::{Path, PathBuf};

use pinhole_grant::{KeyFileError, KeyKind, Passphrase, SecretKey};
use pinhole_manifest::Access;

use crate::args::PassphraseFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::files::Written;
use crate::{files, keys, occasion, out, terminal};

/// How often a passphrase may be mistyped.
const PASSPHRASE_TRIES: u32 = 3;

/// Shortest new passphrase, in characters: whoever has the file of her key may guess as long as they like.
const PASSPHRASE_CHARS_MIN: usize = 8;

/// The member at this machine, her key open.
pub(crate) struct Member {
    pub(crate) key: SecretKey,
    protection: Protection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    Passphrase,
    None,
}

impl Member {
    /// Opens the member's key; makes it, and the bot's, where there is none. One that is made for writes has a passphrase
    /// from its first moment. `purpose` says what she would open it for.
    pub(crate) fn present(
        flags: &PassphraseFlags,
        cap: Access,
        purpose: &str,
        config: &Config,
    ) -> anyhow::Result<Self> {
        keys::her_key_is_not_elsewhere(config)?;
        if !keys::file(KeyKind::Member, config).exists()
            && let Some(made) = Self::made(flags, cap, config)?
        {
            return made.with_bot(config);
        }
        let file = File::read(config)?;
        let protection = file.protection;
        let key = file.open(flags, purpose)?;
        Self { key, protection }.with_bot(config)
    }

    /// A new member; `None` where somebody else has made one meanwhile.
    fn made(flags: &PassphraseFlags, cap: Access, config: &Config) -> anyhow::Result<Option<Self>> {
        let key = SecretKey::generate(KeyKind::Member, &mut occasion::entropy());
        let passphrase = if cap == Access::Write || flags.passphrase_file.is_some() {
            say_why(flags, cap)?;
            Some(new_passphrase(flags)?)
        } else {
            None
        };
        let protection = if passphrase.is_some() { Protection::Passphrase } else { Protection::None };
        let written = keys::write(&key, passphrase.as_ref(), config)?;
        if written == Written::Now && passphrase.is_some() {
            said_protected();
        }
        Ok((written == Written::Now).then_some(Self { key, protection }))
    }

    /// Sees to it that the key has a passphrase, as it must before a connection may ask for writes.
    pub(crate) fn protected(self, flags: &PassphraseFlags, config: &Config) -> anyhow::Result<Self> {
        if self.protection == Protection::None {
            say_why(flags, Access::Write)?;
            keys::protect_with(&self.key, &new_passphrase(flags)?, config)?;
            said_protected();
        }
        Ok(Self { protection: Protection::Passphrase, ..self })
    }

    /// With a bot on this machine.
    fn with_bot(self, config: &Config) -> anyhow::Result<Self> {
        keys::publish(self.key.public(), config)?;
        if !keys::file(KeyKind::Bot, config).exists() {
            keys::write(&SecretKey::generate(KeyKind::Bot, &mut occasion::entropy()), None, config)?;
        }
        Ok(self)
    }
}

/// The local member's key, opened with her passphrase where it has one. To permit a write it must have one.
pub(crate) fn key(
    flags: &PassphraseFlags,
    permits: Access,
    purpose: &str,
    config: &Config,
) -> anyhow::Result<SecretKey> {
    let file = match permits {
        Access::Read => File::read(config)?,
        Access::Write => File::protected(config)?,
    };
    file.open(flags, purpose)
}

/// Refuses where the member's key could not permit a write: nothing is then shown to her.
pub(crate) fn may_permit_writes(config: &Config) -> anyhow::Result<()> {
    File::protected(config).map(|_file| ())
}

/// Her key opened with this passphrase, for a write; `None` where it does not open it.
pub(crate) fn opened(passphrase: &Passphrase, config: &Config) -> anyhow::Result<Option<SecretKey>> {
    File::protected(config)?.tried(passphrase)
}

/// The file of her key.
struct File {
    path: PathBuf,
    bytes: Vec<u8>,
    protection: Protection,
}

impl File {
    fn read(config: &Config) -> anyhow::Result<Self> {
        keys::her_key_is_not_elsewhere(config)?;
        let path = keys::file(KeyKind::Member, config);
        let bytes = keys::read(&path)?;
        let protected =
            pinhole_grant::keys::is_protected(&bytes).map_err(|error| keys::unusable(&path, error))?;
        let protection = if protected { Protection::Passphrase } else { Protection::None };
        Ok(Self { path, bytes, protection })
    }

    /// The same, refused where it has no passphrase: such a key permits no write.
    fn protected(config: &Config) -> anyhow::Result<Self> {
        let file = Self::read(config)?;
        if file.protection == Protection::Passphrase { Ok(file) } else { Err(unprotected().into()) }
    }

    /// Opens it: where it is protected, with the passphrase of the flags, or with one of those that she tries at the
    /// terminal.
    fn open(&self, flags: &PassphraseFlags, purpose: &str) -> anyhow::Result<SecretKey> {
        if self.protection == Protection::None {
            return SecretKey::from_file(&self.bytes, None)
                .map_err(|error| keys::unusable(&self.path, error).into());
        }
        let tries = if flags.passphrase_file.is_some() { 1 } else { PASSPHRASE_TRIES };
        for _ in 0..tries {
            let given = match &flags.passphrase_file {
                Some(file) => from_file(file)?,
                None => asked(&prompt(purpose))?,
            };
            if given.is_empty() && flags.passphrase_file.is_none() {
                let hint = "nothing was done; type the passphrase of your key, or pass `--passphrase-file`";
                return Err(Failure::new(End::Refused, "no passphrase was given", hint).into());
            }
            if let Some(key) = self.tried(&passphrase(given)?)? {
                return Ok(key);
            }
            if tries > 1 {
                terminal::show(&["the passphrase does not open your key".to_owned()])?;
            }
        }
        Err(Failure::new(End::Refused, "the passphrase does not open the member's key", "try again").into())
    }

    fn tried(&self, passphrase: &Passphrase) -> anyhow::Result<Option<SecretKey>> {
        match SecretKey::from_file(&self.bytes, Some(passphrase)) {
            Ok(key) => Ok(Some(key)),
            Err(KeyFileError::WrongPassphrase) => Ok(None),
            Err(error) => Err(keys::unusable(&self.path, error).into()),
        }
    }
}

/// What the member says where she is asked at the terminal.
pub(crate) enum Word {
    /// Yes, by her passphrase, which has opened her key.
    Yes(Box<SecretKey>),
    /// No.
    No,
    /// Nothing.
    Nothing,
}

/// Asks for the member's passphrase, which is her yes. `no` says no: no passphrase is as short.
pub(crate) fn word(prompt: &str, config: &Config) -> anyhow::Result<Word> {
    let file = File::protected(config)?;
    for _ in 0..PASSPHRASE_TRIES {
        let text = terminal::secret(prompt)?;
        match text.trim() {
            "" => return Ok(Word::Nothing),
            "no" => return Ok(Word::No),
            _ => {}
        }
        if let Some(key) = file.tried(&passphrase(text)?)? {
            return Ok(Word::Yes(Box::new(key)));
        }
        terminal::show(&["the passphrase does not open your key".to_owned()])?;
    }
    Ok(Word::Nothing)
}

/// Shows the member what her passphrase would do, where she is asked for it.
pub(crate) fn tell(flags: &PassphraseFlags, lines: &[String]) -> anyhow::Result<()> {
    if flags.passphrase_file.is_none() {
        return terminal::show(lines).map_err(|error| nobody_to_ask(&error));
    }
    lines.iter().for_each(out::note);
    Ok(())
}

fn say_why(flags: &PassphraseFlags, cap: Access) -> anyhow::Result<()> {
    if cap == Access::Read {
        return Ok(());
    }
    let why = [
        "A connection that may write wants a passphrase on your key: it is your yes to each write, and nobody",
        "else on this machine has it. Bots never need it.",
    ];
    tell(flags, &why.map(str::to_owned))
}

fn said_protected() {
    out::note("your key has this passphrase from now on; nobody can recover it, so keep it well");
}

fn prompt(purpose: &str) -> String {
    format!("Passphrase of your key, {purpose}: ")
}

fn unprotected() -> Failure {
    let message = "the member's key has no passphrase, and without one it permits reads alone";
    let hint = "protect it with `pinhole keys protect`; grants that it has signed stay good";
    Failure::new(End::Refused, message, hint)
}

fn from_file(path: &Path) -> anyhow::Result<String> {
    Ok(files::read_text(path)?.trim_end_matches(['\r', '\n']).to_owned())
}

fn asked(prompt: &str) -> anyhow::Result<String> {
    terminal::secret(prompt).map_err(|error| nobody_to_ask(&error))
}

fn nobody_to_ask(error: &anyhow::Error) -> anyhow::Error {
    let message = format!("no passphrase: {error}");
    Failure::new(End::Usage, message, "run it at a terminal, or pass `--passphrase-file`").into()
}

fn passphrase(text: String) -> anyhow::Result<Passphrase> {
    Passphrase::new(text).map_err(|error| {
        Failure::new(
            End::Usage,
            format!("no passphrase: {error}"),
            "choose one of 8 characters to 1024 bytes",
        )
        .into()
    })
}

fn asked_twice() -> anyhow::Result<String> {
    let first = asked("New passphrase: ")?;
    if asked("Once more: ")? == first {
        return Ok(first);
    }
    Err(Failure::new(End::Usage, "the two passphrases differ", "try again").into())
}

/// A passphrase that is long enough to be one; asked for twice at the terminal.
pub(crate) fn new_passphrase(flags: &PassphraseFlags) -> anyhow::Result<Passphrase> {
    passphrase(new_passphrase_text(flags)?)
}

/// The same as text, for a key of another kind.
pub(crate) fn new_passphrase_text(flags: &PassphraseFlags) -> anyhow::Result<String> {
    let new = if let Some(path) = &flags.passphrase_file { from_file(path)? } else { asked_twice()? };
    if new.trim().chars().count() < PASSPHRASE_CHARS_MIN {
        let message = format!("the passphrase has fewer than {PASSPHRASE_CHARS_MIN} characters");
        return Err(Failure::new(End::Usage, message, "choose a longer one, such as a few words").into());
    }
    Ok(new)
}
