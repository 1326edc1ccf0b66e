//! A manifest that was drafted from a provider's description, what was left out of it and what a person must decide.
//!
//! Judges nothing. INVARIANT: the manifest of a draft is taken by [`crate::read`]. Issue 6, point 7.

pub(crate) mod secrets;
mod text;
pub(crate) mod texts;
pub(crate) mod words;

pub(crate) use text::text;

use crate::ids::OpId;

/// A drafted manifest and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Draft {
    /// The text of the manifest's file.
    pub manifest: String,
    /// What a person must decide or look at, in the order of the manifest.
    pub notes: Vec<Note>,
    /// What was not drafted, in the order of the description.
    pub refused: Vec<Refused>,
}

/// Something that a person must decide or look at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The op, if it is about one.
    pub op: Option<OpId>,
    /// Where, as a JSON Pointer (RFC 6901) into the manifest.
    pub pointer: String,
    /// What to decide or look at; texts of the description in visible form.
    pub message: String,
}

impl Note {
    /// A note on a place in the manifest.
    pub(crate) fn new(op: Option<&OpId>, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { op: op.cloned(), pointer: pointer.into(), message: message.into() }
    }
}

/// An operation of the description that was not drafted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The operation as the description names it, in visible form.
    pub operation: String,
    /// Why, as a word to count by.
    pub reason: RefusedReason,
    /// Why, as a sentence.
    pub message: String,
}

impl Refused {
    /// An operation that was not drafted.
    pub(crate) fn new(
        operation: impl Into<String>,
        reason: RefusedReason,
        message: impl Into<String>,
    ) -> Self {
        Self { operation: operation.into(), reason, message: message.into() }
    }
}

macro_rules! reasons {
    ($($variant:ident $name:literal $explain:literal)*) => {
        /// Why an operation was not drafted. A new reason may come.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RefusedReason {
            $(#[doc = $explain] $variant,)*
        }

        impl RefusedReason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, such as `too_many_ops`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    Unknown "unknown" "The description has no such operation."
    TooManyOps "too_many_ops" "A manifest has no room for it."
    TooLarge "too_large" "It makes the manifest larger than a file may be."
    ArgInexpressible "arg_inexpressible" "It requires an arg that the subset of JSON Schema cannot say."
    TooManyArgs "too_many_args" "It requires more args than an op may have."
    Namespace "namespace" "It does nothing itself, and leads to operations of its own."
    NothingToPick "nothing_to_pick" "Its answer has nothing that a draft would let through."
    Deprecated "deprecated" "The description says not to use it any more."
    Method "method" "A manifest does not have its method."
    Path "path" "Its path is none that a request could have."
    OtherHost "other_host" "It is not on the manifest's host."
    Auth "auth" "The manifest's way to put in a key does not serve it."
    Cookie "cookie" "It requires a cookie."
    Header "header" "It requires a header that a request may not set."
    BodyType "body_type" "Its body is neither JSON nor a form."
    AnswerType "answer_type" "Its answer is not JSON."
    RemoteReference "remote_reference" "It hangs on a reference that leads out of the file."
    BrokenReference "broken_reference" "It hangs on a reference that leads nowhere."
    TooComplex "too_complex" "Its schemas are too many to look at."
    NotTaken "not_taken" "What was drafted breaks a rule of manifests."
}
