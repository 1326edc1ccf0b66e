//! The body of a request held against the described one.
//!
//! INVARIANT: a member that the description requires is sent, and none is sent that it does not have.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::operation::{Content, Looked, Posted};
use super::super::parts::{Member, Parts};
use super::args::{Form, Slot};
use super::{At, Check, shown};
use crate::finding::{FindingCode as Code, quoted};
use crate::model::{Body, JsonTemplate, Op, Request};

impl<'d> Check<'_, 'd> {
    pub(super) fn body(&mut self, op: &Op, request: &Request, looked: &Looked<'d>, at: &At<'_>) {
        let posted = looked.body.as_ref();
        match (&request.body, posted) {
            (Body::None | Body::Graphql { .. }, Some(posted)) if posted.is_required => {
                self.add(Code::MemberMissing, at, "the service requires a body", "send one");
            }
            (Body::None | Body::Graphql { .. }, _) => {}
            (Body::Json(_) | Body::Form(_), None) => {
                self.add(Code::MemberUnknown, at, "the service takes no body here", "leave the body out");
            }
            (Body::Json(template), Some(posted)) => self.json(op, template, posted, at),
            (Body::Form(fields), Some(posted)) => self.form(op, fields, posted, &at.down(&["form"])),
        }
    }

    fn json(&mut self, op: &Op, template: &JsonTemplate, posted: &Posted<'d>, at: &At<'_>) {
        let Content::Json(schema) = &posted.content else {
            let message = format!("the service takes `{}`, not JSON", quoted(&posted.media));
            return self.add(Code::MemberUnknown, at, message, "send what the description has");
        };
        let Some(schema) = schema else {
            return self.add(
                Code::Unchecked,
                at,
                "the description has no schema of the body",
                "see the service's guide",
            );
        };
        let parts = self.reader.parts(schema);
        let is_required = posted.is_required;
        let slot = Slot { parts: &parts, is_required, form: Form::Json, prose: "" };
        self.template(op, template, &slot, &at.down(&["json"]));
    }

    fn template(&mut self, op: &Op, template: &JsonTemplate, slot: &Slot<'_, 'd>, at: &At<'_>) {
        match template {
            JsonTemplate::Arg(arg) => self.arg(op, arg, slot, at),
            JsonTemplate::Literal(value) => self.literal(value, slot, at),
            JsonTemplate::Text(text) => {
                let types = slot.parts.types();
                if !types.is_empty() && !types.contains("string") {
                    let message =
                        format!("the service takes no text here, and `{}` is one", quoted(&shown(text)));
                    self.add(Code::ValueUnfit, at, message, "let an arg be the whole value");
                }
            }
            JsonTemplate::Array(elements) => {
                let types = slot.parts.types();
                if !types.is_empty() && !types.contains("array") {
                    return self.add(
                        Code::ValueUnfit,
                        at,
                        "the service takes no list here",
                        "write one value",
                    );
                }
                let items = slot.parts.items(self.reader);
                for (place, element) in elements.iter().enumerate() {
                    let slot = Slot { parts: &items, is_required: true, form: slot.form, prose: "" };
                    self.template(op, element, &slot, &at.down(&[&place.to_string()]));
                }
            }
            JsonTemplate::Object(members) => self.members(op, members, slot, at),
        }
    }

    fn members(&mut self, op: &Op, members: &[(String, JsonTemplate)], slot: &Slot<'_, 'd>, at: &At<'_>) {
        let required = slot.parts.required();
        for (name, template) in members {
            let place = at.down(&[name]);
            match slot.parts.member(name, self.reader) {
                Member::Described(parts) => {
                    self.deprecated_member(name, &parts, &place);
                    let is_required = required.contains(name.as_str());
                    let prose = parts.text("description").unwrap_or_default().to_owned();
                    let slot = Slot { parts: &parts, is_required, form: slot.form, prose: &prose };
                    self.template(op, template, &slot, &place);
                }
                Member::Unknown => {
                    let message = format!("the service has no member `{}` here", quoted(name));
                    self.add(Code::MemberUnknown, &place, message, "leave it out, or look for its name");
                }
                Member::Unsaid => {
                    let message =
                        format!("the description leaves open whether there is a member `{}`", quoted(name));
                    self.add(Code::Unchecked, &place, message, "see the service's guide");
                }
            }
        }
        let given: BTreeSet<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        self.missing(slot.parts, &given, at);
    }

    fn missing(&mut self, parts: &Parts<'d>, given: &BTreeSet<&str>, at: &At<'_>) {
        for name in parts.required().into_iter().filter(|name| !given.contains(name)) {
            // What the service sets itself is required of its answers alone.
            if matches!(parts.member(name, self.reader), Member::Described(member) if member.says("readOnly"))
            {
                continue;
            }
            let message = format!("the service requires the member `{}`", quoted(name));
            self.add(Code::MemberMissing, at, message, "send it");
        }
    }

    fn deprecated_member(&mut self, name: &str, parts: &Parts<'d>, at: &At<'_>) {
        if parts.always("deprecated") == Some(&Value::Bool(true)) {
            let message = format!("the member `{}` is deprecated", quoted(name));
            self.add(Code::Deprecated, at, message, "look for what stands in for it");
        }
    }

    fn form(&mut self, op: &Op, fields: &[(String, JsonTemplate)], posted: &Posted<'d>, at: &At<'_>) {
        match &posted.content {
            Content::Form(Some(schema)) => {
                let parts = self.reader.parts(schema);
                let required = parts.required();
                for (key, template) in fields {
                    let is_required = required.contains(key.as_str());
                    self.field(op, key, template, bracketed(&parts, key, self), is_required, at);
                }
                let given = fields.iter().map(|(key, _)| stem(key)).collect();
                self.missing(&parts, &given, at);
            }
            Content::Fields(described) => {
                for (key, template) in fields {
                    let field = described.iter().find(|one| one.name == key || one.name == stem(key));
                    let parts =
                        field.map_or(Member::Unknown, |one| Member::Described(one.parts(self.reader)));
                    self.field(op, key, template, parts, field.is_some_and(|one| one.is_required), at);
                }
                let given = |name: &str| fields.iter().any(|(key, _)| key == name || stem(key) == name);
                for one in described.iter().filter(|one| one.is_required && !given(one.name)) {
                    let message = format!("the service requires the field `{}`", quoted(one.name));
                    self.add(Code::MemberMissing, at, message, "send it");
                }
            }
            Content::Form(None) => {
                self.add(
                    Code::Unchecked,
                    at,
                    "the description has no schema of the form",
                    "see the service's guide",
                );
            }
            Content::Json(_) | Content::Other(_) => {
                let message = format!("the service takes `{}`, not a form", quoted(&posted.media));
                self.add(Code::MemberUnknown, at, message, "send what the description has");
            }
        }
    }

    fn field(
        &mut self,
        op: &Op,
        key: &str,
        template: &JsonTemplate,
        found: Member<'d>,
        is_required: bool,
        at: &At<'_>,
    ) {
        let place = at.down(&[key]);
        match found {
            Member::Described(parts) => {
                let slot = Slot { parts: &parts, is_required, form: Form::Text, prose: "" };
                self.template(op, template, &slot, &place);
            }
            Member::Unknown => {
                let message = format!("the service has no field `{}` here", quoted(key));
                self.add(Code::MemberUnknown, &place, message, "leave it out, or look for its name");
            }
            Member::Unsaid => {
                let message =
                    format!("the description leaves open whether there is a field `{}`", quoted(key));
                self.add(Code::Unchecked, &place, message, "see the service's guide");
            }
        }
    }
}

/// A key without its brackets.
fn stem(key: &str) -> &str {
    key.split('[').next().unwrap_or(key)
}

/// What is described for a key with brackets: `card[number]` is a member of `card`, `expand[]` the list itself.
fn bracketed<'d>(parts: &Parts<'d>, key: &str, check: &Check<'_, 'd>) -> Member<'d> {
    if let found @ Member::Described(_) = parts.member(key, check.reader) {
        return found;
    }
    let mut found = parts.member(stem(key), check.reader);
    for inner in key.split('[').skip(1).map(|inner| inner.trim_end_matches(']')) {
        let Member::Described(parts) = found else { return found };
        found = match inner {
            "" => Member::Described(parts),
            place if place.bytes().all(|b| b.is_ascii_digit()) => {
                Member::Described(parts.items(check.reader))
            }
            name => parts.member(name, check.reader),
        };
    }
    found
}
