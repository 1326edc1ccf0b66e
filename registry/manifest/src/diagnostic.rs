//! What is wrong with a manifest: a code, a place, a sentence and what to write instead.
//!
//! Holds text of the file under test, never a secret. INVARIANT: `span` lies within the file. DESIGN, "Manifest".

mod codes;

use std::fmt;
use std::ops::Range;

pub use codes::Code;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The manifest loads; somebody should look.
    Warning,
    /// The manifest does not load.
    Error,
}

/// One fault of one manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind of fault.
    pub code: Code,
    /// Where, as a JSON Pointer (RFC 6901) into the manifest.
    pub pointer: String,
    /// Where, as a range of bytes in the file.
    pub span: Range<usize>,
    /// The line of the start, from 1.
    pub line: u32,
    /// The column of the start, from 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Diagnostic {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {} ({})", self.line, self.column, self.code.as_str(), self.message, self.help)
    }
}
