//! A question as a person reads it: all that her yes would do, every character visible.

use pinhole_manifest::visible::visible;
use pinhole_runtime::local::Sheet;
use serde_json::Value;

use crate::out;

/// The lines of a sheet.
pub(crate) fn lines(sheet: &Sheet) -> Vec<String> {
    let mut lines = vec![visible(&sheet.confirm)];
    for (name, value) in sheet.args.as_object().into_iter().flatten() {
        lines.push(format!("  {name} = {}", json(value)));
    }
    let request = &sheet.request;
    lines.push(format!("  request: {} {}", request.method, visible(&request.url)));
    // Of a manifest that nobody reviewed, what else it sends is hers to see.
    if let Some(body) = request.body.as_ref().filter(|_| sheet.unsigned) {
        lines.push(format!("  body: {}", json(body)));
    }
    let label = sheet.label.as_ref().map_or("not there any more", |label| label.as_str());
    let stand_in = if sheet.stand_in { ", for a stand-in: nothing reaches the service itself" } else { "" };
    lines.push(format!("  connection: {} {}{stand_in}", sheet.service, visible(label)));
    lines.push(format!("  account: {}", visible(sheet.account.as_str())));
    if let Some(effect) = sheet.effect {
        lines.push(format!("  effect: {}", effect.as_str()));
    }
    lines.push(irreversible(sheet.irreversible).to_owned());
    for found in &sheet.found {
        let args = json(&Value::Object(found.args.clone()));
        let value = found.value.as_ref().map_or_else(|| "nothing".to_owned(), json);
        lines.push(format!("  looked up: {} {args}: {} is {value}", found.op, visible(&found.path)));
    }
    let unsigned = if sheet.unsigned { ", unsigned" } else { "" };
    lines.push(format!(
        "  op: {}.{} of {}{unsigned}: {}",
        sheet.service,
        sheet.op,
        sheet.manifest,
        visible(&sheet.summary)
    ));
    lines.push(format!("  bot: {}", sheet.bot));
    lines.push(format!(
        "  question: {}, {}, asked {}, over {}",
        sheet.question,
        sheet.state.as_str(),
        out::moment(sheet.raised_at),
        out::moment(sheet.expires_at)
    ));
    lines
}

/// The line on whether something can be taken back.
pub(crate) fn irreversible(yes: bool) -> &'static str {
    if yes { "  irreversible: yes, it cannot be taken back" } else { "  irreversible: no" }
}

/// A value as JSON, every character visible.
pub(crate) fn json(value: &Value) -> String {
    visible(&value.to_string())
}
