//! What a Pinhole service manifest is: one strict way in, a model that needs no further checking, and diagnostics that
//! say what to write instead.
//!
//! Pure: no network, no file system, no clock, no environment, no async. [`read`] is the only way to a [`Manifest`].

#![forbid(unsafe_code)]

mod args;
pub mod cases;
mod codes;
mod decimal;
pub mod diagnostic;
pub mod diff;
pub mod digest;
pub mod draft;
pub mod finding;
mod graphql;
pub mod graphql_schema;
pub mod host;
pub mod ids;
mod json;
pub mod model;
pub mod openapi;
mod parse;
pub mod pick;
pub mod schema;
mod template;
pub mod visible;

pub use decimal::Decimal;
pub use digest::Digest;
pub use host::ApiHost;
pub use ids::{Access, ArgName, OpId, ServiceId};
pub use json::{AmbiguousJson, SIZE_MAX, check_json};
pub use model::Manifest;
pub use parse::{Finding, Reading, places_of, read};
