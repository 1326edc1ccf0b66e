//! What a Pinhole service manifest is: one strict way in, a model that needs no further checking, and diagnostics that
//! say what to write instead.
//!
//! Pure: no network, no file system, no clock, no environment, no async. [`read`] is the only way to a [`Manifest`].

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "the reader of manifests is built over these")
)]

mod args;
pub mod diagnostic;
pub mod digest;
mod graphql;
pub mod host;
pub mod ids;
mod json;
pub mod model;
mod parse;
pub mod pick;
mod template;

pub use digest::Digest;
pub use host::ApiHost;
pub use ids::{Access, ArgName, OpId, ServiceId};
pub use model::Manifest;
pub use parse::{Reading, read};
