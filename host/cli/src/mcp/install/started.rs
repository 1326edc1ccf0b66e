//! The words that a client starts the server with: flags that are said now, or those of the entry that is there.
//!
//! It refuses what would not start, or would look for files in the client's folder. INVARIANT: a flag of an entry is never left
//! out unsaid: most of them narrow what a client is offered.

use std::path::Path;

use clap::Parser as _;

use super::entry::{Seen, Setting};
use super::{path_text, usage};
use crate::args::{Cli, Command, Global};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::mcp::args::ServeFlags;
use crate::{local, occasion};

/// Words as an entry has them, the home and the other flags apart: another home may be said without those.
struct Flags {
    words: Vec<String>,
    home: Option<String>,
    rest: Vec<String>,
}

/// The words behind the command. `said` are flags that stood behind `--`, `found` what the entry has now.
pub(super) fn words(said: &[String], found: Option<&Seen>, config: &Config) -> anyhow::Result<Vec<String>> {
    let found = found.map(of_entry);
    let home = match config.said_home() {
        Some(home) => Some(path_text(&whole(home)?)?),
        None => found.as_ref().and_then(|found| found.as_ref().ok()?.home.clone()),
    };
    if said.is_empty() {
        return Ok(match found.transpose().map_err(|why| unkept(&why))? {
            Some(kept) if kept.home == home && !kept.words.is_empty() => kept.words,
            kept => with_home(home, kept.map(|kept| kept.rest).unwrap_or_default()),
        });
    }
    let own_home = said.iter().any(|word| word == "--home" || word.starts_with("--home="));
    let words = with_home(if own_home { None } else { home }, said.to_vec());
    let (global, serve) = read(&words).map_err(|(why, hint)| usage(why, hint))?;
    no_variable(&words)?;
    found_from_anywhere(&global, &serve)?;
    offers_what_there_is(&global, &serve)?;
    Ok(words)
}

/// Whether these are words that this command reads: then nothing of anybody else's is among them.
pub(super) fn are_ours(words: &[String]) -> bool {
    apart(words).is_ok()
}

/// Most clients put variables in the place of such words, each in its own way.
pub(super) fn no_variable<'a>(words: impl IntoIterator<Item = &'a String>) -> anyhow::Result<()> {
    match words.into_iter().find(|word| word.contains('$')) {
        None => Ok(()),
        Some(word) => Err(usage(
            format!("`{word}` has a `$` in it, which clients take for a variable"),
            "use a path without one",
        )),
    }
}

fn of_entry(found: &Seen) -> Result<Flags, String> {
    match found {
        Seen::Setting(Setting::List(words)) => apart(words),
        _ => Err("they are not a list of texts".to_owned()),
    }
}

fn apart(words: &[String]) -> Result<Flags, String> {
    let flags = match words.split_first() {
        None => &[],
        Some((first, flags)) if first == "mcp" => flags,
        Some(_) => return Err("they do not begin with `mcp`".to_owned()),
    };
    if !flags.is_empty() {
        // Why not is not said: it would show words that may be anything.
        read(words).map_err(|_why| "`pinhole mcp` does not take them as they are".to_owned())?;
    }
    let (mut home, mut rest) = (None, Vec::new());
    let mut flags = flags.iter();
    // They were read, and no flag takes a value that begins with `--`: what looks like the flag is the flag.
    while let Some(word) = flags.next() {
        match word.strip_prefix("--home") {
            Some("") => home = flags.next().cloned(),
            Some(path) if path.starts_with('=') => home = path.strip_prefix('=').map(str::to_owned),
            _ => rest.push(word.clone()),
        }
    }
    Ok(Flags { words: words.to_vec(), home, rest })
}

fn with_home(home: Option<String>, flags: Vec<String>) -> Vec<String> {
    let home = home.into_iter().flat_map(|home| ["--home".to_owned(), home]);
    std::iter::once("mcp".to_owned()).chain(home).chain(flags).collect()
}

/// What the client would start must start, and speak to it: a mistake shows here, and not in some log of the client's. The
/// error is why not, and what to do.
fn read(words: &[String]) -> Result<(Global, ServeFlags), (String, &'static str)> {
    let words = std::iter::once("pinhole").chain(words.iter().map(String::as_str));
    let (global, serve) = match Cli::try_parse_from(words) {
        Ok(Cli { global, command: Command::Mcp(flags) }) if flags.command.is_none() => (global, flags.serve),
        Ok(_) => {
            return Err(("they start another command".to_owned(), "pass flags of `pinhole mcp` alone"));
        }
        Err(error) => {
            let text = error.to_string();
            let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            return Err((why, "`pinhole mcp --help` lists the flags that may stand behind `--`"));
        }
    };
    if serve.http.is_some() {
        let hint = "the client speaks to what it starts over stdin; `--http URL` before the `--` has it call a server";
        return Err(("`--http` makes a server that this client would not find".to_owned(), hint));
    }
    Ok((global, serve))
}

/// The client starts it in a folder of its own.
fn found_from_anywhere(global: &Global, serve: &ServeFlags) -> anyhow::Result<()> {
    let home = global.home.iter().map(|path| ("--home", path));
    let manifests = serve.local.manifest.iter().map(|path| ("--manifest", path));
    let ca_cert = serve.dial.ca_cert.iter().map(|path| ("--ca-cert", path));
    match home.chain(manifests).chain(ca_cert).find(|(_, path)| !path.is_absolute()) {
        None => Ok(()),
        Some((flag, path)) => Err(usage(
            format!("`{flag} {}` is not a whole path", path.display()),
            "the client starts it elsewhere: write the path from `/` on",
        )),
    }
}

fn offers_what_there_is(global: &Global, serve: &ServeFlags) -> anyhow::Result<()> {
    if serve.services.is_empty() && serve.local.manifest.is_empty() {
        return Ok(());
    }
    let catalog = occasion::catalog(&serve.local, &Config::read(global)?)?;
    serve.services.iter().try_for_each(|name| local::service(&catalog, name).map(drop))
}

fn whole(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    std::path::absolute(path)
        .map_err(|error| usage(format!("`{}` has no absolute path: {error}", path.display()), "pass one"))
}

fn unkept(why: &str) -> anyhow::Error {
    let message = format!("the `args` of the entry that is there cannot be kept: {why}");
    let hint = "pass the flags that it is to have behind `--`, or take the entry out with `--remove` first";
    Failure::new(End::Refused, message, hint).into()
}
