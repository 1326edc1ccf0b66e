//! What of an answer a draft lets through: single values by which a person knows what they look at.
//!
//! Leaves out what sounds like a secret, links for machines, and what lies deep. INVARIANT: each field is described, and is
//! a value or a list of values; there are at most [`FIELDS_MAX`].

use serde_json::{Value, json};

use super::sketch::No;
use crate::draft::RefusedReason as Reason;
use crate::draft::secrets::{self, Held as Kept, Topic, may_be_secret};
use crate::draft::words::{is_about_the_list, is_noise, words};
use crate::finding::quoted;
use crate::openapi::operation::{Answer, Held, Looked};
use crate::openapi::parts::Parts;
use crate::openapi::reader::Reader;

/// Most fields of a drafted pick.
const FIELDS_MAX: usize = 30;
/// Most fields that are looked at.
const LOOKED_AT_MAX: usize = 2_000;
/// How deep fields are looked for, where nothing is found at the top.
const DEPTH_MAX: usize = 4;
/// Longest path of a field, in bytes: shorter than a manifest may have it.
const PATH_MAX: usize = 400;

/// What comes back.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) pick: Value,
    pub(super) note: Option<String>,
}

/// What a draft lets through of a successful answer.
pub(super) fn pick<'d>(
    looked: &Looked<'d>,
    is_read: bool,
    method: &str,
    topic: Topic,
    reader: &Reader<'d>,
) -> Result<Found, No> {
    let none = |note: Option<&str>| Found { pick: "none".into(), note: note.map(str::to_owned) };
    let nothing = |why: String| {
        if is_read {
            Err(No::new(Reason::NothingToPick, why))
        } else {
            Ok(none(Some(&format!("nothing comes back: {why}"))))
        }
    };
    if method == "HEAD" {
        return Ok(none(None));
    }
    let Some(answer) = best(looked) else { return nothing("no successful answer is described".to_owned()) };
    let schema = match &answer.held {
        Held::Nothing if !is_read || answer.status == "204" => return Ok(none(None)),
        Held::Nothing | Held::Json(None) => return nothing("its answer is not described".to_owned()),
        Held::Other(media) if is_read => {
            return Err(No::new(Reason::AnswerType, format!("it answers with `{}`", quoted(media))));
        }
        Held::Other(media) => {
            return Ok(none(Some(&format!("nothing of its `{}` comes back", quoted(media)))));
        }
        Held::Json(Some(schema)) => schema,
    };
    let (root, parts) = root(&reader.parts(schema), reader);
    let mut search = Search { reader, fields: Vec::new(), left_out: Vec::new() };
    let topic = root.as_deref().map_or(topic, |root| topic.below(root));
    search.values(&parts, "", topic, Depth::Top);
    if search.fields.is_empty() {
        search.values(&parts, "", topic, Depth::Left(DEPTH_MAX));
    }
    if search.fields.is_empty() {
        if let Some(trouble) = reader.trouble() {
            return nothing(format!("its answer could not be looked at: {}", trouble.says()));
        }
        if !search.left_out.is_empty() {
            return nothing(secrets::left_out(&search.left_out));
        }
        return nothing("its answer has no described values of its own".to_owned());
    }
    let mut notes = Vec::new();
    if !search.left_out.is_empty() {
        notes.push(secrets::left_out(&search.left_out));
    }
    // What tells one thing from another first, then what stands at the top.
    search.fields.sort_by_key(|one| one.rank);
    if let Some(more) = search.fields.len().checked_sub(FIELDS_MAX).filter(|more| *more > 0) {
        notes.push(format!("{FIELDS_MAX} values were taken, and {more} more were left out"));
    }
    let said = (!notes.is_empty()).then(|| notes.join("; "));
    let fields: Vec<String> = search.fields.into_iter().take(FIELDS_MAX).map(|one| one.path).collect();
    let pick = match root {
        Some(root) => json!({ "root": root, "fields": fields }),
        None => json!({ "fields": fields }),
    };
    Ok(Found { pick, note: said })
}

/// The answer of a success that says most.
pub(super) fn best<'l, 'd>(looked: &'l Looked<'d>) -> Option<&'l Answer<'d>> {
    let good = || looked.answers.iter().filter(|one| one.is_success());
    let holds = |one: &&Answer<'_>| matches!(one.held, Held::Json(Some(_)));
    let default = || looked.answers.iter().find(|one| one.status == "default" && holds(one));
    good().find(holds).or_else(|| good().next()).or_else(default)
}

/// Where the values are: the answer itself, or the list that it wraps.
fn root<'d>(answer: &Parts<'d>, reader: &Reader<'d>) -> (Option<String>, Parts<'d>) {
    if answer.types().contains("array") && !answer.types().contains("object") {
        return (None, answer.items(reader));
    }
    if let Some((name, items)) = wrapped_list(answer, reader)
        && let Some(step) = step(name, Place::Later)
    {
        return (Some(format!("${step}[*]")), items);
    }
    (None, answer.clone())
}

/// The one list of objects in an answer that holds nothing else but what goes with a list.
pub(super) fn wrapped_list<'d>(answer: &Parts<'d>, reader: &Reader<'d>) -> Option<(&'d str, Parts<'d>)> {
    let mut found = None;
    for (name, member) in answer.members(reader) {
        let items = member.items(reader);
        let is_list = member.types().contains("array") && items.types().contains("object");
        if is_list && !matches!(name, "errors" | "messages" | "warnings" | "links") {
            if found.replace((name, items)).is_some() {
                return None;
            }
        } else if !is_about_the_list(name) {
            return None;
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The values at the top, and the names of what lies directly below.
    Top,
    /// Only what tells one thing from another.
    Names,
    /// All, so many levels down.
    Left(usize),
}

struct Search<'r, 'd> {
    reader: &'r Reader<'d>,
    fields: Vec<Candidate>,
    /// The paths of what sounds like a secret.
    left_out: Vec<String>,
}

/// A value that a draft may let through.
struct Candidate {
    path: String,
    rank: u8,
}

impl<'d> Search<'_, 'd> {
    fn values(&mut self, parts: &Parts<'d>, before: &str, topic: Topic, depth: Depth) {
        let members = parts.members(self.reader);
        let mut inner = Vec::new();
        for (name, member) in &members {
            if member.says("writeOnly") || member.says("deprecated") || is_noise(name) {
                continue;
            }
            let place = if before.is_empty() { Place::First } else { Place::Later };
            let Some(step) = step(name, place) else { continue };
            let path = format!("{before}{step}");
            if path.len() > PATH_MAX {
                continue;
            }
            if is_value(member, self.reader) {
                let wanted = depth != Depth::Names || is_name(name);
                let is_secret =
                    may_be_secret(name, kept(member), topic) || member.text("format") == Some("password");
                if wanted && is_secret {
                    if !self.left_out.contains(&path) && self.left_out.len() < LOOKED_AT_MAX {
                        self.left_out.push(path);
                    }
                } else if wanted && self.fields.len() < LOOKED_AT_MAX {
                    let rank = if before.is_empty() { u8::from(!is_name(name)) } else { 2 };
                    self.fields.push(Candidate { path, rank });
                }
                continue;
            }
            let items = member.items(self.reader);
            if items.types().contains("object") {
                inner.push((format!("{path}[*]"), topic.below(name), items));
            } else if member.types().contains("object") {
                inner.push((path, topic.below(name), member.clone()));
            }
        }
        let below = match depth {
            Depth::Top => Depth::Names,
            Depth::Left(left) if left > 1 => Depth::Left(left.saturating_sub(1)),
            Depth::Names | Depth::Left(_) => return,
        };
        for (path, topic, parts) in inner {
            self.values(&parts, &path, topic, below);
        }
    }
}

/// Whether it is a value, or a list of values; what may be an object too is none.
fn is_value<'d>(member: &Parts<'d>, reader: &Reader<'d>) -> bool {
    const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];
    let types = member.types();
    if types.iter().all(|kind| SCALARS.contains(kind)) {
        return !types.is_empty();
    }
    if !types.contains("array") || types.contains("object") {
        return false;
    }
    let items = member.items(reader).types();
    !items.is_empty() && items.iter().all(|kind| SCALARS.contains(kind))
}

fn kept(member: &Parts<'_>) -> Kept {
    let types = member.types();
    if types.iter().all(|kind| *kind == "boolean") {
        Kept::Flag
    } else if types.iter().all(|kind| matches!(*kind, "boolean" | "integer" | "number")) {
        Kept::Number
    } else {
        Kept::Text
    }
}

/// Whether a value of this name tells one thing from another.
fn is_name(name: &str) -> bool {
    const WORDS: [&str; 20] = [
        "amount", "code", "currency", "email", "id", "key", "kind", "label", "login", "name", "number",
        "role", "slug", "state", "status", "title", "type", "username", "uuid", "value",
    ];
    words(name).last().is_some_and(|word| WORDS.contains(&word.as_str()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the start of a field.
    First,
    Later,
}

/// A name as a step of a path; `None` where no path could hold it.
pub(super) fn step(name: &str, place: Place) -> Option<String> {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain {
        return Some(if place == Place::First { name.to_owned() } else { format!(".{name}") });
    }
    if name.is_empty() || name.chars().any(|c| !crate::parse::text::is_plain(c)) {
        return None;
    }
    Some(format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")))
}
