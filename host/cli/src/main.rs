//! The `pinhole` command: flags in, words or one JSON document out, an exit status.
//!
//! One file a subcommand, none with logic of its own. This file is the one place where an error becomes an exit status.

#![forbid(unsafe_code)]

mod approvals;
mod args;
mod asking;
mod backup;
mod broker;
mod call;
mod config;
mod connect;
mod connections;
mod database;
mod demo;
mod dial;
mod doctor;
mod end;
mod explain;
mod files;
mod grant;
mod keys;
mod local;
mod manifest;
mod mcp;
mod member;
mod module;
mod occasion;
mod out;
mod pages;
mod propose;
mod receipts;
mod registry;
mod research;
mod run;
mod services;
mod settings;
mod sheet;
mod sidecar;
mod terminal;
mod tokens;
mod wait;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use tracing_subscriber::filter::LevelFilter;

use args::{Cli, Command};
use config::Config;
use end::End;
use wait::block_on;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ended = Config::read(&cli.global).and_then(|config| dispatch(cli.command, &config));
    ExitCode::from(ended.unwrap_or_else(|error| out::failure(&error)).status())
}

fn dispatch(command: Command, config: &Config) -> anyhow::Result<End> {
    match &command {
        // What a module logs is what its author wants to see.
        Command::Module(_) => config.start_log(LevelFilter::INFO),
        Command::Sidecar(flags) => sidecar::start_log(flags, config),
        _ => config.start_log(LevelFilter::WARN),
    }
    match command {
        Command::Demo(flags) => block_on(demo::main(&flags)),
        Command::Services(flags) => services::main(&flags, config),
        Command::Connect(flags) => block_on(connect::main(flags, config)),
        Command::Connections { command, json } => connections::main(command, json, config),
        Command::Run(flags) => block_on(run::main(flags, config)),
        Command::Explain(flags) => block_on(explain::main(flags, config)),
        Command::Approvals(command) => approvals::main(command, config),
        Command::Mcp(flags) => block_on(mcp::main(*flags, config)),
        Command::Sidecar(flags) => block_on(sidecar::main(*flags, config)),
        Command::Propose(command) => propose::main(command, config),
        Command::Broker(flags) => block_on(broker::main(*flags, config)),
        Command::Doctor(flags) => block_on(doctor::main(&flags, config)),
        Command::Keys(command) => keys::main(command, config),
        Command::Grant(command) => grant::main(command, config),
        Command::Registry(command) => block_on(registry::main(command, config)),
        Command::Manifest(command) => block_on(manifest::main(command)),
        Command::Module(command) => block_on(module::main(command, config)),
        Command::Research(flags) => block_on(research::main(*flags, config)),
        Command::Receipts(command) => receipts::main(command, config),
        Command::Tokens(command) => tokens::main(command, config),
        Command::Backup(flags) => backup::main(&flags, config),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pinhole", &mut script);
            out::document(String::from_utf8_lossy(&script).trim_end())?;
            Ok(End::Done)
        }
    }
}
