//! Times and dates, as far as ops need them: UTC, without leap seconds, from the year 1 to 9999. RFC 3339.

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// Seconds since 1970 of a time such as `2026-01-31T09:30:00Z`, `2026-01-31T09:30:00.25+01:00`, or a date alone, which is
/// its first second. Parts of a second are dropped; nothing for any other text.
pub fn parse(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let days = days(number(date, 0..4)?, number(date, 5..7)?, number(date, 8..10)?)?;
    if date.as_bytes().get(4) != Some(&b'-') || date.as_bytes().get(7) != Some(&b'-') {
        return None;
    }
    let midnight = days * DAY;
    if rest.is_empty() {
        return Some(midnight);
    }
    let (clock, rest) = rest.split_at_checked(9)?;
    let marks = [(0, b"Tt "), (3, b":::"), (6, b":::")];
    if !marks.iter().all(|(at, marks)| clock.as_bytes().get(*at).is_some_and(|byte| marks.contains(byte))) {
        return None;
    }
    let seconds = clock_seconds(number(clock, 1..3)?, number(clock, 4..6)?)?;
    let second = number(clock, 7..9).filter(|second| *second <= 60)?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    Some(midnight + seconds + second - offset(zone)?)
}

/// The date on which a second falls, such as `2026-01-31`.
pub fn date(seconds: i64) -> String {
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The month in which a second falls, such as `2026-01`.
pub fn month(seconds: i64) -> String {
    let (year, month, _) = civil(seconds.div_euclid(DAY));
    format!("{year:04}-{month:02}")
}

/// Seconds that a zone such as `Z` or `+01:00` is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = match zone.as_bytes() {
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    Some(sign * clock_seconds(number(zone, 1..3)?, number(zone, 4..6)?)?)
}

fn clock_seconds(hours: i64, minutes: i64) -> Option<i64> {
    ((0..24).contains(&hours) && (0..60).contains(&minutes)).then_some(hours * 3600 + minutes * 60)
}

fn number(text: &str, at: std::ops::Range<usize>) -> Option<i64> {
    let digits = text.get(at)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Days since 1970 of a day of the Gregorian calendar, if there is such a day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if year < 1 || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    // Years begin in March here, so that the leap day is a year's last.
    let shifted = year - i64::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = shifted * 365 + shifted.div_euclid(4) - shifted.div_euclid(100)
        + shifted.div_euclid(400)
        + day_of_year
        - 719_468;
    (civil(days) == (year, month, day)).then_some(days)
}

/// The day of the Gregorian calendar so many days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_dates_are_what_other_programs_say() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-01-01", 1_767_225_600),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2000-03-01T00:00:00+01:00", 951_865_200),
            ("2026-01-31T09:30:00.25-05:30", 1_769_871_600),
            ("1969-12-31t23:59:59z", -1),
            ("0001-01-01", -62_135_596_800),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(month(1_709_251_200), "2024-03");
    }

    #[test]
    fn a_date_leads_back_to_itself() {
        for day in (-719_162..2_932_896).step_by(97) {
            assert_eq!(parse(&date(day * DAY)), Some(day * DAY));
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-00-10",
            "0000-01-01",
            "2026-01-32",
            "2026/01/01",
            "2026-01-01T",
            "2026-01-01T24:00:00Z",
            "2026-01-01T10:00:00",
            "2026-01-01T10:00Z",
            "2026-01-01T10:00:61Z",
            "2026-01-01T10:00:00+1:00",
            "2026-01-01T10:00:00.Zulu",
            "+026-01-01",
            "2026-01-0é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
