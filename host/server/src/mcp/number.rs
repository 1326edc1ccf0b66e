//! Numbers that every reader of JSON keeps.
//!
//! INVARIANT: a number that passes here means the same to whoever reads it as a double, as most do: an integer within
//! ±(2^53 − 1), or a fraction or power that is what the shortest text of its double says. RFC 8259, section 6.

use pinhole_manifest::Decimal;
use pinhole_manifest::model::SAFE_INTEGER_MAX;
use serde_json::Number;

/// The number of a JSON text; `None` where a reader would change it.
pub(super) fn kept(digits: &str) -> Option<Number> {
    if !digits.contains(['.', 'e', 'E']) {
        let integer: i64 = digits.parse().ok()?;
        let safe = (-SAFE_INTEGER_MAX..=SAFE_INTEGER_MAX).contains(&integer);
        if integer != 0 || !digits.starts_with('-') {
            return safe.then(|| integer.into());
        }
    }
    let float: f64 = digits.parse().ok()?;
    let number = Number::from_f64(float)?;
    same(digits, &number.to_string())?.then_some(number)
}

/// Whether two texts say the same number.
fn same(one: &str, other: &str) -> Option<bool> {
    Some(one.starts_with('-') == other.starts_with('-') && Decimal::read(one)? == Decimal::read(other)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_doubles_keep_stays_a_number() {
        for (digits, wanted) in [
            ("0", "0"),
            ("-7", "-7"),
            ("9007199254740991", "9007199254740991"),
            ("1.10", "1.1"),
            ("1.0", "1.0"),
            ("-0", "-0.0"),
            ("1E2", "100.0"),
            ("1e21", "1e+21"),
            ("0.1", "0.1"),
        ] {
            assert_eq!(kept(digits).unwrap().to_string(), wanted, "{digits}");
        }
    }

    #[test]
    fn what_doubles_would_change_does_not() {
        for digits in [
            "9007199254740992",
            "-9007199254740992",
            "18446744073709551615",
            "123456789012345678901234567890",
            "1e400",
            "-1e400",
            "1e-400",
            "0.10000000000000000001",
            "1234567890.1234567891",
            "1e99999999999999999999",
        ] {
            assert_eq!(kept(digits), None, "{digits}");
        }
    }

    proptest! {
        #[test]
        fn a_kept_number_is_the_same_number(digits in r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?") {
            if let Some(number) = kept(&digits) {
                prop_assert_eq!(same(&digits, &number.to_string()), Some(true));
                let again: f64 = number.to_string().parse().unwrap();
                prop_assert_eq!(again.to_bits(), digits.parse::<f64>().unwrap().to_bits());
            }
        }
    }
}
