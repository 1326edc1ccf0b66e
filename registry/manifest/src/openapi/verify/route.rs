//! Which described operation a request goes to.
//!
//! Takes the one that has the most fixed segments in common, as servers route. INVARIANT: a segment that the description fixes
//! is fixed in the request too.

use std::collections::HashMap;

use super::super::description::{Description, Operation};
use super::super::servers::{self, Servers};
use super::shown;
use crate::draft::words::words;
use crate::host::ApiHost;
use crate::model::{ModuleRequest, ModuleSegment, Request};

/// Method and path of a request.
pub(super) struct Wanted {
    method: &'static str,
    /// As the file has them.
    segments: Vec<String>,
}

impl Wanted {
    pub(super) fn of_request(request: &Request) -> Self {
        let segments = request.path.segments().iter().map(shown).collect();
        Self { method: request.method.as_str(), segments }
    }

    pub(super) fn of_line(line: &ModuleRequest) -> Self {
        let segment = |segment: &ModuleSegment| match segment {
            ModuleSegment::Literal(text) => text.clone(),
            ModuleSegment::Arg(name) => format!("{{{name}}}"),
            ModuleSegment::Any => "{*}".to_owned(),
        };
        Self { method: line.method.as_str(), segments: line.path.iter().map(segment).collect() }
    }

    /// A path with `{*}`, as a page has it.
    pub(super) fn of_path(method: &'static str, segments: Vec<String>) -> Self {
        Self { method, segments }
    }

    pub(super) fn shown(&self) -> String {
        format!("/{}", self.segments.join("/"))
    }
}

/// One described operation with its whole path.
struct Route<'d> {
    segments: Vec<String>,
    operation: Operation<'d>,
}

/// The operations on the manifest's host.
pub(super) struct Routes<'d> {
    by_shape: HashMap<(&'static str, usize), Vec<Route<'d>>>,
    is_own_host: bool,
}

impl<'d> Routes<'d> {
    pub(super) fn new(description: &'d Description, servers: &Servers, host: &ApiHost) -> Self {
        let here = |list: &[servers::Server]| -> Vec<String> {
            list.iter().filter(|server| server.host == *host).map(|server| server.base.clone()).collect()
        };
        let mut bases = here(&servers.good);
        if bases.is_empty() {
            // The host is said not to be the description's elsewhere; its paths are looked at all the same.
            bases =
                servers.good.iter().map(|server| server.base.clone()).chain(servers.open_bases()).collect();
        }
        if bases.is_empty() {
            bases.push(String::new());
        }
        bases.sort();
        bases.dedup();
        let mut by_shape: HashMap<(&'static str, usize), Vec<Route<'d>>> = HashMap::new();
        let mut is_own_host = false;
        for operation in description.listed() {
            let own = servers::own(operation.node).or_else(|| servers::own(operation.item));
            let own: Option<Vec<_>> = own.map(|list| list.into_iter().filter_map(Result::ok).collect());
            let own = own.filter(|list| !list.is_empty()).map(|list| here(&list));
            is_own_host |= own.as_ref().is_some_and(|bases| !bases.is_empty());
            for base in own.as_ref().unwrap_or(&bases).iter().take(BASES_MAX) {
                let path = format!("{base}{}", operation.path);
                let segments: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
                let shape = (operation.method, segments.len());
                by_shape.entry(shape).or_default().push(Route { segments, operation });
            }
        }
        Self { by_shape, is_own_host }
    }

    /// Whether some operation names the manifest's host as its own.
    pub(super) fn is_own_host(&self) -> bool {
        self.is_own_host
    }

    pub(super) fn find(&self, wanted: &Wanted) -> Option<Operation<'d>> {
        self.found(wanted).map(|route| route.operation)
    }

    /// The names that the description has for the placeholders of a request, segment by segment.
    pub(super) fn names(&self, wanted: &Wanted) -> Vec<Option<String>> {
        let name = |segment: &String| {
            let name = segment.strip_prefix('{')?.strip_suffix('}')?;
            (!name.contains(['{', '}'])).then(|| name.to_owned())
        };
        self.found(wanted).map(|route| route.segments.iter().map(name).collect()).unwrap_or_default()
    }

    fn found(&self, wanted: &Wanted) -> Option<&Route<'d>> {
        let routes = self.by_shape.get(&(wanted.method, wanted.segments.len()))?;
        let scored =
            routes.iter().filter_map(|route| Some((score(&route.segments, &wanted.segments)?, route)));
        // The first of several that fit as well.
        scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, route)| route)
    }
}

/// Most base paths of one host.
const BASES_MAX: usize = 20;

/// How well a described path fits: fixed segments count, then placeholders of the same name.
fn score(described: &[String], wanted: &[String]) -> Option<(usize, usize)> {
    let (mut fixed, mut named) = (0_usize, 0_usize);
    for (known, asked) in described.iter().zip(wanted) {
        if known == asked {
            let counter = if known.contains('{') { &mut named } else { &mut fixed };
            *counter = counter.saturating_add(1);
        } else if shape(known) == shape(asked) {
            // An arg may be named as its own grammar has it: `bookId` is `book_id`.
            named = named.saturating_add(usize::from(words(known) == words(asked)));
        } else if shape(known) != "{}" {
            return None;
        }
    }
    Some((fixed, named))
}

/// A segment without the names of its placeholders.
fn shape(segment: &str) -> String {
    let mut shape = String::new();
    let mut is_name = false;
    for c in segment.chars() {
        match c {
            '{' => {
                is_name = true;
                shape.push(c);
            }
            '}' => {
                is_name = false;
                shape.push(c);
            }
            c if !is_name => shape.push(c),
            _ => {}
        }
    }
    shape
}
