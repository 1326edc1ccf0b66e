//! Writes JSON objects whose members keep the order in which they were put, as GitHub's do.
//!
//! The JSON library's own maps are sorted by name, which would put `archive_url` before `id` and make a page unlike a
//! real one for whoever measures how fast it is read.

use serde::Serialize;

/// An object under construction.
#[derive(Debug, Clone)]
pub(crate) struct Object(String);

impl Object {
    /// An object without members.
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Puts a member. A value that cannot be JSON (none of ours is) becomes `null`.
    pub(crate) fn put(self, name: &str, value: impl Serialize) -> Self {
        let text = serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned());
        self.raw(name, &text)
    }

    /// Puts a member whose value is JSON text already.
    pub(crate) fn raw(mut self, name: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        self.0.push_str(json);
        self
    }

    /// The object as text.
    pub(crate) fn text(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// An array of values that are JSON text already.
pub(crate) fn array(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = "[".to_owned();
    for item in items {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(item.as_ref());
    }
    text.push(']');
    text
}
