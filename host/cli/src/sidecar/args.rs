//! The flags of `pinhole sidecar`.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use crate::args::{DialFlags, LocalManifests};

pub(crate) const EXAMPLES: &str = "Examples:
  pinhole sidecar --issuer pin1…
  pinhole sidecar --issuer pin1… --socket /run/pinhole/sidecar.sock --log-json
  pinhole sidecar --issuer pin1… --listen 127.0.0.1:8421

  curl --unix-socket ~/.local/share/pinhole/sidecar.sock http://localhost/v1/services";

/// What bots are served, and how.
#[derive(Debug, Args)]
pub(crate) struct SidecarFlags {
    /// Listen at this socket file, to this user alone [default: `sidecar.sock` in the home]
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen on this loopback address instead, to whoever has a token (`pinhole tokens new`)
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Believe grants of this member, besides those of `config.toml`; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) issuer: Vec<String>,
    /// Offer no writes and run none
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Most calls at once [default: 64]
    #[arg(long, value_name = "N")]
    pub(crate) calls: Option<NonZeroU32>,
    /// Most calls of one service at once [default: 16]
    #[arg(long, value_name = "N")]
    pub(crate) calls_of_a_service: Option<NonZeroU32>,
    /// Most calls that wait for their turn; beyond, callers are told to come back [default: 256]
    #[arg(long, value_name = "N")]
    pub(crate) waiting: Option<NonZeroU32>,
    /// Most calls that wait for one service [default: 64]
    #[arg(long, value_name = "N")]
    pub(crate) waiting_for_a_service: Option<NonZeroU32>,
    /// How long what runs may go on once it is told to stop
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) drain: String,
    /// Log one JSON object a line
    #[arg(long)]
    pub(crate) log_json: bool,
    #[command(flatten)]
    pub(crate) local: LocalManifests,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}
