//! MCP: any agent's client runs service ops, and none can cheat.
//!
//! `handler` answers requests, `call` runs what they ask for, `write` and `confirm` have the person asked, `tools` and
//! `answer` are what a model sees, `stdio` and `http` are the transports. Refuses whatever the principal does not reach. The
//! model never holds a key, a grant or an approval; this process never holds the member's key. INVARIANT: all that a service
//! wrote is marked as such before a model sees it. DESIGN, "Doors": MCP.

pub mod answer;
mod call;
mod confirm;
mod connected;
mod handler;
pub mod http;
mod instructions;
mod number;
mod progress;
pub mod stdio;
pub mod tools;
mod values;
mod write;

pub use confirm::ClientYes;
pub use handler::{At, Mcp, McpSettings};
pub use tools::{ConfirmArg, Offer, OpPattern, PatternError, ToolsMode};
