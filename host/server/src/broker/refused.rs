//! Why a flow goes no further, and why an ask is not answered.
//!
//! INVARIANT: each has a word of its own, a status and what to do; none repeats what was sent.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use pinhole_grant::OpenAskError;
use pinhole_grant::sign::VerifyError;

use super::once::Again;
use super::start::NoStart;
use crate::http::Refused;

/// Why a flow goes no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoFlow {
    /// The broker has no client for the service.
    NoService,
    /// What it begins with is not right.
    Start(NoStart),
    /// The key may not ask here.
    UnknownKey,
    /// It would stand within another page, or is fetched by one.
    Framed,
    /// The form is not the one that this browser was shown.
    Form,
    /// The state is none that waits: used, too old, or never given.
    NoState,
    /// It was begun in another browser.
    OtherBrowser,
    /// It is the way back from another service.
    OtherService,
    /// What the service sent along is not right.
    Answer,
    /// Too many from this peer.
    TooFast(Duration),
    /// The request itself.
    Http(Refused),
    /// There is no randomness, or the manifest's URL is none.
    Broken,
}

impl NoFlow {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::NoService => StatusCode::NOT_FOUND,
            Self::Start(_) | Self::NoState | Self::OtherService | Self::Answer => StatusCode::BAD_REQUEST,
            Self::UnknownKey | Self::Framed | Self::Form | Self::OtherBrowser => StatusCode::FORBIDDEN,
            Self::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Http(refused) => refused.status(),
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(super) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::NoService => "This broker has no client for that service: ask its operator.".into(),
            Self::Start(no) => format!("The address is not right: {no}.").into(),
            Self::UnknownKey => {
                "That key may not connect here: let the operator of this broker allow it, with `--allow KEY`."
                    .into()
            }
            Self::Framed => {
                "This page stands in no other and is fetched by none: open the address itself.".into()
            }
            Self::Form => {
                "This is not what this browser was shown, or cookies are off: open the address again.".into()
            }
            Self::NoState => "This attempt is over: it was used, or took too long.".into(),
            Self::OtherBrowser => "This attempt was begun in another browser: go on there.".into(),
            Self::OtherService => "This attempt was for another service.".into(),
            Self::Answer => "What the service sent along is not an answer to this attempt.".into(),
            Self::TooFast(_) => "Too many attempts from your address: wait a moment.".into(),
            Self::Http(refused) => refused.message(),
            Self::Broken => "This broker is not in order: its operator finds out why in its log.".into(),
        }
    }

    pub(super) fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooFast(wait) => Refused::TooFast(*wait).retry_after(),
            Self::Http(refused) => refused.retry_after(),
            _ => None,
        }
    }
}

/// Why an ask is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAsk {
    /// It is none that was made for this broker, by a key that it knows, for now.
    Open(OpenAskError),
    /// It is not taken a second time, or not at all.
    Again(Again),
    /// It came to the place of another.
    OtherPlace,
    /// The service is none of this broker's.
    NoService,
    /// Too many of the same key.
    TooFast(Duration),
    /// Too many that were not answered, of the same peer.
    TooManyFailures(Duration),
    /// The request itself.
    Http(Refused),
    /// The answer could not be sealed.
    Broken,
}

impl NoAsk {
    /// The word for programs.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Open(error) => match error {
                OpenAskError::Unseal(_) | OpenAskError::Malformed => "not_an_ask",
                OpenAskError::Verify(VerifyError::UnknownSigner) => "unknown_key",
                OpenAskError::Verify(_) | OpenAskError::AskerMismatch => "bad_signature",
                OpenAskError::OtherBroker => "other_broker",
                OpenAskError::NotNow => "not_now",
                OpenAskError::WrongAsker => "wrong_asker",
            },
            Self::Again(Again::Seen) => "seen_before",
            Self::Again(Again::Before) => "not_now",
            Self::Again(Again::Full) => "busy",
            Self::OtherPlace => "other_place",
            Self::NoService => "no_service",
            Self::TooFast(_) => "too_fast",
            Self::TooManyFailures(_) => "too_many_failures",
            Self::Http(Refused::TooLarge(_)) => "too_large",
            Self::Http(Refused::TooSlow) => "too_slow",
            Self::Http(Refused::MediaType) => "media_type",
            Self::Http(Refused::Method(_)) => "method",
            Self::Http(_) => "request",
            Self::Broken => "broken",
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Open(OpenAskError::Unseal(_) | OpenAskError::Malformed) | Self::OtherPlace => {
                StatusCode::BAD_REQUEST
            }
            Self::Open(_) | Self::Again(Again::Before) => StatusCode::FORBIDDEN,
            Self::Again(Again::Seen) => StatusCode::CONFLICT,
            Self::Again(Again::Full) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NoService => StatusCode::NOT_FOUND,
            Self::TooFast(_) | Self::TooManyFailures(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Http(refused) => refused.status(),
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// One sentence for people.
    pub(super) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::Open(OpenAskError::Verify(VerifyError::UnknownSigner)) => {
                "that key may not ask here: let the operator of the broker allow it, with `--allow KEY`"
                    .into()
            }
            Self::Open(error) => error.to_string().into(),
            Self::Again(Again::Seen) => "this very ask was there already: make a new one".into(),
            Self::Again(Again::Before) => {
                "the ask is older than this broker: make a new one, or set the clock".into()
            }
            Self::Again(Again::Full) => "too much at once: try again in a moment".into(),
            Self::OtherPlace => {
                "another path takes this ask: `/oauth/exchange`, `/oauth/refresh`, `/oauth/revoke`".into()
            }
            Self::NoService => "this broker has no client for that service: ask its operator".into(),
            Self::TooFast(wait) => Refused::TooFast(*wait).message(),
            Self::TooManyFailures(_) => {
                "too many asks that are not good: look which key is used, and wait".into()
            }
            Self::Http(refused) => refused.message(),
            Self::Broken => "this broker is not in order: its operator finds out why in its log".into(),
        }
    }

    pub(super) fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooFast(wait) | Self::TooManyFailures(wait) => Refused::TooFast(*wait).retry_after(),
            Self::Again(Again::Full) => Some(1),
            Self::Http(refused) => refused.retry_after(),
            _ => None,
        }
    }
}

impl From<Refused> for NoAsk {
    fn from(refused: Refused) -> Self {
        Self::Http(refused)
    }
}

impl From<Refused> for NoFlow {
    fn from(refused: Refused) -> Self {
        Self::Http(refused)
    }
}
