//! How much memory and how many table elements a call has, counted over all parts of its component.

use wasmtime::{Error, ResourceLimiter};

use super::fault::{Fault, Limit};

#[derive(Debug)]
pub(super) struct Limiter {
    memory_left: usize,
    elements_left: usize,
    /// Why growth was refused, which is then why the call ends.
    pub(super) refused: Option<Fault>,
}

impl Limiter {
    pub(super) fn new(memory_bytes: usize, table_elements: usize) -> Self {
        Self { memory_left: memory_bytes, elements_left: table_elements, refused: None }
    }
}

/// What is left after a growth, if it is that much.
fn take(left: &mut usize, current: usize, desired: usize) -> bool {
    match left.checked_sub(desired.saturating_sub(current)) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

impl ResourceLimiter for Limiter {
    /// An allocator that is told no would only trap in its own way: ending the call here says why.
    fn memory_growing(&mut self, current: usize, desired: usize, _max: Option<usize>) -> Result<bool, Error> {
        if take(&mut self.memory_left, current, desired) {
            return Ok(true);
        }
        self.refused = Some(Fault::OutOfMemory);
        Err(Error::msg("out of memory"))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _max: Option<usize>) -> Result<bool, Error> {
        if take(&mut self.elements_left, current, desired) {
            return Ok(true);
        }
        self.refused = Some(Fault::Limit(Limit::Parts));
        Err(Error::msg("too many table elements"))
    }
}
