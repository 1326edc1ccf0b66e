//! A secret in every form that the scrub knows: what an answer says, and what of it must not come out.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// One form of one secret.
#[derive(Debug)]
pub(super) struct Form {
    /// The name of the form, for a failure.
    pub(super) name: String,
    /// What the service says.
    pub(super) text: String,
    /// The same as a JSON string.
    pub(super) literal: String,
    /// The part of it that is the secret's alone.
    pub(super) secret: String,
}

impl Form {
    fn new(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), literal: quoted(&text), secret: text.clone(), text }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A text without the quotes that JSON puts around it.
pub(super) fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

fn each_byte(text: &str, write: impl Fn(&mut String, u8)) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        write(&mut all, byte);
        all
    })
}

/// Only what a URL would not take as it is.
fn percent_encoded_where_needed(text: &str) -> String {
    each_byte(text, |all, byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => all.push(char::from(byte)),
        _ => write!(all, "%{byte:02X}").unwrap(),
    })
}

/// In the middle of a longer text, `lead` bytes after a multiple of three.
fn inside(name: &str, engine: &GeneralPurpose, lead: usize, secret: &str) -> Form {
    let text = engine.encode(format!("{}{secret} and more", "x".repeat(lead)));
    let own = text[(lead * 8).div_ceil(6)..(lead + secret.len()) * 8 / 6].to_owned();
    Form { secret: own, ..Form::new(&format!("{name}, {lead} bytes in"), text) }
}

pub(super) fn forms(secret: &str) -> Vec<Form> {
    let mut forms = vec![
        Form::new("plain", secret.to_owned()),
        Form::new("in hex", each_byte(secret, |all, byte| write!(all, "{byte:02x}").unwrap())),
        Form::new("in upper-case hex", each_byte(secret, |all, byte| write!(all, "{byte:02X}").unwrap())),
        Form::new("percent-encoded", each_byte(secret, |all, byte| write!(all, "%{byte:02x}").unwrap())),
        Form::new(
            "percent-encoded in upper case",
            each_byte(secret, |all, byte| write!(all, "%{byte:02X}").unwrap()),
        ),
        Form::new("percent-encoded where needed", percent_encoded_where_needed(secret)),
        Form::new("in base64", STANDARD.encode(secret)),
        Form::new("in base64 without padding", STANDARD_NO_PAD.encode(secret)),
        Form::new("in base64url", URL_SAFE.encode(secret)),
        Form::new("in base64url without padding", URL_SAFE_NO_PAD.encode(secret)),
        Form::new("as Basic", STANDARD.encode(format!("{secret}:"))),
        Form::new("escaped for JSON", escaped(secret)),
        Form::new("escaped for JSON with its slashes", escaped(secret).replace('/', "\\/")),
    ];
    for lead in 0..3 {
        forms.push(inside("in base64 of a longer text", &STANDARD, lead, secret));
        forms.push(inside("in base64url of a longer text", &URL_SAFE_NO_PAD, lead, secret));
    }
    let units = each_byte(secret, |all, byte| write!(all, "\\u{byte:04x}").unwrap());
    forms.push(Form {
        literal: format!("\"{units}\""),
        ..Form::new("with every letter escaped", secret.to_owned())
    });
    forms
}
