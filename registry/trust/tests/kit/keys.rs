//! Keys of fixed seeds and what they sign. The canonical form has its own few lines, so that it does not agree with what it
//! tests by being the same code.

use std::collections::BTreeMap;

use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};

use super::{hex, sha256};

/// A key of fixed seed.
#[derive(Clone)]
pub struct Key {
    signing: SigningKey,
    /// A member that changes the key's id and not the key.
    extra: Option<&'static str>,
}

impl Key {
    pub fn new(seed: u8) -> Self {
        Self { signing: SigningKey::from_bytes(&[seed; 32]), extra: None }
    }

    /// The same key under another id.
    pub fn alias(&self) -> Self {
        Self { extra: Some("alias"), ..self.clone() }
    }

    pub fn json(&self) -> Value {
        let public = hex(self.signing.verifying_key().as_bytes());
        let mut key = json!({"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": public}});
        if let Some(extra) = self.extra {
            key["x-note"] = extra.into();
        }
        key
    }

    pub fn id(&self) -> String {
        sha256(&canonical(&self.json()))
    }

    pub fn sign(&self, signed: &Value) -> Value {
        json!({"keyid": self.id(), "sig": hex(&self.signing.sign(&canonical(signed)).to_bytes())})
    }
}

/// The canonical JSON that TUF signs: members sorted, no room, two escapes.
pub fn canonical(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")).into_bytes()
        }
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(canonical).collect();
            [b"[".to_vec(), elements.join(&b","[..]), b"]".to_vec()].concat()
        }
        Value::Object(members) => {
            let sorted: BTreeMap<_, _> = members.iter().collect();
            let member = |(key, value): (&String, &Value)| {
                [canonical(&Value::String(key.clone())), b":".to_vec(), canonical(value)].concat()
            };
            let members: Vec<_> = sorted.into_iter().map(member).collect();
            [b"{".to_vec(), members.join(&b","[..]), b"}".to_vec()].concat()
        }
        other => other.to_string().into_bytes(),
    }
}

/// A file of metadata, signed by these keys.
pub fn signed(signed: &Value, keys: &[Key]) -> Vec<u8> {
    let signatures: Vec<_> = keys.iter().map(|key| key.sign(signed)).collect();
    serde_json::to_vec(&json!({"signatures": signatures, "signed": signed})).unwrap()
}
