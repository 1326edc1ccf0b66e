//! `pinhole explain`: the exact request of a call, the credential left out. Sends nothing, spends nothing.

use pinhole_manifest::visible::visible;
use pinhole_runtime::Explained;
use pinhole_runtime::call::Explanation;
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
        (None, false) => Permission::Supposed,
    };
    let supposed = matches!(permission, Permission::Supposed);
    let prepared = call::prepare(&flags, permission, config)?;
    match prepared.executor.explain(prepared.request).await {
        Explained::WouldRun(mut explanation) => {
            if supposed {
                suppose(&mut explanation);
            }
            if flags.json {
                out::json(&json!({"would_run": !supposed, "explanation": explanation}))?;
            } else {
                show(&explanation)?;
            }
            Ok(End::Done)
        }
        Explained::Refused(refusal) => {
            if flags.json {
                out::json(&json!({"would_run": false, "refusal": refusal}))?;
            } else {
                out::refusal(&refusal);
            }
            Ok(End::of(&refusal))
        }
    }
}

/// Says that no grant was given, and which one it would take.
fn suppose(explanation: &mut Explanation) {
    explanation.grant = Value::Null;
    explanation.rule = match explanation.access {
        pinhole_manifest::Access::Read => "no grant was given; a read grant would let it run".to_owned(),
        pinhole_manifest::Access::Write => {
            "no grant was given; the member's approval of exactly this write would let it run".to_owned()
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
    out::line(format_args!("rule: {}", shown(&explanation.rule)));
    let unsigned = if explanation.unsigned { ", unsigned" } else { "" };
    out::line(format_args!("manifest: {} {}{unsigned}", explanation.manifest, explanation.digest));
    out::line("nothing was sent");
    Ok(())
}
