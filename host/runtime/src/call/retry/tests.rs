//! When a service says to come back, and what waits are drawn.

use proptest::prelude::*;

use http::HeaderMap;
use pinhole_grant::UnixTime;

use super::*;
use crate::entropy::EntropyError;

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

struct Always(u8);

impl Entropy for Always {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        bytes.fill(self.0);
        Ok(())
    }
}

struct Dry;

impl Entropy for Dry {
    fn fill(&self, _bytes: &mut [u8]) -> Result<(), EntropyError> {
        Err(EntropyError)
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect::<HeaderMap>()
}

#[test]
fn every_form_of_retry_after_is_read() {
    for (text, wanted) in [
        ("0", Some(0)),
        ("30", Some(30)),
        (" 7 ", Some(7)),
        ("007", Some(7)),
        ("31536000", Some(31_536_000)),
        ("99999999999999999999999", Some(u64::MAX)),
        // The three forms of RFC 9110, section 5.6.7; now is 2027-01-15 08:00:00.
        ("Fri, 15 Jan 2027 08:00:30 GMT", Some(30)),
        ("Friday, 15-Jan-27 08:00:30 GMT", Some(30)),
        ("Fri Jan 15 08:00:30 2027", Some(30)),
        ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("1e3", None),
        ("Fri, 15 Jan 2027 08:00:30 CET", None),
        ("Fri, 45 Jan 2027 08:00:30 GMT", None),
        ("2027-01-15T08:00:30Z", None),
    ] {
        assert_eq!(comes_back(&headers(&[("retry-after", text)]), NOW), wanted, "{text:?}");
    }
}

#[test]
fn a_spent_budget_says_when_it_is_renewed() {
    let spent = |reset: &str| {
        comes_back(&headers(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset)]), NOW)
    };
    assert_eq!(spent("1800000060"), Some(60));
    assert_eq!(spent("60"), Some(60));
    assert_eq!(spent("1700000000"), Some(0));
    assert_eq!(spent("never"), None);
    let left = headers(&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", "60")]);
    assert_eq!(comes_back(&left, NOW), None);
    let both = headers(&[("retry-after", "5"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "60")]);
    assert_eq!(comes_back(&both, NOW), Some(5));
}

#[test]
fn what_nobody_waits_for_is_not_told() {
    let told = |text: &str| told(&headers(&[("retry-after", text)]), NOW);
    assert_eq!(told("31536000"), Some(31_536_000));
    assert_eq!(told("99999999999999999999999"), None);
    assert_eq!(told("Wed, 21 Oct 2065 07:28:00 GMT"), None);
}

#[test]
fn a_backoff_is_half_to_all_of_a_time_that_doubles() {
    let millis = |entropy: &dyn Entropy, tried| backoff(entropy, tried).as_millis();
    assert_eq!([1, 2, 3].map(|tried| millis(&Always(0), tried)), [250, 500, 1000]);
    assert_eq!([1, 2, 3].map(|tried| millis(&Always(0xff), tried)), [500, 1000, 2000]);
    assert_eq!(millis(&Dry, 1), 500);
}

proptest! {
    #[test]
    fn no_text_is_read_wrongly(text in "[ -~]{0,40}", now in any::<i64>()) {
        let read = comes_back(&headers(&[("retry-after", &text)]), UnixTime::from_secs(now));
        let digits = text.trim();
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            prop_assert_eq!(read, Some(digits.parse().unwrap_or(u64::MAX)));
        }
    }

    #[test]
    fn every_backoff_is_within_its_bounds(byte in any::<u8>(), tried in 1_u32..100) {
        let wait = backoff(&Always(byte), tried);
        prop_assert!(wait >= Duration::from_millis(250) || tried == 0);
    }
}
