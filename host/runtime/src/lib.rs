//! Runs an op: opens the grant, decides, renders, sends to the one pinned host, picks, scrubs, and answers with an
//! [`outcome::Outcome`].
//!
//! Start reading in `call/mod.rs`: it is the spine, and every other module is a stop on its way. There is one path and no
//! way around a check.

pub mod beside;
pub mod book;
pub mod call;
pub mod catalog;
pub mod clock;
pub mod entropy;
pub mod local;
pub mod net;
pub mod oauth;
pub mod outcome;
pub mod project;
pub mod receipts;
pub mod render;
pub mod renew;
pub mod replay;
pub mod sandbox;
pub mod scrub;
pub mod store;

pub use call::{CallRequest, Executor, Explained, Hides, Palette, Retries};
pub use outcome::Outcome;
