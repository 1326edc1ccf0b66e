//! Other people's MCP clients against Pinhole's server.

mod bearer;
mod conformance;
mod door;
mod inspector;
mod real;
