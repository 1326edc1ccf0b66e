//! `pinhole propose inspect`: a write that a bot asks for, shown to the member from her own manifest. Sends nothing.
//!
//! INVARIANT: what is shown as so is found here; what the bot says is only ever shown as what it says.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use pinhole_manifest::check_json;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::Proposed;
use pinhole_runtime::outcome::Proposal;
use serde_json::Value;

use crate::args::LocalManifests;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::{files, occasion, out, sheet};

/// What `pinhole propose` does.
#[derive(Debug, Subcommand)]
pub(crate) enum ProposeCommand {
    /// Show all that a yes would do, from your own manifest, and where the bot's words differ; exit 1 if they do
    Inspect {
        /// The proposal, or the outcome that has it; `-` is stdin
        file: PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        local: LocalManifests,
    },
}

pub(crate) fn main(command: ProposeCommand, config: &Config) -> anyhow::Result<End> {
    let ProposeCommand::Inspect { file, json, local } = command;
    let proposal = read(&file)?;
    let catalog = occasion::catalog(&local, config)?;
    let shown = shown(&proposal, &Desktop::open(config)?, &catalog)?;
    if json {
        out::json(&shown)?;
    } else {
        out::document(lines(&shown).join("\n"))?;
    }
    Ok(if shown.differs.is_empty() { End::Done } else { End::Failed })
}

/// Reads a proposal: by itself, or in the outcome that it came with.
pub(crate) fn read(file: &Path) -> anyhow::Result<Proposal> {
    let bytes = files::read(file)?;
    let none = |why: String| {
        let hint = "pass what stands at `proposal` in the outcome, or the whole outcome";
        Failure::new(End::Invalid, format!("`{}` is no proposal: {why}", file.display()), hint)
    };
    check_json(&bytes).map_err(|error| none(error.to_string()))?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| none(error.to_string()))?;
    let inside = document.get("proposal").cloned();
    if !inside.as_ref().unwrap_or(&document).is_object() {
        return Err(none("it is no JSON object".to_owned()).into());
    }
    Ok(serde_json::from_value(inside.unwrap_or(document))
        .map_err(|error| none(visible(&error.to_string())))?)
}

/// What it comes to, on the connection of hers that it names.
pub(crate) fn shown(proposal: &Proposal, desktop: &Desktop, catalog: &Catalog) -> anyhow::Result<Proposed> {
    let row = desktop.store.connection(desktop.member.id(), proposal.connection)?.ok_or_else(|| {
        let message = "the connection that it names is none of yours here";
        Failure::new(End::Refused, message, "`pinhole connections` shows what is connected in this home")
    })?;
    Proposed::of(proposal, &row, catalog).map_err(|error| {
        let hint =
            "do not approve it: `pinhole services SERVICE.OP` shows what the op takes by your manifest";
        Failure::new(End::Invalid, visible(&error.to_string()), hint).into()
    })
}

/// The lines of it, for her.
pub(crate) fn lines(shown: &Proposed) -> Vec<String> {
    let mut lines = vec![visible(&shown.confirm)];
    for (name, value) in shown.args.as_object().into_iter().flatten() {
        lines.push(format!("  {name} = {}", sheet::json(value)));
    }
    let request = &shown.request;
    lines.push(format!("  request: {} {}", request.method, visible(&request.url)));
    // Of a manifest that nobody reviewed, what else it sends is hers to see.
    if let Some(body) = request.body.as_ref().filter(|_| shown.unsigned) {
        lines.push(format!("  body: {}", sheet::json(body)));
    }
    let stand_in = if shown.stand_in { ", for a stand-in: nothing reaches the service itself" } else { "" };
    lines.push(format!("  connection: {} {}{stand_in}", shown.service, visible(shown.label.as_str())));
    lines.push(format!("  account: {}", visible(shown.account.as_str())));
    if let Some(effect) = shown.effect {
        lines.push(format!("  effect: {}", effect.as_str()));
    }
    lines.push(sheet::irreversible(shown.irreversible).to_owned());
    for found in &shown.found {
        let args = sheet::json(&Value::Object(found.args.clone()));
        let value = found.value.as_ref().map_or_else(|| "nothing".to_owned(), sheet::json);
        lines.push(format!("  the bot says: {} {args}: {} is {value}", found.op, visible(&found.path)));
    }
    let unsigned = if shown.unsigned { ", unsigned" } else { "" };
    let (service, op, summary) = (&shown.service, &shown.op, visible(&shown.summary));
    lines.push(format!("  op: {service}.{op} of {}{unsigned}: {summary}", shown.manifest));
    lines.push(format!("  bot: {}", shown.bot));
    for differs in &shown.differs {
        let (said, is) = (visible(&differs.said), visible(&differs.is));
        lines.push(format!("DIFFERS: {}: the bot says {said}; it is {is}", differs.about));
    }
    lines
}
