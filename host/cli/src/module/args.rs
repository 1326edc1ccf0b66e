//! The flags of `pinhole module`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{ArgValues, DialFlags};

#[derive(Debug, Subcommand)]
pub(crate) enum ModuleCommand {
    /// Begin a module: a folder with a small op that runs
    #[command(after_help = NEW_EXAMPLES)]
    New(NewFlags),
    /// Build a module's component out of its sources
    Build(BuildFlags),
    /// Say what a component imports, exports and would be allowed
    Check(CheckFlags),
    /// Run a module on recorded answers, or on a stand-in, and show each request that it makes
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunFlags>),
}

const NEW_EXAMPLES: &str = "Examples:
  pinhole module new rust stale-issues --service github
  pinhole module new javascript cycle-report --service linear
  pinhole module new python zone-file --service acme --manifest acme/manifest.json";

const RUN_EXAMPLES: &str = "Examples:
  pinhole module run                                   every case of the module in this folder
  pinhole module run . cases/stale_issues.two_pages.json
  pinhole module run --rewrite                         writes what was sent and what came of it into the cases
  pinhole module run --resolve api.github.com:443:127.0.0.1:8443 --ca-cert ca.pem --arg owner=o --case two_pages";

/// A language that modules are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    #[value(name = "javascript", alias = "js")]
    JavaScript,
    Python,
}

#[derive(Debug, Args)]
pub(crate) struct NewFlags {
    /// The language
    pub(crate) language: Language,
    /// The module's name, such as `stale-issues`; its op is `stale_issues`
    pub(crate) name: String,
    /// The service that it is for
    #[arg(long)]
    pub(crate) service: String,
    /// The manifest of a service that is not part of the binary
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Where to put it [default: a folder with its name, here]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildFlags {
    /// The module's folder
    #[arg(default_value = ".")]
    pub(crate) project: PathBuf,
    /// Write the component there and leave the op's digest as it is
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The folder with the npm packages for a module in JavaScript [default: the nearest `node_modules` upwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) node_modules: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckFlags {
    /// The module's folder, or a component's file
    #[arg(default_value = ".")]
    pub(crate) module: PathBuf,
    /// The manifest of a service that is not part of the binary
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RunFlags {
    /// The module's folder
    #[arg(default_value = ".")]
    pub(crate) project: PathBuf,
    /// Files with recorded answers [default: all cases of the op]
    #[arg(conflicts_with_all = ["resolve", "arg", "args"])]
    pub(crate) cases: Vec<PathBuf>,
    /// Take this component instead of the module's own
    #[arg(long, value_name = "FILE")]
    pub(crate) component: Option<PathBuf>,
    /// The manifest of a service that is not part of the binary
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Write into each case what was sent and what came of it
    #[arg(long, conflicts_with_all = ["resolve", "case"])]
    pub(crate) rewrite: bool,
    /// Write down refusals too, and leave out answers that nobody asked for
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) values: ArgValues,
    #[command(flatten)]
    pub(crate) dial: DialFlags,
    /// Write what a stand-in was asked and answered into the case of this name
    #[arg(long, value_name = "NAME", requires = "resolve")]
    pub(crate) case: Option<String>,
    /// Read a key for the stand-in from stdin
    #[arg(long, requires = "resolve")]
    pub(crate) token_stdin: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
