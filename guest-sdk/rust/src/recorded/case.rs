//! Pinhole's case files, `<op>.<name>.json`: the same that `pinhole manifest test` replays through the whole host.
//!
//! Here they meet the function alone: no manifest picks, so that what a case expects is a part of what the function gives.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Asked, Open, Recorded};
use crate::{Error, Host, Response};

/// A case: args, the exchanges that they lead to, and what comes of it.
///
/// One without `expect` is a draft, as `pinhole module new` writes it and `pinhole module run --rewrite` completes it: any
/// result will do, and what its requests leave out is not held.
#[derive(Debug)]
pub struct Case {
    /// The args, as JSON.
    pub args: String,
    /// The host that answers as the case says.
    pub host: Recorded,
    expect: Option<Expect>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    args: Value,
    #[serde(rename = "access")]
    _access: String,
    exchanges: Vec<Exchange>,
    expect: Option<Expect>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    request: Sent,
    response: Answered,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    method: String,
    path: String,
    query: Option<Map<String, Value>>,
    headers: Option<Map<String, Value>>,
    body: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    body: Option<Value>,
    body_text: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    result: Option<Value>,
    refusal: Option<String>,
    #[serde(rename = "notes")]
    _notes: Option<Vec<String>>,
    #[serde(rename = "next")]
    _next: Option<bool>,
}

impl Case {
    /// Reads a case file's text.
    pub fn read(text: &str) -> Result<Self, String> {
        let written: Written = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let both = |expect: &Expect| expect.result.is_some() == expect.refusal.is_some();
        if written.expect.as_ref().is_some_and(both) {
            return Err("`expect` has either `result` or `refusal`".to_owned());
        }
        let draft = written.expect.is_none();
        let mut host = Recorded::new();
        for Exchange { request, response } in written.exchanges {
            let (asked, answer) = (asked(request, draft)?, answer(response)?);
            host = host.recording(asked, Ok(answer));
        }
        Ok(Self { args: written.args.to_string(), host, expect: written.expect })
    }

    /// With these args where it has none of their names.
    fn with_defaults(mut self, defaults: &Map<String, Value>) -> Self {
        if let Ok(Value::Object(mut args)) = serde_json::from_str(&self.args) {
            for (name, value) in defaults {
                args.entry(name).or_insert_with(|| value.clone());
            }
            self.args = Value::Object(args).to_string();
        }
        self
    }

    /// Runs an op on it and says what does not hold, if anything: the result, the refusal `module_failed`, or a recorded
    /// request that was not sent. Other refusals are the host's, and any error of the function will do for them.
    ///
    /// # Panics
    /// When the op sends what is not recorded.
    pub fn fault(
        &self,
        op: &str,
        run: impl Fn(&dyn Host, &str, &str) -> Result<String, Error>,
    ) -> Option<String> {
        let result = run(&self.host, op, &self.args);
        let fault = match (&self.expect, result) {
            (None, Err(error)) => Some(format!("got the error: {error}")),
            (Some(Expect { result: Some(wanted), .. }), Ok(got)) => match serde_json::from_str::<Value>(&got)
            {
                Ok(value) if holds(wanted, &value) => None,
                _ => Some(format!("expected {wanted}\ngot      {got}")),
            },
            (Some(Expect { result: Some(wanted), .. }), Err(error)) => {
                Some(format!("expected {wanted}\ngot the error: {error}"))
            }
            (Some(Expect { refusal, .. }), Ok(got)) => {
                Some(format!("expected the refusal {}, got {got}", refusal.as_deref().unwrap_or_default()))
            }
            (None, Ok(_)) | (Some(_), Err(_)) => None,
        };
        let left = self.host.left.borrow();
        fault.or_else(|| {
            (!left.is_empty()).then(|| format!("recorded and not sent:\n{}", super::listed(&left)))
        })
    }
}

/// Runs an op on each of its cases in a folder and fails the test on the first that does not hold, or if there is none. Args
/// that a case leaves out are filled as the host does it, where the op stands beside the folder, in `manifest.json` or
/// `op.json`.
#[track_caller]
pub fn check_cases(
    folder: impl AsRef<Path>,
    op: &str,
    run: impl Fn(&dyn Host, &str, &str) -> Result<String, Error>,
) {
    let folder = folder.as_ref();
    let defaults = defaults(folder, op);
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut files: Vec<_> = entries.unwrap_or_default();
    files.sort();
    let mut count = 0;
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_case = name.split_once('.').is_some_and(|(first, _)| first == op)
            && file.extension().is_some_and(|extension| extension == "json");
        if !is_case {
            continue;
        }
        count += 1;
        let text = fs::read_to_string(&file).map_err(|error| error.to_string());
        let fault = match text.and_then(|text| Case::read(&text)) {
            Ok(case) => case.with_defaults(&defaults).fault(op, &run),
            Err(error) => Some(error),
        };
        assert!(fault.is_none(), "{name}: {}", fault.unwrap_or_default());
    }
    assert!(count > 0, "{} has no file `{op}.<name>.json`", folder.display());
}

/// The defaults of an op's args, as its manifest has them.
fn defaults(folder: &Path, op: &str) -> Map<String, Value> {
    let read = |name: &str| -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(folder.parent()?.join(name)).ok()?).ok()
    };
    let ops = read("op.json").and_then(|alone| alone.get("op").cloned());
    let ops = ops.or_else(|| read("manifest.json")?.get("ops").cloned());
    let properties = ops.and_then(|ops| ops.get(op)?.pointer("/args/properties")?.as_object().cloned());
    let default = |(name, schema): (String, Value)| Some((name, schema.get("default")?.clone()));
    properties.unwrap_or_default().into_iter().filter_map(default).collect()
}

/// Whether everything that is wanted is there: members may be more, elements and values may not be other.
fn holds(wanted: &Value, got: &Value) -> bool {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            wanted.iter().all(|(name, wanted)| got.get(name).is_some_and(|got| holds(wanted, got)))
        }
        (Value::Array(wanted), Value::Array(got)) => {
            wanted.len() == got.len() && wanted.iter().zip(got).all(|(wanted, got)| holds(wanted, got))
        }
        _ => wanted == got,
    }
}

/// What a draft leaves out is not held.
fn asked(sent: Sent, draft: bool) -> Result<Asked, String> {
    let open = Open {
        query: draft && sent.query.is_none(),
        headers: draft && sent.headers.is_none(),
        body: draft && sent.body.is_none(),
    };
    let mut query = Vec::new();
    for (key, value) in sent.query.unwrap_or_default() {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            query.push((key.clone(), text(&value)?));
        }
    }
    let headers = headers(sent.headers.unwrap_or_default())?;
    Ok(Asked { open, ..Asked::new(&sent.method, &sent.path, query, headers, sent.body) })
}

fn answer(answered: Answered) -> Result<Response, String> {
    let body = match (answered.body, answered.body_text) {
        (Some(_), Some(_)) => return Err("there are two bodies".to_owned()),
        (Some(body), None) => body.to_string().into_bytes(),
        (None, text) => text.unwrap_or_default().into_bytes(),
    };
    let response = Response::new(answered.status).with_body(body);
    Ok(headers(answered.headers)?
        .iter()
        .fold(response, |response, (name, value)| response.with_header(name, value)))
}

fn headers(written: Map<String, Value>) -> Result<Vec<(String, String)>, String> {
    written.into_iter().map(|(name, value)| Ok((name.to_ascii_lowercase(), text(&value)?))).collect()
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{value}` is no text"))
}
