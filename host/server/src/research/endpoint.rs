//! A model behind an endpoint, by the runtime's one way out to it.

use std::time::Duration;

use pinhole_runtime::net::{ModelDoor, ModelPermit, WireLimits};

use super::message::{Model, ModelError, Saying};

/// Largest answer that is taken, in bytes: 1 MiB.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// The endpoint that a person agreed to.
#[derive(Debug)]
pub struct Endpoint {
    door: ModelDoor,
    permit: ModelPermit,
}

impl Endpoint {
    /// By this door, to where this permit says.
    pub fn new(door: ModelDoor, permit: ModelPermit) -> Self {
        Self { door, permit }
    }
}

impl Model for Endpoint {
    fn say(&self, request: Vec<u8>, time: Duration) -> Saying<'_> {
        let limits = WireLimits { response_bytes: ANSWER_BYTES_MAX, deadline: time };
        Box::pin(async move {
            let answer = self.door.post(&self.permit, request, limits).await;
            let answer = answer.map_err(|error| ModelError::Unreachable(error.to_string()))?;
            if answer.status.is_success() {
                Ok(answer.body)
            } else {
                // What it says of it is nobody's to believe, and may be anything.
                Err(ModelError::Status(answer.status.as_u16()))
            }
        })
    }
}
