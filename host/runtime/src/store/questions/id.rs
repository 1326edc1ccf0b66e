//! The id of a question: short enough to be typed, with no letters that look alike.
//!
//! Eight digits of Crockford's base 32 in two groups, such as `k7f3-9m2x`: 40 random bits. Whoever types `O` for `0`, `I` or
//! `l` for `1`, capitals, or no hyphen means the same. It names a question and opens nothing.

use std::fmt;
use std::str::FromStr;

use rand_core::CryptoRng;
use serde::{Serialize, Serializer};

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const COUNT: u32 = 8;

/// Which question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(u64);

/// Why a text is not the id of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a question: write its eight letters and digits, such as `k7f3-9m2x`")]
pub struct QuestionIdError;

impl QuestionId {
    /// A new one out of 40 random bits.
    pub fn random<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        Self(rng.next_u64() >> (64 - 5 * COUNT))
    }
}

impl FromStr for QuestionId {
    type Err = QuestionIdError;

    fn from_str(text: &str) -> Result<Self, QuestionIdError> {
        let (left, right) = match text.split_once('-') {
            Some(groups) => groups,
            None => text.split_at_checked(4).ok_or(QuestionIdError)?,
        };
        if left.len() != 4 || right.len() != 4 {
            return Err(QuestionIdError);
        }
        left.bytes().chain(right.bytes()).try_fold(Self(0), |Self(before), byte| {
            let digit = match byte.to_ascii_lowercase() {
                b'o' => b'0',
                b'i' | b'l' => b'1',
                other => other,
            };
            let value = (0_u64..).zip(DIGITS).find(|(_, known)| **known == digit).ok_or(QuestionIdError)?.0;
            Ok(Self((before << 5) | value))
        })
    }
}

impl Serialize for QuestionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in (0..COUNT).rev() {
            let value = usize::try_from((self.0 >> (5 * place)) & 31).unwrap_or_default();
            let digit = DIGITS.get(value).copied().unwrap_or(b'0');
            write!(f, "{}{}", char::from(digit), if place == 4 { "-" } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_hand_writes_means_the_same() {
        let id: QuestionId = "k0f1-9m2x".parse().unwrap();
        for text in ["K0F1-9M2X", "kof1-9m2x", "k0fI-9m2x", "k0fl9m2x", "KOFL9M2X"] {
            assert_eq!(text.parse(), Ok(id), "{text}");
        }
        assert_eq!(id.to_string(), "k0f1-9m2x");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "-",
            "k0f1",
            "k0f1-9m2",
            "k0f1-9m2xx",
            "k0f-19m2x",
            "k0f1--m2x",
            "u0f1-9m2x",
            "k0f1 9m2x",
            "é0f19m2x",
        ] {
            assert_eq!(text.parse::<QuestionId>(), Err(QuestionIdError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_what_is_printed_is_the_identity(bits in 0_u64..1 << 40) {
            let id = QuestionId(bits);
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            prop_assert_eq!(id.to_string().len(), 9);
        }

        #[test]
        fn any_text_is_judged(text in "\\PC{0,12}") {
            if let Ok(id) = text.parse::<QuestionId>() {
                prop_assert_eq!(id.to_string().parse(), Ok(id));
            }
        }
    }
}
