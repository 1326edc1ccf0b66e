//! The names of things: a service, an op, an argument, and the two kinds of access.
//!
//! Each type holds only text that its grammar allows; there is no other way to make one. DESIGN, "Words".

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest `<service>_<op>`, in characters: the longest tool name that every MCP client takes.
pub const TOOL_NAME_MAX: usize = 48;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind}: {rule}")]
pub struct NameError {
    text: String,
    kind: &'static str,
    rule: &'static str,
}

fn lower_snake(text: &str, longest: usize) -> bool {
    text.len() <= longest
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $kind:literal, $rule:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Box<str>);

        impl $type {
            /// Takes a text that follows the grammar; refuses any other with what the grammar asks for.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(text) {
                    Ok(Self(text.into()))
                } else {
                    let text = text.chars().take(64).collect();
                    Err(NameError { text, kind: $kind, rule: $rule })
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

name!(
    /// A service, such as `github`: `[a-z][a-z0-9]{1,23}`.
    ServiceId,
    "a service id",
    "2 to 24 lower-case letters and digits, a letter first",
    |text| (2..=24).contains(&text.len()) && !text.contains('_') && lower_snake(text, 24)
);

name!(
    /// An op of a service, such as `list_issues`: `[a-z][a-z0-9_]{0,39}`.
    OpId,
    "an op id",
    "1 to 40 lower-case letters, digits and underscores, a letter first",
    |text| lower_snake(text, 40)
);

name!(
    /// An argument of an op, such as `per_page`: `[a-z][a-z0-9_]{0,63}`.
    ArgName,
    "an argument name",
    "1 to 64 lower-case letters, digits and underscores, a letter first",
    |text| lower_snake(text, 64)
);

/// What an op does to the service, and the most that a grant lets a bot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Looks only.
    Read,
    /// Changes something; covers `Read`.
    Write,
}

impl Access {
    /// Whether a permission of this kind lets an op of `wanted` run.
    pub fn covers(self, wanted: Self) -> bool {
        self >= wanted
    }

    /// `read` or `write`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
