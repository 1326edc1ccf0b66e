//! Finding and describing ops where there are too many to list.
//!
//! Ranks by words and beginnings of words, the same way every time. INVARIANT: says only what the principal may use.

use std::cmp::Reverse;

use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::{Value, json};

use super::call::{ArgumentError, ToolCall};
use super::op::OpTool;
use super::read::{By, Given};
use super::{Toolbox, describe, fields, input, read, text};
use crate::mcp::answer;

/// Ops that are given where no limit is.
const LIMIT: usize = 10;
/// Most ops that are given at once.
pub(super) const LIMIT_MAX: usize = 50;
/// Longest query that is looked at, in characters.
const QUERY_MAX: usize = 256;
/// Most characters of a summary.
const SUMMARY_MAX: usize = 120;
/// Fewest letters of a word that may be the beginning of another.
const BEGUN_MIN: usize = 3;
/// Words of a question that say nothing of what is asked for.
const FILLERS: [&str; 32] = [
    "a", "an", "and", "all", "any", "are", "by", "can", "do", "for", "from", "how", "i", "in", "is", "it",
    "its", "me", "my", "of", "on", "or", "please", "that", "the", "this", "to", "want", "what", "which",
    "with", "you",
];

impl<'c> Toolbox<'c> {
    /// `find_ops`: the ops that fit a query best.
    pub fn find_ops(&self, arguments: Option<JsonObject>) -> Result<CallToolResult, ArgumentError> {
        let mut given = Given::new(arguments, &["query", "service", "limit"])?;
        let query = given.text("query")?.unwrap_or_default();
        let service = given.text("service")?.filter(|service| !service.is_empty());
        let limit = given.count("limit")?.unwrap_or(LIMIT).min(LIMIT_MAX);
        let words = asked(&text::clip(&query, QUERY_MAX));
        let mut found: Vec<(Rank, OpTool<'c>)> = self
            .all()
            .filter(|tool| service.as_ref().is_none_or(|service| tool.service().as_str() == service))
            .filter_map(|tool| Some((rank(&tool, &words)?, tool)))
            .collect();
        // A stable sort: equals stay in the order of their names.
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        let ops: Vec<Value> = found.iter().take(limit).map(|(_, tool)| line(tool)).collect();
        let more = found.len().saturating_sub(ops.len());
        let mut said = json!({"ops": ops});
        if let Some(said) = said.as_object_mut()
            && more > 0
        {
            said.insert("more".to_owned(), more.into());
        }
        Ok(answer::local(said))
    }

    /// `describe_op`: what an op takes and gives.
    pub fn describe_op(&self, arguments: Option<JsonObject>) -> Result<CallToolResult, ArgumentError> {
        let mut given = Given::new(arguments, &["op"])?;
        let name = given.text("op")?.ok_or_else(|| ArgumentError::Missing { name: "op".to_owned() })?;
        let tool = self.named(&name).ok_or(ArgumentError::NoSuchOp { given: name })?;
        let op = tool.op();
        let mut said = json!({
            "op": tool.id(),
            "summary": visible(&op.summary),
            "access": op.access,
            "args": input::args_schema(op),
            "returns": describe::returned(&tool),
            "fields": fields::of(op),
            "pages": op.page.is_some(),
            "verified": tool.entry().manifest.verified().is_some(),
            "run_with": if op.access == Access::Read { super::fixed::RUN_READ } else { super::fixed::RUN_WRITE },
        });
        if let Some(said) = said.as_object_mut() {
            if op.access == Access::Write {
                said.insert("asks".to_owned(), describe::asked(&tool).into());
            }
            if let [_, _, ..] = tool.connections() {
                let labels: Vec<&str> = tool.labels().into_iter().map(pinhole_grant::Label::as_str).collect();
                said.insert("connections".to_owned(), json!(labels));
            }
        }
        Ok(answer::local(said))
    }

    /// `run_read_op` or `run_write_op`: the call that is meant.
    pub fn run_op(
        &self,
        access: Access,
        arguments: Option<JsonObject>,
    ) -> Result<ToolCall<'c>, ArgumentError> {
        read::of_any_op(self, By::Run(access), arguments)
    }

    /// `explain`: the call that is meant.
    pub fn explain(&self, arguments: Option<JsonObject>) -> Result<ToolCall<'c>, ArgumentError> {
        read::of_any_op(self, By::Explain, arguments)
    }
}

fn line(tool: &OpTool<'_>) -> Value {
    let op = tool.op();
    json!({
        "op": tool.id(),
        "summary": text::clip(&visible(&op.summary), SUMMARY_MAX),
        "access": op.access,
        "required": input::required(op),
    })
}

/// How well an op fits: how many words of the query it has, how much they say, how few words its own name has beside, and
/// whether it only reads.
type Rank = (usize, usize, Reverse<usize>, Reverse<Access>);

/// `None` where no word of a query fits.
fn rank(tool: &OpTool<'_>, query: &[String]) -> Option<Rank> {
    if query.is_empty() {
        return Some((0, 0, Reverse(0), Reverse(Access::Read)));
    }
    let op = tool.op();
    let named = words(op.id.as_str());
    let service: Vec<String> = [words(tool.service().as_str()), words(tool.entry().manifest.name())].concat();
    let summary = words(&op.summary);
    let args: Vec<String> = op.args.defs().keys().flat_map(|name| words(name.as_str())).collect();
    let weight = |word: &String| {
        let of = |known: &[String], whole: usize, begun: usize| {
            let of_one = |known: &String| {
                if known == word {
                    whole.saturating_add(1)
                } else if alike(known, word) {
                    whole
                } else if word.len() >= BEGUN_MIN && known.starts_with(word.as_str()) {
                    begun
                } else {
                    0
                }
            };
            known.iter().map(of_one).max().unwrap_or(0)
        };
        of(&named, 8, 5).max(of(&service, 6, 4)).max(of(&summary, 4, 2)).max(of(&args, 2, 1))
    };
    let weights: Vec<usize> = query.iter().map(weight).filter(|weight| *weight > 0).collect();
    let meant = |name: &&String| query.iter().any(|word| *name == word || alike(name, word));
    let beside = named.iter().filter(|name| !meant(name)).count();
    let rank = || (weights.len(), weights.iter().sum(), Reverse(beside), Reverse(op.access));
    (!weights.is_empty()).then(rank)
}

/// A word and its plural.
fn alike(known: &str, word: &str) -> bool {
    known.strip_suffix('s') == Some(word) || word.strip_suffix('s') == Some(known)
}

/// The words of a query, each once, without fillers if there are others.
fn asked(query: &str) -> Vec<String> {
    let mut all = words(query);
    all.sort();
    all.dedup();
    let telling: Vec<String> = all.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
