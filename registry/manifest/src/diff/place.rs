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
    // Once for all: there may be many places, and the file may be long.
    let text = document.as_ref().map_or("", |document| document.text);
    let lines: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let place = |pointer: &str| {
        let at = document.as_ref().map_or(0, |document| document.key_span(pointer).start);
        let line = lines.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| lines.get(line)).copied().unwrap_or_default();
        let column = text.get(start..at).map_or(0, |before| before.chars().count());
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Place { line: count(line), column: count(column).saturating_add(1) }
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
        assert_eq!(found, [(1, 1), (2, 10), (3, 3), (3, 13), (3, 3), (1, 1)]);
        assert_eq!(places(b"{", ["/a"]), [Place { line: 1, column: 1 }]);
    }
}
