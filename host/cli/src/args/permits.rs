//! The flags of keys, of grants and of manifests.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{LocalManifests, PassphraseFlags};
use crate::database::DatabaseFlags;
use crate::manifest::{DIFF_EXAMPLES, DiffFlags};

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Print the public keys of this machine's member and bot
    Show {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Make the keys that are missing
    New {
        #[command(flatten)]
        passphrase: PassphraseFlags,
        /// Protect the member's key with a passphrase, asked at the terminal
        #[arg(long)]
        protect: bool,
    },
    /// Protect the member's key with a passphrase
    Protect {
        #[command(flatten)]
        passphrase: PassphraseFlags,
    },
    /// Give the bot another key; grants to the one that it has still open for a while
    #[command(after_help = crate::keys::rotate::ROTATING)]
    Rotate(Box<crate::keys::rotate::RotateFlags>),
    /// End a former key of the bot before its time
    Retire(crate::keys::rotate::RetireFlags),
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantCommand {
    /// Seal a grant for one bot: of a connection, or with a key of the service read from stdin
    #[command(after_help = MINT_EXAMPLES)]
    Mint(Box<MintFlags>),
    /// Show what a grant says, its secrets left out; opens with the key of the bot that it is sealed to
    Inspect {
        /// The sealed grant; `-` is stdin
        file: PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseFlags,
    },
    /// Refuse a grant on this machine from now on
    Revoke {
        /// The sealed grant, or the id that `inspect` shows
        // An id may begin with a hyphen.
        #[arg(allow_hyphen_values = true)]
        grant: String,
        #[command(flatten)]
        database: DatabaseFlags,
    },
}

const MINT_EXAMPLES: &str = "Examples:
  pinhole grant mint github --to \"$BOT\" --op list_issues --where owner=me --ttl 1h < token.txt > grant.json
  pinhole grant mint github --to \"$BOT\" --approve github.create_issue \\
      '{\"owner\":\"me\",\"repo\":\"r\",\"title\":\"It breaks\"}' < token.txt > approval.json
  pinhole grant mint github --to \"$BOT\" --connection work --ttl 30d > grant.json
  pinhole grant mint github --to \"$BOT\" --approve-proposal outcome.json > approval.json";

#[derive(Debug, Args)]
pub(crate) struct MintFlags {
    /// The service
    pub(crate) service: String,
    /// The bot's public key (`pinhole keys show`)
    #[arg(long, value_name = "KEY")]
    pub(crate) to: String,
    /// The most it permits [default: read; write with `--approve`]; write wants a member's key with a passphrase
    #[arg(long, value_parser = ["read", "write"], conflicts_with = "approve")]
    pub(crate) access: Option<String>,
    /// Permit this op alone; may be repeated
    #[arg(long, value_name = "OP", conflicts_with = "approve")]
    pub(crate) op: Vec<String>,
    /// Permit only this value of an arg; may be repeated, for several values too
    #[arg(long = "where", value_name = "NAME=VALUE", conflicts_with = "approve")]
    pub(crate) where_: Vec<String>,
    /// How long it lives, such as 90s, 2m, 12h, 30d; at most 90d for reads, 24h for writes
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub(crate) ttl: String,
    /// How often it may be used [default: 1 for a write, unbounded for a read]; an approval is used once
    #[arg(long, value_name = "N", conflicts_with = "approve")]
    pub(crate) uses: Option<std::num::NonZeroU32>,
    /// Where a token pair goes that the bot renews: a public key [default: yours, where the key can be renewed]
    #[arg(long, value_name = "KEY")]
    pub(crate) return_to: Option<String>,
    /// Approve exactly this write: the op and its args as JSON (or `@FILE`)
    #[arg(long, num_args = 2, value_names = ["SERVICE.OP", "ARGS"])]
    pub(crate) approve: Option<Vec<String>>,
    /// Of this connection, by its label, instead of a key of the service on stdin
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["account", "stand_in"])]
    pub(crate) connection: Option<String>,
    /// Approve the write that a bot proposes, once all of it was shown to you from your own manifest: the proposal, or the
    /// outcome that has it; on the connection that it names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["approve", "access", "op", "where_", "uses", "ttl", "account", "stand_in", "return_to"])]
    pub(crate) approve_proposal: Option<PathBuf>,
    /// The account that the key belongs to, as people know it
    #[arg(long, value_name = "NAME", default_value = "unnamed")]
    pub(crate) account: String,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseFlags,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    /// The key is for a stand-in: without this, calls under the grant refuse `--resolve`
    #[arg(long)]
    pub(crate) stand_in: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ManifestCommand {
    /// Read manifests and say everything that is wrong with them
    Check {
        /// Manifests, or folders that hold `manifest.json`
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Print one JSON document
        #[arg(long, conflicts_with = "annotations")]
        json: bool,
        /// Print annotations for a pull request (GitHub's workflow commands)
        #[arg(long)]
        annotations: bool,
    },
    /// Replay the recorded cases of manifests through the whole path, in memory
    Test {
        /// Folders that hold `manifest.json` and `cases/`
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Say what a change of manifests lets an agent do or see that it could not before
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffFlags),
    /// Draft a manifest from a provider's description, for a person to finish
    Draft(crate::manifest::draft::DraftFlags),
    /// Hold a manifest and its cases against the provider's description
    Verify(crate::manifest::verify::VerifyFlags),
    /// Print the JSON Schema of a manifest
    Schema,
}
