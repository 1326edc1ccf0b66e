//! `pinhole mcp install`: the server's entry in the configuration of an MCP client.
//!
//! It shows what changes, asks, keeps the old file, and touches nothing else. It refuses what it cannot read whole, and what a
//! client would read otherwise than it is meant. INVARIANT: no token is written: an entry for HTTP names the variable that it is in.

mod client;
mod entry;
mod json;
mod place;
mod shown;
mod started;
mod toml;

use std::path::PathBuf;

use clap::Args;
use pinhole_manifest::visible::visible;
use pinhole_server::mcp::http::MCP_PATH;
use url::{Host, Url};

use crate::config::Config;
use crate::end::{End, Failure};
use crate::{out, terminal};
use client::{Client, Scope, Spot};
use entry::{EditError, Edited, Entry, Seen};
use place::Place;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InstallFlags {
    /// The client
    client: Client,
    /// Whose configuration [default: yours; the project's for Roo Code and VS Code]
    #[arg(long, value_name = "SCOPE", conflicts_with = "file")]
    scope: Option<Scope>,
    /// Write this file instead of the client's usual one
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What the client calls the server: small letters, digits and hyphens, at most 16
    #[arg(long, value_name = "NAME", default_value = "pinhole", value_parser = server_name)]
    name: String,
    /// Have the client call a server that runs already, such as `http://127.0.0.1:8420`, instead of starting one; without a
    /// path `/mcp` is meant
    #[arg(long, value_name = "URL", value_parser = server_url, conflicts_with = "args")]
    http: Option<Url>,
    /// With `--http`: the environment variable that the client finds the token in
    #[arg(long, value_name = "NAME", default_value = "PINHOLE_TOKEN", value_parser = variable)]
    token_env: String,
    /// Only print what would be in the file
    #[arg(long, conflicts_with_all = ["remove", "yes", "scope", "file"])]
    print: bool,
    /// Take the entry out again
    #[arg(long, conflicts_with_all = ["http", "args"])]
    remove: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Flags of `pinhole mcp` that the client is to start it with [default: those of the entry that is there]
    #[arg(last = true, value_name = "FLAG")]
    args: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  pinhole mcp install claude-code
  pinhole mcp install cursor --scope project -- --read-only --services github,linear
  pinhole mcp install vscode --http http://127.0.0.1:8420/mcp
  pinhole mcp install codex --print
  pinhole mcp install claude-code --remove";

pub(crate) fn main(flags: &InstallFlags, config: &Config) -> anyhow::Result<End> {
    let client = flags.client;
    if flags.print {
        let entry = entry(flags, None, config)?;
        let edited = client.edit("", &flags.name, Some(&entry)).map_err(|error| unread("nothing", &error))?;
        out::document(visible_lines(&edited.text))?;
        without_a_variable(flags);
        return Ok(End::Done);
    }
    let place = Place::read(&spot(flags)?)?;
    let file = place.file().display().to_string();
    let (file, name) = (visible(&file), &flags.name);
    let edit = |entry: Option<&Entry>| {
        let text = place.text().unwrap_or_default();
        client.edit(text, name, entry).map_err(|error| unread(&file, &error))
    };
    let mut edited = edit(None)?;
    if !flags.remove {
        let args = edited.changes.iter().find(|change| change.key == "args");
        let entry = entry(flags, args.and_then(|change| change.before.as_ref()), config)?;
        edited = edit(Some(&entry))?;
    }
    if edited.changes.is_empty() {
        let is = if flags.remove { "is not in" } else { "is already as it should be in" };
        out::line(format_args!("`{name}` {is} {file}"));
        return Ok(End::Done);
    }
    if !agreed(&edited, &file, flags)? {
        out::note("nothing was changed");
        return Ok(End::Refused);
    }
    let kept = place.write(&edited.text)?;
    out::line(format_args!("wrote {file}"));
    if let Some(kept) = kept {
        out::line(format_args!("  the file as it was: {}", visible(&kept.display().to_string())));
    }
    out::line(format_args!("  {} reads it when it starts anew", client.name()));
    if let (Some(url), true) = (&flags.http, client.names_a_variable()) {
        out::line(format_args!(
            "  have a token of the server at {url} in `{}` where {} starts (`pinhole tokens new`)",
            flags.token_env,
            client.name()
        ));
    }
    without_a_variable(flags);
    Ok(End::Done)
}

/// Says what a file cannot: where a client finds the token.
fn without_a_variable(flags: &InstallFlags) {
    if flags.http.is_some() && !flags.client.names_a_variable() {
        out::note(format_args!(
            "note: {} has no way to name a variable for the token, and no token is written here; without `--http` it needs none",
            flags.client.name()
        ));
    }
}

/// What is to stand in the client's file. `found` are the arguments that stand there.
fn entry(flags: &InstallFlags, found: Option<&Seen>, config: &Config) -> anyhow::Result<Entry> {
    if let Some(url) = &flags.http {
        return flags.client.http(url.as_str(), &flags.token_env).ok_or_else(|| {
            let message =
                format!("{} does not call servers of its configuration by HTTP", flags.client.name());
            Failure::new(End::Usage, message, "leave `--http` out: it starts `pinhole mcp` itself").into()
        });
    }
    let command = std::env::current_exe().map_err(|error| {
        usage(format!("where this command is cannot be seen: {error}"), "start it by its path")
    })?;
    let command = path_text(&command)?;
    started::no_variable([&command])?;
    let args = started::words(&flags.args, found, config)?;
    Ok(flags.client.stdio(&command, &args))
}

fn spot(flags: &InstallFlags) -> anyhow::Result<Spot> {
    if let Some(file) = &flags.file {
        let file = std::path::absolute(file).map_err(|error| {
            usage(format!("`{}` has no absolute path: {error}", file.display()), "pass one")
        })?;
        let (Some(base), Some(name)) = (file.parent(), file.file_name()) else {
            return Err(usage(format!("`{}` is not the name of a file", file.display()), "name a file"));
        };
        return Ok(Spot { base: base.to_owned(), below: name.into(), scope: Scope::User });
    }
    let scope = flags.scope.unwrap_or_else(|| flags.client.usual_scope());
    let project = std::env::current_dir().map_err(|error| {
        usage(format!("the folder that this is run in is gone: {error}"), "go to one that is there")
    })?;
    flags.client.spot(scope, &project).ok_or_else(|| {
        let whose = if scope == Scope::User { "the user" } else { "a project" };
        let message = format!("there is no known file of {} for {whose}", flags.client.name());
        usage(message, "choose the other `--scope`, or name the file with `--file`")
    })
}

/// Shows what changes where she is asked, and asks.
fn agreed(edited: &Edited, file: &str, flags: &InstallFlags) -> anyhow::Result<bool> {
    let mut lines = vec![format!("{file}, {} / {}:", flags.client.section(), flags.name)];
    lines.extend(shown::lines(edited).iter().map(|line| visible(line)));
    if flags.yes || !terminal::is_there() {
        lines.iter().for_each(out::line);
        if flags.yes {
            return Ok(true);
        }
        let message = format!("there is no terminal to ask at whether `{file}` is to be changed");
        return Err(usage(message, "pass `--yes`, or `--print` to put it there yourself"));
    }
    terminal::show(&lines)?;
    let answer = terminal::line("Write it (yes or no)? ")?;
    Ok(answer.trim() == "yes")
}

fn unread(file: &str, error: &EditError) -> anyhow::Error {
    let message = format!("`{file}` was left as it is: {error}");
    let hint = "mend it, or put the entry there yourself: `--print` shows it";
    Failure::new(End::Refused, message, hint).into()
}

fn usage(message: String, hint: &str) -> anyhow::Error {
    Failure::new(End::Usage, message, hint).into()
}

fn path_text(path: &std::path::Path) -> anyhow::Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| usage(format!("`{}` is not UTF-8 text", path.display()), "use a path that is"))
}

/// Lines to be printed; the end of the last is the printer's.
fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// The name is a part of what models call each tool.
fn server_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.len() <= 16 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Err("a name has small letters, digits and hyphens, begins with a letter, and is at most 16 long"
        .to_owned())
}

fn variable(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && text.chars().all(plain)
    {
        return Ok(text.to_owned());
    }
    Err("a variable has capitals, digits and `_`; it is its name that is written, never the token".to_owned())
}

/// A token goes with each request, so the way is one that nobody reads along.
fn server_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text)
        .map_err(|error| format!("it is no URL ({error}); say `http://127.0.0.1:8420/mcp`"))?;
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return Err("it names no host; say `http://127.0.0.1:8420/mcp`".to_owned()),
    };
    match url.scheme() {
        "https" => {}
        "http" if here => {}
        "http" => {
            return Err(
                "over `http` the token is read along; use `https`, or an address of this machine".to_owned()
            );
        }
        _ => return Err("it is neither `http` nor `https`".to_owned()),
    }
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err("it has more than a host and a path, and what is secret would stand in a file".to_owned());
    }
    if text.contains('$') {
        return Err("it has a `$` in it, which clients take for a variable".to_owned());
    }
    if url.path() == "/" {
        url.set_path(MCP_PATH);
    }
    Ok(url)
}
