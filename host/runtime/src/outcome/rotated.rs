//! A pair on its way back to its member, in the outcome of the run that renewed it or found it renewed.
//!
//! INVARIANT: it is sealed to where the grant says; nobody on the way can read it or make another of it.

use serde::Serialize;
use serde_json::Value;

/// A sealed pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Rotated {
    envelope: Value,
    #[serde(skip)]
    generation: u64,
}

impl Rotated {
    /// The pair of this generation in its envelope; `None` where that is no JSON, which a seal always is.
    pub(crate) fn new(generation: u64, envelope: &[u8]) -> Option<Self> {
        Some(Self { envelope: serde_json::from_slice(envelope).ok()?, generation })
    }

    /// How often its credential was rotated.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The envelope, as it is opened.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.envelope.to_string().into_bytes()
    }
}
