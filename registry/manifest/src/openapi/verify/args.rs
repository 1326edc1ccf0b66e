//! An arg held against what the service takes in its place.
//!
//! An arg may be narrower than what is described, never wider. INVARIANT: what the description leaves open is never a fault.

use serde_json::Value;

use super::super::parts::{Member, Parts, type_of};
use super::{At, Check};
use crate::finding::{FindingCode as Code, quoted};
use crate::ids::ArgName;
use crate::model::Op;
use crate::openapi::values;

/// Where a value goes, which decides what may stand for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, where types are themselves.
    Json,
    /// A text of a URL, a header or a form.
    Text,
    /// The elements of an array, joined to one text.
    Joined,
}

/// What is described for a value.
pub(super) struct Slot<'p, 'd> {
    pub(super) parts: &'p Parts<'d>,
    pub(super) is_required: bool,
    pub(super) form: Form,
    /// The description's own words.
    pub(super) prose: &'p str,
}

impl<'d> Check<'_, 'd> {
    /// An arg that stands alone in a place.
    pub(super) fn arg(&mut self, op: &Op, name: &ArgName, slot: &Slot<'_, 'd>, at: &At<'_>) {
        let Some(def) = op.args.def(name) else { return };
        if slot.is_required && !def.always_present() {
            let message = format!("the service requires it, and `{name}` may be absent");
            self.add(Code::ArgOptional, at, message, "make the arg required, or give it a default");
        }
        let Some(schema) = op.args.json().get("properties").and_then(|all| all.get(name.as_str())) else {
            return;
        };
        let place = At { op: at.op, way: Vec::new() }.down(&["args", "properties", name.as_str()]);
        self.schema(schema, slot, &place);
    }

    fn schema(&mut self, arg: &Value, slot: &Slot<'_, 'd>, at: &At<'_>) {
        let parts = slot.parts;
        let types = parts.types();
        let own = arg.get("type").and_then(Value::as_str).unwrap_or_default();
        let fits = |kind: &str| types.contains(kind);
        let by_hand = slot.form == Form::Text && own == "string" && (fits("array") || fits("file"));
        let joined = slot.form == Form::Joined && own == "array" && (fits("string") || fits("array"));
        if !(types.is_empty() || fits(own) || (own == "integer" && fits("number")) || by_hand || joined) {
            let wanted: Vec<_> = types.into_iter().map(quoted).collect();
            let message = format!("the service takes {} here, and the arg is {own}", wanted.join(" or "));
            return self.add(Code::ArgType, at, message, "give the arg the service's type");
        }
        if fits(own) {
            self.values(arg, own, parts, at);
        }
        if parts.always("format").and_then(Value::as_str) == Some("date-time")
            && own == "string"
            && arg.get("format").and_then(Value::as_str) != Some("date-time")
        {
            let message = "the service takes a date-time, and the arg any text";
            self.add(Code::ArgValues, at, message, "write `\"format\": \"date-time\"`");
        }
        self.bound(arg, own, slot, at);
        match own {
            "array" if fits("array") || slot.form == Form::Json => {
                let items = parts.items(self.reader);
                let Some(own) = arg.get("items") else { return };
                let slot = Slot { parts: &items, is_required: false, form: slot.form, prose: "" };
                self.schema(own, &slot, &at.down(&["items"]));
            }
            "object" => self.object(arg, parts, slot.form, at),
            _ => {}
        }
    }

    fn values(&mut self, arg: &Value, own: &str, parts: &Parts<'d>, at: &At<'_>) {
        let Some(closed) = values::closed(parts, own) else { return };
        let Some(listed) = arg.get("enum").and_then(Value::as_array) else {
            let message = format!("the service takes only {}, and the arg anything", list(&closed));
            return self.add(Code::ArgValues, at, message, "list them in `enum`");
        };
        let wrong: Vec<&Value> = listed.iter().filter(|value| !closed.contains(value)).collect();
        if !wrong.is_empty() {
            let wrong: Vec<Value> = wrong.into_iter().cloned().collect();
            let message = format!("the service does not take {}, only {}", list(&wrong), list(&closed));
            self.add(Code::ArgValues, at, message, "keep to the values that the service lists");
        }
    }

    fn bound(&mut self, arg: &Value, own: &str, slot: &Slot<'_, 'd>, at: &At<'_>) {
        if !matches!(own, "integer" | "number") {
            return;
        }
        let Some(most) = values::largest(slot.parts, slot.prose) else { return };
        let below = |word: &str| arg.get(word).and_then(Value::as_f64).is_some_and(|bound| bound <= most);
        let listed = arg.get("enum").and_then(Value::as_array);
        let few = listed.is_some_and(|all| all.iter().all(|one| one.as_f64().is_some_and(|it| it <= most)));
        if !(below("maximum") || below("exclusiveMaximum") || few) {
            let message = format!("the service takes at most {most}, and the arg more");
            self.add(Code::ArgBounds, at, message, "write a `maximum`");
        }
    }

    fn object(&mut self, arg: &Value, parts: &Parts<'d>, form: Form, at: &At<'_>) {
        let members = arg.get("properties").and_then(Value::as_object);
        for (name, own) in members.into_iter().flatten() {
            let place = at.down(&["properties", name]);
            match parts.member(name, self.reader) {
                Member::Described(found) => {
                    let slot = Slot { parts: &found, is_required: false, form, prose: "" };
                    self.schema(own, &slot, &place);
                }
                Member::Unknown => {
                    let message = format!("the service has no member `{}` here", quoted(name));
                    self.add(Code::MemberUnknown, &place, message, "leave it out, or look for its name");
                }
                Member::Unsaid => {}
            }
        }
        let required = arg.get("required").and_then(Value::as_array);
        let says = |name: &str| required.into_iter().flatten().any(|one| one == name);
        for name in parts.required().into_iter().filter(|name| !says(name)) {
            if matches!(parts.member(name, self.reader), Member::Described(found) if found.says("readOnly")) {
                continue;
            }
            let message = format!("the service requires the member `{}` here", quoted(name));
            self.add(Code::MemberMissing, at, message, "declare it, and require it");
        }
    }

    /// A fixed value.
    pub(super) fn literal(&mut self, value: &Value, slot: &Slot<'_, 'd>, at: &At<'_>) {
        let types = slot.parts.types();
        let own = type_of(value);
        let text = value.as_str().unwrap_or_default();
        let spelled = |kind: &str| match kind {
            "boolean" => matches!(text, "true" | "false"),
            "integer" => text.parse::<i64>().is_ok(),
            "number" => text.parse::<f64>().is_ok_and(f64::is_finite),
            "array" => true,
            _ => false,
        };
        let as_text = slot.form != Form::Json && own == "string" && types.iter().any(|kind| spelled(kind));
        let fits = types.is_empty()
            || types.contains(own)
            || (own == "integer" && types.contains("number"))
            || (own == "null" && slot.parts.takes_null())
            || as_text;
        let closed = values::closed(slot.parts, own).filter(|_| !as_text);
        let listed = closed.as_ref().is_none_or(|all| all.contains(value));
        if !(fits && listed) {
            let message = format!("the service does not take `{}` here", quoted(&value.to_string()));
            self.add(Code::ValueUnfit, at, message, "write a value that the description has");
        }
    }
}

fn list(values: &[Value]) -> String {
    let mut shown: Vec<String> = values.iter().take(8).map(|one| quoted(&one.to_string())).collect();
    if values.len() > 8 {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
