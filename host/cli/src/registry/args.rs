//! The flags of `pinhole registry`. Their doc comments are the help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pinhole_manifest::{Digest, ServiceId};
use pinhole_registry::RoleName;
use pinhole_registry::client::RegistryName;

use crate::args::{DialFlags, PassphraseFlags};

/// What `pinhole registry` does. The first half is a maintainer's, the second half a host's.
#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Make a key, or show the public half of one
    Key(KeyFlags),
    /// Begin a registry: its folder, its roles, who signs for each
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitFlags),
    /// Put manifests and their modules in, to be signed
    Add(AddFlags),
    /// Take a service out, to be signed
    Remove(RemoveFlags),
    /// See what waits for signatures and sign it; needs no network
    Sign(SignFlags),
    /// Take in signatures that were made elsewhere
    Collect(CollectFlags),
    /// Publish what enough keys have signed; with nothing new, sign anew that the present state is the newest
    Publish(PublishFlags),
    /// Replace, add or remove a key of a role, or change how many must sign; to be signed by the old keys and the new
    Rotate(RotateFlags),
    /// Drop what waits for signatures
    Discard {
        /// The registry's folder
        folder: PathBuf,
    },
    /// Look whether everything in a registry's folder is as it should be
    Verify(FolderFlags),
    /// Serve a registry's published files and its catalogue
    Serve(ServeFlags),
    /// Trust a registry by its root
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(TrustFlags),
    /// Trust a registry no more; what it gave goes
    Untrust {
        /// The registry's name on this host
        #[arg(value_parser = registry)]
        name: RegistryName,
    },
    /// List the registries that this host trusts, what each gave, and what waits for your yes
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Get what the trusted registries have signed since
    Sync(SyncFlags),
    /// Say yes to an update that lets agents do or see more
    Accept(AcceptFlags),
    /// Have a service from a registry instead of from where this host has it now
    Replace(ReplaceFlags),
    /// The bare client, for harnesses that test clients of The Update Framework
    #[command(hide = true)]
    Client(ClientFlags),
}

const INIT_EXAMPLES: &str = "Examples:
  pinhole registry init --local ~/my-services ./manifests/notes
  pinhole registry init registry --keys ~/registry-keys
  pinhole registry init registry --root-key a.pub --root-key b.pub --root-key c.pub --root-threshold 2 \\
      --targets-key a.pub --targets-key b.pub --targets-key c.pub --targets-threshold 2 --online-key online.pub";

const TRUST_EXAMPLES: &str = "Examples:
  pinhole registry trust acme https://registry.example.com/pinhole --root 1.root.json
  pinhole registry sync acme";

#[derive(Debug, Args)]
pub(crate) struct KeyFlags {
    /// The key's file: made where there is none, else its public half is shown
    pub(crate) file: PathBuf,
    /// Protect a new key with a passphrase
    #[arg(long)]
    pub(crate) protect: bool,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseFlags,
}

#[derive(Debug, Args)]
pub(crate) struct FolderFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitFlags {
    /// The registry's folder, which is made
    pub(crate) folder: PathBuf,
    /// With `--local`: manifests' folders to put in at once
    #[arg(requires = "local")]
    pub(crate) manifests: Vec<PathBuf>,
    /// A registry of your own: keys beside it, published and trusted on this host in one go
    #[arg(long, conflicts_with_all = ["root_key", "targets_key", "online_key", "keys"])]
    pub(crate) local: bool,
    /// With `--local`: what this host calls it [default: the folder's name]
    #[arg(long, requires = "local", value_parser = registry)]
    pub(crate) name: Option<RegistryName>,
    /// Make the keys in this folder: `root`, `targets` and `online`, 1 of 1 each
    #[arg(long, value_name = "DIR", conflicts_with_all = ["root_key", "targets_key", "online_key"])]
    pub(crate) keys: Option<PathBuf>,
    /// Protect the made keys with a passphrase
    #[arg(long, requires = "keys")]
    pub(crate) protect: bool,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseFlags,
    /// The public half of a key that signs for the root; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) root_key: Vec<PathBuf>,
    /// How many of them must sign
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) root_threshold: u64,
    /// The public half of a key that signs for the manifests; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) targets_key: Vec<PathBuf>,
    /// How many of them must sign
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) targets_threshold: u64,
    /// The public half of the key that signs for snapshot and timestamp
    #[arg(long, value_name = "FILE", requires = "root_key")]
    pub(crate) online_key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) expiry: ExpiryFlags,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ExpiryFlags {
    /// How long a root is good for, in days
    #[arg(long = "root-days", value_name = "DAYS", default_value_t = 365)]
    pub(crate) root: u32,
    /// How long a list of manifests is good for, in days
    #[arg(long = "targets-days", value_name = "DAYS", default_value_t = 90)]
    pub(crate) targets: u32,
    /// How long hosts may go on without hearing from the registry, in days
    #[arg(long = "online-days", value_name = "DAYS", default_value_t = 30)]
    pub(crate) online: u32,
}

#[derive(Debug, Args)]
pub(crate) struct AddFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// Manifests' folders: `manifest.json` and `modules/`
    #[arg(required = true)]
    pub(crate) manifests: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// The service
    #[arg(value_parser = service)]
    pub(crate) service: ServiceId,
}

#[derive(Debug, Args)]
pub(crate) struct SignFlags {
    /// The registry's folder, or one staged file of it that was brought here
    pub(crate) place: PathBuf,
    /// A key to sign with; may be repeated. Without one, what waits for signatures is shown and nothing is signed
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Vec<PathBuf>,
    /// For a file: the registry's folder, or a copy of it, to hold the file against
    #[arg(long, value_name = "DIR")]
    pub(crate) beside: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CollectFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// Signed files that came back
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PublishFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// A key that signs for snapshot and timestamp; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) key: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RotateFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// Whose keys change
    #[arg(long, required_unless_present = "renew", value_parser = role)]
    pub(crate) role: Option<RoleName>,
    /// Change nothing, and have the root or the targets signed anew for as long again
    #[arg(long, value_name = "ROLE", conflicts_with = "role", value_parser = role)]
    pub(crate) renew: Option<RoleName>,
    /// The public half of a key that the role gets; may be repeated
    #[arg(long, value_name = "FILE", requires = "role")]
    pub(crate) add: Vec<PathBuf>,
    /// The id of a key that the role loses; may be repeated
    #[arg(long, value_name = "KEYID", requires = "role")]
    pub(crate) remove: Vec<String>,
    /// How many keys of the role must sign from now on
    #[arg(long, value_name = "N", requires = "role")]
    pub(crate) threshold: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    /// The registry's folder
    pub(crate) folder: PathBuf,
    /// Where to listen
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8421")]
    pub(crate) listen: SocketAddr,
    /// The certificate chain, PEM: serves https
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TrustFlags {
    /// What this host calls it
    #[arg(value_parser = registry)]
    pub(crate) name: RegistryName,
    /// Where it is: an https URL that has `metadata/` and `targets/` below it, or such a folder on this machine
    pub(crate) place: String,
    /// Its root, which you have from its maintainers by another way than the registry itself
    #[arg(long, value_name = "FILE")]
    pub(crate) root: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SyncFlags {
    /// The registry's name on this host; all of them where none is given
    #[arg(value_parser = registry)]
    pub(crate) name: Option<RegistryName>,
    /// Take updates that let agents do or see more without asking
    #[arg(long)]
    pub(crate) accept_widening: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptFlags {
    /// The service
    #[arg(value_parser = service)]
    pub(crate) service: ServiceId,
    /// Accept this very manifest, and ask nothing; for scripts
    #[arg(long, value_parser = digest)]
    pub(crate) digest: Option<Digest>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplaceFlags {
    /// The service
    #[arg(value_parser = service)]
    pub(crate) service: ServiceId,
    /// The registry that it comes from now on
    #[arg(long = "with", value_name = "NAME", value_parser = registry)]
    pub(crate) registry: RegistryName,
}

#[derive(Debug, Args)]
pub(crate) struct ClientFlags {
    /// Where trusted metadata is kept
    #[arg(long, value_name = "DIR")]
    pub(crate) metadata_dir: PathBuf,
    /// Where metadata is fetched from: a URL, on loopback by http too
    #[arg(long, value_name = "URL")]
    pub(crate) metadata_url: Option<String>,
    /// Where targets are written
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Where targets are fetched from
    #[arg(long, value_name = "URL")]
    pub(crate) target_base_url: Option<String>,
    /// Which target
    #[arg(long, value_name = "NAME")]
    pub(crate) target_name: Option<String>,
    #[command(subcommand)]
    pub(crate) command: ClientCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Trust a root
    Init {
        /// The root's file
        root: PathBuf,
    },
    /// Bring the trusted metadata up to date
    Refresh,
    /// The same, then download a target
    Download,
}

fn registry(text: &str) -> Result<RegistryName, String> {
    RegistryName::parse(text).map_err(|error| error.to_string())
}

fn role(text: &str) -> Result<RoleName, String> {
    RoleName::parse(text).ok_or_else(|| "it is none of `root`, `targets`, `snapshot`, `timestamp`".to_owned())
}

fn service(text: &str) -> Result<ServiceId, String> {
    ServiceId::parse(text).map_err(|error| error.to_string())
}

fn digest(text: &str) -> Result<Digest, String> {
    Digest::parse(text).map_err(|error| error.to_string())
}
