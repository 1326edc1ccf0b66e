//! How what has a grammar stands in a column, the same in every database.
//!
//! INVARIANT: a text that is none of a column's words is refused; no default takes its place.

use std::collections::BTreeSet;

use pinhole_grant::{Dial, IdError, PrincipalId};
use pinhole_manifest::digest::DigestError;
use pinhole_manifest::{Access, Digest, ServiceId};

use super::QuestionState;

/// Why a text of a column is none of its words.
#[derive(Debug)]
pub(super) struct NoWord;

pub(super) fn access(word: &str) -> Result<Access, NoWord> {
    [Access::Read, Access::Write].into_iter().find(|access| access.as_str() == word).ok_or(NoWord)
}

pub(super) fn dial(word: &str) -> Result<Dial, NoWord> {
    [Dial::Real, Dial::Overridden].into_iter().find(|dial| dial_word(*dial) == word).ok_or(NoWord)
}

pub(super) fn dial_word(dial: Dial) -> &'static str {
    match dial {
        Dial::Real => "real",
        Dial::Overridden => "overridden",
    }
}

pub(super) fn state(word: &str) -> Result<QuestionState, NoWord> {
    use QuestionState::{Approved, Denied, Expired, Pending, Used};
    [Pending, Approved, Denied, Expired, Used].into_iter().find(|state| state.as_str() == word).ok_or(NoWord)
}

/// How a principal stands in a row; the host itself is the empty text.
pub(super) fn of(principal: Option<PrincipalId>) -> String {
    principal.map(|principal| principal.to_string()).unwrap_or_default()
}

pub(super) fn principal(text: &str) -> Result<Option<PrincipalId>, IdError> {
    if text.is_empty() { Ok(None) } else { PrincipalId::parse(text).map(Some) }
}

/// The services of a token: a JSON array of their ids.
pub(super) fn services(text: &str) -> Option<BTreeSet<ServiceId>> {
    let names: Vec<String> = serde_json::from_str(text).ok()?;
    names.iter().map(|name| ServiceId::parse(name).ok()).collect()
}

pub(super) fn digest(hex: &str) -> Result<Digest, DigestError> {
    Digest::parse(&format!("sha256:{hex}"))
}
