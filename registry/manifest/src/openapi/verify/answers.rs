//! What is read out of answers held against the described ones: the pick, pages, conditions and the text of a failure.
//!
//! INVARIANT: what the description leaves open is said to be unchecked, never to be there.

use super::super::operation::{Answer, Held, Looked, Place};
use super::super::parts::{Member, Parts};
use super::parameters::found;
use super::route::Wanted;
use super::{At, Check};
use crate::finding::{FindingCode as Code, quoted};
use crate::model::{Op, Page, PatternSegment, Request};
use crate::pick::{Field, Pick, Projection, SingularPath, SingularStep, Step};

/// What a path leads to.
pub(super) enum Led<'d> {
    /// Something that is described.
    There(Parts<'d>),
    /// Nothing.
    Nowhere,
    /// Somewhere the description leaves open.
    Open,
}

/// Which answers.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Success,
    Failure,
}

impl Kind {
    fn is(self, answer: &Answer<'_>) -> bool {
        match self {
            Self::Success => answer.is_success(),
            Self::Failure => answer.is_failure(),
        }
    }
}

impl<'d> Check<'_, 'd> {
    pub(super) fn pick(&mut self, op: &Op, looked: &Looked<'d>, at: &At<'_>) {
        let place = at.down(&["pick"]);
        let good: Vec<&Answer<'d>> = looked.answers.iter().filter(|one| one.is_success()).collect();
        let default = looked.answers.iter().find(|one| one.status == "default");
        let good = if good.is_empty() { default.into_iter().collect() } else { good };
        if good.is_empty() {
            let message = "the description has no successful answer";
            return self.add(Code::Unchecked, &place, message, "see the service's guide");
        }
        let Pick::Fields(projection) = &op.pick else {
            if good.iter().any(|one| matches!(one.held, Held::Json(Some(_)))) {
                let message = "the service answers with a body, and nothing of it is picked";
                self.add(Code::PickNothing, &place, message, "pick what a caller needs");
            }
            return;
        };
        let mut described = Vec::new();
        for answer in &good {
            match &answer.held {
                Held::Json(Some(schema)) => described.push((answer.status, self.reader.parts(schema))),
                Held::Json(None) => {
                    self.add(
                        Code::Unchecked,
                        &place,
                        format!("the answer {} is not described", quoted(answer.status)),
                        "see the service's guide",
                    );
                }
                Held::Other(media) => {
                    let message = format!(
                        "the answer {} is `{}`, of which nothing is picked",
                        quoted(answer.status),
                        quoted(media)
                    );
                    self.add(Code::Unchecked, &place, message, "see the service's guide");
                }
                Held::Nothing => {}
            }
        }
        if described.is_empty() && good.iter().all(|one| matches!(one.held, Held::Nothing)) {
            let message = "the service answers with nothing, and fields of it are picked";
            return self.add(Code::PickUnknown, &place, message, "write `\"pick\": \"none\"`");
        }
        self.projected(projection, &described, &place);
    }

    fn projected(&mut self, projection: &Projection, described: &[(&str, Parts<'d>)], at: &At<'_>) {
        let mut roots = Vec::new();
        for (status, answer) in described {
            let led = self.walk(answer.clone(), &projection.root);
            roots.push((*status, self.elements(led)));
        }
        if !roots.is_empty() && roots.iter().all(|(_, led)| matches!(led, Led::Nowhere)) {
            let message = format!("no answer has the root `{projection}`");
            return self.add(
                Code::PickUnknown,
                &at.down(&["root"]),
                message,
                "look for it in the description",
            );
        }
        let mut open = Vec::new();
        for (place, field) in projection.fields.iter().enumerate() {
            let at = at.down(&["fields", &place.to_string()]);
            let mut led: Vec<(&str, Led<'d>)> = Vec::new();
            for (status, root) in &roots {
                let one = match root {
                    Led::There(parts) => self.walk(parts.clone(), &field.steps),
                    Led::Nowhere => Led::Nowhere,
                    Led::Open => Led::Open,
                };
                led.push((status, one));
            }
            if self.field_of(field, &led, &at) {
                open.push(quoted(&field.text));
            }
        }
        if !open.is_empty() {
            let more = open.len().saturating_sub(8);
            open.truncate(8);
            let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message = format!("the description leaves open whether there is {}{tail}", open.join(", "));
            self.add(
                Code::Unchecked,
                &at.down(&["fields"]),
                message,
                "see the service's guide, or an answer of it",
            );
        }
    }

    /// Judges a field by where it leads in each answer; says whether all is open.
    fn field_of(&mut self, field: &Field, led: &[(&str, Led<'d>)], at: &At<'_>) -> bool {
        let text = quoted(&field.text);
        let there: Vec<&Parts<'d>> = led
            .iter()
            .filter_map(|(_, led)| match led {
                Led::There(parts) => Some(parts),
                Led::Nowhere | Led::Open => None,
            })
            .collect();
        if there.is_empty() {
            let open = led.iter().any(|(_, led)| matches!(led, Led::Open));
            if !open && !led.is_empty() {
                let message = format!("the answer has no `{text}`");
                self.add(Code::PickUnknown, at, message, "leave it out, or look for its name");
            }
            return open;
        }
        if let Some((status, _)) = led.iter().find(|(_, led)| matches!(led, Led::Nowhere)) {
            let message = format!("the answer {} has no `{text}`", quoted(status));
            self.add(Code::PickPartial, at, message, "see that the other answers are enough");
        }
        if !there.iter().any(|parts| self.is_leaf(parts)) {
            let message = format!("`{text}` is neither a value nor a list of values");
            self.add(Code::PickNotValue, at, message, "go on to a value in it, through lists with `[*]`");
        }
        if there.iter().any(|parts| parts.says("deprecated")) {
            self.add(
                Code::Deprecated,
                at,
                format!("`{text}` is deprecated"),
                "look for what stands in for it",
            );
        }
        false
    }

    fn is_leaf(&self, parts: &Parts<'d>) -> bool {
        const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];
        let types = parts.types();
        let items = parts.items(self.reader).types();
        let scalar =
            |types: &std::collections::BTreeSet<&str>| SCALARS.iter().any(|kind| types.contains(kind));
        types.is_empty()
            || scalar(&types)
            || (types.contains("array") && (items.is_empty() || scalar(&items)))
    }

    /// Where the root is a list, fields are those of its elements.
    fn elements(&self, led: Led<'d>) -> Led<'d> {
        let Led::There(parts) = led else { return led };
        if !parts.types().contains("array") {
            return Led::There(parts);
        }
        let mut items = parts.items(self.reader);
        if parts.types().contains("object") {
            items.list.extend(parts.list);
        }
        Led::There(items)
    }

    pub(super) fn walk(&self, from: Parts<'d>, steps: &[Step]) -> Led<'d> {
        let mut parts = from;
        for step in steps {
            let led = match step {
                Step::Name(name) => parts.member(name, self.reader),
                Step::Each | Step::Index(_) => self.each(&parts),
            };
            parts = match led {
                Member::Described(parts) if parts.is_empty() && (parts.incomplete || parts.anything) => {
                    return Led::Open;
                }
                Member::Described(parts) => parts,
                Member::Unknown => return Led::Nowhere,
                Member::Unsaid => return Led::Open,
            };
        }
        Led::There(parts)
    }

    /// What `[*]` leads to: elements, or the members of an object.
    fn each(&self, parts: &Parts<'d>) -> Member<'d> {
        let items = parts.items(self.reader);
        if !items.is_empty() {
            return Member::Described(items);
        }
        let types = parts.types();
        if types.contains("object") {
            let mut members = Parts::default();
            for (_, member) in parts.members(self.reader) {
                members.list.extend(member.list);
            }
            if let Member::Described(any) = parts.member("\u{0}", self.reader) {
                members.list.extend(any.list);
            }
            return if members.is_empty() { Member::Unsaid } else { Member::Described(members) };
        }
        if types.is_empty() || types.contains("array") { Member::Unsaid } else { Member::Unknown }
    }

    /// Where a path to one value leads in an answer.
    pub(super) fn singular(&self, answer: &Parts<'d>, path: &SingularPath) -> Led<'d> {
        let step = |step: &SingularStep| match step {
            SingularStep::Name(name) => Step::Name(name.clone()),
            SingularStep::Index(index) => Step::Index(*index),
        };
        let steps: Vec<Step> = path.steps().iter().map(step).collect();
        self.walk(answer.clone(), &steps)
    }

    /// The described bodies of the answers of a kind.
    fn bodies(&self, looked: &Looked<'d>, kind: Kind) -> Vec<(String, Parts<'d>)> {
        let body = |one: &Answer<'d>| match one.held {
            Held::Json(Some(schema)) => Some((one.status.to_owned(), self.reader.parts(schema))),
            _ => None,
        };
        looked.answers.iter().filter(|one| kind.is(one)).filter_map(body).collect()
    }

    pub(super) fn page(&mut self, op: &Op, request: &Request, looked: &Looked<'d>, at: &At<'_>) {
        let Some(page) = &op.page else { return };
        let place = at.down(&["page"]);
        let query = match page {
            Page::Cursor { query, .. } | Page::Number { query } => Some(query.as_str()),
            Page::Link { paths } => {
                for (number, path) in paths.iter().enumerate() {
                    let segment = |one: &PatternSegment| match one {
                        PatternSegment::Literal(text) => text.clone(),
                        PatternSegment::Any => "{*}".to_owned(),
                    };
                    let wanted = Wanted::of_path(
                        request.method.as_str(),
                        path.segments().iter().map(segment).collect(),
                    );
                    if self.routes.find(&wanted).is_none() {
                        let message = format!("`{}` is not described", quoted(&wanted.shown()));
                        let help = "see that the service's links lead there";
                        self.add(Code::PagePath, &place.down(&["paths", &number.to_string()]), message, help);
                    }
                }
                None
            }
            Page::Relay { .. } => return,
        };
        let carrier = query.unwrap_or("page");
        if request.query.iter().any(|param| param.key == carrier) {
            let message = format!("`{}` is sent by the op too, and carries the pages on", quoted(carrier));
            self.add(
                Code::PageFed,
                &place,
                message,
                "leave it out of `query`, or see that it says where to start",
            );
        }
        if let Some(query) = query
            && found(looked, Place::Query, query).is_none()
        {
            let message = format!("the query parameter `{}` is not described", quoted(query));
            self.add(Code::PageUnknown, &place.down(&["query"]), message, "look for the parameter's name");
        }
        if let Page::Cursor { next, .. } = page {
            let bodies = self.bodies(looked, Kind::Success);
            let led: Vec<Led<'d>> = bodies.iter().map(|(_, body)| self.singular(body, next)).collect();
            let place = place.down(&["next"]);
            if !led.is_empty() && led.iter().all(|one| matches!(one, Led::Nowhere)) {
                let message = format!("no answer has `{}`", quoted(next.as_str()));
                self.add(Code::PageUnknown, &place, message, "look for where answers keep it");
            } else if !led.iter().any(|one| matches!(one, Led::There(_))) {
                let message =
                    format!("the description leaves open whether there is `{}`", quoted(next.as_str()));
                self.add(Code::Unchecked, &place, message, "see the service's guide");
            }
        }
    }

    pub(super) fn require(&mut self, op: &Op, at: &At<'_>) {
        for (number, requirement) in op.require.iter().enumerate() {
            let place = at.down(&["require", &number.to_string()]);
            let named = self.manifest.op(&requirement.op).and_then(Op::request);
            let Some(operation) = named.and_then(|request| self.routes.find(&Wanted::of_request(request)))
            else {
                let message = format!("the request of `{}` is not described", requirement.op);
                self.add(Code::RequireUnknown, &place.down(&["op"]), message, "name an op that is");
                continue;
            };
            let Some(looked) = self.look(&operation, &place) else { continue };
            let bodies = self.bodies(&looked, Kind::Success);
            let led: Vec<Led<'d>> =
                bodies.iter().map(|(_, body)| self.singular(body, &requirement.condition.path)).collect();
            if !led.is_empty() && led.iter().all(|one| matches!(one, Led::Nowhere)) {
                let path = quoted(requirement.condition.path.as_str());
                let message = format!("the answer of `{}` has no `{path}`", requirement.op);
                self.add(Code::RequireUnknown, &place.down(&["path"]), message, "look for its name");
            }
        }
    }

    pub(super) fn error(&mut self, looked: &Looked<'d>, at: &At<'_>) {
        let Some(path) = self.manifest.error_message() else { return };
        for (status, body) in self.bodies(looked, Kind::Failure) {
            if matches!(self.singular(&body, path), Led::Nowhere) {
                let message = format!("the answer {} has no `{}`", quoted(&status), quoted(path.as_str()));
                self.add(
                    Code::ErrorUnknown,
                    at,
                    message,
                    "its failures then come without a text: see `error.message`",
                );
                return;
            }
        }
    }
}
