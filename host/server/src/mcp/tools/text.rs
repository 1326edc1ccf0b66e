//! Texts of a given length.

/// The text, or its beginning and an ellipsis: at most so many characters.
pub(super) fn clip(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let mut clipped: String = text.chars().take(most.saturating_sub(1)).collect();
    clipped.push('…');
    clipped
}

/// As many of these as fit into so many characters, and how many there are beside.
pub(in crate::mcp) fn list(items: &[String], most: usize) -> String {
    let mut said = String::new();
    for (place, item) in items.iter().enumerate() {
        let long = said.chars().count().saturating_add(item.chars().count()) > most;
        if long && place > 0 {
            let left = items.len().saturating_sub(place);
            return format!("{said} and {left} more");
        }
        if place > 0 {
            said.push_str(", ");
        }
        said.push_str(&clip(item, most));
    }
    said
}

/// The sentence with its full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_says_so() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöüß", 3), "äö…");
        let items = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(list(&items, 100), "one, two, three");
        assert_eq!(list(&items, 9), "one, two and 1 more");
        assert_eq!(list(&items, 1), "… and 2 more");
        assert_eq!(list(&[], 1), "");
    }
}
