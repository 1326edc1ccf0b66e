//! What the tests look at: an outcome's code, its JSON, and that no key is in it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use pinhole_runtime::Outcome;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{Code, Refusal};
use pinhole_standin::{Reply, Route};
use pinhole_tests::{KEY, ORG, PASTED, REPO, Stage};
use serde_json::{Value, json};

/// A run, and where it ran.
pub(crate) struct Provoked {
    pub(crate) stage: Stage,
    pub(crate) outcome: Outcome,
}

impl Provoked {
    /// Asserts the refusal, and that the key is nowhere in the outcome.
    pub(crate) fn is(&self, code: Code, sent: Sent) {
        is(&self.outcome, code, sent);
    }

    /// The same, and that no connection was made.
    pub(crate) fn is_before_connecting(&self, code: Code) {
        self.is(code, Sent::No);
        assert_eq!(self.stage.standin.connections(), 0, "{code}: a connection was made");
        assert_eq!(self.outcome.meta.requests, 0, "{code}: a request was made");
    }
}

pub(crate) fn refusal(outcome: &Outcome) -> &Refusal {
    outcome.refusal().unwrap_or_else(|| panic!("it ran: {}", outcome.to_json()))
}

pub(crate) fn is(outcome: &Outcome, code: Code, sent: Sent) {
    let refusal = refusal(outcome);
    assert_eq!((refusal.code, refusal.sent), (code, sent), "{} {:?}", outcome.to_json(), refusal);
    holds_no_key(outcome);
}

/// Asserts that a table has no faults; shows the first of them, each no longer than a few lines.
pub(crate) fn no_faults(faults: &[String]) {
    let shown: Vec<String> = faults.iter().take(20).map(|fault| fault.chars().take(600).collect()).collect();
    assert!(faults.is_empty(), "{} faults, of which the first are\n{}", faults.len(), shown.join("\n"));
}

/// The result as JSON.
pub(crate) fn result(outcome: &Outcome) -> Value {
    holds_no_key(outcome);
    let result = outcome.result().unwrap_or_else(|| panic!("it was refused: {}", outcome.to_json()));
    serde_json::from_str(&result.to_string()).unwrap()
}

pub(crate) fn parsed(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.to_json()).unwrap()
}

/// The key as it is and in the forms that it could come back in. Base64 is cut at both ends to what is the key's alone, at
/// each alignment.
pub(crate) fn forms(key: &str) -> Vec<String> {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap();
    let hex: String = key.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect();
    let digits: Vec<char> = hex.chars().collect();
    let percent: String = digits.chunks(2).flat_map(|pair| ['%', pair[0], pair[1]]).collect();
    let mut forms = vec![key.to_owned(), hex.to_uppercase(), hex, percent.to_uppercase(), percent];
    for lead in 0..3 {
        let text = format!("{}{key}", "x".repeat(lead));
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&text);
            forms.push(encoded[(lead * 8).div_ceil(6)..text.len() * 8 / 6].to_owned());
        }
    }
    forms
}

/// Asserts that no stand-in's key is anywhere: in the JSON, in what `Debug` prints, in what goes to the log.
pub(crate) fn holds_no_key(outcome: &Outcome) {
    let detail = outcome.refusal().and_then(Refusal::private_detail).unwrap_or_default();
    let places = [outcome.to_json(), format!("{outcome:?}"), detail.to_owned()];
    for form in [KEY, PASTED].into_iter().flat_map(forms) {
        // `Debug` and JSON escape nothing of these forms but quotes and backslashes, which they have none of.
        assert!(!places.iter().any(|place| place.contains(&form)), "the key is in {places:?}");
    }
}

/// The key as a Basic header has it.
pub(crate) fn basic(key: &str) -> String {
    STANDARD.encode(format!("{key}:"))
}

pub(crate) fn repo_args() -> Value {
    json!({"owner": ORG, "repo": REPO})
}

pub(crate) fn issue_args(title: &str) -> Value {
    json!({"owner": ORG, "repo": REPO, "title": title})
}

pub(crate) fn comment_args(text: &str) -> Value {
    json!({"owner": ORG, "repo": REPO, "issue_number": 2, "body": text})
}

/// A route that answers with this.
pub(crate) fn get(target: &str, value: &Value) -> Route {
    Route::get(target, Reply::json(200, value))
}

/// A route that takes a write and answers with this.
pub(crate) fn post(target: &str, value: &Value) -> Route {
    Route::new(http::Method::POST, target, Reply::json(201, value))
}
