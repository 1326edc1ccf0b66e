//! GitHub, Stripe and Linear as somebody else remembers them: npm `emulate`, stateful, behind TLS with an authority of the
//! test's own. Every op of the three manifests that it serves runs under a real grant and reads back what was written; of
//! every op that it does not serve the answer is held, so that a later version that serves it shows.
//!
//! Needs Node and what `.ci/run` installs; says so loudly where they are missing, and fails there in CI. What a service
//! has that no op makes is put there by asking the emulator itself.

mod common;
mod github;
mod linear;
mod stripe;
