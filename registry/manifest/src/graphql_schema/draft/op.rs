//! One op, from one field of the query or mutation type.

use graphql_tools::static_graphql::schema::Field;
use serde_json::{Map, Value, json};

use super::super::Schema;
use super::args::Args;
use super::{Kind, Service, pages, select, write};
use crate::draft::secrets::{self, Topic};
use crate::draft::{RefusedReason, texts, words};
use crate::finding::quoted;

/// Longest summary, in characters.
const SUMMARY_MAX: usize = 300;

/// An op and its notes, or why there is none.
type Outcome = Result<(Value, Vec<(&'static str, String)>), (RefusedReason, String)>;

/// Drafts the op that asks for a field.
pub(super) fn draft(schema: &Schema, service: &Service<'_>, kind: Kind, field: &Field) -> Outcome {
    if field.name.starts_with("__") {
        let message = "a name that starts with two underscores is the language's own";
        return Err((RefusedReason::NotTaken, message.to_owned()));
    }
    if kind == Kind::Mutation && write::is_namespace(schema, field) {
        let message = "what it leads to are mutations themselves, and asking for them would do them";
        return Err((RefusedReason::Namespace, message.to_owned()));
    }
    let page = pages::connection(schema, field).filter(|_| kind == Kind::Query);
    let said = field.description.as_deref().and_then(|text| texts::line(text, SUMMARY_MAX));
    let word = secrets::speaks_of(&format!("{} {}", field.name, said.unwrap_or_default()));
    let topic = if word.is_some() { Topic::Secrets } else { Topic::Other };
    let picked = select::picked(schema, field, page.as_ref(), topic)
        .or_else(|| select::type_alone(schema, field).filter(|_| kind == Kind::Mutation))
        .ok_or_else(|| {
            (RefusedReason::NothingToPick, "nothing in its answer would be let through".to_owned())
        })?;
    let args = Args::draft(schema, field, page.as_ref())?;
    let mut notes = args.notes.clone();
    if let Some(reason) = super::deprecation(&field.directives) {
        notes.push(("", format!("the service says that it is deprecated: {}", quoted(reason))));
    }
    if !picked.left_out.is_empty() {
        notes.push(("/pick", secrets::left_out(&picked.left_out)));
    }
    notes.extend(word.map(|word| ("", secrets::about_the_op(&word))));
    let mut op = Map::new();
    let fallback = words::words(&field.name).join(" ");
    let summary = field.description.as_deref().and_then(|text| texts::line(text, SUMMARY_MAX));
    if summary.is_none() {
        notes
            .push(("/summary", "the schema does not describe it: say in a sentence what it does".to_owned()));
    }
    op.insert("summary".into(), summary.unwrap_or(fallback).into());
    op.insert("args".into(), args.schema());
    op.insert("request".into(), request(service, kind, field, &args, &picked.selection));
    op.insert("pick".into(), picked.pick);
    if let Some(page) = &page {
        op.insert("page".into(), json!({ "style": "relay", "info": page.info(), "variable": pages::AFTER }));
    }
    match kind {
        Kind::Query => {
            op.insert("access".into(), "read".into());
        }
        Kind::Mutation => {
            let guess = write::guess(&field.name);
            op.insert("access".into(), "write".into());
            op.insert("confirm".into(), write::confirm(service, &field.name, &args.confirmable).into());
            op.insert("effect".into(), guess.effect.into());
            op.insert("irreversible".into(), guess.is_final().into());
            let message =
                format!("`{}` is a guess from the name: check it, and `irreversible`", guess.effect);
            notes.push(("/effect", message));
            notes.push(("/confirm", "write the question that a person can answer".to_owned()));
            if let Some(name) = write::failure(schema, field) {
                let message =
                    format!("an answer may say in `{name}` that nothing was done: pick it, or add `failure`");
                notes.push(("/pick", message));
            }
        }
    }
    Ok((Value::Object(op), notes))
}

fn request(service: &Service<'_>, kind: Kind, field: &Field, args: &Args, selection: &str) -> Value {
    let word = match kind {
        Kind::Query => "query",
        Kind::Mutation => "mutation",
    };
    let mut name: String = field.name.clone();
    if let Some(first) = name.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    let around = |list: &[String]| {
        if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) }
    };
    let (declared, passed) = (around(&args.declared), around(&args.passed));
    let document = format!("{word} {name}{declared} {{ {}{passed}{selection} }}", field.name);
    let mut graphql = Map::new();
    graphql.insert("query".into(), document.into());
    if !args.variables.is_empty() {
        graphql.insert("variables".into(), Value::Object(args.variables.clone()));
    }
    json!({ "method": "POST", "path": service.path(), "graphql": graphql })
}
