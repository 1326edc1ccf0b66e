//! The recorded cases of a manifest held against the description, so that an invented answer has the shape of a real one.
//!
//! A case named `<op>.malformed_….json` shows an answer that the service should never give, and is let off. INVARIANT: every
//! picked field comes back in some case.

use serde_json::Value;

use super::super::description::Description;
use super::super::operation::{Answer, Held, Place};
use super::super::parts::{Member, Parts, type_of};
use super::super::servers::Servers;
use super::parameters::{found, listed};
use super::route::{Routes, Wanted};
use super::{At, Check};
use crate::cases::{Case, CaseName, Exchange, Expect};
use crate::finding::{Finding, FindingCode as Code, quoted};
use crate::model::{Action, Manifest, Module, ModuleRequest, ModuleSegment, Op};
use crate::pick::{Field, Pick, Step};

/// How deep the values of a case are followed.
const DEPTH_MAX: usize = 64;

/// Holds the cases of a manifest against a description. Each finding is at its op in the manifest and names the case.
pub fn verify_cases(
    manifest: &Manifest,
    description: &Description,
    cases: &[(CaseName, Case)],
) -> Vec<Finding> {
    let reader = description.reader();
    let servers = Servers::of(description);
    let routes = Routes::new(description, &servers, manifest.host());
    let mut check = Check { manifest, description, reader: &reader, routes: &routes, findings: Vec::new() };
    for (name, case) in cases {
        reader.begin();
        check.case(name, case);
    }
    for (id, op) in manifest.ops() {
        let results: Vec<Value> = cases
            .iter()
            .filter(|(name, _)| name.op == *id)
            .filter_map(|(_, case)| match &case.expect {
                Expect::Result(text) => serde_json::from_str(text.as_str()).ok(),
                Expect::Refusal(_) => None,
            })
            .collect();
        check.coverage(op, &results);
    }
    check.findings
}

impl<'d> Check<'_, 'd> {
    fn case(&mut self, name: &CaseName, case: &Case) {
        let at = At { op: &name.op, way: Vec::new() };
        let shown = format!("{}.{}", name.op, name.name);
        let Some(op) = self.manifest.op(&name.op) else {
            let message = format!("the case `{shown}` is of an op that there is not");
            return self.add(Code::CaseUnknown, &at, message, "rename the case, or take it out");
        };
        if name.name.starts_with("malformed_") {
            return;
        }
        for (place, exchange) in case.exchanges.iter().enumerate() {
            let asked = op.require.get(place).and_then(|one| self.manifest.op(&one.op)).unwrap_or(op);
            let where_ = format!("the case `{shown}`, exchange {place}");
            self.exchange(asked, exchange, &where_, &at);
        }
    }

    fn exchange(&mut self, asked: &Op, exchange: &Exchange, where_: &str, at: &At<'_>) {
        let wanted = match &asked.action {
            Action::Request(request) => Wanted::of_request(request),
            Action::Module(module) => {
                let Some(line) = line(module, exchange) else {
                    let (method, path) = (exchange.request.method.as_str(), quoted(&exchange.request.path));
                    let message = format!("{where_}: no line declares `{method} {path}`");
                    return self.add(Code::CaseUnknown, at, message, "ask for what a line declares");
                };
                Wanted::of_line(line)
            }
        };
        let Some(operation) = self.routes.find(&wanted) else { return };
        let Some(looked) = self.look(&operation, at) else { return };
        if matches!(asked.action, Action::Module(_)) {
            for (key, values) in &exchange.request.query {
                let parameter = found(&looked, Place::Query, key).map(|one| one.parts(self.reader));
                let Some(closed) = parameter.as_ref().and_then(listed) else { continue };
                if let Some(wrong) = values.iter().find(|value| !closed.contains(value)) {
                    let message = format!(
                        "{where_}: the service does not take `{}` for `{}`",
                        quoted(wrong),
                        quoted(key)
                    );
                    self.add(Code::CaseQuery, at, message, "ask with a value that the description lists");
                }
            }
            if let (Some(body), Some(posted)) = (&exchange.request.body, &looked.body)
                && let super::super::operation::Content::Json(Some(schema)) = &posted.content
                && let Ok(value) = serde_json::from_str(body.as_str())
            {
                let parts = self.reader.parts(schema);
                self.value(&value, &parts, &format!("{where_}, request"), at, DEPTH_MAX);
            }
        }
        let status = exchange.response.status.to_string();
        let answer = looked.answers.iter().find(|one| one.status == status);
        let answer = answer.or_else(|| looked.answers.iter().find(|one| covers(one, &status)));
        if answer.is_none() && exchange.response.status < 300 {
            let message = format!("{where_}: the service does not answer {status}");
            return self.add(Code::CaseUnknown, at, message, "answer with a status of the description");
        }
        if let Some(Held::Json(Some(schema))) = answer.map(|one| &one.held)
            && let Ok(value) = serde_json::from_slice(&exchange.response.body)
        {
            let parts = self.reader.parts(schema);
            self.value(&value, &parts, &format!("{where_}, answer"), at, DEPTH_MAX);
        }
    }

    /// One value of a case, and all in it.
    fn value(&mut self, value: &Value, parts: &Parts<'d>, where_: &str, at: &At<'_>, depth: usize) {
        let types = parts.types();
        let own = type_of(value);
        let fits = types.is_empty()
            || types.contains(own)
            || (own == "integer" && types.contains("number"))
            || (own == "null" && parts.takes_null());
        let Some(depth) = depth.checked_sub(1) else { return };
        if !fits {
            let wanted: Vec<String> = types.into_iter().map(quoted).collect();
            let message = format!("{where_} is {own}, and the service has {} there", wanted.join(" or "));
            return self.add(Code::CaseType, at, message, "give it the described type");
        }
        match value {
            Value::Array(elements) => {
                let items = parts.items(self.reader);
                for (place, element) in elements.iter().enumerate().take(100) {
                    self.value(element, &items, &format!("{where_}[{place}]"), at, depth);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let where_ = format!("{where_}.{}", quoted(name));
                    match parts.member(name, self.reader) {
                        Member::Described(inner) => self.value(member, &inner, &where_, at, depth),
                        Member::Unknown => {
                            let message = format!("{where_} is not described");
                            self.add(Code::CaseMember, at, message, "take it out, or look for its name");
                        }
                        Member::Unsaid => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn coverage(&mut self, op: &Op, results: &[Value]) {
        let at = At { op: &op.id, way: Vec::new() };
        if results.is_empty() {
            return self.add(Code::CaseCoverage, &at, "there is no case with a result", "record one");
        }
        let Pick::Fields(projection) = &op.pick else { return };
        for (place, field) in projection.fields.iter().enumerate() {
            let seen = |result: &Value| match result {
                Value::Array(elements) => elements.iter().any(|element| shows(element, field)),
                other => shows(other, field),
            };
            if !results.iter().any(seen) {
                let at = at.down(&["pick", "fields", &place.to_string()]);
                let message = format!("no case shows `{}`", quoted(&field.text));
                self.add(Code::CaseCoverage, &at, message, "record an answer that has it");
            }
        }
    }
}

/// Whether a class of statuses or the default has this one.
fn covers(answer: &Answer<'_>, status: &str) -> bool {
    let class = answer.status.len() == 3
        && answer.status.get(1..).is_some_and(|rest| rest.eq_ignore_ascii_case("xx"));
    (class && answer.status.get(..1) == status.get(..1)) || answer.status == "default"
}

/// The line of a module that declares a request.
fn line<'m>(module: &'m Module, exchange: &Exchange) -> Option<&'m ModuleRequest> {
    let sent: Vec<&str> = exchange.request.path.split('/').skip(1).collect();
    let fits = |line: &&ModuleRequest| {
        let same = |(segment, sent): (&ModuleSegment, &&str)| match segment {
            ModuleSegment::Literal(text) => text == sent,
            ModuleSegment::Arg(_) | ModuleSegment::Any => true,
        };
        line.method == exchange.request.method
            && line.path.len() == sent.len()
            && line.path.iter().zip(&sent).all(same)
    };
    module.requests.iter().find(fits)
}

fn shows(result: &Value, field: &Field) -> bool {
    match &field.alias {
        Some(alias) => result.get(alias).is_some(),
        None => reaches(result, &field.steps),
    }
}

fn reaches(value: &Value, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match (step, value) {
        (Step::Name(name), Value::Object(members)) => members.get(name).is_some_and(|one| reaches(one, rest)),
        (Step::Each | Step::Index(_), Value::Array(elements)) => {
            elements.iter().any(|one| reaches(one, rest))
        }
        (Step::Each, Value::Object(members)) => members.values().any(|one| reaches(one, rest)),
        _ => false,
    }
}
