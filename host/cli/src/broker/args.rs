//! The flags of `pinhole broker`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::args::{DialFlags, LocalManifests};

/// What the broker is reached at, and who may ask it.
#[derive(Debug, Args)]
pub(crate) struct BrokerFlags {
    /// Listen there
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: SocketAddr,
    /// Where people and bots reach it: `https://`, a name and nothing else
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: String,
    /// Do TLS here, with this certificate chain (PEM); without it a proxy in front must
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Let this member connect, or this bot renew; may be repeated; `config.toml` may name more (`[broker] allow`)
    #[arg(long, value_name = "KEY")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}
