//! What stands in a client's configuration under the server's name: the settings that are ours, in no format yet.
//!
//! INVARIANT: no token is in an entry; where a server wants one, the entry names an environment variable.

/// One value of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting {
    Text(String),
    List(Vec<String>),
    /// Texts by their names, such as headers.
    Map(Vec<(String, String)>),
}

/// The settings of one server, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry(pub(super) Vec<(&'static str, Setting)>);

/// Every setting that an entry of ours can have in some client. Those that an entry does not have are taken out of one that
/// is there already: a server is started or called, never both. Others in it are the person's, and stay.
pub(super) const OURS: [&str; 9] = [
    "type",
    "command",
    "args",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "bearer_token_env_var",
    "http_headers",
];

/// How a setting changes; `None` is one that is not there.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: String,
    pub(super) before: Option<Seen>,
    pub(super) after: Option<Setting>,
}

/// A setting that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Setting(Setting),
    /// Of another shape than any of ours.
    Other,
}

/// What an edit came to.
#[derive(Debug)]
pub(super) struct Edited {
    /// The whole file.
    pub(super) text: String,
    /// The settings of our entry, changed or not; none where nothing changes.
    pub(super) changes: Vec<Change>,
    /// What else is in our entry and stays.
    pub(super) kept: Vec<String>,
}

impl Edited {
    /// Nothing is to be done.
    pub(super) fn nothing(text: &str) -> Self {
        Self { text: text.to_owned(), changes: Vec::new(), kept: Vec::new() }
    }
}

/// Why a file is not edited.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum EditError {
    #[error("it cannot be read at line {line}: {why}")]
    Syntax { line: usize, why: String },
    #[error("`{0}` is in it, but not as a group of settings")]
    NotAGroup(String),
    #[error("`{0}` is in it twice")]
    Twice(String),
    #[error("{of} has more than {most} members")]
    Many { of: String, most: usize },
}
