//! How further pages are found. DESIGN, "Manifest": `page`.
//!
//! Refuses pages of an op that has none, and a cursor whose place is taken. INVARIANT: what a page adds to a request
//! never replaces a fixed value.

use super::answer;
use super::body::PageFeed;
use super::names;
use super::path;
use super::reader::{Object, Value};
use super::request::RequestDraft;
use crate::diagnostic::Code;
use crate::model::Page;

/// Most further path shapes.
const PATHS_MAX: usize = 20;

/// The page of an op as far as it could be read, and what it adds to a GraphQL document's variables.
pub(super) struct PageDraft {
    pub(super) page: Option<Page>,
}

impl PageDraft {
    pub(super) fn feed(&self) -> PageFeed<'_> {
        match &self.page {
            Some(Page::Relay { variable, .. }) => PageFeed::Variable(variable),
            Some(_) => PageFeed::Nothing,
            None => PageFeed::Unknown,
        }
    }
}

#[derive(Clone, Copy)]
enum Style {
    Link,
    Cursor,
    Number,
    Relay,
}

pub(super) fn page(value: &Value<'_>, request: Option<&RequestDraft>) -> PageDraft {
    PageDraft { page: read(value, request) }
}

fn read(value: &Value<'_>, request: Option<&RequestDraft>) -> Option<Page> {
    let mut object = value.object()?;
    let words =
        [("link", Style::Link), ("cursor", Style::Cursor), ("page", Style::Number), ("relay", Style::Relay)];
    let style = object.required("style").and_then(|value| value.word(&words))?;
    let page = match style {
        Style::Link => link(&mut object),
        Style::Cursor => {
            let next = object.required("next").and_then(|value| answer::path(&value));
            let query = query(&mut object, request);
            next.zip(query).map(|(next, query)| Page::Cursor { next, query })
        }
        Style::Number => query(&mut object, request).map(|query| Page::Number { query }),
        Style::Relay => {
            let info = object.required("info").and_then(|value| answer::path(&value));
            let variable = variable(&mut object, request);
            info.zip(variable).map(|(info, variable)| Page::Relay { info, variable })
        }
    };
    object.finish();
    page
}

fn link(object: &mut Object<'_>) -> Option<Page> {
    let Some(value) = object.optional("paths") else { return Some(Page::Link { paths: Vec::new() }) };
    let elements = value.elements()?;
    if elements.len() > PATHS_MAX {
        value.fault(Code::OutOfRange, format!("there are {} path shapes", elements.len()), "keep at most 20");
    }
    let paths: Vec<_> = elements.iter().map(path::pattern).collect();
    paths.into_iter().collect::<Option<_>>().map(|paths| Page::Link { paths })
}

/// The parameter that takes the cursor or number: a new one, or one that is an arg alone and says where to start.
fn query(object: &mut Object<'_>, request: Option<&RequestDraft>) -> Option<String> {
    let value = object.required("query")?;
    let key = value.text()?;
    if !names::key_value(&value, key) {
        return None;
    }
    let fixed = request.and_then(|request| request.query.iter().find(|param| param.key == key));
    if fixed.is_some_and(|param| param.value.sole_arg().is_none()) {
        value.fault(
            Code::PageTaken,
            format!("`{key}` has a fixed value in `query`"),
            "leave it out of `query`",
        );
        return None;
    }
    Some(key.to_owned())
}

fn variable(object: &mut Object<'_>, request: Option<&RequestDraft>) -> Option<String> {
    let value = object.required("variable")?;
    let name = value.text()?;
    let request = request?;
    if !request.body.is_graphql {
        value.fault(Code::PageVariable, "the op has no GraphQL document", "take another style of page");
        return None;
    }
    // A document that did not parse has been reported; nothing can be said of its variables.
    let graphql = request.body.graphql.as_ref()?;
    match graphql.check_page_variable(name) {
        Ok(()) => Some(name.to_owned()),
        Err((code, message)) => {
            value.fault(code, message, "name an optional variable of the document that nothing else feeds");
            None
        }
    }
}
