//! A provider's own description of its API (OpenAPI 3.0 and 3.1, Swagger 2.0): a manifest drafted from it, and a manifest
//! held against it.
//!
//! Follows no reference out of the document and opens nothing. INVARIANT: time and memory go with the size of the
//! description, whatever its references, combinations and cycles say: every look into a schema takes from a budget.
//! Issue 6, point 7.

mod description;
mod draft;
mod operation;
mod parts;
mod reader;
mod servers;
mod values;
mod verify;

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "`json!` gives values, and tests write them where they are used"
)]
mod tests;

pub use description::{Description, DescriptionError};
pub use draft::{Chosen, DraftError, Selection, Wish, draft};
pub use servers::ServerFault;
pub use verify::{verify, verify_cases};
