//! MCP: services' ops as an agent's tools.

pub mod http;
