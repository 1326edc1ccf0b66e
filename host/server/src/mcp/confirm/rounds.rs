//! Calls that a client continues after it has asked the person: what it brings back is its own word but for this.
//!
//! The state is sealed with a key of this process (HMAC-SHA256) over the principal, the tool and what exactly would be done:
//! args, manifest, connection, account. Refuses one that was changed, is another's, is of another call, is too old, or was
//! used. MCP 2026-07-28, "Multi round-trip requests": `requestState`.

use std::collections::HashMap;
use std::sync::Mutex;

use pinhole_grant::{ActionDigest, PrincipalId, UnixTime};
use pinhole_runtime::entropy::{Entropy, EntropyError};
use pinhole_runtime::store::QuestionId;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};

/// How long a client may take to come back, in seconds.
pub(crate) const ROUND_SECS: i64 = 300;
/// Rounds that were used and are still in their time, at most; more are refused.
const USED_MAX: usize = 10_000;

/// What the person is asked in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Kind {
    /// By a form of the client's: her answer is the yes.
    Form,
    /// By the member's own page, where this question waits.
    Page(#[serde(with = "as_text")] QuestionId),
}

/// A call that is continued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round<'a> {
    /// Who calls.
    pub(crate) principal: Option<PrincipalId>,
    /// The tool, by its name.
    pub(crate) tool: &'a str,
    /// What exactly would be done.
    pub(crate) action: ActionDigest,
}

/// Why a call is not continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RoundError {
    /// It was changed, is another's, is of another call, or of a process that has ended.
    #[error("the request state is not one for this call: call again without it")]
    Foreign,
    /// The client took too long.
    #[error("the request state is more than {ROUND_SECS} seconds old: call again without it")]
    Expired,
    /// It was used before.
    #[error("the request state was used already: call again without it")]
    Used,
    /// As many rounds as this process remembers are in their time.
    #[error("too many calls are being continued: try again in some minutes")]
    TooMany,
}

/// The rounds of this process.
pub(crate) struct Rounds {
    codec: RequestStateCodec,
    used: Mutex<HashMap<[u8; 16], UnixTime>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    kind: Kind,
    nonce: [u8; 16],
    until: UnixTime,
}

impl Rounds {
    /// Rounds under a new key.
    pub(crate) fn new(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        let mut key = [0; 32];
        entropy.fill(&mut key)?;
        Ok(Self { codec: RequestStateCodec::new_unchecked(key), used: Mutex::default() })
    }

    /// The state of a round that begins.
    pub(crate) fn begin(
        &self,
        round: &Round<'_>,
        kind: Kind,
        now: UnixTime,
        entropy: &dyn Entropy,
    ) -> Result<String, EntropyError> {
        let mut nonce = [0; 16];
        entropy.fill(&mut nonce)?;
        let state = State { kind, nonce, until: now.plus_secs(ROUND_SECS) };
        let bound = round.bound();
        let sealed = self.codec.seal_json_with(&state, &SealOptions::new().associated_data(&bound));
        // Plain numbers and texts are always written.
        sealed.map_err(|_unwritable| EntropyError)
    }

    /// What a client continues; a second time it is refused.
    pub(crate) fn resume(&self, sealed: &str, round: &Round<'_>, now: UnixTime) -> Result<Kind, RoundError> {
        let state: State =
            self.codec.open_json_with(sealed, &round.bound()).map_err(|_error| RoundError::Foreign)?;
        let left = state.until.secs_since(now).filter(|left| (1..=ROUND_SECS).contains(left));
        if left.is_none() {
            return Err(RoundError::Expired);
        }
        let mut used = self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        used.retain(|_nonce, until| *until > now);
        if used.contains_key(&state.nonce) {
            return Err(RoundError::Used);
        }
        if used.len() >= USED_MAX {
            return Err(RoundError::TooMany);
        }
        used.insert(state.nonce, state.until);
        Ok(state.kind)
    }
}

impl Round<'_> {
    /// What a state is sealed for; no two rounds have the same.
    fn bound(&self) -> Vec<u8> {
        let principal = self.principal.map(|principal| principal.to_string()).unwrap_or_default();
        format!("pinhole/mcp/round/v1\n{principal}\n{}\n{}", self.tool, self.action).into_bytes()
    }
}

mod as_text {
    //! A question's id as its text.
    use pinhole_runtime::store::QuestionId;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(id: &QuestionId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<QuestionId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use pinhole_runtime::entropy::SystemEntropy;

    use super::*;

    const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

    fn digest(byte: char) -> ActionDigest {
        serde_json::from_value(format!("sha256:{}", byte.to_string().repeat(64)).into()).unwrap()
    }

    fn principal(byte: char) -> PrincipalId {
        PrincipalId::parse(&format!("{}A", byte.to_string().repeat(21))).unwrap()
    }

    fn round(tool: &str) -> Round<'_> {
        Round { principal: Some(principal('a')), tool, action: digest('1') }
    }

    #[test]
    fn a_round_is_continued_once() {
        let rounds = Rounds::new(&SystemEntropy).unwrap();
        let state = rounds.begin(&round("a_b"), Kind::Form, NOW, &SystemEntropy).unwrap();
        assert_eq!(rounds.resume(&state, &round("a_b"), NOW.plus_secs(ROUND_SECS - 1)), Ok(Kind::Form));
        assert_eq!(rounds.resume(&state, &round("a_b"), NOW.plus_secs(1)), Err(RoundError::Used));
        let question = "k7f3-9m2x".parse().unwrap();
        let state = rounds.begin(&round("a_b"), Kind::Page(question), NOW, &SystemEntropy).unwrap();
        assert_eq!(rounds.resume(&state, &round("a_b"), NOW), Ok(Kind::Page(question)));
    }

    #[test]
    fn it_is_for_one_principal_one_tool_one_call_and_not_for_long() {
        let rounds = Rounds::new(&SystemEntropy).unwrap();
        let state = rounds.begin(&round("a_b"), Kind::Form, NOW, &SystemEntropy).unwrap();
        let others = [
            Round { principal: Some(principal('b')), ..round("a_b") },
            Round { principal: None, ..round("a_b") },
            Round { action: digest('2'), ..round("a_b") },
            round("a_c"),
        ];
        for other in others {
            assert_eq!(rounds.resume(&state, &other, NOW), Err(RoundError::Foreign), "{other:?}");
        }
        for late in [ROUND_SECS, ROUND_SECS + 1, -1] {
            let resumed = rounds.resume(&state, &round("a_b"), NOW.plus_secs(late));
            assert_eq!(resumed, Err(RoundError::Expired), "{late}");
        }
        let elsewhere = Rounds::new(&SystemEntropy).unwrap();
        assert_eq!(elsewhere.resume(&state, &round("a_b"), NOW), Err(RoundError::Foreign));
        assert!(rounds.resume(&state, &round("a_b"), NOW).is_ok());
    }

    #[test]
    fn a_state_with_any_byte_changed_is_refused() {
        let rounds = Rounds::new(&SystemEntropy).unwrap();
        let state = rounds.begin(&round("a_b"), Kind::Form, NOW, &SystemEntropy).unwrap();
        for at in 0..state.len() {
            let mut changed = state.clone().into_bytes();
            changed[at] ^= 1;
            let Ok(changed) = String::from_utf8(changed) else { continue };
            assert_eq!(rounds.resume(&changed, &round("a_b"), NOW), Err(RoundError::Foreign), "{at}");
        }
        for other in ["", "x", &format!("{state}x"), state.get(1..).unwrap()] {
            assert_eq!(rounds.resume(other, &round("a_b"), NOW), Err(RoundError::Foreign), "{other}");
        }
        assert!(rounds.resume(&state, &round("a_b"), NOW).is_ok());
    }
}
