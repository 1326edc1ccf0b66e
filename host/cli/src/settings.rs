//! `config.toml` in a home: what its operator sets for the modules that run here and for the registries that it trusts.
//!
//! Refuses what is no setting, what cannot be meant, and a file that others than its owner can write: it could set
//! whatever they like. All faults are named at once. Without a file everything is as usual.

use std::io::ErrorKind;
use std::path::Path;

use pinhole_registry::client::Consent;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::sandbox::{Sandbox, SandboxSettings};
use toml::{Table, Value};

use crate::config::Config;
use crate::database::StoreSettings;
use crate::end::{End, Failure};
use crate::files;

/// The table of the settings of modules.
const SANDBOX: &str = "sandbox";
/// The table of where the state is.
const STORE: &str = "store";
/// The table of the settings of registries.
const REGISTRY: &str = "registry";
/// Takes updates that widen without asking.
const ACCEPT_WIDENING: &str = "accept_widening";

/// What an operator sets.
#[derive(Debug)]
pub(crate) struct Settings {
    /// For modules.
    pub(crate) sandbox: SandboxSettings,
    /// Where the state is.
    pub(crate) store: StoreSettings,
    /// For updates from registries that let agents do or see more.
    pub(crate) consent: Consent,
}

impl Default for Settings {
    fn default() -> Self {
        let (sandbox, store) = (SandboxSettings::default(), StoreSettings::default());
        Self { sandbox, store, consent: Consent::Held }
    }
}

/// Where modules run: with the operator's limits, and compiled ones kept in the home.
pub(crate) fn sandbox(config: &Config) -> anyhow::Result<Sandbox> {
    Ok(Sandbox::new(read(&config.file())?.sandbox).with_cache(config.compiled_modules(), SystemEntropy))
}

/// Where modules are tried out: with the limits that everybody has.
pub(crate) fn bench(config: &Config) -> Sandbox {
    Sandbox::default().with_cache(config.compiled_modules(), SystemEntropy)
}

/// The settings in a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Settings> {
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
            Value::Table(of_store) if name == STORE => {
                for (name, value) in of_store {
                    set_store(&mut settings.store, name, value, &mut faults);
                }
            }
            _ if [SANDBOX, REGISTRY, STORE].contains(&name.as_str()) => {
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
    }
    Ok(true)
}
