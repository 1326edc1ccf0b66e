//! The body of a request: JSON, a form, or a GraphQL document with its variables. DESIGN, "Manifest": request.
//!
//! Refuses two bodies at once, and a document whose kind or variables do not fit the op. INVARIANT: a document is kept
//! exactly as it stands; nothing is ever spliced into it.

use super::reader::{At, Faults, Object, Value};
use super::template;
use super::uses::Uses;
use crate::Access;
use crate::diagnostic::Code;
use crate::graphql::{GraphqlFault, Operation, OperationKind};
use crate::model::{ArgsSchema, Body, JsonTemplate};

/// A body as far as it could be read.
#[derive(Debug, Default)]
pub(super) struct BodyDraft {
    pub(super) body: Option<Body>,
    pub(super) is_graphql: bool,
    pub(super) graphql: Option<GraphqlDraft>,
}

/// A document that parsed, and what it is fed.
#[derive(Debug)]
pub(super) struct GraphqlDraft {
    /// Where the document stands.
    document: At,
    /// Where the variables stand.
    variables: At,
    operation: Operation,
    /// What feeds the variables, where it could be read.
    fed: Option<Vec<(String, Feed)>>,
}

/// What a variable is fed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Feed {
    /// An arg alone.
    Arg(crate::ArgName),
    /// Something that is always there.
    Always,
}

/// Reads `json`, `form` or `graphql`; none of them is no body.
pub(super) fn body(object: &mut Object<'_>, uses: &mut Uses) -> BodyDraft {
    let found: Vec<_> =
        ["json", "form", "graphql"].iter().filter_map(|name| Some((*name, object.optional(name)?))).collect();
    if found.len() > 1 {
        let help = "keep exactly one of `json`, `form` and `graphql`";
        object.faults.add_at_key(Code::OneOf, &object.at, "the request has several bodies", help);
        uses.incomplete();
        return BodyDraft::default();
    }
    let Some((name, value)) = found.into_iter().next() else {
        return BodyDraft { body: Some(Body::None), ..BodyDraft::default() };
    };
    if name == "graphql" {
        return graphql(&value, uses);
    }
    let body = match name {
        "json" => template::json_body(&value, uses).map(Body::Json),
        _ => template::form(&value, uses).map(Body::Form),
    };
    if body.is_none() {
        uses.incomplete();
    }
    BodyDraft { body, ..BodyDraft::default() }
}

fn graphql(value: &Value<'_>, uses: &mut Uses) -> BodyDraft {
    let mut draft = BodyDraft { is_graphql: true, ..BodyDraft::default() };
    let Some(mut object) = value.object() else {
        uses.incomplete();
        return draft;
    };
    let document = object.required("query").and_then(|value| Some((document(&value), value.text()?)));
    let variables = match object.optional("variables") {
        Some(value) => variables(&value, uses),
        None => Some((JsonTemplate::Object(Vec::new()), Vec::new())),
    };
    object.finish();
    if variables.is_none() {
        uses.incomplete();
    }
    let (text, operation) = match document {
        Some((Some(operation), text)) => (Some(text.to_owned()), Some(operation)),
        _ => (None, None),
    };
    let (template, fed) = variables.map_or((None, None), |(template, fed)| (Some(template), Some(fed)));
    draft.graphql = operation.map(|operation| GraphqlDraft {
        document: value.at.name("query"),
        variables: value.at.name("variables"),
        operation,
        fed,
    });
    draft.body = text.zip(template).map(|(document, variables)| Body::Graphql { document, variables });
    draft
}

fn document(value: &Value<'_>) -> Option<Operation> {
    let fault = match crate::graphql::check(value.text()?) {
        Ok(operation) => return Some(operation),
        Err(fault) => fault,
    };
    graphql_fault(value, &fault);
    None
}

/// The code of a document's fault.
fn graphql_fault(value: &Value<'_>, fault: &GraphqlFault) {
    let (code, help) = match fault {
        GraphqlFault::TooLong => (Code::GraphqlSize, "ask for less in one document"),
        GraphqlFault::NoOperation | GraphqlFault::ManyOperations(_) | GraphqlFault::Subscription => {
            (Code::GraphqlOperation, "keep one query or one mutation")
        }
        _ => (Code::GraphqlSyntax, "correct the document; declare the variables that it uses, and no others"),
    };
    value.fault(code, super::reader::clip_line(&fault.to_string()), help);
}

/// The one document of a module's line, and what can be said of it. A module feeds the variables itself.
pub(super) fn module_graphql(value: &Value<'_>) -> Option<(String, GraphqlDraft)> {
    let operation = document(value)?;
    let draft =
        GraphqlDraft { document: value.at.clone(), variables: value.at.clone(), operation, fed: None };
    Some((value.text()?.to_owned(), draft))
}

type Fed = (JsonTemplate, Vec<(String, Feed)>);

fn variables(value: &Value<'_>, uses: &mut Uses) -> Option<Fed> {
    value.object()?;
    let template = template::json(value, uses)?;
    let fed = match &template {
        JsonTemplate::Object(members) => members
            .iter()
            .map(|(name, value)| match value {
                JsonTemplate::Arg(arg) => (name.clone(), Feed::Arg(arg.clone())),
                _ => (name.clone(), Feed::Always),
            })
            .collect(),
        _ => Vec::new(),
    };
    // An empty object comes back as a literal.
    let template = if fed.is_empty() { JsonTemplate::Object(Vec::new()) } else { template };
    Some((template, fed))
}

/// What the page adds to the variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageFeed<'p> {
    /// Nothing.
    Nothing,
    /// This variable, from the second page on.
    Variable(&'p str),
    /// Something that could not be read.
    Unknown,
}

/// Whether a document fits the op's access, and its variables are declared and fed.
pub(super) fn check_graphql(
    draft: &GraphqlDraft,
    access: Option<Access>,
    args: Option<&ArgsSchema>,
    page: PageFeed<'_>,
    faults: &Faults,
) {
    let query_at = &draft.document;
    let kind = draft.operation.kind;
    match (access, kind) {
        (Some(Access::Read), OperationKind::Mutation) => {
            faults.add(
                Code::GraphqlKind,
                query_at,
                "the op is a read, and this is a mutation",
                "write a query",
            );
        }
        (Some(Access::Write), OperationKind::Query) => {
            faults.add(
                Code::GraphqlKind,
                query_at,
                "the op is a write, and this is a query",
                "write a mutation",
            );
        }
        _ => {}
    }
    let Some(fed) = &draft.fed else { return };
    for (name, _) in fed.iter().filter(|(name, _)| draft.variable(name).is_none()) {
        let at = draft.variables.name(name);
        let message = format!("the document declares no `${}`", super::reader::clip(name));
        faults.add_at_key(
            Code::GraphqlUndeclared,
            &at,
            message,
            "declare it in the document, or leave it out",
        );
    }
    if page == PageFeed::Unknown {
        return;
    }
    for variable in &draft.operation.variables {
        let source = fed.iter().find(|(name, _)| *name == variable.name).map(|(_, source)| source);
        let always = match source {
            Some(Feed::Always) => true,
            Some(Feed::Arg(arg)) => {
                args.and_then(|args| args.defs().get(arg)).is_none_or(crate::model::ArgDef::always_present)
            }
            None => false,
        };
        let paged = page == PageFeed::Variable(&variable.name);
        if variable.required && !always {
            let message = format!("the required variable `${}` may not be fed", variable.name);
            faults.add(
                Code::GraphqlUnfed,
                query_at,
                message,
                "feed it a required arg or a fixed value, or let it be null",
            );
        } else if source.is_none() && !paged {
            let message = format!("the variable `${}` is not fed", variable.name);
            faults.add(
                Code::GraphqlUnfed,
                query_at,
                message,
                "feed it in `variables`, or leave it out of the document",
            );
        }
    }
}

impl GraphqlDraft {
    fn variable(&self, name: &str) -> Option<bool> {
        self.operation.variables.iter().find(|one| one.name == name).map(|one| one.required)
    }

    /// Whether a page's cursor can be fed to this variable: `Err` with the code and what is wrong.
    pub(super) fn check_page_variable(&self, name: &str) -> Result<(), (Code, &'static str)> {
        let feed = self.fed.iter().flatten().find(|(fed, _)| fed == name).map(|(_, feed)| feed);
        match (self.variable(name), feed) {
            (None, _) => Err((Code::PageVariable, "the document does not declare it")),
            (Some(_), Some(Feed::Always)) => Err((Code::PageTaken, "it has a value in `variables`")),
            (Some(true), _) => Err((Code::PageVariable, "it is required, and the first page has no cursor")),
            (Some(false), _) => Ok(()),
        }
    }
}
