//! Another reading of a raw answer: its status, its body, what is to be picked of it by the rules of DESIGN, "Pick", and
//! what is to be refused. It shares no line with the runtime, and knows `serde_json` values only.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A recording, taken apart.
#[derive(Debug)]
pub(super) struct Raw {
    /// A request that a service made, not an answer; read as an answer of 200.
    pub(super) is_request: bool,
    status: u16,
    /// In lower case.
    head: String,
    pub(super) body: Vec<u8>,
}

/// How a recording must end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    Result { value: Value, notes: BTreeSet<String> },
    Refusal { code: &'static str, untrusted: Option<String> },
}

impl Wanted {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Result { .. } => "a result",
            Self::Refusal { code, .. } => code,
        }
    }
}

/// What an op picks.
pub(super) enum Pick {
    Nothing,
    Fields {
        /// Whether from `$.data`, or from the document.
        of_data: bool,
        fields: Vec<String>,
    },
}

impl Pick {
    pub(super) fn of(pick: &Value) -> Self {
        if pick == "none" {
            return Self::Nothing;
        }
        let fields = pick["fields"].as_array().unwrap();
        let fields = fields.iter().map(|field| field.as_str().unwrap().to_owned()).collect();
        Self::Fields { of_data: pick.get("root").is_some_and(|root| root == "$.data"), fields }
    }
}

impl Raw {
    pub(super) fn read(file: &[u8]) -> Self {
        let end = |mark: &[u8]| file.windows(mark.len()).position(|window| window == mark);
        let (head, body) = match (end(b"\r\n\r\n"), end(b"\n\n")) {
            (Some(long), short) if short.is_none_or(|short| long < short) => (long, long + 4),
            (_, Some(short)) => (short, short + 2),
            _ => (file.len(), file.len()),
        };
        let head = String::from_utf8(file[..head].to_vec()).unwrap().to_lowercase();
        let mut words = head.split_whitespace();
        let (first, second) = (words.next().unwrap(), words.next().unwrap());
        let is_request = first == "post";
        assert!(is_request || first.starts_with("http/1."), "{first}");
        let status = if is_request { 200 } else { second.parse().unwrap() };
        Self { is_request, status, body: file[body..].to_vec(), head }
    }

    fn has_header(&self, wanted: &str) -> bool {
        self.head.lines().any(|line| line.trim() == wanted || line.starts_with(&format!("{wanted}:")))
    }

    fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// How this must end for an op.
    pub(super) fn wanted(&self, pick: &Pick) -> Wanted {
        if let Some(code) = self.refused_by_status() {
            let message = self.json().and_then(|body| body.get("message")?.as_str().map(str::to_owned));
            let untrusted = message.filter(|_| code != "redirected");
            return Wanted::Refusal { code, untrusted };
        }
        let refused = |code| Wanted::Refusal { code, untrusted: None };
        match (pick, self.json()) {
            (Pick::Nothing, _) => Wanted::Result { value: Value::Null, notes: BTreeSet::new() },
            (Pick::Fields { .. }, None) => refused("not_json"),
            (Pick::Fields { of_data: false, fields }, Some(document)) => picked(&document, "$", fields),
            (Pick::Fields { of_data: true, fields }, Some(document)) => match document.get("data") {
                Some(data) => picked(data, "$.data", fields),
                None => refused("root_absent"),
            },
        }
    }

    fn refused_by_status(&self) -> Option<&'static str> {
        let limited = self.has_header("retry-after") || self.has_header("x-ratelimit-remaining: 0");
        Some(match self.status {
            200..=299 => return None,
            300..=399 => "redirected",
            400 | 422 => "upstream_invalid",
            401 => "upstream_unauthorized",
            403 if !limited => "upstream_forbidden",
            403 | 429 => "upstream_rate_limited",
            404 | 410 => "upstream_not_found",
            409 | 412 => "upstream_conflict",
            _ => "upstream_error",
        })
    }
}

/// Picks from an object, or from each element of an array. Elements that are neither objects nor `null` are left out, and
/// the root is named.
fn picked(root: &Value, root_name: &str, fields: &[String]) -> Wanted {
    let mut notes = BTreeSet::new();
    let value = match root {
        Value::Object(_) => of_object(root, fields, &mut notes),
        Value::Array(elements) => {
            let mut kept = Vec::new();
            for element in elements {
                match element {
                    Value::Object(_) => kept.push(of_object(element, fields, &mut notes)),
                    Value::Null => kept.push(Value::Null),
                    _ => drop(notes.insert(root_name.to_owned())),
                }
            }
            Value::Array(kept)
        }
        Value::Null => Value::Null,
        _ => return Wanted::Refusal { code: "root_absent", untrusted: None },
    };
    Wanted::Result { value, notes }
}

fn of_object(object: &Value, fields: &[String], notes: &mut BTreeSet<String>) -> Value {
    let mut whole = Map::new();
    for field in fields {
        let spelled = field.replace("[*]", ".*");
        let steps: Vec<&str> = spelled.split('.').collect();
        let mut odd = false;
        if let Some(Value::Object(part)) = along(object, &steps, &mut odd) {
            merge(&mut whole, part);
        }
        if odd {
            notes.insert(field.clone());
        }
    }
    Value::Object(whole)
}

fn scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// The part of a value that lies along one field, in its shape; `odd` if something on it was left out for its kind.
fn along(value: &Value, steps: &[&str], odd: &mut bool) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return end(value, odd) };
    match (*step, value) {
        (_, Value::Null) => Some(Value::Null),
        ("*", Value::Object(members)) if rest.is_empty() => {
            *odd |= !members.values().all(scalar);
            let kept = members.iter().filter(|(_, member)| scalar(member));
            Some(Value::Object(kept.map(|(name, member)| (name.clone(), member.clone())).collect()))
        }
        ("*", Value::Array(_)) if rest.is_empty() => end(value, odd),
        ("*", Value::Array(elements)) => {
            // No recording has an element of another kind than the field takes.
            Some(elements.iter().filter_map(|element| along(element, rest, odd)).collect())
        }
        ("*", _) => None,
        (name, Value::Object(members)) => {
            let kept = members.get(name).and_then(|member| along(member, rest, odd));
            Some(Value::Object(kept.map(|kept| (name.to_owned(), kept)).into_iter().collect()))
        }
        _ => None,
    }
}

/// A field's end takes a scalar or an array of scalars.
fn end(value: &Value, odd: &mut bool) -> Option<Value> {
    let fits = scalar(value) || value.as_array().is_some_and(|elements| elements.iter().all(scalar));
    *odd |= !fits;
    fits.then(|| value.clone())
}

fn merge(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (name, value) in part {
        match (whole.get_mut(&name), value) {
            (Some(Value::Object(there)), Value::Object(more)) => merge(there, more),
            (Some(_), Value::Null) => {}
            (_, value) => drop(whole.insert(name, value)),
        }
    }
}
