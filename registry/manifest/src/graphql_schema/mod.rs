//! A service's GraphQL schema: what a manifest's documents are held against, and what a manifest is drafted from.
//!
//! Reads SDL or the answer to the introspection query. Refuses a schema that is too large, does not parse or names types
//! that are not there. INVARIANT: no input makes anything here panic. Issue 6, point 7; GraphQL, September 2025.

mod build;
mod draft;
mod introspection;
mod lex;
mod schema;
mod verify;

pub use draft::{DraftError, Endpoint, EndpointError, Service, Wanted, draft};
pub use schema::{Schema, SchemaError};
pub use verify::verify;

#[cfg(test)]
mod tests;
