//! `pinhole mcp`: the door for agents' MCP clients.

pub(crate) mod install;

use clap::Subcommand;

use crate::config::Config;
use crate::end::End;

/// What is done about the server, other than to serve.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Put the server into the configuration of an MCP client; shows the change and asks
    Install(install::InstallFlags),
}

pub(crate) fn main(command: &McpCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        McpCommand::Install(flags) => install::main(flags, config),
    }
}
