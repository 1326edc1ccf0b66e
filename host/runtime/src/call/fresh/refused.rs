//! What it comes to that a pair was not renewed.

use crate::outcome::{Code, Refusal};
use crate::renew::{NotRenewed, Unanswered};

/// Why a pair stays as it is.
pub(super) enum Stays {
    /// While it has not run out it may be used.
    ForNow(Refusal),
    /// Nothing may be sent.
    ForGood(Refusal),
}

impl Stays {
    pub(super) fn into_refusal(self) -> Refusal {
        match self {
            Self::ForNow(refusal) | Self::ForGood(refusal) => refusal,
        }
    }
}

impl From<Refusal> for Stays {
    fn from(refusal: Refusal) -> Self {
        Self::ForGood(refusal)
    }
}

impl From<NotRenewed> for Stays {
    fn from(error: NotRenewed) -> Self {
        let later = |seconds: u64| {
            let refusal = Refusal::new(Code::RenewalFailed);
            Refusal { retry_after: Some(seconds), ..refusal }
        };
        match error {
            NotRenewed::Dead => Self::ForGood(dead()),
            NotRenewed::Wait(seconds) => Self::ForNow(later(seconds).saying(format!(
                "the token has to be renewed, and that failed a moment ago: it is tried again in {seconds} s"
            ))),
            NotRenewed::Failed { again, why } => {
                let what = match &why {
                    // These words are our own, and say what is to be done.
                    Unanswered::Refused { .. } => format!(", for {why}"),
                    _ => String::new(),
                };
                let message = format!("the token could not be renewed{what}; it is tried again in {again} s");
                Self::ForNow(later(again).saying(message).detail(&why))
            }
            NotRenewed::Store(error) => Self::ForGood(error.into()),
            NotRenewed::Unstored { why, .. } => Self::ForGood(unstored(why.into())),
            NotRenewed::Sealing | NotRenewed::BrokeOff => Self::ForGood(no_digest().detail(&error)),
        }
    }
}

/// Its line has ended.
pub(super) fn dead() -> Refusal {
    Refusal::new(Code::ReconnectRequired)
}

/// It would have to be renewed, and nobody can.
pub(super) fn nobody() -> Stays {
    Stays::ForNow(
        Refusal::new(Code::ReconnectRequired)
            .saying("the token has run out, and the connection names nobody who could renew it"),
    )
}

/// What cannot be, but for a machine that has no randomness or a library that refuses a key.
pub(super) fn no_digest() -> Refusal {
    Refusal::new(Code::RenewalFailed)
}

/// The fresh pair is in this process and on its way to the member, and nowhere else.
fn unstored(refusal: Refusal) -> Refusal {
    let message = format!(
        "the token was renewed and the fresh one could not be stored here, so it was not used, and the one before it is spent: {}",
        refusal.message
    );
    let hint = format!(
        "{}; then call again while this program runs, or have the member take in `rotated`; else reconnect",
        refusal.hint
    );
    refusal.saying(message).hinting(hint)
}
