//! Receipts for people, and for programs.
//!
//! A row that is not as it was written is shown as that: nothing that it says is repeated as a receipt's word.

use std::fmt::Write as _;

use pinhole_grant::PrincipalId;
use pinhole_manifest::visible::visible;
use pinhole_runtime::net::Sent;
use pinhole_runtime::receipts::{Facts, Finding, Receipt, Stored, Unended, Verdict};
use serde_json::{Value, json};

use super::Looked;
use crate::out;
use crate::tokens::Askers;

/// A row in a list of JSON.
pub(super) fn in_json(row: &Stored) -> Value {
    match row.receipt() {
        Some(receipt) => whole(&receipt),
        None => json!({ "seq": row.seq, "changed": true }),
    }
}

/// All that a receipt says, with its id and its hash.
pub(super) fn whole(receipt: &Receipt) -> Value {
    json!({
        "id": receipt.id(), "seq": receipt.seq(), "hash": receipt.hash(), "prev": receipt.prev(),
        "run": receipt.facts(),
    })
}

/// A list. Each of a bot's keys numbers its own: where those of another begin is said.
pub(super) fn in_lines(rows: &[Stored]) -> String {
    let mut lines = Vec::new();
    for of_key in rows.chunk_by(|one, other| one.bot == other.bot) {
        if let (false, Some(first)) = (lines.is_empty(), of_key.first()) {
            lines.push(format!("under a former key of the bot, {}:", first.bot));
        }
        lines.extend(of_key.iter().map(in_a_line));
    }
    lines.join("\n")
}

/// A row in a list.
fn in_a_line(row: &Stored) -> String {
    let Some(receipt) = row.receipt() else {
        return format!("{:<24} was changed", row.seq);
    };
    let facts = receipt.facts();
    format!(
        "{:<24} {}  {:<28} {}{}",
        receipt.id().to_string(),
        out::moment(facts.at),
        format!("{}.{}", facts.service, facts.op),
        facts.code,
        sent(facts)
    )
}

fn sent(facts: &Facts) -> &'static str {
    match (facts.sent, facts.unended) {
        (_, Some(Unended::Lost)) => ", its process went away",
        (_, Some(Unended::Abandoned)) => ", given up by whoever asked",
        (Sent::No, None) if facts.replayed => ", what an earlier run with its key came to, nothing sent",
        (Sent::No, None) => ", nothing sent",
        (Sent::Maybe, None) => ", maybe sent",
        (Sent::Yes, None) => "",
    }
}

/// A receipt, a line for each thing that it says.
pub(super) fn for_people(receipt: &Receipt, askers: &Askers) -> String {
    let facts = receipt.facts();
    let mut text = format!("receipt {}\n", receipt.id());
    let mut say = |name: &str, value: String| {
        // Writing to a text does not fail.
        writeln!(text, "  {name:<12} {}", visible(&value)).unwrap_or_default();
    };
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    say("began", out::moment(facts.at));
    say("op", format!("{}.{}", facts.service, facts.op));
    say("outcome", format!("{}{}", facts.code, sent(facts)));
    say("bot", facts.bot.to_string());
    say("member", or_none(facts.member.map(|id| id.to_string())));
    say("grant", or_none(facts.grant.map(|id| id.to_string())));
    say("connection", or_none(facts.connection.map(|id| id.to_string())));
    say("asked by", facts.principal.map_or_else(|| "this host".to_owned(), |id| asker(id, askers)));
    say("manifest", or_none(facts.manifest.map(|digest| digest.to_string())));
    say("approval", or_none(facts.approval.map(|digest| digest.to_string())));
    say("args", args(facts));
    if facts.token_requests > 0 {
        say("renewal", format!("{} asked for", facts.token_requests));
    }
    for made in &facts.requests {
        let status = made.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        say("request", format!("{} {}: {status}, {}", made.method, made.path, out::bytes(made.bytes)));
    }
    if facts.more_requests > 0 {
        say("request", format!("and {} more", facts.more_requests));
    }
    say(
        "bytes",
        format!("{} in, {} out, {} ms", out::bytes(facts.bytes_in), out::bytes(facts.bytes_out), facts.ms),
    );
    say("fields", if facts.fields.is_empty() { "-".to_owned() } else { facts.fields.join(", ") });
    say("hash", receipt.hash().to_string());
    let before = receipt.seq().saturating_sub(1);
    let follows = receipt.prev().map(|hash| format!("receipt {before}, whose hash was {hash}"));
    say("follows", follows.unwrap_or_else(|| "none: it is the first".to_owned()));
    text.trim_end().to_owned()
}

/// Whose token it was.
fn asker(id: PrincipalId, askers: &Askers) -> String {
    match askers.name(id) {
        Some(name) => format!("the token `{}`, {id}", name.as_str()),
        None => format!("a token that is not known here, {id}"),
    }
}

/// The args, or what is kept instead of them.
fn args(facts: &Facts) -> String {
    match (&facts.args, facts.args_digest) {
        (Some(args), _) => args.to_string(),
        (None, Some(digest)) => format!("not kept; runs with the same args have the same digest, {digest}"),
        (None, None) => "-".to_owned(),
    }
}

/// What came of looking at the chains of the bot's keys, the present one first.
pub(super) fn verdicts(chains: &[Looked]) -> String {
    let mut parts = Vec::new();
    for (place, Looked { key, verdict: found, under_way }) in chains.iter().enumerate() {
        if place == 0 {
            parts.push(verdict(found, *under_way));
        } else if !is_empty(found) {
            parts.push(format!("of the bot's former key {key}:\n{}", verdict(found, *under_way)));
        }
    }
    parts.join("\n")
}

/// The same for programs.
pub(super) fn verdicts_in_json(chains: &[Looked]) -> Value {
    let mut all = chains.iter();
    let one = |chain: &Looked| verdict_in_json(&chain.verdict, chain.under_way);
    let mut shown = all.next().map(one).unwrap_or_default();
    let former: Vec<Value> = all
        .filter(|chain| !is_empty(&chain.verdict))
        .map(|chain| json!({ "key": chain.key, "chain": one(chain) }))
        .collect();
    if let (Some(members), false) = (shown.as_object_mut(), former.is_empty()) {
        members.insert("former".to_owned(), former.into());
    }
    shown
}

/// Whether there is nothing, and nothing that was signed is missing.
fn is_empty(verdict: &Verdict) -> bool {
    verdict.is_sound() && verdict.receipts == 0
}

/// What came of looking at one chain.
fn verdict(verdict: &Verdict, under_way: usize) -> String {
    let mut lines: Vec<String> =
        verdict.findings.iter().map(|finding| format!("wrong: {}", named(finding))).collect();
    if verdict.more > 0 {
        lines.push(format!("wrong: and {} more", verdict.more));
    }
    let range = match (verdict.first, verdict.last) {
        (Some(first), Some(last)) => format!("{} receipts, {first} to {last}", verdict.receipts),
        _ => "no receipts".to_owned(),
    };
    let covered = match verdict.covered {
        Some(covered) => format!("signed up to {covered}"),
        None => "not signed yet".to_owned(),
    };
    let word = if verdict.is_sound() { "sound" } else { "not sound" };
    lines.push(format!("{word}: {range}; {covered}, {} checkpoints", verdict.checkpoints));
    match verdict.uncovered() {
        0 => {}
        behind => lines.push(format!(
            "not known: whether receipts behind the last checkpoint were cut off; {behind} stand there (`pinhole receipts \
             checkpoint` signs them)"
        )),
    }
    if under_way > 0 {
        lines.push(format!("under way: {under_way} runs that have begun to send and have no receipt yet"));
    }
    lines.join("\n")
}

fn verdict_in_json(verdict: &Verdict, under_way: usize) -> Value {
    let findings: Vec<Value> = verdict.findings.iter().map(finding_in_json).collect();
    json!({
        "sound": verdict.is_sound(), "findings": findings, "more_findings": verdict.more,
        "receipts": verdict.receipts, "first": verdict.first, "last": verdict.last,
        "signed_up_to": verdict.covered, "checkpoints": verdict.checkpoints, "unsigned": verdict.uncovered(),
        "under_way": under_way,
    })
}

fn named(finding: &Finding) -> String {
    let span =
        |from: u64, to: u64| if from == to { format!("{from} is") } else { format!("{from} to {to} are") };
    match finding {
        Finding::Edited { seq } => format!("{seq} was changed"),
        Finding::Gap { from, to } => format!("{} missing", span(*from, *to)),
        Finding::Relinked { seq } => {
            format!("{seq} does not fit the one before it: one of the two was changed, moved or put there")
        }
        Finding::Rewritten { after, seq } => format!(
            "{seq} is not what the bot signed: it or one before it, behind {after}, was changed and the hashes made anew"
        ),
        Finding::Truncated { from, to } => format!("{} cut off", span(*from, *to)),
        Finding::FalseCheckpoint { place } => {
            format!("a checkpoint that the bot did not sign: {}", visible(place))
        }
    }
}

fn finding_in_json(finding: &Finding) -> Value {
    match finding {
        Finding::Edited { seq } => json!({ "kind": "edited", "seq": seq }),
        Finding::Gap { from, to } => json!({ "kind": "gap", "from": from, "to": to }),
        Finding::Relinked { seq } => json!({ "kind": "relinked", "seq": seq }),
        Finding::Rewritten { after, seq } => json!({ "kind": "rewritten", "after": after, "seq": seq }),
        Finding::Truncated { from, to } => json!({ "kind": "truncated", "from": from, "to": to }),
        Finding::FalseCheckpoint { place } => json!({ "kind": "false_checkpoint", "place": place }),
    }
}
