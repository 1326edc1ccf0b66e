//! The doors: MCP for agents, the sidecar for bots, the member's own pages, and where a browser brings her back to.
//!
//! A door decides who is there and what shows for them; whether a call may run is the runtime's. Nothing here reads the
//! environment or opens a connection of its own, and nothing but the page has the member's key, for one answer of hers.
//! INVARIANT: every call goes through [`pinhole_runtime::local::LocalBot`], on behalf of the [`Principal`] who made it; or, in the
//! sidecar, through [`pinhole_runtime::Executor`] under the grant that was posted with it.
//! DESIGN, "Doors".
#![forbid(unsafe_code)]

pub mod broker;
pub mod callback;
pub mod http;
pub mod mcp;
pub mod page;
mod principal;
pub mod research;
pub mod sidecar;
mod tokens;

pub use principal::{Principal, Reach};
pub use tokens::{BearerToken, NoToken, TOKEN_PREFIX};
