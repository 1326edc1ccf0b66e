//! Why there is no pair, told apart by what is to be done about it.
//!
//! Refuses to repeat what a server says: a code that is not one of those known here has no name.
//! RFC 6749, section 5.2; RFC 7009, section 2.2.1; RFC 8628, section 3.5.

use std::fmt;
use std::time::Duration;

use crate::net::{Sent, WireError, WireErrorKind};

/// An error code of an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorCode(&'static str);

/// What a code means for whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The code or token that was shown is worth nothing any more.
    Dead,
    /// It is the client that is not taken.
    Client,
    /// The person has not answered yet.
    Pending,
    /// The same, and it is asked too often.
    SlowDown,
    /// The person said no.
    Denied,
    /// It may work later.
    Passing,
    /// The request is not taken.
    Refused,
}

/// The codes that are registered, and what common services say instead of them.
const CODES: [(&str, Meaning); 34] = [
    ("invalid_grant", Meaning::Dead),
    ("expired_token", Meaning::Dead),
    ("bad_refresh_token", Meaning::Dead),
    ("bad_verification_code", Meaning::Dead),
    ("code_already_used", Meaning::Dead),
    ("code_expired", Meaning::Dead),
    ("incorrect_device_code", Meaning::Dead),
    ("invalid_code", Meaning::Dead),
    ("invalid_refresh_token", Meaning::Dead),
    ("token_expired", Meaning::Dead),
    ("token_revoked", Meaning::Dead),
    ("invalid_client", Meaning::Client),
    ("unauthorized_client", Meaning::Client),
    ("bad_client_secret", Meaning::Client),
    ("device_flow_disabled", Meaning::Client),
    ("incorrect_client_credentials", Meaning::Client),
    ("invalid_client_id", Meaning::Client),
    ("authorization_pending", Meaning::Pending),
    ("slow_down", Meaning::SlowDown),
    ("access_denied", Meaning::Denied),
    ("server_error", Meaning::Passing),
    ("temporarily_unavailable", Meaning::Passing),
    ("ratelimited", Meaning::Passing),
    ("invalid_request", Meaning::Refused),
    ("invalid_scope", Meaning::Refused),
    ("invalid_target", Meaning::Refused),
    ("unsupported_grant_type", Meaning::Refused),
    ("unsupported_response_type", Meaning::Refused),
    ("unsupported_token_type", Meaning::Refused),
    ("redirect_uri_mismatch", Meaning::Refused),
    ("bad_redirect_uri", Meaning::Refused),
    ("login_required", Meaning::Refused),
    ("consent_required", Meaning::Refused),
    ("interaction_required", Meaning::Refused),
];

impl ErrorCode {
    /// Knows a code; `None` for any other text.
    pub fn known(text: &str) -> Option<Self> {
        CODES.iter().find(|(code, _)| *code == text).map(|(code, _)| Self(code))
    }

    /// The code as it is written.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    pub(super) fn meaning(self) -> Meaning {
        CODES.iter().find(|(code, _)| *code == self.0).map_or(Meaning::Refused, |(_, meaning)| *meaning)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// It is neither one JSON object nor a form.
    Syntax,
    /// It is larger than allowed, or its encoding is broken.
    Body,
    /// It says something twice, or holds a pair and an error.
    Ambiguous,
    /// It has no access token.
    NoToken,
    /// A token in it is none that could be sent.
    Token,
    /// The token is of a type other than bearer.
    TokenType,
    /// The device flow did not begin with what it takes.
    Device,
    /// It is not signed by the broker that was asked, or answers something else.
    NotTheBrokers,
    /// A broker could not read it, and says so.
    AtTheBroker,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "it is neither JSON nor a form",
            Self::Body => "it is too large or broken",
            Self::Ambiguous => "it says something twice",
            Self::NoToken => "it has no access token",
            Self::Token => "a token in it is none",
            Self::TokenType => "its token is of another type than bearer",
            Self::Device => "it lacks what the device flow takes",
            Self::NotTheBrokers => "it is not the broker's own",
            Self::AtTheBroker => "the broker could not read it",
        })
    }
}

/// Why there is no pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// What was shown (a code, a refresh token) is worth nothing any more: only a new connection helps.
    #[error("the authorization server takes it no more (`{code}`)")]
    Dead {
        /// What it said.
        code: ErrorCode,
    },
    /// The client is not taken: whoever runs it must look.
    #[error("the authorization server refuses the client{}", shown(*code))]
    Client {
        /// What it said, where it said anything known.
        code: Option<ErrorCode>,
    },
    /// The request is not taken, for another reason.
    #[error("the authorization server refuses the request{}", shown(*code))]
    Refused {
        /// What it said, where it said anything known.
        code: Option<ErrorCode>,
    },
    /// A read connection was given scopes that only a write connection asks for. The pair was not kept.
    #[error("the authorization server gave more than a read connection may have: {}", scopes.join(", "))]
    TooMuch {
        /// Scopes of the manifest's `scopes_write` alone.
        scopes: Vec<String>,
    },
    /// There is no answer, or one that says to come back.
    #[error("the authorization server is not available{}", kind.map(|kind| format!(": {kind}")).unwrap_or_default())]
    Unavailable {
        /// Whether the request may have been acted on.
        sent: Sent,
        /// In how many seconds it says to come back.
        retry_after: Option<Duration>,
        /// What happened on the way, where no answer came.
        kind: Option<WireErrorKind>,
    },
    /// There is an answer, and it is none. What was shown may have been used up.
    #[error("the authorization server's answer is not readable: {what}")]
    Unreadable {
        /// What is wrong with it.
        what: Unreadable,
        /// Whether the request was acted on.
        sent: Sent,
    },
    /// The host would be dialled elsewhere than where the connection was proved. Nothing was sent.
    #[error("the authorization server is dialled elsewhere than where the connection was made")]
    Dial,
    /// The manifest does not offer it. Nothing was sent.
    #[error("the manifest names no {0}")]
    NotOffered(&'static str),
    /// A public client would have to go without PKCE. Nothing was sent.
    #[error("a client without a secret needs PKCE, which the service does not have: use a broker")]
    PublicWithoutPkce,
}

fn shown(code: Option<ErrorCode>) -> String {
    code.map(|code| format!(" (`{code}`)")).unwrap_or_default()
}

impl TokenError {
    /// Whether the request reached the server.
    pub fn sent(&self) -> Sent {
        match self {
            Self::Unavailable { sent, .. } | Self::Unreadable { sent, .. } => *sent,
            Self::Dial | Self::NotOffered(_) | Self::PublicWithoutPkce => Sent::No,
            Self::Dead { .. } | Self::Client { .. } | Self::Refused { .. } | Self::TooMuch { .. } => {
                Sent::Yes
            }
        }
    }

    pub(super) fn of_wire(error: &WireError) -> Self {
        tracing::debug!(kind = %error.kind, detail = error.detail(), "no answer of an authorization server");
        match error.kind {
            WireErrorKind::ResponseTooLarge
            | WireErrorKind::HeadersTooLarge
            | WireErrorKind::BadEncoding
            | WireErrorKind::BadResponse => Self::Unreadable { what: Unreadable::Body, sent: error.sent },
            kind => Self::Unavailable { sent: error.sent, retry_after: None, kind: Some(kind) },
        }
    }

    pub(super) fn unreadable(what: Unreadable) -> Self {
        Self::Unreadable { what, sent: Sent::Yes }
    }

    pub(super) fn of_code(code: ErrorCode) -> Self {
        match code.meaning() {
            Meaning::Dead => Self::Dead { code },
            Meaning::Client => Self::Client { code: Some(code) },
            Meaning::Passing => Self::Unavailable { sent: Sent::Yes, retry_after: None, kind: None },
            Meaning::Pending | Meaning::SlowDown | Meaning::Denied | Meaning::Refused => {
                Self::Refused { code: Some(code) }
            }
        }
    }
}
