//! Where things are on this machine. The only reader of the environment.
//!
//! INVARIANT: nothing that weakens a check is read here: dialling elsewhere, another CA, unsigned manifests are flags.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracing_subscriber::filter::LevelFilter;
use zeroize::Zeroizing;

use crate::args::Global;
use crate::end::{End, Failure};

/// Folders and the level of the log.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    home: PathBuf,
    /// Where somebody said that it is; the default is not said.
    said: Option<PathBuf>,
    /// What was said of it.
    level: Option<LevelFilter>,
}

/// What the variables of an OAuth client begin with: a service's id in capitals and one of two words follow.
const OAUTH: &str = "PINHOLE_OAUTH_";

/// The variables of one OAuth client.
#[derive(Default)]
pub(crate) struct OauthVariables {
    /// `…_CLIENT_ID`
    pub(crate) id: Option<String>,
    /// `…_CLIENT_SECRET`
    pub(crate) secret: Option<Zeroizing<String>>,
}

impl Config {
    /// Flags first, then `PINHOLE_HOME` and `PINHOLE_LOG`, then the XDG data folder.
    pub(crate) fn read(global: &Global) -> anyhow::Result<Self> {
        let home = match &global.home {
            Some(home) => Some(home.clone()),
            None => home_of_the_environment()?,
        };
        let said = home.clone();
        let Some(home) = home.or_else(usual_home) else {
            let hint = "say where with `--home DIR` or in `PINHOLE_HOME`";
            return Err(Failure::new(End::Usage, "there is no folder to keep keys and state in", hint).into());
        };
        let level = global
            .log
            .clone()
            .or_else(|| environment("PINHOLE_LOG").map(|level| level.display().to_string()));
        let level = match level {
            None => None,
            Some(level) => Some(level.parse().map_err(|_error| {
                Failure::new(
                    End::Usage,
                    format!("`{level}` is no level of the log"),
                    "say `off`, `error`, `warn`, `info`, `debug` or `trace`",
                )
            })?),
        };
        Ok(Self { home, said, level })
    }

    /// Logs to stderr, so that stdout has nothing but the answer. `unsaid` is the level where nobody said one.
    pub(crate) fn start_log(&self, unsaid: LevelFilter) {
        tracing_subscriber::fmt()
            .with_max_level(self.level.unwrap_or(unsaid))
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .init();
    }

    /// The level of the log that was said.
    pub(crate) fn level(&self) -> Option<LevelFilter> {
        self.level
    }

    /// Where keys are.
    pub(crate) fn keys(&self) -> PathBuf {
        self.home.join("keys")
    }

    /// Where the database is of calls that no bot's key opens a grant for. (A bot's is in the home of its key.)
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The same, where it was said by `--home` or `PINHOLE_HOME`: another process must be told.
    pub(crate) fn said_home(&self) -> Option<&Path> {
        self.said.as_deref()
    }

    /// The folder that a variable names, where its path is absolute.
    pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
        environment(variable).filter(|folder| folder.is_absolute())
    }

    /// The OAuth clients, by what stands for the service. One that is misspelt is refused: half of a client is none.
    pub(crate) fn oauth_variables() -> anyhow::Result<BTreeMap<String, OauthVariables>> {
        let mut all: BTreeMap<String, OauthVariables> = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(OAUTH)) else { continue };
            // What is not Unicode is no id and no secret: it is refused as one that is not set.
            let value = Zeroizing::new(value.into_string().unwrap_or_default());
            let value = (!value.is_empty()).then_some(value);
            if let Some(service) = rest.strip_suffix("_CLIENT_ID") {
                all.entry(service.to_owned()).or_default().id = value.map(|id| id.to_string());
            } else if let Some(service) = rest.strip_suffix("_CLIENT_SECRET") {
                all.entry(service.to_owned()).or_default().secret = value;
            } else {
                let message = format!("`{OAUTH}{rest}` is no variable of a client");
                let hint = "write `PINHOLE_OAUTH_<ID>_CLIENT_ID` and `PINHOLE_OAUTH_<ID>_CLIENT_SECRET`";
                return Err(Failure::new(End::Usage, message, hint).into());
            }
        }
        all.retain(|_service, client| client.id.is_some() || client.secret.is_some());
        Ok(all)
    }

    /// The user's own folder.
    pub(crate) fn user() -> Option<PathBuf> {
        Self::folder(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
    }

    /// Where programs that follow the XDG Base Directory Specification keep their settings.
    pub(crate) fn settings() -> Option<PathBuf> {
        Self::folder("XDG_CONFIG_HOME").or_else(|| Some(Self::user()?.join(".config")))
    }

    /// Where applications keep theirs on this system.
    pub(crate) fn applications() -> Option<PathBuf> {
        if cfg!(windows) {
            return Self::folder("APPDATA");
        }
        if cfg!(target_os = "macos") {
            return Some(Self::user()?.join("Library/Application Support"));
        }
        Self::settings()
    }

    /// What the operator sets.
    pub(crate) fn file(&self) -> PathBuf {
        self.home.join("config.toml")
    }

    /// What the trusted registries gave.
    pub(crate) fn registries(&self) -> PathBuf {
        self.home.join("registries")
    }

    /// Where compiled modules are kept; the key that proves them is beside it.
    pub(crate) fn compiled_modules(&self) -> PathBuf {
        self.home.join("cache/modules")
    }
}

/// A relative path would be another folder, with no use spent, in every folder that a bot starts the command from.
/// `PINHOLE_HOME` is refused where it is one; the others are ignored, as the XDG Base Directory Specification has it.
fn home_of_the_environment() -> anyhow::Result<Option<PathBuf>> {
    if let Some(home) = environment("PINHOLE_HOME") {
        if home.is_absolute() {
            return Ok(Some(home));
        }
        let message = format!("`PINHOLE_HOME` is `{}`, which is not an absolute path", home.display());
        return Err(Failure::new(End::Usage, message, "write it from `/` on, or say `--home DIR`").into());
    }
    Ok(None)
}

fn usual_home() -> Option<PathBuf> {
    let data = Config::folder("XDG_DATA_HOME").or_else(|| Some(Config::user()?.join(".local/share")));
    Some(data?.join("pinhole"))
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
