//! Decimal numbers that are added exactly or not at all.

use std::fmt;

/// Most digits behind the point.
const SCALE_MAX: u32 = 20;

/// A decimal number: so many units of `10^-scale`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Decimal {
    units: i128,
    scale: u32,
}

impl Decimal {
    /// A number such as `-1500.00` or `1.5E7`; nothing for what is none, or too large to be held exactly.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match number.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let digits = format!("{whole}{part}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let units: i128 = digits.parse().ok()?;
        let units = if negative { -units } else { units };
        let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => (scale <= SCALE_MAX).then_some(Self { units, scale }),
            Err(_) => Some(Self { units: units.checked_mul(power(scale.unsigned_abs())?)?, scale: 0 }),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let units = |one: Self| one.units.checked_mul(power(scale.checked_sub(one.scale)?)?);
        Some(Self { units: units(self)?.checked_add(units(other)?)?, scale })
    }
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let one = power(self.scale).unwrap_or(1).unsigned_abs();
        let units = self.units.unsigned_abs();
        write!(f, "{sign}{}", units / one)?;
        match usize::try_from(self.scale) {
            Ok(width) if width > 0 => write!(f, ".{:0width$}", units % one),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    fn sum(texts: &[&str]) -> Option<String> {
        let sum = texts.iter().try_fold(Decimal::default(), |sum, text| sum.plus(Decimal::parse(text)?));
        sum.map(|sum| sum.to_string())
    }

    #[test]
    fn sums_are_exact_where_floats_are_not() {
        for (texts, wanted) in [
            (&["0.1", "0.2"][..], "0.3"),
            (&["1500.00", "0.5"], "1500.50"),
            (&["9007199254740993", "0.01"], "9007199254740993.01"),
            (&["-0.75", "0.5"], "-0.25"),
            (&["1.5E7", "25e-1"], "15000002.5"),
            (&[".5", "+1.", "007"], "8.5"),
            (&["-0.00"], "0.00"),
            (&["170141183460469231731687303715884105727"], "170141183460469231731687303715884105727"),
        ] {
            assert_eq!(sum(texts).as_deref(), Some(wanted), "{texts:?}");
        }
    }

    #[test]
    fn what_is_no_number_or_too_large_is_none() {
        for text in [
            "",
            ".",
            "-",
            "1,5",
            "1.2.3",
            "NaN",
            "inf",
            "0x10",
            "1e",
            "1 ",
            "--1",
            "1e99",
            "1e-99",
            "1e2147483648",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(sum(&["170141183460469231731687303715884105727", "1"]), None);
        assert_eq!(sum(&["170141183460469231731687303715884105727", "0.1"]), None);
    }
}
