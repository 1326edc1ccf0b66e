//! skeleton
#![forbid(unsafe_code)]

pub mod net;
