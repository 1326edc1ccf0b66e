//! skeleton

pub mod project;
pub mod render;
pub mod scrub;
