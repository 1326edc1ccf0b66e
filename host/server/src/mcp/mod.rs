//! MCP: what a model is offered, how its arguments are read, and what it is answered.

pub mod answer;
pub mod instructions;
mod number;
pub mod tools;
