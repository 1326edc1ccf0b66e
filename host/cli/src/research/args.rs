//! The flags of `pinhole research`.

use clap::Args;

use crate::args::{DialFlags, LocalManifests};

/// Shown below the help.
pub(crate) const EXAMPLES: &str = "Examples:
  pinhole research \"which of my open issues wait for me?\" --services github,linear
  pinhole research \"what did we bill in May?\" --services stripe --rounds 6 --json

The model is the one of `config.toml`:
  [research]
  url = \"https://api.example.com/v1/messages\"
  model = \"NAME\"
  key_file = \"/path/to/a/file/of/mode/0600\"

It may read, and only read, on the connections that you are shown; what it reads is sent to its host. There is no flag
that says yes for you.";

#[derive(Debug, Args)]
pub(crate) struct ResearchFlags {
    /// What you want to know
    pub(super) question: String,
    /// The services that it may read on
    #[arg(long, value_name = "SERVICE[:LABEL],…", value_delimiter = ',', required = true)]
    pub(super) services: Vec<String>,
    /// How often the model is asked at most
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(super) rounds: u32,
    /// How often it may call a tool
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) calls: u32,
    /// How many bytes of results it is given at most
    #[arg(long, value_name = "N", default_value = "1048576", value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub(super) bytes: u64,
    /// How long all of it may take, such as 90s or 5m; at most 10m
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub(super) time: String,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) local: LocalManifests,
    #[command(flatten)]
    pub(super) dial: DialFlags,
}
