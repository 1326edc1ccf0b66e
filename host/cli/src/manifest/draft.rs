//! `pinhole manifest draft`: a manifest from a provider's description, and what a person must decide in it.
//!
//! The manifest goes to a file or to stdout, and nothing else does; notes and refusals go to stderr, or with `--json` all of it is
//! one document on stdout. Never writes over a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use pinhole_manifest::draft::{Draft, Refused};
use pinhole_manifest::graphql_schema::{self, Endpoint, Schema, Service, Wanted};
use pinhole_manifest::model::AuthScheme;
use pinhole_manifest::openapi::{self, Chosen, Description, DraftError, Selection, Wish};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{ApiHost, ServiceId};
use serde_json::json;

use super::spec::{self, Spec};
use crate::end::{End, Failure};
use crate::{files, out};

/// Most notes or refusals that people are shown.
const SHOWN_MAX: usize = 40;

const EXAMPLES: &str = "Examples:
  pinhole manifest draft openapi.yaml --all -o manifests/shelf/manifest.json
  pinhole manifest draft github.json --op issues/create --op 'GET /repos/{owner}/{repo}'
  pinhole manifest draft schema.graphql --all --id linear --endpoint api.linear.app/graphql --auth bare";

/// What to draft, and from what.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("which").required(true).args(["ops", "all"])))]
pub(crate) struct DraftFlags {
    /// The description: OpenAPI 3.0 or 3.1 or Swagger 2.0 (JSON or YAML), or a GraphQL schema (SDL or introspection)
    spec: PathBuf,
    /// An operation: its `operationId`, `METHOD /path`, or the name of a query or mutation
    #[arg(long = "op", value_name = "ID|METHOD PATH")]
    ops: Vec<String>,
    /// Every operation that is not deprecated
    #[arg(long)]
    all: bool,
    /// The service's id, instead of a guess
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The host, where the description leaves it open or names several
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// GraphQL: where the service takes it, such as `api.linear.app/graphql`
    #[arg(long, value_name = "HOST/PATH", conflicts_with = "host")]
    endpoint: Option<String>,
    /// GraphQL: how a key is put in: `bearer`, `bare`, `basic`, or the name of a header
    #[arg(long, value_name = "SCHEME", default_value = "bearer")]
    auth: String,
    /// Where the manifest goes; a file that is there is not written over; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Print the manifest, the notes and what was refused as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn main(flags: &DraftFlags) -> anyhow::Result<End> {
    let drafted = match spec::read(&flags.spec)? {
        Spec::OpenApi(description) => from_openapi(&description, flags)?,
        Spec::Graphql(schema) => from_graphql(&schema, flags)?,
    };
    let Ok(draft) = drafted else {
        let refused = drafted.err().unwrap_or_default();
        if flags.json {
            out::json(&document(None, &refused))?;
        } else {
            say_refused(&refused);
        }
        let message = "none of the operations could be drafted".to_owned();
        return Err(Failure::new(
            End::Failed,
            message,
            "name others with `--op`, or write the manifest by hand",
        )
        .into());
    };
    let to_stdout = flags.output == Path::new("-");
    if !to_stdout {
        files::write_new(&flags.output, draft.manifest.as_bytes())?;
    }
    if flags.json {
        return out::json(&document(Some(&draft), &draft.refused)).map(|()| End::Done);
    }
    if to_stdout {
        out::document(draft.manifest.trim_end())?;
    }
    say(&draft, flags);
    Ok(End::Done)
}

type Drafted = Result<Draft, Vec<Refused>>;

fn usage(error: impl std::fmt::Display, hint: &str) -> anyhow::Error {
    Failure::new(End::Usage, error.to_string(), hint).into()
}

fn id(flags: &DraftFlags) -> anyhow::Result<Option<ServiceId>> {
    let parse = |text: &String| {
        ServiceId::parse(text).map_err(|error| usage(error, "say it with `--id`, such as `github`"))
    };
    flags.id.as_ref().map(parse).transpose()
}

fn from_openapi(description: &Description, flags: &DraftFlags) -> anyhow::Result<Drafted> {
    if flags.endpoint.is_some() {
        return Err(usage("`--endpoint` is for a GraphQL schema", "say the host with `--host`"));
    }
    let host = flags.host.as_deref().map(ApiHost::parse).transpose();
    let host = host.map_err(|error| usage(error, "write one public DNS name, such as `api.example.com`"))?;
    let selection = if flags.all {
        Selection::All
    } else {
        Selection::Some(flags.ops.iter().map(|op| Chosen::parse(op)).collect())
    };
    let wish = Wish { selection, id: id(flags)?, host };
    match openapi::draft(description, &wish) {
        Ok(draft) => Ok(Ok(draft)),
        Err(DraftError::Nothing(refused)) => Ok(Err(refused)),
        Err(error) => {
            let hint = "`--id` and `--host` say what the description leaves open";
            Err(Failure::new(End::Failed, error.to_string(), hint).into())
        }
    }
}

fn from_graphql(schema: &Schema, flags: &DraftFlags) -> anyhow::Result<Drafted> {
    let (Some(id), Some(endpoint)) = (id(flags)?, flags.endpoint.as_deref()) else {
        let message = "a GraphQL schema says neither what its service is called nor where it is";
        return Err(usage(message, "say it with `--id ID --endpoint HOST/PATH`"));
    };
    let endpoint = Endpoint::parse(endpoint)
        .map_err(|error| usage(error, "write it such as `api.linear.app/graphql`"))?;
    let auth = match flags.auth.as_str() {
        "bearer" => AuthScheme::Bearer,
        "bare" => AuthScheme::Bare,
        "basic" => AuthScheme::Basic,
        header => AuthScheme::Header(header.to_owned()),
    };
    let service = Service { id: &id, name: id.as_str(), endpoint: &endpoint, auth: &auth };
    let wanted = if flags.all { Wanted::All } else { Wanted::Named(&flags.ops) };
    match graphql_schema::draft(schema, &service, wanted) {
        Ok(draft) => Ok(Ok(draft)),
        Err(graphql_schema::DraftError::Nothing(refused)) => Ok(Err(refused)),
        Err(error) => Err(Failure::new(End::Failed, error.to_string(), "say it otherwise").into()),
    }
}

fn document(draft: Option<&Draft>, refused: &[Refused]) -> serde_json::Value {
    let manifest: Option<serde_json::Value> =
        draft.and_then(|draft| serde_json::from_str(&draft.manifest).ok());
    let notes = draft.map(|draft| draft.notes.as_slice()).unwrap_or_default();
    let note = |one: &pinhole_manifest::draft::Note| json!({"op": one.op, "pointer": one.pointer, "message": one.message});
    let no = |one: &Refused| json!({"operation": one.operation, "reason": one.reason.as_str(), "message": one.message});
    json!({
        "manifest": manifest,
        "notes": notes.iter().map(note).collect::<Vec<_>>(),
        "refused": refused.iter().map(no).collect::<Vec<_>>(),
    })
}

/// What was drafted, for people, on stderr.
fn say(draft: &Draft, flags: &DraftFlags) {
    let ops =
        pinhole_manifest::read(draft.manifest.as_bytes()).manifest.map_or(0, |manifest| manifest.ops().len());
    for one in draft.notes.iter().take(SHOWN_MAX) {
        let place = if one.pointer.is_empty() { "the manifest" } else { &one.pointer };
        out::note(format_args!("decide: {}: {}", visible(place), visible(&one.message)));
    }
    if let Some(more) = draft.notes.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        out::note(format_args!("and {more} more to decide; `--json` has them all"));
    }
    say_refused(&draft.refused);
    let all = ops.saturating_add(draft.refused.len());
    let place = flags.output.display().to_string();
    let place = if place == "-" { "stdout".to_owned() } else { visible(&place) };
    out::note(format_args!(
        "drafted {ops} of {all} operations to {place}; read every line of it before anybody runs it"
    ));
}

fn say_refused(refused: &[Refused]) {
    for one in refused.iter().take(SHOWN_MAX) {
        let (operation, message) = (visible(&one.operation), visible(&one.message));
        out::note(format_args!("not drafted ({}): {operation}: {message}", one.reason.as_str()));
    }
    if refused.len() > SHOWN_MAX {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for one in refused {
            let count = reasons.entry(one.reason.as_str()).or_default();
            *count = count.saturating_add(1);
        }
        let counts: Vec<String> =
            reasons.into_iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        out::note(format_args!("in all: {}; `--json` has each", counts.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(flags: &[&str]) -> Result<clap::ArgMatches, clap::Error> {
        let words = ["draft", "spec.json"].into_iter().chain(flags.iter().copied());
        DraftFlags::augment_args(clap::Command::new("draft")).try_get_matches_from(words)
    }

    #[test]
    fn without_operations_the_error_names_both_ways_to_say_them() {
        let message = parsed(&[]).unwrap_err().to_string();
        assert!(message.contains("--all") && message.contains("--op"), "{message}");
        assert!(parsed(&["--all"]).is_ok());
        assert!(parsed(&["--op", "one", "--op", "two"]).is_ok());
        assert!(parsed(&["--op", "one", "--all"]).is_err());
    }
}
