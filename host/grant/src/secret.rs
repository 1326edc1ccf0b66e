//! Secrets as types: zeroised on drop, never cloned, printed or serialised; read only through `expose`.
//!
//! INVARIANT: a [`Secret`] is visible ASCII, so it may stand in a header as it is. DESIGN, "Crypto"; STYLE, "Types".

use std::fmt;

use zeroize::Zeroizing;

/// Longest secret, in bytes: what common servers take for a whole header line.
pub const SECRET_BYTES_MAX: usize = 8192;
/// Longest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1024;

/// A key or token of a service.
pub struct Secret(Zeroizing<String>);

/// Why a text is not taken for a secret. Says nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// There is nothing.
    #[error("the secret is empty")]
    Empty,
    /// It is longer than [`SECRET_BYTES_MAX`].
    #[error("the secret is longer than {SECRET_BYTES_MAX} bytes")]
    TooLong,
    /// It holds a space, a control character or something beyond ASCII, so it would not pass in a header.
    #[error("the secret holds a space, a line break or a character beyond ASCII: copy it again, alone")]
    NotVisibleAscii,
}

impl Secret {
    /// Takes a text over; a refused one is zeroised too.
    pub fn new(text: String) -> Result<Self, SecretError> {
        Self::from_zeroizing(Zeroizing::new(text))
    }

    pub(crate) fn from_zeroizing(text: Zeroizing<String>) -> Result<Self, SecretError> {
        if text.is_empty() {
            return Err(SecretError::Empty);
        }
        if text.len() > SECRET_BYTES_MAX {
            return Err(SecretError::TooLong);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretError::NotVisibleAscii);
        }
        Ok(Self(text))
    }

    /// The text itself: for the header that carries it, and for the scrub that looks for it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(<secret>)")
    }
}

/// What a person types to open a protected key file. Its bytes are used exactly as typed, without Unicode normalisation.
pub struct Passphrase(Zeroizing<String>);

/// Why a text is not taken for a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassphraseError {
    /// There is nothing.
    #[error("the passphrase is empty")]
    Empty,
    /// It is longer than [`PASSPHRASE_BYTES_MAX`].
    #[error("the passphrase is longer than {PASSPHRASE_BYTES_MAX} bytes")]
    TooLong,
}

impl Passphrase {
    /// Takes a text over; a refused one is zeroised too.
    pub fn new(text: String) -> Result<Self, PassphraseError> {
        let text = Zeroizing::new(text);
        if text.is_empty() {
            return Err(PassphraseError::Empty);
        }
        if text.len() > PASSPHRASE_BYTES_MAX {
            return Err(PassphraseError::TooLong);
        }
        Ok(Self(text))
    }

    pub(crate) fn expose(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(<secret>)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_pass_in_a_header_is_refused() {
        for text in ["a b", "a\nb", "a\r", "\0", "a\u{7f}", "caf\u{e9}", " a", "a\t"] {
            assert_eq!(Secret::new(text.to_owned()).unwrap_err(), SecretError::NotVisibleAscii, "{text:?}");
        }
        assert_eq!(Secret::new(String::new()).unwrap_err(), SecretError::Empty);
        assert_eq!(Secret::new("x".repeat(SECRET_BYTES_MAX + 1)).unwrap_err(), SecretError::TooLong);
        assert_eq!(Secret::new("x".repeat(SECRET_BYTES_MAX)).unwrap().expose().len(), SECRET_BYTES_MAX);
    }

    #[test]
    fn debug_prints_a_fixed_word() {
        let secret = Secret::new("ghp_very_secret".to_owned()).unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(<secret>)");
        let passphrase = Passphrase::new("correct horse".to_owned()).unwrap();
        assert_eq!(format!("{passphrase:?}"), "Passphrase(<secret>)");
        assert_eq!(Passphrase::new(String::new()).unwrap_err(), PassphraseError::Empty);
    }
}
