//! The five formats that an arg may have, and how the validator is built.
//!
//! Refuses a URL that two parsers could read as two hosts: its text must spell the host that it was parsed to. DESIGN,
//! "Manifest": `public-https-url`.

use jsonschema::{PatternCache, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::host::HttpsUrl;

/// The formats; all but the first are those of JSON Schema 2020-12, section 7.3.
pub(super) const FORMATS: [&str; 5] = [PUBLIC_URL, "date", "date-time", "email", "uuid"];
const PUBLIC_URL: &str = "public-https-url";
/// Longest URL, in characters.
const URL_MAX: usize = 2_048;
/// Largest compiled pattern, in bytes: 64 KiB.
pub(crate) const PATTERN_BYTES: usize = 1 << 16;

/// Compiles a schema whose keywords have been checked. A pattern that is in the cache is not compiled again.
pub(super) fn validator(
    schema: &Value,
    patterns: &PatternCache,
) -> Result<Validator, ValidationError<'static>> {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_format(PUBLIC_URL, is_public_https_url)
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES))
        .with_pattern_cache(patterns.clone())
        .build(schema)
}

/// An `https` URL on a public host by the rules of [`HttpsUrl`], at most 2,048 characters, written so that every URL
/// parser finds the same host: no port, no user (not even an empty one), no escapes or other alphabets in the host.
pub(super) fn is_public_https_url(text: &str) -> bool {
    if text.chars().count() > URL_MAX {
        return false;
    }
    let Ok(url) = HttpsUrl::parse(text) else { return false };
    matches!((authority(text), authority(url.as_str())), (Some(written), Some(parsed)) if written.eq_ignore_ascii_case(parsed))
}

fn authority(text: &str) -> Option<&str> {
    text.strip_prefix("https://")?.split(['/', '?']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_urls() {
        for text in [
            "https://hooks.pinhole.dev/a?b=c",
            "https://Hooks.Pinhole.dev",
            "https://xn--bcher-kva.de/ü",
            "https://pinhole.dev?x",
        ] {
            assert!(is_public_https_url(text), "{text}");
        }
        let long = format!("https://pinhole.dev/{}", "a".repeat(2_028));
        assert!(is_public_https_url(&long));
        assert!(!is_public_https_url(&format!("{long}a")));
    }

    #[test]
    fn other_urls() {
        for text in [
            "",
            "pinhole.dev",
            "http://pinhole.dev",
            "ftp://pinhole.dev",
            "https://",
            "https:pinhole.dev",
            "https:/pinhole.dev",
            "https:///pinhole.dev",
            "https://localhost",
            "https://127.0.0.1",
            "https://127.1",
            "https://0x7f000001",
            "https://2130706433",
            "https://[::1]/",
            "https://10.0.0.1",
            "https://metadata.google.internal",
            "https://printer.local",
            "https://pinhole.dev:443/",
            "https://pinhole.dev:8443/",
            "https://pinhole.dev:/",
            "https://@pinhole.dev/",
            "https://a@pinhole.dev",
            "https://a:b@pinhole.dev",
            "https://pinhole.dev/#",
            "https://pinhole.dev/#a",
            "https://pinhole.dev.",
            "https://%70inhole.dev/",
            "https://pinhole\u{3002}dev/",
            "https://bücher.de/",
            "https://pinhole.dev\\@evil.dev/",
            " https://pinhole.dev",
            "https://pinhole.dev\n",
            "https://pin\thole.dev",
            "https://169.254.169.254/latest",
        ] {
            assert!(!is_public_https_url(text), "{text}");
        }
    }

    #[test]
    fn formats_are_checked_without_default_features() {
        for (format, good, bad) in [
            ("date", "2026-02-28", "2026-02-30"),
            ("date", "2024-02-29", "2026-2-28"),
            ("date-time", "2026-02-28T10:00:00Z", "2026-02-28"),
            ("date-time", "2026-02-28T10:00:00.5+01:00", "2026-02-28T25:00:00Z"),
            ("email", "a@pinhole.dev", "a@"),
            ("email", "a.b+c@pinhole.dev", "pinhole.dev"),
            ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08-aa98-11ea-b4aa73b441d16380"),
            (PUBLIC_URL, "https://pinhole.dev/", "https://localhost/"),
        ] {
            let schema = serde_json::json!({"type": "string", "format": format});
            let validator = validator(&schema, &PatternCache::new()).unwrap();
            assert!(validator.is_valid(&good.into()), "{format}: {good}");
            assert!(!validator.is_valid(&bad.into()), "{format}: {bad}");
        }
        let schema = serde_json::json!({"type": "string", "format": "hostname-or-so"});
        assert!(validator(&schema, &PatternCache::new()).is_err());
    }
}
