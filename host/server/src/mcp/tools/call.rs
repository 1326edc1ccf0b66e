//! A call as a model made it, read as far as this door reads it.
//!
//! INVARIANT: nothing in it is believed later: the spine checks the args again. It only says on which connection, on which
//! page, and whether a person said yes in her client.

use pinhole_grant::{Label, PrincipalId};
use pinhole_manifest::visible::visible;
use pinhole_runtime::local::{StoredCall, Yes};

use super::op::OpTool;
use super::text;

/// What a tool call asks for.
#[derive(Debug, Clone)]
pub struct ToolCall<'c> {
    pub(super) tool: OpTool<'c>,
    pub(super) args: String,
    pub(super) connection: Label,
    pub(super) next: Option<String>,
    pub(super) yes: Yes,
}

impl<'c> ToolCall<'c> {
    /// The op.
    pub fn tool(&self) -> &OpTool<'c> {
        &self.tool
    }

    /// The args, as the text of one JSON object.
    pub fn args(&self) -> &str {
        &self.args
    }

    /// On which connection.
    pub fn connection(&self) -> &Label {
        &self.connection
    }

    /// Which page, where not the first.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// Who says yes to it: `Yes::InTheClient` where the operator offers `confirm` and it was `true`.
    pub fn yes(&self) -> Yes {
        self.yes
    }

    /// The call on behalf of a principal.
    pub fn stored(&self, principal: Option<PrincipalId>) -> StoredCall {
        let (service, op) = (self.tool.service().clone(), self.tool.op().id.clone());
        let mut call = StoredCall::new(service, op, self.args.clone()).on(self.connection.clone());
        if let Some(principal) = principal {
            call = call.by(principal);
        }
        if let Some(next) = &self.next {
            call = call.with_next(next.clone());
        }
        call.on_the_yes(self.yes)
    }
}

/// Why arguments make no call. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// There are arguments that the tool does not take.
    #[error("unknown argument {}: the tool takes {}", named(names), known_as(known))]
    Unknown {
        /// What was given and is not known.
        names: Vec<String>,
        /// What is known.
        known: Vec<String>,
    },
    /// An argument is missing.
    #[error("`{name}` is required")]
    Missing {
        /// Which.
        name: String,
    },
    /// An argument is of another kind.
    #[error("`{name}` is {wanted}")]
    Kind {
        /// Which.
        name: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// There are several connections, and none is named.
    #[error("`{name}` is required: the person has several connections, {}", named(labels))]
    WhichConnection {
        /// The argument.
        name: String,
        /// The labels.
        labels: Vec<String>,
    },
    /// No connection that the op may use has this label.
    #[error("`{}` is no connection that this op may use: there is {}", shown(given), named(labels))]
    NoSuchConnection {
        /// What was given.
        given: String,
        /// The labels.
        labels: Vec<String>,
    },
    /// Nothing of this name is offered.
    #[error("there is no op `{}`", shown(given))]
    NoSuchOp {
        /// What was given.
        given: String,
    },
    /// The op is run by the other tool.
    #[error("`{op}` is run by `{tool}`")]
    OtherTool {
        /// The op.
        op: String,
        /// The tool that runs it.
        tool: &'static str,
    },
    /// The op has no pages.
    #[error("`{op}` has no further pages")]
    NoPages {
        /// The op.
        op: String,
    },
}

impl ArgumentError {
    /// What to do about it, in words for a model.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { known, .. } if known.iter().any(|name| name == "args") => {
                "put the op's own args inside `args`, and `next` beside it"
            }
            Self::Unknown { .. } => "leave it out, or use the name that the tool's schema has",
            Self::Missing { .. } | Self::Kind { .. } => "give it as the tool's schema says",
            Self::WhichConnection { .. } => "ask the person which one is meant, unless it is clear",
            Self::NoSuchConnection { .. } => "use one of these, or ask the person which one is meant",
            Self::NoSuchOp { .. } => {
                "use an op that the tools list, or that `find_ops` finds, such as `SERVICE.OP`"
            }
            Self::OtherTool { .. } => "call that tool with the same arguments",
            Self::NoPages { .. } => "leave `next` out",
        }
    }
}

/// Most characters of a text of the caller's in a message.
const SHOWN_MAX: usize = 64;
/// Most names in a message.
const NAMES_MAX: usize = 64;

fn shown(text: &str) -> String {
    visible(&text::clip(text, SHOWN_MAX))
}

fn named(names: &[String]) -> String {
    let names: Vec<String> = names.iter().take(NAMES_MAX).map(|name| format!("`{}`", shown(name))).collect();
    names.join(", ")
}

fn known_as(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { named(known) }
}
