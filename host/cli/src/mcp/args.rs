//! The flags of `pinhole mcp`.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use clap::{Args, Subcommand, ValueEnum};
use pinhole_server::mcp::{OpPattern, ToolsMode};

use crate::args::{DialFlags, LocalManifests};

/// What an MCP client is served, and how.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpFlags {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) serve: ServeFlags,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Put the server into the configuration of an MCP client; shows the change and asks
    Install(super::install::InstallFlags),
}

#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    /// Serve over HTTP behind tokens (`pinhole tokens new`) instead of one client on stdin and stdout
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) http: Option<SocketAddr>,
    /// Offer these services alone, of those that are connected
    #[arg(long, value_name = "SERVICE", value_delimiter = ',')]
    pub(crate) services: Vec<String>,
    /// Offer these ops alone, such as `github.list_*`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) ops: Vec<OpPattern>,
    /// Offer no writes and run none
    #[arg(long)]
    pub(crate) read_only: bool,
    /// One tool an op, or tools that find and run ops [default: auto, which searches beyond 40 ops]
    #[arg(long, value_enum, default_value_t, hide_default_value = true, value_name = "MODE")]
    pub(crate) tools: Mode,
    /// Let the client ask its user for the yes to a write that can be put back, if you have lent it (`pinhole connections
    /// lend`); whatever answers for the user there can then say yes
    #[arg(long)]
    pub(crate) ask_in_client: bool,
    /// Take `confirm: true` in a call for the yes to a write that can be put back, if you have lent it; the model itself can
    /// then say yes
    #[arg(long)]
    pub(crate) confirm_arg: bool,
    #[command(flatten)]
    pub(crate) over_http: HttpFlags,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}

/// What an HTTP service adds.
#[derive(Debug, Args)]
pub(crate) struct HttpFlags {
    /// Answer to this name too, besides those of this machine's loopback; may be repeated
    #[arg(long, value_name = "HOST[:PORT]", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Answer to pages of this origin too, besides those on this machine's loopback; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Where clients reach it through a proxy that does TLS; without one only loopback addresses are listened on
    #[arg(long, value_name = "URL", requires = "http")]
    pub(crate) public_url: Option<String>,
    /// Keep sessions for clients of before 2026-07-28, in which they can be asked something in the middle of a call, such as to
    /// open the approval page; `--ask-in-client` does so too
    #[arg(long, requires = "http")]
    pub(crate) sessions: bool,
    /// Most requests of one token in any minute, writes among them [default: 120]
    #[arg(long, value_name = "N", requires = "http")]
    pub(crate) reads_a_minute: Option<NonZeroU32>,
    /// Most calls of writes of one token in any minute [default: 20]
    #[arg(long, value_name = "N", requires = "http")]
    pub(crate) writes_a_minute: Option<NonZeroU32>,
}

/// How ops become tools.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Mode {
    /// One tool an op up to 40 ops, else search
    #[default]
    Auto,
    /// One tool an op, however many
    Each,
    /// Tools that find, describe and run ops
    Search,
}

impl From<Mode> for ToolsMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Auto => Self::Auto,
            Mode::Each => Self::Each,
            Mode::Search => Self::Search,
        }
    }
}
