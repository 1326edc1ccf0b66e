//! The maintainer's side by what the crate shows alone.

#[cfg(test)]
mod ceremony;
