//! Each form of a secret, in strings and in keys, alone and inside more text.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;

use super::*;

/// Secrets with what an encoder, a regular expression or a URL reader would stumble over.
const SECRETS: [&str; 8] = [
    "ghp_0123456789abcdefABCDEF",
    "sk/live+a=b&c d.e*f(g)[h]$^|\\\"?",
    "pässwörd-ключ-鍵",
    "abcdef",
    "abcdefg",
    "abcdefgh",
    "aaaaaaaa",
    "0123456789",
];

fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let hex = pairs.concat();
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let every = format!("%{}", pairs.join("%"));
    let json = serde_json::to_string(secret).unwrap();
    let json = json.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
    let mut forms = vec![
        secret.to_owned(),
        hex.to_uppercase(),
        hex,
        percent.replace("%20", "+"),
        percent,
        every.to_uppercase(),
        every,
        json.to_owned(),
        json.replace('/', "\\/"),
        STANDARD.encode(format!("{secret}:")),
    ];
    for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
        forms.push(engine.encode(secret));
    }
    forms
}

#[test]
fn every_form_goes_from_strings_and_keys() {
    for secret in SECRETS {
        let scrub = Scrub::new(&[secret]);
        for form in forms(secret) {
            let text = format!("before «{form}» after {form}");
            assert_eq!(scrub.text(&text), "before «[redacted]» after [redacted]", "{form}");
            assert!(scrub.contains(text.as_bytes()), "{form}");
            let mut tree =
                Tree::Array(vec![Tree::Object(vec![(form.as_str().into(), Tree::String(form.clone()))])]);
            scrub.tree(&mut tree);
            assert_eq!(tree.to_string(), r#"[{"[redacted]":"[redacted]"}]"#, "{form}");
        }
    }
}

#[test]
fn base64_of_more_text_goes_at_each_alignment() {
    for secret in SECRETS {
        let scrub = Scrub::new(&[secret]);
        for lead in 0..6 {
            for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
                let (before, after) = ("x".repeat(lead), "y".repeat(7));
                let text = engine.encode(format!("{before}{secret}{after}"));
                let clean = scrub.text(&text).into_owned();
                assert!(clean.contains(REDACTED), "{secret} after {lead} bytes");
                // At most the two letters that the secret shares with its neighbours are left of it.
                let kept = clean.len() - REDACTED.len();
                assert!(kept <= (lead + after.len()) * 4 / 3 + 4, "{secret} after {lead} bytes: {clean}");
            }
        }
    }
}

#[test]
fn basic_with_a_user_goes() {
    let scrub = Scrub::new(&["s3cr3t-token"]);
    let text = format!("Basic {}", STANDARD.encode("x-access-token:s3cr3t-token"));
    assert!(scrub.text(&text).contains(REDACTED));
    assert_eq!(scrub.text(&format!("Basic {}", STANDARD.encode("s3cr3t-token:"))), "Basic [redacted]");
}

#[test]
fn overlapping_and_touching_secrets_leave_nothing() {
    let scrub = Scrub::new(&["abcdef", "defghi"]);
    assert_eq!(scrub.text("<abcdefghi>"), "<[redacted]>");
    assert_eq!(scrub.text("<abcdefdefghi>"), "<[redacted]>");
    let scrub = Scrub::new(&["abcab"]);
    assert_eq!(scrub.text("<abcabcab>"), "<[redacted]>");
    let scrub = Scrub::new(&["secret", "secret-and-more"]);
    assert_eq!(scrub.text("secret-and-more"), REDACTED);
}

#[test]
fn a_number_that_holds_a_secret_becomes_a_string() {
    let scrub = Scrub::new(&["0123456789"]);
    let mut tree = Tree::parse(b"[10123456789, 123456789, true]").unwrap();
    scrub.tree(&mut tree);
    assert_eq!(tree.to_string(), r#"["[redacted]",123456789,true]"#);
}

#[test]
fn short_secrets_are_looked_for_as_they_are_or_not_at_all() {
    assert_eq!(Scrub::new(&["abc"]).text("abc"), "abc");
    assert_eq!(Scrub::new(&[""]).text("abc"), "abc");
    let scrub = Scrub::new(&["abcd"]);
    assert_eq!(scrub.text("abcd 61626364 YWJjZA=="), "[redacted] 61626364 YWJjZA==");
}

#[test]
fn other_text_is_lent_as_it_is() {
    let scrub = Scrub::new(&SECRETS[..3]);
    for text in ["", "nothing here", "ghp_0123456789abcdefABCDE", "100 % + %zz %", "päss"] {
        assert!(matches!(scrub.text(text), Cow::Borrowed(same) if same == text), "{text}");
        assert!(!scrub.contains(text.as_bytes()), "{text}");
    }
    assert!(!scrub.contains(b"\xff\xfe%f"));
}

#[test]
fn debug_shows_nothing() {
    assert_eq!(format!("{:?}", Scrub::new(&["ghp_secret"])), "Scrub(..)");
}

proptest! {
    #[test]
    fn a_clean_text_holds_no_secret(
        secret in "\\PC{6,20}",
        around in proptest::collection::vec("\\PC{0,8}", 1..5),
    ) {
        let scrub = Scrub::new(&[&secret]);
        for form in forms(&secret) {
            let clean = scrub.text(&around.join(&form)).into_owned();
            prop_assert!(!clean.split(REDACTED).any(|kept| kept.contains(&form)));
        }
    }

    #[test]
    fn bytes_never_panic(secret in ".{0,12}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let scrub = Scrub::new(&[&secret]);
        let found = scrub.contains(&bytes);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            prop_assert_eq!(found, scrub.text(text) != text);
        }
    }
}

/// A module undoes escapes itself: a body that is no JSON for us may be for it, or it reads the string by hand.
#[test]
fn a_secret_in_escapes_does_not_get_through_in_a_body_that_is_no_json() {
    let secret = "sk_live_4eC39HqLyjWDarjt";
    let scrub = Scrub::new(&[secret]);
    let escaped = secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect::<Vec<_>>().concat();
    let slashed = "sk_live\\/4eC39HqLyjWDarjt";
    let bodies = [
        format!(r#"{{"lone": "\ud800", "key": "{escaped}"}}"#),
        format!("{}\"{escaped}\"{}", "[".repeat(300), "]".repeat(300)),
        format!("{{\"key\": \"{escaped}\"}}\n{{}}"),
        format!("\u{feff}{{\"key\": \"{escaped}\"}}"),
        format!(")]}}',\n{{\"key\": \"{escaped}\"}}"),
        escaped.clone(),
    ];
    for body in bodies {
        assert_eq!(scrub.body(body.clone().into_bytes()), REDACTED.as_bytes(), "{body}");
    }
    let mut invalid = format!("{{\"key\": \"{escaped}\", \"other\": \"").into_bytes();
    invalid.extend_from_slice(b"\xff\"}");
    assert_eq!(scrub.body(invalid), REDACTED.as_bytes());
    let other = Scrub::new(&["sk_live/4eC39HqLyjWDarjt"]);
    assert_eq!(other.body(format!("x {slashed} \\").into_bytes()), REDACTED.as_bytes());
    // JSON keeps what is not the secret; what has escapes and no secret stays byte for byte.
    let json = format!(r#"{{"key": "{escaped}", "n": 1.10}}"#);
    assert_eq!(scrub.body(json.into_bytes()), br#"{"key":"[redacted]","n":1.10}"#);
    let innocent = br#"{"text": "a \/ b \u0041 \\ \ud83d\ude00"}"#;
    assert_eq!(scrub.body(innocent.to_vec()), innocent);
}

/// What is too large to be taken apart is not let through either.
#[test]
fn a_large_body_in_whose_escapes_a_secret_hides_is_not_decoded() {
    let scrub = Scrub::new(&["sk_live_4eC39HqLyjWDarjt"]);
    let body = format!(r#"["{}", "\u0073k_live_4eC39HqLyjWDarjt"]"#, "x".repeat(DECODED_MAX));
    assert_eq!(scrub.body(body.into_bytes()), REDACTED.as_bytes());
}
