//! Case files as a developer has them: read before anything is expected of them, and written as a run went.
//!
//! INVARIANT: JSON that came stays the text that it was, so that no digit of a number is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pinhole_manifest::cases::{Case, CaseName};
use pinhole_manifest::{Access, OpId};
use pinhole_runtime::outcome::Verdict;
use pinhole_runtime::replay::{Rehearsed, SeenAnswer, SeenRequest};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::end::{End, Failure};
use crate::files;

/// Recorded answers, and perhaps what is expected of them.
pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) case: Case,
    /// Whether the file says what must come of it.
    pub(super) expects: bool,
}

/// Reads recorded answers for an op.
pub(super) fn read(path: &Path, op: &OpId) -> anyhow::Result<Recorded> {
    let invalid = |message: String, hint: String| Failure::new(End::Invalid, message, hint);
    let shown = path.display();
    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = CaseName::parse(file).ok().filter(|name| name.op == *op).ok_or_else(|| {
        invalid(format!("`{shown}` is not named as a case of `{op}`"), format!("name it `{op}.<name>.json`"))
    })?;
    let bytes = files::read(path)?;
    let whole: serde_json::Result<BTreeMap<String, Box<RawValue>>> = serde_json::from_slice(&bytes);
    let (bytes, expects) = match whole {
        Ok(mut whole) if !whole.contains_key("expect") => {
            // Nothing is expected yet; the rest is read as of any case.
            whole.insert("expect".to_owned(), RawValue::from_string(r#"{"result":null}"#.to_owned())?);
            (serde_json::to_vec(&whole)?, false)
        }
        Ok(_) | Err(_) => (bytes, true),
    };
    let case = Case::parse(&bytes).map_err(|faults| {
        let first = faults.first().map(ToString::to_string).unwrap_or_default();
        invalid(
            format!("`{shown}` does not load: {first}"),
            "write it as docs/manifest-guide.md says of cases".to_owned(),
        )
    })?;
    Ok(Recorded { name: name.name, case, expects })
}

/// The files of an op's cases, in order.
pub(super) fn all(folder: &Path, op: &OpId) -> anyhow::Result<Vec<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| CaseName::parse(name).ok());
        if name.is_some_and(|name| name.op == *op) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[derive(Serialize)]
struct Written<'a> {
    args: Box<RawValue>,
    access: &'static str,
    exchanges: Vec<WrittenExchange<'a>>,
    expect: BTreeMap<&'static str, Box<RawValue>>,
}

#[derive(Serialize)]
struct WrittenExchange<'a> {
    request: WrittenRequest<'a>,
    response: WrittenResponse<'a>,
}

#[derive(Serialize)]
struct WrittenRequest<'a> {
    method: &'a str,
    path: &'a str,
    query: BTreeMap<&'a str, Box<RawValue>>,
    headers: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct WrittenResponse<'a> {
    status: u16,
    headers: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_text: Option<&'a str>,
}

/// Writes a run down as a case.
pub(super) fn write(path: &Path, args: &str, access: Access, run: &Rehearsed) -> anyhow::Result<()> {
    let exchanges: anyhow::Result<Vec<_>> = run.exchanges.iter().enumerate().map(exchange).collect();
    let expect = match &run.outcome.verdict {
        Verdict::Done(picked) => ("result", RawValue::from_string(picked.result.to_string())?),
        Verdict::Refused(refusal) => ("refusal", to_raw_value(refusal.code.as_str())?),
    };
    let mut expect = BTreeMap::from([expect]);
    if let Verdict::Done(picked) = &run.outcome.verdict
        && !picked.notes.is_empty()
    {
        expect.insert("notes", to_raw_value(&picked.notes)?);
    }
    let access = match access {
        Access::Read => "read",
        Access::Write => "write",
    };
    let written =
        Written { args: RawValue::from_string(args.to_owned())?, access, exchanges: exchanges?, expect };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    files::replace(path, (serde_json::to_string_pretty(&written)? + "\n").as_bytes())
}

fn exchange(
    (at, (request, answer)): (usize, &(SeenRequest, SeenAnswer)),
) -> anyhow::Result<WrittenExchange<'_>> {
    let SeenAnswer::Came { status, headers, body } = answer else {
        let message = format!("request {} got no answer that a case could hold", at.saturating_add(1));
        return Err(Failure::new(End::Failed, message, "record an answer to it first").into());
    };
    let values = |values: &Vec<String>| match values.as_slice() {
        [one] => to_raw_value(one),
        several => to_raw_value(several),
    };
    let query = request.query.iter().map(|(name, all)| Ok((name.as_str(), values(all)?)));
    let text = std::str::from_utf8(body).ok().filter(|text| !text.is_empty());
    let json = text.and_then(|text| serde_json::from_str::<Box<RawValue>>(text).ok());
    let of_the_connection = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"];
    let kept = headers.iter().filter(|(name, _)| !of_the_connection.contains(&name.as_str()));
    Ok(WrittenExchange {
        request: WrittenRequest {
            method: &request.method,
            path: &request.path,
            query: query.collect::<serde_json::Result<_>>()?,
            headers: &request.headers,
            body: request.body.as_deref().map(body_of).transpose()?,
        },
        response: WrittenResponse {
            status: *status,
            headers: kept.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            body_text: if json.is_some() { None } else { text },
            body: json,
        },
    })
}

/// JSON as it is, or a text that holds what was sent.
fn body_of(text: &str) -> serde_json::Result<Box<RawValue>> {
    serde_json::from_str(text).or_else(|_other| to_raw_value(text))
}
