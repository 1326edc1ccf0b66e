//! Which database the state is in: SQLite in a home, or PostgreSQL where the operator says so.
//!
//! INVARIANT: a password is taken from a file that its owner alone can read, never from the command line, which every user of
//! the machine sees, and never from the environment; no message repeats one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use pinhole_manifest::Digest;
use pinhole_runtime::book::CheckpointFile;
use pinhole_runtime::store::{AddressError, Desk, PostgresAddress, PostgresStore, SqliteStore};
use zeroize::Zeroizing;

use crate::config::CONFIG;
use crate::end::{End, Failure};
use crate::files::DATABASE_URL;
use crate::{files, settings};

/// Flags of the commands that several hosts may run on one database.
#[derive(Debug, Default, Args)]
pub(crate) struct DatabaseFlags {
    /// Use the state in this PostgreSQL database, `postgres://USER@HOST/NAME` without a password, instead of the home's own
    #[arg(long, value_name = "URL", conflicts_with = "database_file")]
    database: Option<String>,
    /// The same, its URL with the password in the first line of this file (mode 0600)
    #[arg(long, value_name = "FILE")]
    database_file: Option<PathBuf>,
    /// Believe the database's server by the CAs in this PEM file, and no others
    #[arg(long, value_name = "FILE")]
    database_ca: Option<PathBuf>,
}

impl DatabaseFlags {
    /// Whether they name a database.
    pub(crate) fn name_one(&self) -> bool {
        self.database.is_some() || self.database_file.is_some()
    }
}

/// What `config.toml` says of it.
#[derive(Default)]
pub(crate) struct StoreSettings {
    /// The URL. With a password in it nobody else may read the file.
    pub(crate) database: Option<String>,
    /// The file that has the URL.
    pub(crate) database_file: Option<PathBuf>,
    /// The CAs of its server.
    pub(crate) database_ca: Option<PathBuf>,
}

impl fmt::Debug for StoreSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreSettings")
    }
}

/// Opens the state of a host: the flags go before the `config.toml` of `home`; without either it is SQLite there.
pub(crate) fn open_desk(home: &Path, flags: &DatabaseFlags) -> anyhow::Result<Arc<dyn Desk>> {
    Ok(match address(home, flags)? {
        Some(address) => Arc::new(PostgresStore::open(&address)?),
        None => Arc::new(SqliteStore::open_home(home)?),
    })
}

/// Where the checkpoints of this state's receipts stand. Each database has chains of its own, and so a file of its own.
pub(crate) fn checkpoints(home: &Path, flags: &DatabaseFlags) -> anyhow::Result<CheckpointFile> {
    let Some(address) = address(home, flags)? else { return Ok(CheckpointFile::in_home(home)) };
    let named: String = Digest::of(address.to_string().as_bytes()).hex().chars().take(16).collect();
    Ok(CheckpointFile::at(home.join(format!("receipts/checkpoints-{named}.jsonl"))))
}

/// The PostgreSQL database that the flags or `config.toml` name; `None` where the state is in the home.
pub(crate) fn address(home: &Path, flags: &DatabaseFlags) -> anyhow::Result<Option<PostgresAddress>> {
    let file = home.join(CONFIG);
    let said = settings::read(&file)?.store;
    let ca = flags.database_ca.as_ref().or(said.database_ca.as_ref());
    let address = if let Some(url) = &flags.database {
        let address = parse(url, "`--database`")?;
        if address.has_password() {
            let message = "the URL of `--database` has a password in it, and every user of this machine sees command lines";
            let hint = "put the URL into a file of mode 0600 and say `--database-file FILE`; and change the password";
            return Err(Failure::new(End::Usage, message, hint).into());
        }
        address
    } else if let Some(file) = &flags.database_file {
        of_file(file)?
    } else if let Some(url) = &said.database {
        let address = parse(url, "`store.database` of `config.toml`")?;
        if address.has_password() {
            // Read again by the rule for what is secret.
            drop(Zeroizing::new(files::read_private_of(&file, DATABASE_URL)?));
        }
        address
    } else if let Some(file) = &said.database_file {
        of_file(file)?
    } else if flags.database_ca.is_some() {
        let message = "`--database-ca` is for a PostgreSQL database, and none is named";
        let hint = "say which: `--database-file FILE`, or `--database URL` without a password";
        return Err(Failure::new(End::Usage, message, hint).into());
    } else {
        return Ok(None);
    };
    let Some(ca) = ca else { return Ok(Some(address)) };
    let believed = address.trusting(&files::read(ca)?);
    Ok(Some(believed.map_err(|error| refused(&error, &format!("`{}`", ca.display())))?))
}

fn of_file(path: &Path) -> anyhow::Result<PostgresAddress> {
    let bytes = Zeroizing::new(files::read_private_of(path, DATABASE_URL)?);
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    parse(text.lines().next().unwrap_or_default().trim(), &format!("`{}`", path.display()))
}

fn parse(url: &str, place: &str) -> anyhow::Result<PostgresAddress> {
    PostgresAddress::parse(url).map_err(|error| refused(&error, place))
}

fn refused(error: &AddressError, place: &str) -> anyhow::Error {
    Failure::new(End::Usage, format!("{place}: {error}"), error.hint()).into()
}
