//! Writes: who says yes to one, and how the person is asked.
//!
//! By default that is the member alone: the call raises her durable question and says how she answers it; a client that can
//! open a page is pointed to hers. An operator's flag lets a client ask the person itself, for what can be put back and the
//! member has lent. Refuses to take a client's word for anything else. INVARIANT: a round that a client continues was begun
//! by this process for this principal, tool and call, not long ago, and is used once. DESIGN, "Who holds what".

mod form;
mod rounds;

pub(super) use form::{Said, form, said};
pub(super) use rounds::{Kind, Round, Rounds};

/// How the operator lets clients say yes to writes that can be put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientYes {
    /// A client may ask the person by a form, and her answer there is the yes.
    pub form: bool,
    /// A call with `confirm: true` is one to which the person said yes, the client says.
    pub argument: bool,
}
