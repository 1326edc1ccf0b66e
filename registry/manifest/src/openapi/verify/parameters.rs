//! The path, query and headers of a request held against the described parameters.
//!
//! INVARIANT: a parameter that the description requires is in the request, fed by something that is always there.

use super::super::operation::{Looked, Parameter, Place, Spread};
use super::super::parts::{Member, Parts};
use super::args::{Form, Slot};
use super::route::Wanted;
use super::{At, Check, shown};
use crate::finding::{FindingCode as Code, quoted};
use crate::ids::ArgName;
use crate::model::{Op, Page, Request, Template};

impl<'d> Check<'_, 'd> {
    pub(super) fn parameters(&mut self, op: &Op, request: &Request, looked: &Looked<'d>, at: &At<'_>) {
        let wanted = Wanted::of_request(request);
        for (segment, name) in request.path.segments().iter().zip(self.routes.names(&wanted)) {
            if let (Some(arg), Some(name)) = (segment.sole_arg(), name) {
                self.segment(op, arg, &name, looked, &at.down(&["path"]));
            }
        }
        for param in &request.query {
            let place = at.down(&["query", &param.key]);
            let form = if param.join.is_some() { Form::Joined } else { Form::Text };
            self.query(op, &param.key, &param.value, form, looked, &place);
        }
        self.required_query(op, request, looked, at);
        self.headers(op, request, looked, at);
        let carried = request.query.iter().map(|param| param.key.as_str());
        self.deprecated_parameters(&carried.collect::<Vec<_>>(), looked, at);
    }

    /// An arg that is a whole segment, against the parameter that the description has there.
    pub(super) fn segment(&mut self, op: &Op, arg: &ArgName, name: &str, looked: &Looked<'d>, at: &At<'_>) {
        let Some(parameter) = found(looked, Place::Path, name) else { return };
        let parts = parameter.parts(self.reader);
        let prose = parameter.description().unwrap_or_default();
        self.arg(op, arg, &Slot { parts: &parts, is_required: true, form: Form::Text, prose }, at);
    }

    fn query(&mut self, op: &Op, key: &str, value: &Template, form: Form, looked: &Looked<'d>, at: &At<'_>) {
        let Some((parts, is_required, prose)) = self.queried(key, looked) else {
            let elsewhere = looked.parameters.iter().find(|one| one.name == key);
            let message = match elsewhere.map(|one| one.place) {
                Some(Place::Path) => format!("`{}` belongs into the path", quoted(key)),
                Some(Place::Header) => format!("`{}` is a header", quoted(key)),
                _ => format!("the query parameter `{}` is not described", quoted(key)),
            };
            return self.add(
                Code::ParameterUnknown,
                at,
                message,
                "leave it out, or look for its name and place",
            );
        };
        let slot = Slot { parts: &parts, is_required, form, prose };
        match value.sole_arg() {
            Some(arg) => self.arg(op, arg, &slot, at),
            None if value.pieces().is_empty() || shown(value).contains('{') => {}
            None => self.literal(&shown(value).into(), &slot, at),
        }
    }

    /// What is described for a key of the query: a parameter, or the member of one.
    fn queried<'l>(&self, key: &str, looked: &'l Looked<'d>) -> Option<(Parts<'d>, bool, &'l str)> {
        if let Some(parameter) = found(looked, Place::Query, key) {
            let prose = parameter.description().unwrap_or_default();
            return Some((parameter.parts(self.reader), parameter.is_required, prose));
        }
        let here = looked.parameters.iter().filter(|one| one.place == Place::Query);
        for parameter in here {
            let name = match parameter.spread {
                Spread::Deep => key
                    .strip_prefix(parameter.name)
                    .and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']')),
                Spread::Repeated => Some(key),
                _ => None,
            };
            if let Some(name) = name
                && let Member::Described(parts) = parameter.parts(self.reader).member(name, self.reader)
            {
                return Some((parts, false, ""));
            }
        }
        // `ids[]` is how some write a list of `ids`.
        let stem = key.strip_suffix("[]")?;
        let parameter = found(looked, Place::Query, stem)?;
        Some((
            parameter.parts(self.reader),
            parameter.is_required,
            parameter.description().unwrap_or_default(),
        ))
    }

    fn required_query(&mut self, op: &Op, request: &Request, looked: &Looked<'d>, at: &At<'_>) {
        let carrier = match &op.page {
            Some(Page::Cursor { query, .. } | Page::Number { query }) => Some(query.as_str()),
            _ => None,
        };
        let given = |name: &str| {
            carrier == Some(name)
                || request.query.iter().any(|param| {
                    param.key == name
                        || param.key.strip_prefix(name).is_some_and(|rest| rest.starts_with('['))
                })
        };
        self.required_parameters(looked, Place::Query, given, &at.down(&["query"]));
    }

    /// Required parameters of a place that a request does not have.
    pub(super) fn required_parameters(
        &mut self,
        looked: &Looked<'d>,
        place: Place,
        given: impl Fn(&str) -> bool,
        at: &At<'_>,
    ) {
        for one in looked.parameters.iter().filter(|one| one.place == place && one.is_required) {
            if given(one.name) || (one.spread == Spread::Repeated && self.is_object(one)) {
                continue;
            }
            let message = format!("the service requires the parameter `{}`", quoted(one.name));
            self.add(Code::ParameterMissing, at, message, "send it");
        }
    }

    fn is_object(&self, parameter: &Parameter<'d>) -> bool {
        parameter.parts(self.reader).types().contains("object")
    }

    fn headers(&mut self, op: &Op, request: &Request, looked: &Looked<'d>, at: &At<'_>) {
        let described = |name: &str| {
            looked
                .parameters
                .iter()
                .find(|one| one.place == Place::Header && one.name.eq_ignore_ascii_case(name))
        };
        for (name, value) in &request.headers {
            let place = at.down(&["headers", name]);
            let Some(parameter) = described(name) else {
                let message = format!("the header `{}` is not described", quoted(name));
                self.add(Code::Unchecked, &place, message, "see that the service takes it");
                continue;
            };
            let parts = parameter.parts(self.reader);
            let prose = parameter.description().unwrap_or_default();
            let slot = Slot { parts: &parts, is_required: parameter.is_required, form: Form::Text, prose };
            if let Some(arg) = value.sole_arg() {
                self.arg(op, arg, &slot, &place);
            }
        }
        let credential = self.manifest.auth().scheme.header_name().to_owned();
        let fixed: Vec<String> = self.manifest.headers().keys().cloned().collect();
        let idempotency = op.idempotency.clone();
        let given = |name: &str| {
            let name = name.to_ascii_lowercase();
            matches!(name.as_str(), "accept" | "content-type" | "authorization" | "user-agent" | "host")
                || name == credential
                || fixed.contains(&name)
                || idempotency.as_ref() == Some(&name)
                || request.headers.iter().any(|(other, _)| *other == name)
        };
        self.required_parameters(looked, Place::Header, given, &at.down(&["headers"]));
    }

    pub(super) fn deprecated_parameters(&mut self, keys: &[&str], looked: &Looked<'d>, at: &At<'_>) {
        for key in keys {
            if found(looked, Place::Query, key).is_some_and(Parameter::is_deprecated) {
                let message = format!("the query parameter `{}` is deprecated", quoted(key));
                self.add(
                    Code::Deprecated,
                    &at.down(&["query", key]),
                    message,
                    "look for what stands in for it",
                );
            }
        }
    }
}

/// The parameter of a name in a place.
pub(super) fn found<'l, 'd>(looked: &'l Looked<'d>, place: Place, name: &str) -> Option<&'l Parameter<'d>> {
    looked.parameters.iter().find(|one| one.place == place && one.name == name)
}

/// A parameter's listed values as texts, where they are closed.
pub(super) fn listed(parts: &Parts<'_>) -> Option<Vec<String>> {
    let values = parts.listed()?;
    Some(values.into_iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect())
}
