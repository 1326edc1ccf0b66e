//! Where in its file a change stands.

use crate::json::{self, Numbers};

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

/// The places of the members that JSON Pointers lead to, or of the nearest around them, in the file of a manifest. The
/// first place of the file where it is no JSON.
pub fn places<'p>(bytes: &[u8], pointers: impl IntoIterator<Item = &'p str>) -> Vec<Place> {
    let document = json::parse(bytes, Numbers::Any).ok();
    let place = |pointer: &str| {
        let Some(document) = &document else { return Place { line: 1, column: 1 } };
        let before = document.text.get(..document.key_span(pointer).start).unwrap_or_default();
        let last = before.rsplit('\n').next().unwrap_or_default();
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
        Place { line: count(before.matches('\n').count()), column: count(last.chars().count()) }
    };
    pointers.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_their_keys() {
        let text = "{\n \"é\": 1, \"ops\": {\n  \"a\": [1, {\"b\": 2}]}}";
        let found = places(text.as_bytes(), ["", "/ops", "/ops/a", "/ops/a/1/b", "/ops/a/9", "/absent"]);
        let found: Vec<(u32, u32)> = found.iter().map(|place| (place.line, place.column)).collect();
        assert_eq!(found, [(1, 1), (2, 10), (3, 3), (3, 12), (3, 3), (1, 1)]);
        assert_eq!(places(b"{", ["/a"]), [Place { line: 1, column: 1 }]);
    }
}
