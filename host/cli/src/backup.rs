//! `pinhole backup`: a whole copy of the database while others use it.
//!
//! Copies no keys: they belong elsewhere. Refuses a name that is taken. INVARIANT: the copy has its name only once it is
//! whole, synced and found sound.

use std::path::PathBuf;

use clap::Args;
use pinhole_runtime::store::{BackupError, SqliteStore};

use crate::config::Config;
use crate::database::{self, DatabaseFlags};
use crate::end::{End, Failure};
use crate::{keys, out};

/// What is copied, and to where.
#[derive(Debug, Args)]
pub(crate) struct BackupFlags {
    /// The copy: a file that is not there, in a folder that is
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseFlags,
}

pub(crate) fn main(flags: &BackupFlags, config: &Config) -> anyhow::Result<End> {
    let file = &flags.file;
    let home = keys::bot_home(config)?;
    if let Some(address) = database::address(&home, &flags.database)? {
        let message = format!("the state is in `{address}`, and `pinhole backup` copies SQLite's alone");
        let line = format!(
            "pg_dump --format=custom --schema=pinhole --file={} {}",
            out::shell_word(&file.display().to_string()),
            out::shell_word(&address.for_tools())
        );
        let hint = format!("this copies it, with the password in `~/.pgpass`: `{line}`");
        return Err(Failure::new(End::Usage, message, hint).into());
    }
    let Some(store) = SqliteStore::look(&home)? else {
        let message = format!("there is no database in `{}`", home.display());
        return Err(Failure::new(End::Local, message, "look at `--home`").into());
    };
    store.back_up(file).map_err(|error| match error {
        BackupError::Store(error) => anyhow::Error::from(error),
        error @ (BackupError::Taken { .. } | BackupError::NoFolder { .. }) => {
            Failure::new(End::Usage, error.to_string(), "name a file that is not there, in a folder that is")
                .into()
        }
        error => {
            Failure::new(End::Local, error.to_string(), "look at the disk and at the rights of the folder")
                .into()
        }
    })?;
    out::note(format_args!(
        "`{}` is a whole copy of `{}`; the keys are not in it",
        file.display(),
        store.path().display()
    ));
    Ok(End::Done)
}
