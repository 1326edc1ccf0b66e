//! The flags of `pinhole receipts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::database::DatabaseFlags;

/// What `pinhole receipts` does.
#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptsCommand {
    /// List the receipts of this machine's bot, the newest first
    #[command(after_help = LIST_EXAMPLES)]
    List(ListFlags),
    /// Show all that a receipt says
    Show {
        /// Its id, or its number
        receipt: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseFlags,
    },
    /// Look whether any receipt was changed, taken out, moved or cut off; status 1 where one was
    #[command(after_help = VERIFY_HELP)]
    Verify {
        /// Hold them against the checkpoints in this file too, such as a copy kept elsewhere; may be repeated
        #[arg(long, value_name = "FILE")]
        checkpoints: Vec<PathBuf>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseFlags,
    },
    /// Sign where the receipts stand now, with the bot's key
    Checkpoint {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseFlags,
    },
    /// Remove old receipts, and sign that, so that the others can still be verified
    Prune {
        /// Remove those of runs that began longer ago than this, such as 90d
        #[arg(long, value_name = "TIME")]
        before: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseFlags,
    },
}

impl ReceiptsCommand {
    /// Where the receipts are.
    pub(super) fn database(&self) -> &DatabaseFlags {
        match self {
            Self::List(flags) => &flags.database,
            Self::Show { database, .. }
            | Self::Verify { database, .. }
            | Self::Checkpoint { database, .. }
            | Self::Prune { database, .. } => database,
        }
    }
}

const LIST_EXAMPLES: &str = "Examples:
  pinhole receipts list
  pinhole receipts list --service github --since 24h
  pinhole receipts list --code upstream_unauthorized --limit 5 --json";

const VERIFY_HELP: &str = "What nobody can know: whether receipts behind the last checkpoint were cut off.
`pinhole receipts checkpoint` makes one; a copy of the file of checkpoints on another machine
outlives whoever can write both the database and the file here.";

/// Which receipts are listed.
#[derive(Debug, Args)]
pub(crate) struct ListFlags {
    /// Of this service
    #[arg(long)]
    pub(super) service: Option<String>,
    /// Of this op, such as `get_repo`
    #[arg(long)]
    pub(super) op: Option<String>,
    /// With this code: `ok`, `interrupted` or a refusal's
    #[arg(long)]
    pub(super) code: Option<String>,
    /// Of this connection, by the id that `pinhole connections list --json` shows
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(super) connection: Option<String>,
    /// Of runs that began no longer ago than this, such as 90s, 2m, 12h or 30d
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,
    /// Of runs that began longer ago than this
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) limit: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) database: DatabaseFlags,
}
