//! Numbers in their one normal form.
//!
//! Refuses what a reader of JSON would round: an integer beyond ±(2^53 − 1), and a fraction with more digits than a double
//! keeps. INVARIANT: a whole number is held as an integer, and zero has no sign, so that equal args have equal text.
//! DESIGN, "Manifest": args; RFC 8259, section 6.

use crate::Decimal;
use serde_json::Number;

use crate::model::SAFE_INTEGER_MAX;

/// Why a number is not taken. Does not hold the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NumberFault {
    /// Beyond ±(2^53 − 1).
    #[error(
        "a number is at most 9007199254740991 away from zero: give larger ones as text, if the op takes text"
    )]
    TooLarge,
    /// More digits than a double keeps.
    #[error("a number has more digits than can be kept: at most 15 are always safe")]
    TooPrecise,
    /// Not a JSON number.
    #[error("not a number")]
    Syntax,
}

/// The normal form of a number that has been read already.
pub(super) fn normal(number: &Number) -> Result<Number, NumberFault> {
    let safe = -SAFE_INTEGER_MAX..=SAFE_INTEGER_MAX;
    if let Some(integer) = number.as_i64() {
        return if safe.contains(&integer) { Ok(number.clone()) } else { Err(NumberFault::TooLarge) };
    }
    let float = number.as_f64().filter(|float| float.is_finite()).ok_or(NumberFault::TooLarge)?;
    // A double with a fraction lies within ±2^52: beyond, all are whole.
    if float.fract() != 0.0 {
        return Ok(number.clone());
    }
    // A whole double prints all its digits and no exponent; anything longer than an i64 is too large in any case.
    let integer: i64 = format!("{float:.0}").parse().map_err(|_overflow| NumberFault::TooLarge)?;
    if safe.contains(&integer) { Ok(integer.into()) } else { Err(NumberFault::TooLarge) }
}

/// Reads a JSON number from its text; refuses it where a double would not keep every digit of it.
pub(super) fn parse(text: &str) -> Result<Number, NumberFault> {
    if !text.contains(['.', 'e', 'E']) {
        let integer: i64 = text.parse().map_err(|_overflow| NumberFault::TooLarge)?;
        return normal(&integer.into());
    }
    let float: f64 = text.parse().map_err(|_grammar| NumberFault::Syntax)?;
    let read = Number::from_f64(float).ok_or(NumberFault::TooLarge)?;
    let number = normal(&read)?;
    // What is kept is what will be written again; where two texts of 17 digits mean one double, only one of them is.
    let written = Decimal::read(text).ok_or(NumberFault::TooPrecise)?;
    let kept = Decimal::read(&read.to_string()).ok_or(NumberFault::Syntax)?;
    if written == kept { Ok(number) } else { Err(NumberFault::TooPrecise) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_numbers_become_integers() {
        for (text, wanted) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0", 0),
            ("0e9", 0),
            ("0.000", 0),
            ("1.0", 1),
            ("1e0", 1),
            ("1E+2", 100),
            ("-2.50e1", -25),
            ("9007199254740991", SAFE_INTEGER_MAX),
            ("-9007199254740991.0", -SAFE_INTEGER_MAX),
            ("0e999999999999999999999", 0),
        ] {
            assert_eq!(parse(text).unwrap(), Number::from(wanted), "{text}");
        }
        assert_eq!(normal(&Number::from_f64(-0.0).unwrap()).unwrap().to_string(), "0");
        assert_eq!(normal(&Number::from_f64(1e15).unwrap()).unwrap().to_string(), "1000000000000000");
    }

    #[test]
    fn fractions_stay() {
        for (text, wanted) in [("0.1", 0.1), ("1.10", 1.1), ("-2.5", -2.5), ("1e-7", 1e-7), ("4.35", 4.35)] {
            assert_eq!(parse(text).unwrap(), Number::from_f64(wanted).unwrap(), "{text}");
        }
    }

    #[test]
    fn nothing_is_rounded() {
        for text in [
            "9007199254740992",
            "9007199254740993",
            "-9007199254740993",
            "9007199254740993.0",
            "1e16",
            "1e400",
            "-1e400",
            "18446744073709551615",
            "18446744073709551616",
            "123456789012345678901234567890",
            "9007199254740992.5",
        ] {
            assert_eq!(parse(text).unwrap_err(), NumberFault::TooLarge, "{text}");
        }
        for text in [
            "9007199254740991.4",
            "0.10000000000000000001",
            "1e-400",
            "1.00000000000000000001",
            "1e-9999999999999999999",
        ] {
            assert_eq!(parse(text).unwrap_err(), NumberFault::TooPrecise, "{text}");
        }
        for number in [Number::from(u64::MAX), Number::from(i64::MIN), Number::from_f64(1e300).unwrap()] {
            assert_eq!(normal(&number).unwrap_err(), NumberFault::TooLarge);
        }
    }

    proptest! {
        #[test]
        fn text_and_value_agree(float in -9.0e15..9.0e15_f64) {
            let number = Number::from_f64(float).unwrap();
            let normal = normal(&number).unwrap();
            prop_assert_eq!(&parse(&number.to_string()).unwrap(), &normal);
            prop_assert_eq!(super::normal(&normal).unwrap(), normal);
        }

        #[test]
        fn long_digits_are_kept_or_refused(whole in 0_u64..100, fraction in "[0-9]{1,30}") {
            let text = format!("{whole}.{fraction}");
            if let Ok(number) = parse(&text) {
                let kept = number.to_string();
                let (a, b) = (Decimal::read(&text).unwrap(), Decimal::read(&kept).unwrap());
                prop_assert!(a == b, "{} became {}", text, kept);
            }
        }
    }
}
