//! The flags of what is stored here: connections, and the writes that wait for the member.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{DialFlags, LocalManifests, PassphraseFlags};
use crate::approvals::PageFlags;
use crate::connect::OAuthFlags;
use crate::connections::RemoveFlags;

#[derive(Debug, Args)]
pub(crate) struct ConnectFlags {
    /// The service
    pub(crate) service: String,
    /// What to call the connection; a service may have several [default: default]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// The most that it may ever be used for [default: read, or what the connection has]; with write bots may ask for
    /// writes, and each waits for your passphrase
    #[arg(long, value_parser = ["read", "write"])]
    pub(crate) cap: Option<String>,
    /// Read the service's key from stdin instead of asking at the terminal
    #[arg(long)]
    pub(crate) token_stdin: bool,
    /// Let a key of another account take the place of the connection of this label
    #[arg(long)]
    pub(crate) replace: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) oauth: OAuthFlags,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseFlags,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConnectionsCommand {
    /// List them
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Change the most that a connection may ever be used for
    Cap {
        #[command(flatten)]
        which: WhichConnection,
        /// With write bots may ask for writes, and each waits for your passphrase
        #[arg(value_parser = ["read", "write"])]
        cap: String,
        #[command(flatten)]
        passphrase: PassphraseFlags,
        #[command(flatten)]
        local: LocalManifests,
    },
    /// Let this machine's bot read on all of them for thirty days from now
    Renew {
        #[command(flatten)]
        passphrase: PassphraseFlags,
        #[command(flatten)]
        local: LocalManifests,
    },
    /// Let this machine's bot make and change things on a connection for a while, where a person says yes in her client; what
    /// deletes, sends, spends or cannot be taken back still waits for your passphrase each time
    Lend {
        #[command(flatten)]
        which: WhichConnection,
        /// How many writes
        #[arg(long, value_name = "N", default_value = "20")]
        uses: std::num::NonZeroU32,
        /// For how long, such as 30m, 8h; at most 24h
        #[arg(long, value_name = "TIME", default_value = "8h")]
        ttl: String,
        /// Take back what was lent instead
        #[arg(long, conflicts_with_all = ["uses", "ttl"])]
        take_back: bool,
        #[command(flatten)]
        passphrase: PassphraseFlags,
        #[command(flatten)]
        local: LocalManifests,
    },
    /// Take in a token pair that a bot has renewed: an outcome with `rotated` in it, or that alone
    Take {
        /// The file, or `-` for stdin
        file: PathBuf,
        /// The bot's public key, if it is another than this machine's; may be repeated
        #[arg(long, value_name = "KEY")]
        bot: Vec<String>,
        #[command(flatten)]
        passphrase: PassphraseFlags,
        #[command(flatten)]
        local: LocalManifests,
    },
    /// Forget a connection and end its grants. A token from the service's page is given up there too, where the service takes
    /// it back; a pasted key stays good until you end it there
    // An id may begin with a hyphen.
    #[command(allow_hyphen_values = true)]
    Remove {
        #[command(flatten)]
        which: WhichConnection,
        #[command(flatten)]
        flags: RemoveFlags,
    },
}

/// One connection.
#[derive(Debug, Args)]
pub(crate) struct WhichConnection {
    /// The service; to remove one, its id will do
    pub(crate) service: String,
    /// What the connection is called, where the service has several
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List the questions that wait, the newest first
    List {
        /// Those that were answered or are over too
        #[arg(long)]
        all: bool,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show all that a yes would do
    Show {
        /// The question, such as `k7f3-9m2x`
        question: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        local: LocalManifests,
    },
    /// Say yes to exactly this write, once; it can then be run for an hour
    Approve {
        /// The question, such as `k7f3-9m2x`
        question: String,
        #[command(flatten)]
        passphrase: PassphraseFlags,
        #[command(flatten)]
        local: LocalManifests,
    },
    /// Say no
    Deny {
        /// The question, such as `k7f3-9m2x`
        question: String,
    },
    /// See them and answer in a browser on this machine, on a page that this command serves until it is stopped
    Page(PageFlags),
}
