//! A manifest drafted from a description: what can be said, with what a person must decide.
//!
//! Refuses operation by operation, each with a reason; a document without one public host is refused whole. INVARIANT: what
//! comes out is a manifest that [`crate::read`] takes, and everything in it that was guessed has a note.

mod auth;
mod body;
mod names;
mod op;
mod page;
mod pick;
mod request;
mod service;
mod sketch;
mod subset;
mod whole;

use std::collections::BTreeSet;

use super::description::{Description, Operation};
use super::servers::{ServerFault, Servers};
use crate::draft::{Draft, Note, Refused, RefusedReason as Reason};
use crate::finding::quoted;
use crate::host::ApiHost;
use crate::ids::ServiceId;
use crate::parse::OPS_MAX;

/// An operation that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// By its `operationId`.
    Id(String),
    /// By its method, in capitals, and its path as the description has it.
    Place {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
}

impl Chosen {
    /// Reads `GET /repos/{owner}/{repo}`, or an `operationId`.
    pub fn parse(text: &str) -> Self {
        match text.trim().split_once(' ') {
            Some((method, path)) if path.trim_start().starts_with('/') => {
                Self::Place { method: method.to_ascii_uppercase(), path: path.trim().to_owned() }
            }
            _ => Self::Id(text.trim().to_owned()),
        }
    }

    fn is(&self, operation: &Operation<'_>) -> bool {
        match self {
            Self::Id(id) => operation.id() == Some(id),
            Self::Place { method, path } => operation.method == method && operation.path == path,
        }
    }
}

/// Which operations are drafted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// All that are not deprecated.
    All,
    /// These.
    Some(Vec<Chosen>),
}

/// What is asked of a draft.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Which operations.
    pub selection: Selection,
    /// The service's id, instead of a guess.
    pub id: Option<ServiceId>,
    /// The host, where the description leaves it open or names several.
    pub host: Option<ApiHost>,
}

/// Why nothing was drafted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// No host could be taken from the description.
    #[error(transparent)]
    Server(#[from] ServerFault),
    /// Neither host nor title gives an id.
    #[error("no id can be made of the host or the title: say one with `--id`")]
    NoId,
    /// Not one operation could be drafted.
    #[error("none of the {} operations could be drafted", .0.len())]
    Nothing(Vec<Refused>),
}

/// Drafts a manifest from a description.
pub fn draft(description: &Description, wish: &Wish) -> Result<Draft, DraftError> {
    let servers = Servers::of(description);
    let server = servers.choose(wish.host.as_ref())?;
    let id = wish.id.clone().or_else(|| service::id(description, &server.host)).ok_or(DraftError::NoId)?;
    let mut refused = Vec::new();
    let operations = selected(description, &wish.selection, &mut refused);
    let reader = description.reader();
    let mut auth = auth::choose(description, &operations, &reader);
    let patterns = subset::patterns();
    let context =
        op::Context { description, reader: &reader, server: &server, auth: &auth, patterns: &patterns };
    let mut names = names::Names::new(&id);
    let mut drafted = Vec::new();
    for operation in &operations {
        if drafted.len() >= OPS_MAX {
            let message = format!("a manifest has at most {OPS_MAX} ops");
            refused.push(Refused::new(operation.label(), Reason::TooManyOps, message));
            continue;
        }
        let one = op::op(operation, &context).and_then(|one| Ok((names.name(operation)?, one)));
        match one {
            Ok((name, one)) => drafted.push(whole::Named { name, label: operation.label(), drafted: one }),
            Err(no) => refused.push(Refused::new(operation.label(), no.reason, no.message)),
        }
    }
    let scopes = |is_read: bool| -> BTreeSet<String> {
        let of = drafted.iter().filter(|one| one.drafted.is_read == is_read);
        of.flat_map(|one| one.drafted.scopes.iter().cloned()).collect()
    };
    auth.set_scopes(&scopes(true), &scopes(false));
    let mut members = service::members(description, &id, &server.host);
    members.insert("auth".to_owned(), auth.auth.clone().into());
    let mut draft = whole::put_together(members, drafted, refused)?;
    draft.notes.splice(0..0, about_the_service(wish, &servers, &auth));
    Ok(draft)
}

/// The operations that are asked for; those that are not there are refused.
fn selected<'d>(
    description: &'d Description,
    selection: &Selection,
    refused: &mut Vec<Refused>,
) -> Vec<Operation<'d>> {
    let all = description.listed();
    let Selection::Some(chosen) = selection else {
        let (old, current): (Vec<_>, Vec<_>) = all.into_iter().partition(Operation::is_deprecated);
        let why = "the description says that it is deprecated; name it with `--op` if it is meant";
        refused.extend(old.iter().map(|one| Refused::new(one.label(), Reason::Deprecated, why)));
        return current;
    };
    for one in chosen.iter().filter(|one| !all.iter().any(|operation| one.is(operation))) {
        let label = match one {
            Chosen::Id(id) => quoted(id),
            Chosen::Place { method, path } => format!("{} {}", quoted(method), quoted(path)),
        };
        refused.push(Refused::new(label, Reason::Unknown, "the description has no such operation"));
    }
    all.into_iter().filter(|operation| chosen.iter().any(|one| one.is(operation))).collect()
}

/// What a person must decide of the service itself.
fn about_the_service(wish: &Wish, servers: &Servers, auth: &auth::Chosen) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |pointer: &str, message: &str| notes.push(Note::new(None, pointer, message));
    if wish.id.is_none() {
        note("/id", "a guess from the host or the title: say another with `--id`");
    }
    note(
        "/summary",
        "write what the service offers here; texts are the provider's own, and models read them",
    );
    if wish.host.is_some() && servers.good.is_empty() {
        note("/host", "the description does not name it: see that it is the service's own");
    } else if !servers.faults.is_empty() {
        note("/host", "the description names other servers too, which a manifest could not");
    } else if servers.good.len() > 1 {
        note("/host", "the description names several servers; the first of this host was taken");
    }
    for message in &auth.notes {
        note("/auth", message);
    }
    note(
        "/auth",
        "`viewer` and `account` are not drafted: name a read op that proves a key; write `pat` for people",
    );
    notes
}
