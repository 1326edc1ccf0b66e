//! What a module may ask for, held against the description: each line's method, path, args in it, and query keys.
//!
//! Says nothing of what a module computes: no description has it.

use super::super::operation::Place;
use super::parameters::found;
use super::route::Wanted;
use super::{At, Check};
use crate::finding::{FindingCode as Code, quoted};
use crate::model::{Module, ModuleSegment, Op};

impl Check<'_, '_> {
    pub(super) fn module(&mut self, op: &Op, module: &Module, at: &At<'_>) {
        for (number, line) in module.requests.iter().enumerate() {
            let place = at.down(&["module", "requests", &number.to_string()]);
            if line.graphql.is_some() {
                continue;
            }
            let wanted = Wanted::of_line(line);
            let Some(operation) = self.routes.find(&wanted) else {
                let message =
                    format!("`{} {}` is not described", line.method.as_str(), quoted(&wanted.shown()));
                let help = "look for the path and method in the description";
                self.add(Code::OperationUnknown, &place.down(&["path"]), message, help);
                continue;
            };
            self.deprecated(&operation, &place);
            let Some(looked) = self.look(&operation, &place) else { continue };
            for (segment, name) in line.path.iter().zip(self.routes.names(&wanted)) {
                if let (ModuleSegment::Arg(arg), Some(name)) = (segment, name) {
                    self.segment(op, arg, &name, &looked, &place.down(&["path"]));
                }
            }
            for (at_key, key) in line.query.iter().enumerate() {
                if found(&looked, Place::Query, key).is_none() {
                    let message = format!("the query parameter `{}` is not described", quoted(key));
                    let place = place.down(&["query", &at_key.to_string()]);
                    self.add(Code::ParameterUnknown, &place, message, "leave it out, or look for its name");
                }
            }
            let keys: Vec<&str> = line.query.iter().map(String::as_str).collect();
            let given = |name: &str| keys.contains(&name);
            self.required_parameters(&looked, Place::Query, given, &place);
            if !line.method.is_safe() && line.graphql.is_none() && looked.body.is_none() {
                let message = "the service takes no body here that could say what is searched for";
                self.add(Code::MemberUnknown, &place, message, "look for the operation that searches");
            }
            self.error(&looked, &place);
        }
    }
}
