//! What of an answer may be a secret, by its name and by what its operation speaks of.
//!
//! Guesses on the careful side: a draft only proposes, and a person puts back what is harmless. INVARIANT: what sounds like a
//! secret by its name alone does so in every operation.

use super::words::{is_secret, words};
use crate::finding::quoted;

/// Most names that a note lists.
const LISTED_MAX: usize = 10;

/// Whether an operation, or what leads to a value, speaks of secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// It speaks of credentials, keys or variables of an environment.
    Secrets,
    /// Of anything else.
    Other,
}

impl Topic {
    /// The topic of what lies below a member of this name.
    pub(crate) fn below(self, name: &str) -> Self {
        if self == Self::Secrets || speaks_of(name).is_some() { Self::Secrets } else { Self::Other }
    }
}

/// What a value is, as far as it matters for secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Yes or no.
    Flag,
    /// A number: a count, or the digits of a code.
    Number,
    /// Anything else.
    Text,
}

/// The word by which a text speaks of secrets.
pub(crate) fn speaks_of(text: &str) -> Option<String> {
    const WORDS: [&str; 13] = [
        "apikey",
        "credential",
        "env",
        "envvar",
        "jitconfig",
        "jwt",
        "key",
        "passphrase",
        "password",
        "passwd",
        "secret",
        "token",
        "variable",
    ];
    words(text).into_iter().find(|word| WORDS.contains(&single(word)))
}

/// Whether a value of this name may be a secret. `Topic` is of the operation and of what leads to the value.
pub(crate) fn may_be_secret(name: &str, held: Held, topic: Topic) -> bool {
    if held == Held::Flag {
        return false;
    }
    let words = words(name);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if topic == Topic::Secrets && held == Held::Text {
        match words.as_slice() {
            [.., "value" | "values"] | ["content" | "data" | "config" | "auth"] => return true,
            _ => {}
        }
    }
    while words.len() > 1 && words.last().is_some_and(|w| matches!(*w, "value" | "hash" | "text" | "plain")) {
        words.pop();
    }
    if let Some(last) = words.last_mut() {
        *last = single(last);
    }
    match words.as_slice() {
        [.., kind, "code"] => !is_plain_code(kind),
        [.., "code" | "pin" | "ssn" | "otp" | "cvc" | "cvv" | "passcode"] | [.., "card", "number"] => true,
        // What is left is no number: a count of keys is a number.
        _ if held == Held::Number => false,
        [.., "public", "key"] => false,
        [.., "key" | "auth" | "dsn" | "session" | "bearer" | "signature" | "jitconfig"]
        | [.., "jit", "config"]
        | [.., "connection", "string"] => true,
        _ => is_secret(name) || is_secret(&words.join("_")),
    }
}

/// Whether a code of this kind stands for what everybody may know.
fn is_plain_code(kind: &str) -> bool {
    matches!(
        kind,
        "country"
            | "currency"
            | "status"
            | "zip"
            | "postal"
            | "language"
            | "locale"
            | "error"
            | "exit"
            | "response"
            | "color"
    )
}

/// A word without the `s` of several.
fn single(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| !stem.is_empty()).unwrap_or(word)
}

/// What a note on values that were left out says, by their paths.
pub(crate) fn left_out(paths: &[String]) -> String {
    let shown: Vec<String> =
        paths.iter().take(LISTED_MAX).map(|path| format!("`{}`", quoted(path))).collect();
    let more = paths.len().saturating_sub(LISTED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("left out because the name sounds like a secret: {}{more}", shown.join(", "))
}

/// What a note on an operation says that speaks of secrets by this word.
pub(crate) fn about_the_op(word: &str) -> String {
    format!(
        "it speaks of `{}`: see that no secret goes through it to a bot, and decide whether the op is for bots",
        quoted(word)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, topic: Topic) -> bool {
        may_be_secret(name, Held::Text, topic)
    }

    #[test]
    fn what_may_be_a_secret_is_known_by_its_last_word() {
        for name in [
            "auth",
            "key",
            "keys",
            "mobileKey",
            "mobile-key",
            "host_key",
            "hostKey",
            "activation_code",
            "conference_code",
            "invite_code",
            "inviteCodes",
            "code",
            "dsn",
            "connection_string",
            "connectionString",
            "session",
            "bearer",
            "signature",
            "pin",
            "ssn",
            "jitconfig",
            "encoded_jit_config",
            "encodedJitConfig",
            "encoded-jit-config",
            "access_tokens",
            "tokens",
            "api_key",
            "client_secret",
            "key_value",
        ] {
            assert!(of(name, Topic::Other), "{name}");
        }
    }

    #[test]
    fn near_misses_are_kept() {
        for name in [
            "country_code",
            "countryCode",
            "country_codes",
            "currency_code",
            "status_code",
            "zip_code",
            "postal_code",
            "language_code",
            "locale_code",
            "error_code",
            "exit_code",
            "response_code",
            "color_code",
            "keyboard",
            "monkey",
            "keyword",
            "primary_language",
            "public_key",
            "key_id",
            "session_count",
            "pinned",
            "spin",
            "author",
            "signature_type",
            "decode",
            "next_page_token",
        ] {
            assert!(!of(name, Topic::Secrets) && !of(name, Topic::Other), "{name}");
        }
    }

    #[test]
    fn a_bare_value_may_be_one_only_where_secrets_are_spoken_of() {
        for name in ["value", "values", "content", "data", "config", "default_value"] {
            assert!(of(name, Topic::Secrets), "{name}");
            assert!(!of(name, Topic::Other), "{name}");
        }
        for name in ["name", "created_at", "content_type", "value_type", "data_center"] {
            assert!(!of(name, Topic::Secrets), "{name}");
        }
    }

    #[test]
    fn flags_and_counts_are_none_and_the_digits_of_a_code_are() {
        assert!(!may_be_secret("key", Held::Flag, Topic::Secrets));
        assert!(!may_be_secret("tokens", Held::Number, Topic::Secrets));
        for name in ["pin", "ssn", "activation_code", "card_number"] {
            assert!(may_be_secret(name, Held::Number, Topic::Other), "{name}");
        }
        assert!(!may_be_secret("status_code", Held::Number, Topic::Other));
    }

    #[test]
    fn what_speaks_of_secrets_is_known_by_a_word() {
        for text in [
            "Create an API key",
            "listProjectEnv",
            "actions/list-repo-variables",
            "List environment variables.",
            "resetPassword",
            "get_credentials",
            "Reads a secret",
            "createToken",
        ] {
            assert!(speaks_of(text).is_some(), "{text}");
        }
        for text in ["List keyboards", "A monkey", "Get an environment", "List issues", "secretary"] {
            assert_eq!(speaks_of(text), None, "{text}");
        }
        assert_eq!(Topic::Other.below("envs"), Topic::Secrets);
        assert_eq!(Topic::Other.below("labels"), Topic::Other);
    }

    #[test]
    fn a_note_lists_what_was_left_out_and_counts_the_rest() {
        let paths: Vec<String> = (0..12).map(|i| format!("a{i}.key")).collect();
        let note = left_out(&paths);
        assert!(note.contains("`a0.key`, `a1.key`") && note.ends_with("`a9.key` and 2 more"), "{note}");
    }
}
