//! Where things are on this machine. The only reader of the environment.
//!
//! INVARIANT: nothing that weakens a check is read here: dialling elsewhere, another CA, unsigned manifests are flags.

use std::path::PathBuf;

use tracing_subscriber::filter::LevelFilter;

use crate::args::Global;
use crate::end::{End, Failure};

/// Folders and the level of the log.
#[derive(Debug)]
pub(crate) struct Config {
    home: PathBuf,
    level: LevelFilter,
}

impl Config {
    /// Flags first, then `PINHOLE_HOME` and `PINHOLE_LOG`, then the XDG data folder.
    pub(crate) fn read(global: &Global) -> anyhow::Result<Self> {
        let home = global
            .home
            .clone()
            .or_else(|| environment("PINHOLE_HOME"))
            .or_else(|| environment("XDG_DATA_HOME").map(|data| data.join("pinhole")))
            .or_else(|| environment("HOME").map(|home| home.join(".local/share/pinhole")));
        let Some(home) = home else {
            let hint = "say where with `--home DIR` or in `PINHOLE_HOME`";
            return Err(Failure::new(End::Usage, "there is no folder to keep keys and state in", hint).into());
        };
        let level = global
            .log
            .clone()
            .or_else(|| environment("PINHOLE_LOG").map(|level| level.display().to_string()));
        let level = match level {
            None => LevelFilter::WARN,
            Some(level) => level.parse().map_err(|_error| {
                Failure::new(
                    End::Usage,
                    format!("`{level}` is no level of the log"),
                    "say `off`, `error`, `warn`, `info`, `debug` or `trace`",
                )
            })?,
        };
        Ok(Self { home, level })
    }

    /// Logs to stderr, so that stdout has nothing but the answer.
    pub(crate) fn start_log(&self) {
        tracing_subscriber::fmt()
            .with_max_level(self.level)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .init();
    }

    /// Where keys are.
    pub(crate) fn keys(&self) -> PathBuf {
        self.home.join("keys")
    }

    /// Where spent uses, revocations and the latest time are.
    pub(crate) fn state(&self) -> PathBuf {
        self.home.join("state")
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
