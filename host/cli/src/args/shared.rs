//! Flags that several commands take.

use std::path::PathBuf;

use clap::Args;

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

/// Where the member's passphrase comes from.
#[derive(Debug, Args)]
pub(crate) struct PassphraseFlags {
    /// Read the member's passphrase from this file instead of asking at the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}
