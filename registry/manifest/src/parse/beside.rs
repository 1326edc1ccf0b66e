//! Faults of the files beside a manifest, which only somebody can find who reads files: their places in it.
//!
//! Refuses nothing itself. INVARIANT: a reading with a finding that is an error has no manifest.

use super::faults::place;
use super::{Reading, failed};
use crate::diagnostic::{Code, Diagnostic};
use crate::json::{self, Numbers};

/// A fault of a file that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of fault.
    pub code: Code,
    /// Where the manifest says so, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Reading {
    /// What came of reading a file, these bytes, and of looking at what stands beside it.
    #[must_use]
    pub fn with_findings(mut self, bytes: &[u8], findings: Vec<Finding>) -> Self {
        let Ok(document) = json::parse(bytes, Numbers::Safe) else { return self };
        self.diagnostics.extend(findings.into_iter().map(|finding| {
            let Finding { code, pointer, message, help } = finding;
            let span = document.value_span(&pointer);
            Diagnostic { code, pointer, span, line: 1, column: 1, message, help }
        }));
        place(document.text, &mut self.diagnostics);
        let failed = failed(&self.diagnostics);
        Self { manifest: self.manifest.filter(|_| !failed), ..self }
    }
}

/// The lines and columns, from 1, of what JSON Pointers lead to in a file, or of the nearest values around it.
pub fn places_of(bytes: &[u8], pointers: &[&str]) -> Vec<(u32, u32)> {
    let Ok(document) = json::parse(bytes, Numbers::Safe) else { return vec![(1, 1); pointers.len()] };
    let one = |pointer: &&str| {
        let start = document.value_span(pointer).start;
        let before = document.text.get(..start).unwrap_or_default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        (count(before.matches('\n').count()), count(column))
    };
    pointers.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    const MANIFEST: &[u8] = include_bytes!("../../tests/vectors/base/module.json");

    #[test]
    fn a_finding_stands_at_its_place_and_takes_the_manifest_away() {
        let pointer = "/ops/stale_things/module/file".to_owned();
        let finding =
            Finding { code: Code::ModuleAbsent, pointer, message: String::new(), help: String::new() };
        let reading = read(MANIFEST).with_findings(MANIFEST, vec![finding]);
        assert!(reading.manifest.is_none());
        let [found] = &reading.diagnostics[..] else { panic!("{:?}", reading.diagnostics) };
        let text = std::str::from_utf8(MANIFEST).unwrap();
        assert_eq!(text.get(found.span.clone()), Some("\"modules/stale_things.wasm\""));
        let line = text.lines().nth(usize::try_from(found.line).unwrap() - 1).unwrap();
        assert!(line.contains("\"file\""), "{line}");
    }

    #[test]
    fn without_a_finding_a_reading_is_what_it_was() {
        let reading = read(MANIFEST).with_findings(MANIFEST, Vec::new());
        assert!(reading.manifest.is_some() && reading.diagnostics.is_empty());
    }
}
