//! `pinhole explain`: the exact request of a call, the credential left out. Sends nothing, spends nothing.

use pinhole_grant::UnixTime;
use pinhole_manifest::visible::visible;
use pinhole_runtime::Explained;
use pinhole_runtime::call::Explanation;
use pinhole_runtime::outcome::Code;
use serde_json::{Value, json};

use crate::args::CallFlags;
use crate::call::{self, Permission};
use crate::config::Config;
use crate::end::End;
use crate::{occasion, out};

pub(crate) async fn main(flags: CallFlags, config: &Config) -> anyhow::Result<End> {
    call::one_reader_of_stdin(&flags)?;
    let permission = match (&flags.grant, flags.token_stdin) {
        (Some(_), _) => Permission::Grant,
        (None, true) => Permission::Token(occasion::token_from_stdin()?),
        (None, false) => return on_a_connection(&flags, config).await,
    };
    let prepared = call::prepare(&flags, permission, config)?;
    shown(prepared.executor.explain(prepared.request).await, &flags)
}

/// What comes of a call on a stored connection. Where there is none, the request is shown all the same, for who wants to
/// know it before she connects.
async fn on_a_connection(flags: &CallFlags, config: &Config) -> anyhow::Result<End> {
    let (bot, call) = call::on_a_connection(flags, config)?;
    match bot.explain(&call).await {
        Explained::Refused(refusal) if refusal.code == Code::NotConnected => {
            let prepared = call::prepare(flags, Permission::Supposed, config)?;
            let mut explanation = match prepared.executor.explain(prepared.request).await {
                Explained::WouldRun(explanation) => explanation,
                // What is wrong with the call itself comes first.
                other => return shown(other, flags),
            };
            suppose(&mut explanation);
            if flags.json {
                out::json(&json!({"would": "refuse", "refusal": refusal, "explanation": explanation}))?;
            } else {
                show(&explanation)?;
                out::refusal(&refusal);
            }
            Ok(End::of(&refusal))
        }
        explained => shown(explained, flags),
    }
}

fn shown(explained: Explained, flags: &CallFlags) -> anyhow::Result<End> {
    let (would, explanation) = match explained {
        Explained::WouldRun(explanation) => ("run", explanation),
        Explained::WouldAsk(explanation) => ("ask", explanation),
        Explained::Refused(refusal) => {
            if flags.json {
                out::json(&json!({"would": "refuse", "refusal": refusal}))?;
            } else {
                out::refusal(&refusal);
            }
            return Ok(End::of(&refusal));
        }
    };
    if flags.json {
        out::json(&json!({"would": would, "explanation": explanation}))?;
    } else {
        show(&explanation)?;
    }
    Ok(End::Done)
}

/// Says that nothing permits it, and what would.
fn suppose(explanation: &mut Explanation) {
    explanation.grant = Value::Null;
    explanation.rule = match explanation.access {
        pinhole_manifest::Access::Read => {
            "nothing permits it yet; a connection's read grant would".to_owned()
        }
        pinhole_manifest::Access::Write => {
            "nothing permits it yet; the member's approval of exactly this write would".to_owned()
        }
    };
}

fn show(explanation: &Explanation) -> anyhow::Result<()> {
    let shown = |text: &str| visible(text);
    out::line(format_args!("{}.{}: {}", explanation.service, explanation.op, shown(&explanation.summary)));
    if let Some(confirm) = &explanation.confirm {
        out::line(format_args!("asks: {}", shown(confirm)));
    }
    out::line("args:");
    for (name, value) in explanation.args.as_object().into_iter().flatten() {
        out::line(format_args!("  {name} = {}", shown(&value.to_string())));
    }
    for required in &explanation.requires {
        let args = shown(&required.args.to_string());
        out::line(format_args!("first: {} {args}, else “{}”", required.op, shown(&required.otherwise)));
    }
    out::line("request:");
    out::line(format_args!("  {} {}", explanation.request.method, shown(&explanation.request.url)));
    for (name, value) in &explanation.request.headers {
        out::line(format_args!("  {name}: {}", shown(value)));
    }
    if let Some(body) = &explanation.request.body {
        out::line("");
        for line in serde_json::to_string_pretty(body)?.lines() {
            out::line(format_args!("  {}", shown(line)));
        }
    }
    match &explanation.root {
        Some(root) => {
            let fields = explanation.returns.join(", ");
            out::line(format_args!("comes back: {} of {}", shown(&fields), shown(root)));
        }
        None => out::line("comes back: nothing"),
    }
    let limits = &explanation.limits;
    out::line(format_args!(
        "limits: answer {}, outcome {}, {} ms",
        out::bytes(limits.response_bytes),
        out::bytes(limits.result_bytes),
        limits.timeout_ms
    ));
    if let Some(grant) = granted(&explanation.grant) {
        out::line(format_args!("grant: {}", shown(&grant)));
    }
    out::line(format_args!("rule: {}", shown(&explanation.rule)));
    let unsigned = if explanation.unsigned { ", unsigned" } else { "" };
    out::line(format_args!("manifest: {} {}{unsigned}", explanation.manifest, explanation.digest));
    out::line("nothing was sent");
    Ok(())
}

/// A grant in a line: its id, whose it is, what it covers, until when.
fn granted(grant: &Value) -> Option<String> {
    let text = |name: &str| grant.get(name).and_then(Value::as_str);
    let until = out::moment(UnixTime::from_secs(grant.get("expires_at")?.as_i64()?));
    let uses = grant.get("uses").and_then(Value::as_u64).map(|uses| format!(", {uses} in all"));
    let (id, access, account) = (text("id")?, text("access")?, text("account")?);
    Some(format!("{id}, account {account}, {access} until {until}{}", uses.unwrap_or_default()))
}
