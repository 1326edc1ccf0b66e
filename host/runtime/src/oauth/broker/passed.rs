//! What a token endpoint said, in the words in which a broker passes it on, and back again.
//!
//! INVARIANT: what is passed on and taken says the same to whoever must decide what to do about it: dead stays dead, and
//! nothing else becomes so. An access token's life is counted by the asker's own clock.

use std::time::Duration;

use pinhole_grant::UnixTime;
use pinhole_grant::broker::{Answer, AnsweredPair, NoPair, Reached};

use super::{BrokerError, Word};
use crate::net::Sent;
use crate::oauth::{ErrorCode, FreshPair, Scopes, TokenError, Unreadable};

/// What a broker answers about a pair.
pub fn passed(pair: Result<FreshPair, TokenError>) -> Answer {
    let FreshPair { access, refresh, expires_at, obtained_at, scopes } = match pair {
        Ok(pair) => pair,
        Err(error) => return Answer::No(no_pair(error)),
    };
    let scopes = match scopes {
        Scopes::AsAsked => Vec::new(),
        Scopes::Given(given) => given,
    };
    Answer::Pair(AnsweredPair { access, refresh, expires_at, obtained_at, scopes })
}

/// What a broker answers about a token that was given up.
pub fn passed_done(done: Result<(), TokenError>) -> Answer {
    done.map_or_else(|error| Answer::No(no_pair(error)), |()| Answer::Revoked)
}

pub(super) fn pair(answer: Answer, now: UnixTime) -> Result<FreshPair, BrokerError> {
    let AnsweredPair { access, refresh, expires_at, obtained_at, scopes } = match answer {
        Answer::Pair(pair) => pair,
        Answer::No(no) => return Err(taken(no)),
        Answer::Revoked => return Err(BrokerError::OtherAnswer),
    };
    let life = expires_at.and_then(|at| at.secs_since(obtained_at));
    Ok(FreshPair {
        access,
        refresh,
        expires_at: life.map(|seconds| now.plus_secs(seconds)),
        obtained_at: now,
        scopes: if scopes.is_empty() { Scopes::AsAsked } else { Scopes::Given(scopes) },
    })
}

pub(super) fn done(answer: Answer) -> Result<(), BrokerError> {
    match answer {
        Answer::Revoked => Ok(()),
        Answer::No(no) => Err(taken(no)),
        Answer::Pair(_) => Err(BrokerError::OtherAnswer),
    }
}

fn no_pair(error: TokenError) -> NoPair {
    let broke_off = matches!(error, TokenError::Unavailable { kind: Some(_), .. });
    let reached = match error.sent() {
        Sent::No => Reached::No,
        // Why an answer broke off is not passed on, so that it did must be: nobody knows what became of the request.
        Sent::Yes if broke_off => Reached::Maybe,
        Sent::Maybe => Reached::Maybe,
        Sent::Yes => Reached::Yes,
    };
    let text = |code: ErrorCode| code.as_str().to_owned();
    match error {
        TokenError::Dead { code } => NoPair::Dead { code: text(code) },
        TokenError::Client { code } => NoPair::Client { code: code.map(text) },
        TokenError::Refused { code } => NoPair::Refused { code: code.map(text) },
        TokenError::TooMuch { scopes } => NoPair::TooMuch { scopes },
        TokenError::Unavailable { retry_after, .. } => {
            NoPair::Unavailable { reached, retry_after: retry_after.map(|wait| wait.as_secs()) }
        }
        TokenError::Unreadable { .. } => NoPair::Unreadable { reached },
        // Its operator's to mend: nothing was sent.
        TokenError::Dial => NoPair::Unavailable { reached, retry_after: None },
        TokenError::NotOffered(_) | TokenError::PublicWithoutPkce => NoPair::NotOffered,
    }
}

fn taken(no: NoPair) -> BrokerError {
    let sent = |reached| match reached {
        Reached::No => Sent::No,
        Reached::Maybe => Sent::Maybe,
        Reached::Yes => Sent::Yes,
    };
    let known = |code: Option<String>| code.and_then(|code| ErrorCode::known(&code));
    BrokerError::Token(match no {
        NoPair::NoService => return BrokerError::Refused(Word::NoService),
        NoPair::BadCode => return BrokerError::BadCode,
        // A broker of a later version may know a code that is not known here; dead it is all the same.
        NoPair::Dead { code } => match known(Some(code)).or_else(|| ErrorCode::known("invalid_grant")) {
            Some(code) => TokenError::Dead { code },
            None => TokenError::Refused { code: None },
        },
        NoPair::Client { code } => TokenError::Client { code: known(code) },
        NoPair::Refused { code } => TokenError::Refused { code: known(code) },
        NoPair::TooMuch { scopes } => TokenError::TooMuch { scopes },
        NoPair::Unavailable { reached, retry_after } => TokenError::Unavailable {
            sent: sent(reached),
            retry_after: retry_after.map(Duration::from_secs),
            kind: None,
        },
        NoPair::Unreadable { reached } => {
            TokenError::Unreadable { what: Unreadable::AtTheBroker, sent: sent(reached) }
        }
        NoPair::NotOffered => TokenError::NotOffered("place for what the broker was asked"),
    })
}

#[cfg(test)]
mod tests {
    use pinhole_grant::Secret;

    use super::*;
    use crate::net::{Stage, WireErrorKind};

    const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

    fn code(text: &str) -> ErrorCode {
        ErrorCode::known(text).unwrap()
    }

    #[test]
    fn what_a_service_said_means_the_same_to_who_asked_a_broker() {
        let wait = Some(Duration::from_secs(7));
        for error in [
            TokenError::Dead { code: code("invalid_grant") },
            TokenError::Dead { code: code("bad_refresh_token") },
            TokenError::Client { code: None },
            TokenError::Client { code: Some(code("invalid_client")) },
            TokenError::Refused { code: Some(code("invalid_scope")) },
            TokenError::TooMuch { scopes: vec!["repo".to_owned()] },
            TokenError::Unavailable { sent: Sent::No, retry_after: None, kind: None },
            TokenError::Unavailable { sent: Sent::Maybe, retry_after: wait, kind: None },
            TokenError::Unreadable { what: Unreadable::AtTheBroker, sent: Sent::Yes },
        ] {
            for answer in [passed(Err(error.clone())), passed_done(Err(error.clone()))] {
                let back = TokenError::from(pair(answer, NOW).unwrap_err());
                assert_eq!(back, error);
            }
        }
        let NoPair::Unavailable { reached: Reached::No, .. } = no_pair(TokenError::Dial) else { panic!() };
        let broke_off = TokenError::Unavailable {
            sent: Sent::Yes,
            retry_after: None,
            kind: Some(WireErrorKind::Timeout { stage: Stage::Total }),
        };
        let NoPair::Unavailable { reached: Reached::Maybe, .. } = no_pair(broke_off) else { panic!() };
    }

    #[test]
    fn a_token_lives_by_the_clock_of_who_asked() {
        let there = NOW.plus_secs(45);
        let fresh = FreshPair {
            access: Secret::new("access".to_owned()).unwrap(),
            refresh: None,
            expires_at: Some(there.plus_secs(5)),
            obtained_at: there,
            scopes: Scopes::Given(vec!["repo".to_owned()]),
        };
        let back = pair(passed(Ok(fresh)), NOW).unwrap();
        assert_eq!((back.obtained_at, back.expires_at), (NOW, Some(NOW.plus_secs(5))));
        assert_eq!(back.scopes, Scopes::Given(vec!["repo".to_owned()]));
    }

    #[test]
    fn an_answer_to_something_else_is_none() {
        assert!(matches!(pair(Answer::Revoked, NOW), Err(BrokerError::OtherAnswer)));
        let unheard = NoPair::Dead { code: "unheard_of".to_owned() };
        assert!(matches!(TokenError::from(taken(unheard)), TokenError::Dead { .. }));
    }
}
