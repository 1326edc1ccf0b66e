//! The flags of a connection through the service's own page.

use std::path::PathBuf;

use clap::Args;

/// How a person connects who says yes at the service instead of pasting a key.
#[derive(Debug, Args)]
pub(crate) struct OAuthFlags {
    /// Connect through the service's own page: say yes there, and nothing is pasted here
    #[arg(long, conflicts_with = "token_stdin")]
    pub(crate) oauth: bool,
    /// The id of a client of your own at the service
    #[arg(long, value_name = "ID", requires = "oauth")]
    pub(crate) client_id: Option<String>,
    /// Read that client's secret from this file, where it has one. Nobody can then renew what runs out: a broker can
    #[arg(long, value_name = "FILE", requires = "client_id")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// Type a code at the service's page, on any device, instead of being sent back to this machine
    #[arg(long, requires = "client_id")]
    pub(crate) device: bool,
    /// Come back to this port of 127.0.0.1, where the client is registered with one [default: any that is free]
    #[arg(long, value_name = "PORT", requires = "client_id", conflicts_with = "device")]
    pub(crate) callback_port: Option<u16>,
    /// Open the page in your browser too
    #[arg(long, requires = "oauth")]
    pub(crate) open: bool,
}
