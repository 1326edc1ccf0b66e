//! What passes between a broker and those who ask it: an [`Ask`] that only this broker opens, an [`Answer`] that only who asked does.
//!
//! Both are signed and then sealed, like everything here. INVARIANT: an [`OpenedAsk`] was made by a key that the broker knows, for
//! this very broker, within a minute; and an answer that opens is this broker's, to this very ask. That no ask is taken twice
//! is the broker's to see to (`Nonce`): nothing here remembers. DESIGN, "Doors": Broker.

mod answer;
mod ask;

pub use answer::{
    Answer, AnsweredPair, NoPair, OpenAnswerError, Reached, SCOPE_BYTES_MAX, SCOPES_MAX, SealAnswerError,
    open_answer, seal_answer,
};
pub use ask::{
    ASK_SKEW_SECS, Ask, Asked, Nonce, OpenAskError, OpenedAsk, PairHalf, SealAskError, open_ask, seal_ask,
};
