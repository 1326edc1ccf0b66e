//! What an edit changes, line by line.
//!
//! INVARIANT: of what stood there before, nothing is shown that may be a secret: no value of a header or a variable, no argument
//! of another command, and of an address no more than where it leads.

use pinhole_server::mcp::http::MCP_PATH;
use serde_json::json;
use url::Url;

use super::entry::{Change, Edited, Seen, Setting};
use super::started;

/// Stands for what is not shown.
const HIDDEN: &str = "…";

/// What changes in an entry.
pub(super) fn lines(edited: &Edited) -> Vec<String> {
    let mut lines = Vec::new();
    for Change { key, before, after } in &edited.changes {
        let same = matches!((before, after), (Some(Seen::Setting(old)), Some(new)) if old == new);
        if let (false, Some(before)) = (same, before) {
            lines.push(format!("- {key}: {}", hidden(key, before)));
        }
        let mark = if same { ' ' } else { '+' };
        lines.extend(after.as_ref().map(|after| format!("{mark} {key}: {}", shown(after))));
    }
    if !edited.kept.is_empty() {
        lines.push(format!("  ({} of it stay as they are)", edited.kept.join(", ")));
    }
    lines
}

fn shown(setting: &Setting) -> String {
    match setting {
        Setting::Text(text) => json!(text).to_string(),
        Setting::List(list) => json!(list).to_string(),
        Setting::Map(map) => {
            let members: Vec<String> =
                map.iter().map(|(name, text)| format!("{}: {}", json!(name), json!(text))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn hidden(key: &str, seen: &Seen) -> String {
    let Seen::Setting(setting) = seen else { return "(something else)".to_owned() };
    shown(&match setting {
        Setting::Map(map) => {
            Setting::Map(map.iter().map(|(name, _)| (name.clone(), HIDDEN.to_owned())).collect())
        }
        Setting::List(words) if key == "args" => Setting::List(arguments(words)),
        Setting::List(list) => Setting::List(list.iter().map(|_| HIDDEN.to_owned()).collect()),
        Setting::Text(text) => Setting::Text(match key {
            "type" | "command" => text.clone(),
            "url" | "httpUrl" | "serverUrl" => address(text),
            "bearer_token_env_var" if super::variable(text).is_ok() => text.clone(),
            _ => HIDDEN.to_owned(),
        }),
    })
}

/// Ours as they are; of others the names of flags.
fn arguments(words: &[String]) -> Vec<String> {
    if started::are_ours(words) {
        return words.to_vec();
    }
    let name = |word: &String| {
        let (name, value) = word.split_once('=').map_or((word.as_str(), false), |(name, _)| (name, true));
        match name.strip_prefix("--") {
            Some(_) if value => format!("{name}={HIDDEN}"),
            Some(_) => name.to_owned(),
            None if name == "mcp" => name.to_owned(),
            None => HIDDEN.to_owned(),
        }
    };
    words.iter().map(name).collect()
}

/// Some servers have their key in the path.
fn address(text: &str) -> String {
    let Ok(url) = Url::parse(text) else { return HIDDEN.to_owned() };
    let origin = url.origin();
    if !origin.is_tuple() {
        return HIDDEN.to_owned();
    }
    let origin = origin.ascii_serialization();
    if !url.username().is_empty() || url.password().is_some() || !matches!(url.path(), "/" | MCP_PATH) {
        return format!("{origin}/{HIDDEN}");
    }
    let more = url.query().is_some() || url.fragment().is_some();
    format!("{origin}{}{}", url.path(), if more { "?…" } else { "" })
}
