//! What holds of every input, whoever made it: one function for each place where bytes of unknown origin come in.
//!
//! Each takes any bytes and panics where a promise is broken. A fuzz target (`fuzz/`) calls it with bytes that a fuzzer
//! makes, a property test (`tests/tests/holds.rs`) with bytes that a generator makes, so that both look for the same.
//! STYLE, "Tests": fuzz.

mod altered;
mod args_to_request;
mod ask;
mod grant;
mod manifest;
mod page_token;
mod proposal;
mod prune;
mod seeds;
mod target;
mod token_answer;

pub use args_to_request::args_to_request;
pub use ask::{ask, ask_seeds};
pub use grant::{grant, grant_seeds};
pub use manifest::{manifest, manifest_seeds};
pub use page_token::{page_token, page_token_seeds};
pub use proposal::{proposal, proposal_seeds};
pub use prune::prune;
pub use seeds::{args_seeds, prune_seeds};
pub use token_answer::{token_answer, token_answer_seeds};

use pinhole_manifest::Manifest;
use serde_json::{Value, json};

/// A manifest for `api.thing.dev` with these members besides the usual ones.
fn thing(members: &Value) -> Manifest {
    let mut manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": { "scheme": "bearer" },
        "headers": { "accept": "application/json" },
    });
    for (name, member) in members.as_object().expect("members") {
        manifest[name] = member.clone();
    }
    let reading = pinhole_manifest::read(manifest.to_string().as_bytes());
    reading.into_result().unwrap_or_else(|faults| panic!("{faults:?}"))
}
