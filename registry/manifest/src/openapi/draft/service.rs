//! The members of a drafted manifest that are about the service: its id, name, summary and documentation.
//!
//! Guesses an id from the host, and says so. INVARIANT: each text is one that [`crate::read`] takes.

use serde_json::{Map, Value};

use crate::draft::texts::{line, sentence};
use crate::draft::words::words;
use crate::host::{ApiHost, HttpsUrl};
use crate::ids::ServiceId;
use crate::openapi::description::Description;

/// Hosts that many services share: there the title says more.
const SHARED: [&str; 14] = [
    "amazonaws",
    "apigee",
    "appspot",
    "azure",
    "azurewebsites",
    "cloudfront",
    "cloudfunctions",
    "googleapis",
    "herokuapp",
    "mashape",
    "microsoft",
    "rapidapi",
    "run",
    "windows",
];
/// Words of a title that say nothing of the service.
const NOISE: [&str; 18] = [
    "a",
    "an",
    "and",
    "api",
    "apis",
    "developer",
    "documentation",
    "for",
    "of",
    "open",
    "openapi",
    "platform",
    "public",
    "reference",
    "rest",
    "specification",
    "swagger",
    "the",
];

fn info<'d>(description: &'d Description, name: &str) -> Option<&'d str> {
    description.root().get("info")?.get(name)?.as_str()
}

/// An id for the service; `None` where neither host nor title gives one.
pub(super) fn id(description: &Description, host: &ApiHost) -> Option<ServiceId> {
    let labels: Vec<&str> = host.as_str().rsplit('.').collect();
    let second_level = ["co", "com", "org", "net", "ac", "gov", "edu", "gob", "gouv"];
    let place = match labels.as_slice() {
        [country, second, _, ..] if country.len() == 2 && second_level.contains(second) => 2,
        _ => 1,
    };
    let label = labels.get(place).copied().unwrap_or_default();
    let title = info(description, "title").map(words).unwrap_or_default();
    let is_version = |word: &String| {
        word.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let title: String =
        title.into_iter().filter(|word| !NOISE.contains(&word.as_str()) && !is_version(word)).collect();
    let own = if SHARED.contains(&label) { title.as_str() } else { label };
    [own, title.as_str(), label].into_iter().find_map(as_id)
}

fn as_id(text: &str) -> Option<ServiceId> {
    let kept: String =
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let kept: String = kept.trim_start_matches(|c: char| c.is_ascii_digit()).chars().take(24).collect();
    ServiceId::parse(&kept).ok()
}

/// The members from `pinhole` to `host`.
pub(super) fn members(description: &Description, id: &ServiceId, host: &ApiHost) -> Map<String, Value> {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    let name = info(description, "title").and_then(|title| line(title, 60)).unwrap_or_else(|| id.to_string());
    let about = info(description, "description").and_then(|text| sentence(text, 200));
    let summary = about.unwrap_or_else(|| format!("What {name} offers."));
    set("pinhole", 1.into());
    set("id", id.as_str().into());
    set("version", "0.1.0".into());
    set("name", name.into());
    set("summary", format!("{} {summary}", super::op::DRAFT).into());
    set("host", host.as_str().into());
    let docs = description.root().get("externalDocs").and_then(|docs| docs.get("url")?.as_str());
    if let Some(docs) = docs.filter(|url| HttpsUrl::parse(url).is_ok()) {
        set("docs", docs.into());
    }
    members
}
