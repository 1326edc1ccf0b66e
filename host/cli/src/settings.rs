//! `config.toml` in a home: what its operator sets for the modules that run here, for the registries that it trusts, for the
//! members whose grants its sidecar believes, and for a broker.
//!
//! Refuses what is no setting, what cannot be meant, and a file that others than its owner can write, or that is another's than the
//! home is: it could set whatever they like; and a home that others can write. All faults are named at once. Without a file everything is as usual.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pinhole_grant::PublicKey;
use pinhole_registry::client::Consent;
use pinhole_runtime::book::Book;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::receipts::{ArgsKept, CheckpointEvery, ReceiptSettings};
use pinhole_runtime::sandbox::{Sandbox, SandboxSettings};
use toml::{Table, Value};

use crate::config::Config;
use crate::database::{self, DatabaseFlags, StoreSettings};
use crate::end::{End, Failure};
use crate::files;

/// The table of the settings of modules.
const SANDBOX: &str = "sandbox";
/// The table of where the state is.
const STORE: &str = "store";
/// The table of the settings of registries.
const REGISTRY: &str = "registry";
/// The table of the settings of the sidecar.
const SIDECAR: &str = "sidecar";
/// Whose grants it believes.
const ISSUERS: &str = "issuers";
/// The table of the settings of receipts.
const RECEIPTS: &str = "receipts";
/// The table of the settings of research.
const RESEARCH: &str = "research";
/// Takes updates that widen without asking.
const ACCEPT_WIDENING: &str = "accept_widening";

/// The table of the settings of a broker.
const BROKER: &str = "broker";
/// The keys that may ask it.
const ALLOW: &str = "allow";

/// What an operator sets.
#[derive(Debug)]
pub(crate) struct Settings {
    /// For modules.
    pub(crate) sandbox: SandboxSettings,
    /// Where the state is.
    pub(crate) store: StoreSettings,
    /// For receipts.
    pub(crate) receipts: ReceiptSettings,
    /// For research.
    pub(crate) research: Option<ModelSettings>,
    /// For updates from registries that let agents do or see more.
    pub(crate) consent: Consent,
    /// The keys of the members whose grants a sidecar believes.
    pub(crate) issuers: Vec<String>,
    /// Who may ask this host's broker.
    pub(crate) brokered: Vec<PublicKey>,
}

/// Which model answers, and where.
#[derive(Debug, Clone)]
pub(crate) struct ModelSettings {
    /// The URL of its Messages endpoint.
    pub(crate) url: String,
    /// What its host calls it.
    pub(crate) model: String,
    /// The file of the key for its host.
    pub(crate) key_file: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sandbox: SandboxSettings::default(),
            store: StoreSettings::default(),
            receipts: ReceiptSettings::default(),
            research: None,
            consent: Consent::Held,
            issuers: Vec::new(),
            brokered: Vec::new(),
        }
    }
}

/// Where modules run: with the operator's limits, and compiled ones kept in the home.
pub(crate) fn sandbox(config: &Config) -> anyhow::Result<Sandbox> {
    Ok(Sandbox::new(read(&config.file())?.sandbox).with_cache(config.compiled_modules(), SystemEntropy))
}

/// How the receipts of a bot whose key stays are kept, with their checkpoints beside the database of its home too.
pub(crate) fn book(home: &Path, config: &Config) -> anyhow::Result<Book> {
    book_of(home, &DatabaseFlags::default(), config)
}

/// The same of the database that flags name.
pub(crate) fn book_of(home: &Path, flags: &DatabaseFlags, config: &Config) -> anyhow::Result<Book> {
    let file = database::checkpoints(home, flags)?;
    Ok(Book::new(read(&config.file())?.receipts).with_file(file))
}

/// The same of a bot whose key goes with this process.
pub(crate) fn passing_book(config: &Config) -> anyhow::Result<Book> {
    Ok(Book::of_a_passing_key(read(&config.file())?.receipts))
}

/// Where modules are tried out: with the limits that everybody has.
pub(crate) fn bench(config: &Config) -> Sandbox {
    Sandbox::default().with_cache(config.compiled_modules(), SystemEntropy)
}

/// The settings in a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Settings> {
    files::only_ours_to_write(path.parent().unwrap_or(Path::new(".")))?;
    if !is_there(path)? {
        return Ok(Settings::default());
    }
    let text = files::read_text(path)?;
    let table: Table = text.parse().map_err(|error| not_toml(path, &text, &error))?;
    let mut faults = Vec::new();
    let mut settings = Settings::default();
    for (name, value) in &table {
        match value {
            Value::Table(of_modules) if name == SANDBOX => {
                settings.sandbox = of_modules.iter().fold(settings.sandbox, |settings, (name, value)| {
                    set(settings, name, value, &mut faults)
                });
            }
            Value::Table(of_registries) if name == REGISTRY => {
                for (name, value) in of_registries {
                    match (name.as_str(), value) {
                        (ACCEPT_WIDENING, Value::Boolean(true)) => settings.consent = Consent::AcceptWidening,
                        (ACCEPT_WIDENING, Value::Boolean(false)) => {}
                        (ACCEPT_WIDENING, _) => {
                            faults.push(format!("`{REGISTRY}.{name}` is `true` or `false`"));
                        }
                        _ => faults.push(format!("in `[{REGISTRY}]`: there is no setting `{name}`")),
                    }
                }
            }
            Value::Table(of_sidecar) if name == SIDECAR => {
                for (name, value) in of_sidecar {
                    if name == ISSUERS {
                        settings.issuers = issuers(value, &mut faults);
                    } else {
                        faults.push(format!("in `[{SIDECAR}]`: there is no setting `{name}`"));
                    }
                }
            }
            Value::Table(of_broker) if name == BROKER => {
                settings.brokered = brokered(of_broker, &mut faults);
            }
            Value::Table(of_store) if name == STORE => {
                for (name, value) in of_store {
                    set_store(&mut settings.store, name, value, &mut faults);
                }
            }
            Value::Table(of_receipts) if name == RECEIPTS => {
                settings.receipts = of_receipts.iter().fold(settings.receipts, |settings, (name, value)| {
                    set_receipts(settings, name, value, &mut faults)
                });
            }
            Value::Table(of_research) if name == RESEARCH => {
                settings.research = model_of(of_research, &mut faults);
            }
            _ if [SANDBOX, REGISTRY, BROKER, RECEIPTS, RESEARCH, SIDECAR, STORE].contains(&name.as_str()) => {
                faults.push(format!("`{name}` is a table: write `[{name}]`"));
            }
            _ => faults.push(format!("there is no setting `{name}`")),
        }
    }
    if faults.is_empty() {
        return Ok(settings);
    }
    let message = format!("`{}`: {}", path.display(), faults.join("; "));
    let hint = "write `[sandbox]` and below it lines such as `calls = 16`; the operator's guide lists them";
    Err(Failure::new(End::Usage, message, hint).into())
}

fn issuers(value: &Value, faults: &mut Vec<String>) -> Vec<String> {
    let keys = value.as_array().map(|keys| keys.iter().map(|key| key.as_str().map(str::to_owned)));
    keys.and_then(Iterator::collect).unwrap_or_else(|| {
        faults.push(format!("`{SIDECAR}.{ISSUERS}` is a list of keys: write `[\"pin1…\"]`"));
        Vec::new()
    })
}

/// What is set is not repeated: it may have a password in it.
fn set_store(settings: &mut StoreSettings, name: &str, value: &Value, faults: &mut Vec<String>) {
    let Some(text) = value.as_str() else {
        faults.push(format!("`{STORE}.{name}` is a {}: write a text", value.type_str()));
        return;
    };
    match name {
        "database" => settings.database = Some(text.to_owned()),
        "database_file" => settings.database_file = Some(text.into()),
        "database_ca" => settings.database_ca = Some(text.into()),
        _ => faults.push(format!("in `[{STORE}]`: there is no setting `{name}`")),
    }
    if settings.database.is_some() && settings.database_file.is_some() {
        faults.push(format!("`[{STORE}]` has `database` and `database_file`: write one of them"));
    }
}

fn set(settings: SandboxSettings, name: &str, value: &Value, faults: &mut Vec<String>) -> SandboxSettings {
    let Some(number) = value.as_integer() else {
        faults.push(format!("`{SANDBOX}.{name}` is a {}: write a whole number", value.type_str()));
        return settings;
    };
    settings.with(name, number).unwrap_or_else(|error| {
        faults.push(format!("in `[{SANDBOX}]`: {error}"));
        settings
    })
}

/// The keys that may ask this host's broker.
fn brokered(of_broker: &Table, faults: &mut Vec<String>) -> Vec<PublicKey> {
    let mut allowed = Vec::new();
    for (name, value) in of_broker {
        let Value::Array(keys) = value else {
            faults.push(format!("in `[{BROKER}]`: `{name}` is no list of public keys"));
            continue;
        };
        if name != ALLOW {
            faults.push(format!("in `[{BROKER}]`: there is no setting `{name}`"));
        }
        for key in keys {
            match key.as_str().map(str::parse) {
                Some(Ok(key)) => allowed.push(key),
                Some(Err(error)) => faults.push(format!("in `{BROKER}.{ALLOW}`: {error}")),
                None => faults.push(format!("in `{BROKER}.{ALLOW}`: write each key as a text, `\"pin1…\"`")),
            }
        }
    }
    allowed
}

/// Which model answers questions; refuses where nobody said.
pub(crate) fn model(config: &Config) -> anyhow::Result<ModelSettings> {
    read(&config.file())?.research.ok_or_else(|| {
        let message = format!("`{}` names no model", config.file().display());
        let hint =
            "write `[research]` and below it `url`, `model` and `key_file`: see `pinhole research --help`";
        Failure::new(End::Usage, message, hint).into()
    })
}

/// All three, or what is wrong with them.
fn model_of(table: &Table, faults: &mut Vec<String>) -> Option<ModelSettings> {
    let known = ["url", "model", "key_file"];
    for name in table.keys().filter(|name| !known.contains(&name.as_str())) {
        faults.push(format!("in `[{RESEARCH}]`: there is no setting `{name}`"));
    }
    let mut text = |name: &str| {
        let text = table.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text.is_none() {
            faults.push(format!("`{RESEARCH}.{name}` is a text"));
        }
        text.map(str::to_owned)
    };
    let (url, model, key_file) = (text("url"), text("model"), text("key_file"));
    let key_file = key_file.map(PathBuf::from);
    if key_file.as_ref().is_some_and(|path| !path.is_absolute()) {
        faults.push(format!("`{RESEARCH}.key_file` is a path from `/` on"));
    }
    Some(ModelSettings { url: url?, model: model?, key_file: key_file? })
}

fn set_receipts(
    settings: ReceiptSettings,
    name: &str,
    value: &Value,
    faults: &mut Vec<String>,
) -> ReceiptSettings {
    let every = settings.checkpoints;
    let set = match (name, value) {
        ("args", Value::Boolean(true)) => Some(ReceiptSettings { args: ArgsKept::Whole, ..settings }),
        ("args", Value::Boolean(false)) => Some(ReceiptSettings { args: ArgsKept::Digest, ..settings }),
        ("checkpoint_receipts", Value::Integer(count)) => u64::try_from(*count)
            .ok()
            .and_then(|receipts| settings.with_checkpoints(CheckpointEvery { receipts, ..every })),
        ("checkpoint_seconds", Value::Integer(seconds)) => {
            settings.with_checkpoints(CheckpointEvery { seconds: *seconds, ..every })
        }
        _ => None,
    };
    set.unwrap_or_else(|| {
        faults.push(match name {
            "args" => format!("`{RECEIPTS}.{name}` is `true` or `false`"),
            "checkpoint_receipts" => {
                format!("`{RECEIPTS}.{name}` is a whole number from 1 to {}", ReceiptSettings::RECEIPTS_MAX)
            }
            "checkpoint_seconds" => {
                format!("`{RECEIPTS}.{name}` is a whole number from 1 to {}", ReceiptSettings::SECONDS_MAX)
            }
            _ => format!("in `[{RECEIPTS}]`: there is no setting `{name}`"),
        });
        settings
    })
}

fn not_toml(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count().saturating_add(1);
    let message = format!("`{}`, line {line}: {}", path.display(), error.message());
    Failure::new(
        End::Usage,
        message,
        "write it as TOML: `[sandbox]`, and below it lines such as `calls = 16`",
    )
}

fn is_there(path: &Path) -> anyhow::Result<bool> {
    let metadata = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => return Ok(false),
        metadata => metadata,
    };
    let metadata = metadata.map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        Failure::new(End::Usage, message, "look at the path")
    })?;
    if !metadata.is_file() {
        let message = format!("`{}` is not a file", path.display());
        return Err(Failure::new(End::Usage, message, "look at what is in its place").into());
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        if mode & 0o022 != 0 {
            let path = path.display();
            let message = format!("others than its owner can write `{path}` (mode {mode:04o})");
            let hint = format!("look whether what it says is yours, then `chmod go-w {path}`");
            return Err(Failure::new(End::Local, message, hint).into());
        }
        files::not_a_stranger_s(path, &metadata)?;
    }
    Ok(true)
}
