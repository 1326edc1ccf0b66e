//! Research: a model reads with several grants for a few minutes, and answers one question.
//!
//! `session` is what it may call: exactly the read ops that the grants cover, however they are worded, for a time, so many
//! calls and so many bytes. `ask` is the bounded loop with a model behind a Messages-style endpoint. Refuses writes whatever
//! a grant says. INVARIANT: the model is told the question, the tools and fenced results, never a grant or a credential; each
//! of its calls goes the way of every call, under the grant. DESIGN, "CLI": research.

mod ask;
mod called;
mod endpoint;
mod message;
mod session;

pub use ask::{Answered, AskError, Bounds, BoundsError, Question, ask};
pub use called::{Called, Declined, Ready};
pub use endpoint::Endpoint;
pub use message::{Model, ModelError, Saying};
pub use session::{NotOpened, Research, Session, SessionLimits};
