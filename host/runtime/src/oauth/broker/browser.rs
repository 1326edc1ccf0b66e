//! The person's way through a broker: where she is sent, and what comes back to her own machine.
//!
//! Refuses what comes back without the state of this very attempt. INVARIANT: what starts at the broker is bound to a
//! verifier that stays here, so that a code is worth nothing to whoever else gets hold of it.

use std::collections::HashSet;

use pinhole_grant::{PublicKey, Secret};
use pinhole_manifest::Access;
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::BrokerConfig;
use crate::oauth::{CallbackError, ErrorCode, State, Verifier};

/// What came back to the loopback address.
#[derive(Debug)]
pub enum Returned {
    /// The broker's one-time code.
    Code(Secret),
    /// Why there is none.
    No(CallbackError),
}

/// The page of the broker at which she says yes: for this key, back to this loopback address.
pub fn begin(
    broker: &BrokerConfig,
    cap: Access,
    redirect: &str,
    member: &PublicKey,
    verifier: &Verifier,
    state: &State,
) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("cap", cap.as_str())
        .append_pair("redirect", redirect)
        .append_pair("key", &member.to_string())
        .append_pair("challenge", &verifier.challenge())
        .append_pair("state", state.expose())
        .finish();
    format!("{}?{query}", broker.start)
}

/// What a query says, if it is the broker's answer to the attempt of this state; `None` of any other, which ends nothing.
pub fn returned(query: &str, state: &State) -> Option<Returned> {
    let mut seen = HashSet::new();
    let (mut code, mut error, mut ours, mut odd) = (None, None, false, false);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = Zeroizing::new(value.into_owned());
        match &*name {
            "state" => ours = state.matches(&value),
            "code" => code = Some(value),
            "error" => error = Some(value),
            _ => odd = true,
        }
        odd |= !seen.insert(name.into_owned());
    }
    if !ours {
        return None;
    }
    Some(match (code, error) {
        _ if odd => Returned::No(CallbackError::Malformed),
        (Some(code), None) => match Secret::new(code.to_string()) {
            Ok(code) => Returned::Code(code),
            Err(_no_secret) => Returned::No(CallbackError::Malformed),
        },
        (None, Some(error)) if *error == "access_denied" => Returned::No(CallbackError::Denied),
        (None, Some(error)) => Returned::No(CallbackError::Refused { code: ErrorCode::known(&error) }),
        _ => Returned::No(CallbackError::Malformed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SystemEntropy;

    #[test]
    fn only_the_answer_to_this_attempt_is_one() {
        let (own, other) = (State::new(&SystemEntropy).unwrap(), State::new(&SystemEntropy).unwrap());
        let of = |query: &str| returned(query, &own);
        let own_state = own.expose();
        assert!(
            matches!(of(&format!("code=abc&state={own_state}")), Some(Returned::Code(code)) if code.expose() == "abc")
        );
        for stray in [
            String::new(),
            "code=abc".to_owned(),
            "code=abc&state=".to_owned(),
            format!("code=abc&state={}", other.expose()),
            format!("code=abc&state={own_state}x"),
            format!("code=abc&state={own_state}&state={}", other.expose()),
        ] {
            assert!(of(&stray).is_none(), "{stray}");
        }
        for odd in ["code=a&code=b", "code=a&error=b", "code=a%20b", "code=", "more=1&code=a", ""] {
            let came = of(&format!("{odd}&state={own_state}"));
            assert!(matches!(came, Some(Returned::No(CallbackError::Malformed))), "{odd}: {came:?}");
        }
        let denied = of(&format!("error=access_denied&state={own_state}"));
        assert!(matches!(denied, Some(Returned::No(CallbackError::Denied))), "{denied:?}");
        let unheard = of(&format!("error=%1b%5b2J&state={own_state}"));
        assert!(matches!(unheard, Some(Returned::No(CallbackError::Refused { code: None }))), "{unheard:?}");
    }
}
