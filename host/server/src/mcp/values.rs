//! How many JSON values a text has, before anything makes a tree of it: a tree takes a hundred times the room of its text.

/// Most values of a message: a call of a model has some dozens.
pub(crate) const VALUES_MAX: usize = 20_000;

/// Whether a text has more than [`VALUES_MAX`] values, counted by what stands between them; it need not be JSON.
pub(crate) fn too_many(text: &[u8]) -> bool {
    let (mut count, mut within, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if within => escaped = true,
            b'"' => within = !within,
            b',' | b'[' | b'{' | b':' if !within => count = count.saturating_add(1),
            _ => {}
        }
    }
    count > VALUES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_texts_is_no_value() {
        let array = |count: usize| format!("[{}0]", "0,".repeat(count)).into_bytes();
        assert!(!too_many(&array(VALUES_MAX - 1)));
        assert!(too_many(&array(VALUES_MAX)));
        assert!(!too_many(format!("[\"{}\\\"{}\"]", ",[{:".repeat(9_000), ",".repeat(9_000)).as_bytes()));
        assert!(too_many(format!("[{}]", "{\"\":0},".repeat(VALUES_MAX)).as_bytes()));
    }
}
