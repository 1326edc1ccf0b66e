//! Asks that no client here makes: signed and sealed by hand.

use pinhole_grant::{Kind, PublicKey, SecretKey, seal, sign};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::stage::{NOW, broker_key, here};

/// An ask with these parts, as this key would sign it.
pub(crate) fn ask(by: &SecretKey, what: &Value) -> Vec<u8> {
    with(by, what, |_ask| {})
}

/// The same with something changed before it is signed.
pub(crate) fn with(by: &SecretKey, what: &Value, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    to(broker_key().public(), by, what, change)
}

/// The same sealed to another broker's key.
pub(crate) fn to(
    broker: &PublicKey,
    by: &SecretKey,
    what: &Value,
    change: impl FnOnce(&mut Value),
) -> Vec<u8> {
    let mut wire = json!({
        "from": by.public().id(),
        "to": broker.id(),
        "audience": here().as_str(),
        "at": NOW,
        "nonce": "AAAAAAAAAAAAAAAAAAAAAA",
        "ask": what,
    });
    change(&mut wire);
    let signed = sign::sign(Kind::Ask, wire.to_string().as_bytes(), by).unwrap();
    seal::seal(Kind::Ask, broker, &signed, &mut StdRng::seed_from_u64(9)).unwrap()
}

/// A refresh of GitHub's.
pub(crate) fn refresh() -> Value {
    json!({"refresh": {"service": "github", "refresh": "ghr_of_a_bot"}})
}
