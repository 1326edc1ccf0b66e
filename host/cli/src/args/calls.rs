//! The flags of calls and of what shows what there is to call.

use std::path::PathBuf;

use clap::Args;

use super::{DialFlags, LocalManifests};
use crate::database::DatabaseFlags;

#[derive(Debug, Args)]
pub(crate) struct DemoFlags {
    /// Print the outcomes, in order, as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServicesFlags {
    /// SERVICE or SERVICE.OP
    #[arg(value_name = "SERVICE[.OP]")]
    pub(crate) name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorFlags {
    /// Send nothing: leave out whether the services still accept the connected keys
    #[arg(long)]
    pub(crate) offline: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseFlags,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}

/// A call, and which of its pages.
#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) call: CallFlags,
    /// Do not ask at the terminal for a write: leave its question waiting for `pinhole approvals`
    #[arg(long)]
    pub(crate) no_ask: bool,
    /// Go on from the page that this stands for: the `next` of an earlier outcome of the same call; good for an hour
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_stdin")]
    pub(crate) next: Option<String>,
    /// Follow every page; a line of JSON for each element, with `--json` for each page's outcome
    #[arg(long)]
    pub(crate) all: bool,
    /// Your own key for a write, such as an order's number: the same write with the same key is carried out once, and gives its
    /// first outcome again for a day
    #[arg(long, value_name = "KEY", conflicts_with_all = ["token_stdin", "all", "next"])]
    pub(crate) key: Option<String>,
}

/// What is called, under what, and how the answer is printed.
#[derive(Debug, Args)]
pub(crate) struct CallFlags {
    /// The op, such as `github.get_repo`
    #[arg(value_name = "SERVICE.OP")]
    pub(crate) op: String,
    #[command(flatten)]
    pub(crate) values: ArgValues,
    /// The connection to use, by its label, where the service has several
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["token_stdin", "grant"])]
    pub(crate) connection: Option<String>,
    /// A sealed grant that permits the call, as `pinhole grant mint` wrote it, instead of a connection; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "token_stdin")]
    pub(crate) grant: Option<PathBuf>,
    /// Believe grants of this member too (the local member's are believed); may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) issuer: Vec<String>,
    /// Read the service's key from stdin, for this one read
    #[arg(long)]
    pub(crate) token_stdin: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}

/// The args of a call.
#[derive(Debug, Args)]
pub(crate) struct ArgValues {
    /// One arg; a list takes its elements one `--arg` each, or one JSON array
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(crate) arg: Vec<String>,
    /// All args as a JSON object; `@FILE` reads a file, `-` reads stdin
    #[arg(long = "args", value_name = "JSON|@FILE|-", conflicts_with = "arg")]
    pub(crate) args: Option<String>,
}
