//! Texts with a rule: what a person calls a connection, whose account it is, where its manifest came from, and random ids.
//!
//! Refuses characters that could make one text look like another on a terminal or a page. DESIGN, "Words".

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_manifest::visible;
use rand_core::CryptoRng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not {what}: {rule}")]
pub struct TextError {
    what: &'static str,
    rule: &'static str,
}

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not {what}: write its characters of unpadded base64url, all of them")]
pub struct IdError {
    what: &'static str,
}

impl IdError {
    pub(crate) fn of(what: &'static str) -> Self {
        Self { what }
    }
}

/// One line that looks like what it is: no control characters, none that are invisible or change the direction of
/// writing, no white space at its ends.
fn is_plain_line(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.chars().count()) && text.trim() == text && visible::is_plain_line(text)
}

macro_rules! text {
    ($(#[$doc:meta])* $type:ident, $what:literal, $rule:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Box<str>);

        impl $type {
            /// Takes a text that follows the rule; refuses any other with the rule.
            pub fn parse(text: &str) -> Result<Self, TextError> {
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(text) { Ok(Self(text.into())) } else { Err(TextError { what: $what, rule: $rule }) }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
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

text!(
    /// What a person calls a connection, such as `work`: one plain line of 1 to 64 characters.
    Label,
    "a label",
    "1 to 64 visible characters, no white space at the ends",
    |text| is_plain_line(text, 64)
);

text!(
    /// Whose account at the service a credential opens, as the service names it: one plain line of 1 to 256 characters.
    Account,
    "an account name",
    "1 to 256 visible characters, no white space at the ends",
    |text| is_plain_line(text, 256)
);

text!(
    /// Where a manifest came from, such as `compiled-in`, `local` or the name of a signed registry.
    SourceName,
    "the name of a source of manifests",
    "1 to 128 of a-z, 0-9, `.`, `_`, `:`, `/` and `-`, a letter or digit first",
    |text| {
        text.len() <= 128
            && text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._:/-".contains(&b))
    }
);

macro_rules! id {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type([u8; 16]);

        impl $type {
            /// A new one out of 128 random bits.
            pub fn random<R: CryptoRng>(rng: &mut R) -> Self {
                let mut bytes = [0; 16];
                rng.fill_bytes(&mut bytes);
                Self(bytes)
            }

            /// Reads the text form: 22 characters of unpadded base64url.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                decode_array(text).map(Self).ok_or(IdError { what: $what })
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&encode(&self.0))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
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

id!(
    /// A stored credential, and so the connection it belongs to: 128 random bits.
    CredentialId,
    "the id of a credential"
);

id!(
    /// A grant: 128 random bits. Uses are counted and revocations kept under it.
    GrantId,
    "the id of a grant"
);

id!(
    /// Somebody whom a door of a host tells from its other callers, such as the holder of a bearer token: 128 random bits.
    /// All of them share the host's bot; what one asks for and gets shows for no other.
    PrincipalId,
    "the id of a principal"
);

/// Unpadded base64url, the one binary-to-text form here but for what DSSE prescribes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads unpadded base64url. Only the canonical form: padding and left-over bits are refused.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Reads exactly `N` bytes.
pub(crate) fn decode_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    // A text of another length is refused before anything is allocated for it.
    (text.len() == (N * 4).div_ceil(3)).then(|| decode(text)?.try_into().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_does_not_look_like_what_it_is_is_refused() {
        for text in ["", " a", "a ", "a\nb", "a\u{202e}b", "a\u{200b}", "\u{feff}a", "a\u{2066}b", "a\u{ad}"]
        {
            assert!(Label::parse(text).is_err(), "{text:?}");
            assert!(Account::parse(text).is_err(), "{text:?}");
        }
        assert!(Label::parse(&"\u{e9}".repeat(64)).is_ok());
        assert!(Label::parse(&"\u{e9}".repeat(65)).is_err());
        assert!(SourceName::parse("compiled-in").is_ok());
        assert!(SourceName::parse("Compiled").is_err());
        assert!(SourceName::parse("").is_err());
    }

    #[test]
    fn an_id_has_one_text() {
        let id = GrantId([0xff; 16]);
        let text = id.to_string();
        assert_eq!(text, "_____________________w");
        assert_eq!(GrantId::parse(&text).unwrap(), id);
        // The same 16 bytes with left-over bits, padding, the other alphabet, another length.
        for other in
            ["_____________________x", "_____________________w==", "/////////////////////w", "AAAA", ""]
        {
            assert!(GrantId::parse(other).is_err(), "{other}");
        }
    }
}
