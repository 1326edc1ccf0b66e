//! What the page looks like. No script, nothing inline, no address but of this page.

mod question;
mod text;

use http::StatusCode;
use maud::{DOCTYPE, Markup, html};
use pinhole_grant::PassphraseError;
use pinhole_manifest::visible::visible;
use pinhole_runtime::store::{QuestionState, StoreError};

pub(super) use question::question;

use super::shown::Shown;
use super::side::KeyholderError;

/// The stylesheet.
pub(super) const STYLE: &str = include_str!("style.css");

/// What stands above a question that is shown anew.
#[derive(Debug)]
pub(super) enum Notice {
    /// It is another than the one that was answered.
    Changed,
    /// It waits no more.
    Over(QuestionState),
    /// It cannot be shown whole.
    Unshowable,
    /// The passphrase field was empty.
    NoPassphrase,
    /// What was typed is no passphrase.
    Passphrase(PassphraseError),
    /// The key did not open.
    Key(KeyholderError),
    /// Too many wrong ones; so many seconds are left.
    Locked {
        /// How many.
        seconds: u64,
    },
    /// The runtime did not approve it.
    NotApproved {
        /// Why.
        message: String,
        /// What to do.
        hint: String,
    },
}

impl Notice {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Changed | Self::Over(_) | Self::Unshowable | Self::NotApproved { .. } => {
                StatusCode::CONFLICT
            }
            Self::NoPassphrase | Self::Passphrase(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Key(_) => StatusCode::FORBIDDEN,
            Self::Locked { .. } => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    fn lines(&self) -> [String; 2] {
        let (what, next) = match self {
            Self::Changed => (
                "Nothing was done: what you answered is not what it is now.".to_owned(),
                "This is what it is now. Read it again.".to_owned(),
            ),
            Self::Over(state) => (
                format!("Nothing was done: the question is {} already.", state.as_str()),
                "This is how it stands now.".to_owned(),
            ),
            Self::Unshowable => (
                "Nothing was done: what cannot be shown whole cannot be approved.".to_owned(),
                "Say no, and have it asked anew.".to_owned(),
            ),
            Self::NoPassphrase => (
                "Nothing was done: no passphrase was given.".to_owned(),
                "Your passphrase is your yes. Type it, or say no.".to_owned(),
            ),
            Self::Passphrase(error) => (format!("Nothing was done: {error}."), "Try again.".to_owned()),
            Self::Key(error) => (format!("Nothing was done: {error}."), sentence(error.hint())),
            Self::Locked { seconds } => (
                "Nothing was done: the passphrase was wrong too often.".to_owned(),
                format!("Wait {seconds} seconds, then try again."),
            ),
            Self::NotApproved { message, hint } => (format!("Nothing was done: {message}."), sentence(hint)),
        };
        [what, next]
    }

    fn show(&self) -> Markup {
        let [what, next] = self.lines();
        html! { div.notice role="alert" { p { (text::line(&what)) } p { (text::line(&next)) } } }
    }
}

/// The questions that wait, the newest first.
pub(super) fn list(waiting: &[Shown], key: Option<&KeyholderError>) -> Markup {
    page(
        "What waits for your yes",
        &html! {
            @if let Some(key) = key { (not_ready(key)) }
            @if waiting.is_empty() { p { "Nothing waits for your yes." } }
            ol.list {
                @for shown in waiting { li { (question::entry(shown)) } }
            }
            p { a href="/" { "Look again" } }
        },
    )
}

/// What a person sees whose browser did not show the cookie: the same whatever she asked for.
pub(super) fn landing(on: &str) -> Markup {
    page(
        "Your approvals are one step away",
        &html! {
            p { "Another page led you here, so this one shows nothing yet." }
            p { a href=(on) { "Go on to your approvals" } }
            p {
                "If that leads here again, this browser has not opened the page: open the address that stands in the terminal \
                 of " code { "pinhole approvals page" } ". It works once; to get a new one, stop that command (Ctrl-C) and run \
                 it again. " code { "pinhole approvals" } " at a terminal does the same as this page."
            }
        },
    )
}

/// A one-time address that was used, or never was one.
pub(super) fn spent() -> Markup {
    page(
        "This address is used up",
        &html! {
            p { "It works once, in the browser that opens it first." }
            p {
                "If that was not you, stop " code { "pinhole approvals page" } " now (Ctrl-C). To get a new address, run it again."
            }
        },
    )
}

/// A question that the member was not asked.
pub(super) fn absent() -> Markup {
    page(
        "There is no such question",
        &html! { p { "It may be over and forgotten." } p { a href="/" { "What waits for your yes" } } },
    )
}

/// What is stored cannot be read or written.
pub(super) fn fault(error: &StoreError) -> Markup {
    tracing::error!(error = %visible(&error.to_string()), "the approval page could not read or write what is stored");
    page(
        "What is stored cannot be used",
        &html! {
            div.notice role="alert" {
                p { (text::line(&error.to_string())) }
                p { (text::line(&sentence(error.hint()))) }
            }
            p { a href="/" { "Look again" } }
        },
    )
}

fn not_ready(key: &KeyholderError) -> Markup {
    html! {
        div.notice role="alert" {
            p { "You cannot say yes here: " (text::line(&key.to_string())) "." }
            p { (text::line(&sentence(key.hint()))) }
        }
    }
}

fn page(title: &str, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Pinhole" }
                link rel="stylesheet" href="/style.css";
            }
            body {
                header { "Pinhole" }
                main { h1 { (title) } (main) }
            }
        }
    }
}

/// A hint as a sentence.
fn sentence(hint: &str) -> String {
    let mut chars = hint.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
