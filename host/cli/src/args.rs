//! The flags of every subcommand. Their doc comments are the help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::approvals::PageFlags;
use crate::backup::BackupFlags;
use crate::broker::args::BrokerFlags;
use crate::connect::OAuthFlags;
use crate::connections::RemoveFlags;
use crate::database::DatabaseFlags;
use crate::manifest::{DIFF_EXAMPLES, DiffFlags};
use crate::mcp::args::McpFlags;
use crate::module::ModuleCommand;
use crate::propose::ProposeCommand;
use crate::receipts::args::ReceiptsCommand;
use crate::registry::Registry;
use crate::research::args::ResearchFlags;
use crate::sidecar::SidecarFlags;
use crate::tokens::TokensCommand;

/// Use a person's connected services without being handed the keys.
///
/// Start with `pinhole demo`: it runs the whole path on this machine, with no key and no network. Then `pinhole connect
/// SERVICE`, and `pinhole run SERVICE.OP`.
#[derive(Debug, Parser)]
#[command(name = "pinhole", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "Exit status: 0 done; 1 it ran and failed, or a check or test says no; 2 usage; \
    3 refused, nothing sent; 4 invalid manifest or grant; 5 sent or maybe sent, then refused; \
    6 the local store, disk or clock; 130 stopped by Ctrl-C.\n\n\
    With `--json`, stdout has one JSON document, or nothing where the command failed before there was an outcome \
    (usage, keys, files): stderr says why, and the exit status how. With `run --all` it has one a line.";

/// Flags that every subcommand takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Keep keys and state here [default: the absolute path in `PINHOLE_HOME`, else the XDG data folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) home: Option<PathBuf>,
    /// Log to stderr from this level on: off, error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL", global = true)]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole path against an embedded stand-in API; needs no network and no key
    Demo(DemoFlags),
    /// List services, the ops of a service, or what an op takes and returns
    Services(ServicesFlags),
    /// Connect a service: paste its key, which is proved on the spot and then never shown again
    #[command(after_help = CONNECT_EXAMPLES)]
    Connect(ConnectFlags),
    /// List connections, change what one may ask for, renew what the bot may read, remove one
    #[command(args_conflicts_with_subcommands = true)]
    Connections {
        #[command(subcommand)]
        command: Option<ConnectionsCommand>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Run an op and print the picked result
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunFlags),
    /// Show the exact request of a call, the credential left out; sends nothing
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(CallFlags),
    /// See the writes that wait for your yes, and answer
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Serve what is connected to an MCP client: one on stdin and stdout, or any over HTTP behind tokens
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(Box<McpFlags>),
    /// Run what bots post with a sealed grant: HTTP at a socket file, or on loopback behind tokens
    #[command(after_help = crate::sidecar::EXAMPLES)]
    Sidecar(Box<SidecarFlags>),
    /// See what a bot asks for that posts to a sidecar elsewhere, from your own manifest
    #[command(subcommand)]
    Propose(ProposeCommand),
    /// Let members connect through OAuth clients whose secrets are in the environment here, and their bots renew
    Broker(Box<BrokerFlags>),
    /// Look whether everything on this machine is as it should be, and say what to do where it is not
    Doctor(DoctorFlags),
    /// Show, make or protect this machine's keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Mint, inspect or revoke grants
    #[command(subcommand)]
    Grant(GrantCommand),
    /// Check, test, compare, draft and verify manifests; print their JSON Schema
    #[command(subcommand)]
    Manifest(ManifestCommand),
    /// Make, sign and serve a registry of manifests; trust one, and get what it signs
    #[command(subcommand)]
    Registry(Registry),
    /// Make op modules: begin, build, check and run one
    #[command(subcommand)]
    Module(ModuleCommand),
    /// Make and revoke the tokens by which others may call this machine's MCP server or sidecar over HTTP
    #[command(subcommand)]
    Tokens(TokensCommand),
    /// Copy the database of this home to a file, while others use it
    Backup(BackupFlags),
    /// Have a model read on your connections and answer one question
    #[command(after_help = crate::research::args::EXAMPLES)]
    Research(Box<ResearchFlags>),
    /// See what was run on this machine, and whether the record of it is as it was written
    #[command(subcommand)]
    Receipts(ReceiptsCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const CONNECT_EXAMPLES: &str = "Examples:
  pinhole connect github
  pinhole connect github --label work --cap write
  pinhole connect stripe --token-stdin < key.txt
  pinhole connect linear --oauth --client-id ID
  pinhole connect github --oauth --client-id ID --device";

const RUN_EXAMPLES: &str = "Examples:
  pinhole run github.list_org_repos --arg org=rust-lang
  pinhole run github.create_issue --arg owner=me --arg repo=r --arg title='It breaks'
  pinhole run github.list_org_repos --arg org=rust-lang --token-stdin < token.txt
  pinhole run github.get_repo --args '{\"owner\":\"rust-lang\",\"repo\":\"rust\"}' --grant grant.json
  pinhole run github.list_issues --arg owner=me --arg repo=r --grant grant.json --all > issues.jsonl";

const EXPLAIN_EXAMPLES: &str = "Examples:
  pinhole explain github.create_issue --arg owner=o --arg repo=r --arg title='It breaks'
  pinhole explain github.get_repo --arg owner=o --arg repo=r --grant grant.json --json";

const MCP_EXAMPLES: &str = "Examples:
  pinhole mcp install claude-code
  pinhole mcp --services github,linear --read-only
  pinhole mcp --http 127.0.0.1:8420";

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

/// Manifests besides those that are part of the binary.
#[derive(Debug, Args)]
pub(crate) struct LocalManifests {
    /// Take this manifest in too; needs `--unsigned`; may be repeated
    #[arg(long, value_name = "FILE", requires = "unsigned")]
    pub(crate) manifest: Vec<PathBuf>,
    /// Accept manifests that nobody signed; outcomes say so
    #[arg(long)]
    pub(crate) unsigned: bool,
}

/// Where to dial, for stand-ins. Flags only: no environment variable and no manifest can set these.
#[derive(Debug, Args)]
pub(crate) struct DialFlags {
    /// Dial ADDR:PORT for HOST, as in curl; the name, the certificate check and the Host header stay HOST's
    #[arg(long, value_name = "HOST:443:ADDR:PORT")]
    pub(crate) resolve: Vec<String>,
    /// Trust the CA certificates of this PEM file instead of the public ones
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
}

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

/// Where the member's passphrase comes from.
#[derive(Debug, Args)]
pub(crate) struct PassphraseFlags {
    /// Read the member's passphrase from this file instead of asking at the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
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
