//! From an answer of a token endpoint to a pair, or to why there is none.
//!
//! Refuses a pair beside an error, a token type other than bearer, and a token that would not pass in a header. INVARIANT:
//! whether there is a pair is decided by what the answer says, never by its status alone. RFC 6749, sections 5.1 and 5.2.

use std::time::Duration;

use http::StatusCode;
use pinhole_grant::{Secret, UnixTime};
use zeroize::Zeroizing;

use super::members::{Members, Value};
use super::{ErrorCode, FreshPair, Scopes, TokenError, Unreadable};
use crate::net::{self, Incoming, Sent};

/// Most bytes of an answer.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Longest life of an access token that is believed, in seconds: ten years.
const LIFE_MAX: i64 = 10 * 365 * 24 * 3600;

/// What a token type is called that goes as Bearer: the registered name, and those of Slack, which names whose token it is
/// (docs.slack.dev, `oauth.v2.access`). Some services say none.
const BEARER: [&str; 4] = ["bearer", "user", "bot", ""];

/// An answer, whole.
pub(super) struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
    members: Result<Members, Unreadable>,
}

impl Answer {
    /// Takes the body, which is zeroised once it is read.
    pub(super) async fn take(incoming: Incoming, now: UnixTime) -> Result<Self, TokenError> {
        let Incoming { status, headers, mut body } = incoming;
        let mut bytes = Zeroizing::new(Vec::with_capacity(ANSWER_BYTES_MAX));
        while let Some(piece) = body.next().await.map_err(|error| TokenError::of_wire(&error))? {
            // The way out counts; a wire of another kind must not be able to make this grow, which leaves copies behind.
            if bytes.len().saturating_add(piece.len()) > ANSWER_BYTES_MAX {
                return Err(TokenError::unreadable(Unreadable::Body));
            }
            bytes.extend_from_slice(&piece);
        }
        let retry_after = net::told(&headers, now).map(Duration::from_secs);
        Ok(Self { status, retry_after, members: Members::read(&bytes) })
    }

    /// The error code, where it says one that is known.
    pub(super) fn code(&self) -> Option<ErrorCode> {
        self.members.as_ref().ok()?.text("error").and_then(ErrorCode::known)
    }

    /// What it says, if it is no error.
    pub(super) fn said(&self) -> Result<&Members, TokenError> {
        // One that gives a pair has given it, whatever its status says: the one before is spent.
        if self.is_passing() && !self.gives() {
            return Err(self.unavailable());
        }
        match &self.members {
            Ok(members) if self.gives() => Ok(members),
            Ok(members) if members.says("error") => Err(match self.code() {
                _ if members.says("access_token") => TokenError::unreadable(Unreadable::Ambiguous),
                Some(code) => match TokenError::of_code(code) {
                    TokenError::Unavailable { .. } => self.unavailable(),
                    error => error,
                },
                None => self.unnamed(),
            }),
            Ok(members) if self.status.is_success() => Ok(members),
            Ok(_) => Err(self.unnamed()),
            Err(_) if self.status == StatusCode::UNAUTHORIZED => Err(self.unnamed()),
            Err(what) => Err(TokenError::unreadable(*what)),
        }
    }

    /// Whether there is a token in it, and no error.
    fn gives(&self) -> bool {
        self.members.as_ref().is_ok_and(|members| members.says("access_token") && !members.says("error"))
    }

    /// Whether it says that what was asked is done, and nothing else (RFC 7009, section 2.2: its body means nothing).
    pub(super) fn is_done(&self) -> bool {
        self.status.is_success() && !self.members.as_ref().is_ok_and(|members| members.says("error"))
    }

    /// Whether its status says that it may work later.
    fn is_passing(&self) -> bool {
        let passing = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT];
        self.status.is_server_error() || passing.contains(&self.status)
    }

    fn unavailable(&self) -> TokenError {
        TokenError::Unavailable { sent: Sent::Yes, retry_after: self.retry_after, kind: None }
    }

    /// An error that has no name known here.
    fn unnamed(&self) -> TokenError {
        if self.status == StatusCode::UNAUTHORIZED {
            TokenError::Client { code: None }
        } else {
            TokenError::Refused { code: None }
        }
    }

    /// The pair, obtained by asking at `now`.
    pub(super) fn pair(&self, now: UnixTime) -> Result<FreshPair, TokenError> {
        let members = self.said()?;
        let access = members.text("access_token").ok_or(TokenError::unreadable(Unreadable::NoToken))?;
        let bearer = match members.of("token_type") {
            // Some services leave it out: what they mean is a bearer token.
            None | Some(Value::Null) => true,
            Some(Value::Text(kind)) => BEARER.iter().any(|bearer| kind.eq_ignore_ascii_case(bearer)),
            Some(_) => false,
        };
        if !bearer {
            return Err(TokenError::unreadable(Unreadable::TokenType));
        }
        let refresh = match members.text("refresh_token") {
            None if members.says("refresh_token") => return Err(TokenError::unreadable(Unreadable::Token)),
            refresh => refresh,
        };
        Ok(FreshPair {
            access: secret(access)?,
            refresh: refresh.map(secret).transpose()?,
            expires_at: members.seconds("expires_in").map(|life| now.plus_secs(life.min(LIFE_MAX))),
            obtained_at: now,
            scopes: scopes(members),
        })
    }
}

fn scopes(members: &Members) -> Scopes {
    match members.of("scope") {
        Some(Value::Text(text)) => Scopes::of_text(text),
        Some(Value::Texts(list)) => Scopes::of_list(list.iter().cloned()),
        _ => Scopes::AsAsked,
    }
}

pub(super) fn secret(text: &str) -> Result<Secret, TokenError> {
    Secret::new(text.to_owned()).map_err(|_source| TokenError::unreadable(Unreadable::Token))
}
