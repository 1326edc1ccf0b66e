//! What a number says, whichever way it is written: `1.10`, `1.1` and `11e-1` are one.
//!
//! INVARIANT: every digit counts, and none but needless zeros is dropped.

/// A decimal number without needless zeros. Its sign is left out: reading a double never changes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads the text of a JSON number; `None` where its exponent is beyond all reason.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Self { digits: String::new(), exponent: 0 });
        }
        let dropped = i64::try_from(all.len().checked_sub(significant.len())?).ok()?;
        let shift = i64::try_from(fraction.len()).ok()?;
        let exponent: i64 = exponent.parse().ok()?;
        let exponent = exponent.checked_sub(shift)?.checked_add(dropped)?;
        Some(Self { digits: significant.trim_start_matches('0').into(), exponent })
    }
}
