//! The flags of every subcommand. Their doc comments are the help. Those of a room of its own stand there.

mod calls;
mod permits;
mod shared;
mod stored;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use self::calls::{ArgValues, CallFlags, DemoFlags, DoctorFlags, RunFlags, ServicesFlags};
pub(crate) use self::permits::{GrantCommand, KeysCommand, ManifestCommand, MintFlags};
pub(crate) use self::shared::{DialFlags, LocalManifests, PassphraseFlags};
pub(crate) use self::stored::{ApprovalsCommand, ConnectFlags, ConnectionsCommand, WhichConnection};
use crate::backup::BackupFlags;
use crate::broker::args::BrokerFlags;
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
