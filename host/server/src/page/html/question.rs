//! One question: everything that a yes would do, then the two answers.

use maud::{Markup, html};
use pinhole_runtime::local::{Sheet, SheetError};
use pinhole_runtime::store::QuestionState;
use serde_json::Value;

use super::super::shown::Shown;
use super::super::side::KeyholderError;
use super::{Notice, not_ready, page, text};

/// The page of a question. `key` is why the member's key could not say yes.
pub(in super::super) fn question(
    shown: &Shown,
    token: &str,
    notice: Option<&Notice>,
    key: Option<&KeyholderError>,
) -> Markup {
    let question = &shown.question;
    let title = match question.state {
        QuestionState::Pending => "A write waits for your yes",
        QuestionState::Approved => "You said yes",
        QuestionState::Denied => "Denied",
        QuestionState::Expired => "Over: nobody answered or used it in time",
        QuestionState::Used => "Done: the write was given out to run",
    };
    page(
        title,
        &html! {
            @if let Some(notice) = notice { (notice.show()) }
            (next(shown))
            @match &shown.sheet {
                Ok(sheet) => (whole(sheet, shown)),
                Err(error) => (unshowable(error)),
            }
            @match question.state {
                QuestionState::Pending => (answers(shown, token, key)),
                QuestionState::Approved => (deny(shown, token, "Take it back")),
                QuestionState::Denied | QuestionState::Expired | QuestionState::Used => {},
            }
            p { a href="/" { "What waits for your yes" } }
        },
    )
}

/// A question among others.
pub(super) fn entry(shown: &Shown) -> Markup {
    let question = &shown.question;
    html! {
        a href={ "/question/" (question.id) } {
            @match &shown.sheet {
                Ok(sheet) => (text::line(&sheet.confirm)),
                Err(_) => { (question.service) "." (question.op) ", which cannot be shown" },
            }
        }
        p.about {
            @if question.state == QuestionState::Approved { "Approved, not used yet. " }
            (question.id) ", on " (text::line(question.account.as_str()))
            ", asked " (question.raised_at.in_utc())
            @if question.principal.is_some() { " by " (text::line(&shown.asker)) }
        }
    }
}

/// What happens next.
fn next(shown: &Shown) -> Markup {
    let until = shown.question.approval.map(|(_, until)| until.in_utc()).unwrap_or_default();
    html! {
        @match shown.question.state {
            QuestionState::Approved => p.done role="status" {
                "The same call runs it now, once, until " (until) ", within the hour. Whoever asked makes the call again. \
                 Until then you can take it back."
            },
            QuestionState::Denied => p.done role="status" { "It does not run. Nothing was sent." },
            QuestionState::Expired => p.done role="status" { "It does not run. It can be asked anew." },
            QuestionState::Used => p.done role="status" { "Its one use is gone. Another one takes another yes." },
            QuestionState::Pending => {},
        }
    }
}

fn whole(sheet: &Sheet, shown: &Shown) -> Markup {
    let args = sheet.args.as_object();
    let request = &sheet.request;
    html! {
        p.confirm { (text::line(&sheet.confirm)) }
        @if sheet.irreversible { p.warning { "It cannot be taken back." } }
        h2 { "Every argument" }
        @if args.is_none_or(serde_json::Map::is_empty) { p { "None." } }
        dl.args {
            @for (name, value) in args.into_iter().flatten() {
                dt { (text::line(name)) }
                dd { (text::value(name, value)) }
            }
        }
        h2 { "What would be done" }
        dl {
            (field("Request", &html! { (request.method) " " (text::line(&request.url)) }))
            // Of a manifest that nobody reviewed, what else it sends is hers to see.
            @if let Some(body) = request.body.as_ref().filter(|_| sheet.unsigned) {
                (field("Body", &text::value("body", body)))
            }
            (field("Connection", &connection(sheet)))
            (field("Account", &text::line(sheet.account.as_str())))
            @if let Some(effect) = sheet.effect { (field("Effect", &html! { (effect.as_str()) })) }
            (field("Irreversible", &html! { (if sheet.irreversible { "yes, it cannot be taken back" } else { "no" }) }))
            @for found in &sheet.found { (field("Looked up", &looked_up(found))) }
        }
        h2 { "Who asks" }
        dl {
            (field("Operation", &html! {
                (sheet.service) "." (sheet.op) " of " (sheet.manifest)
                @if sheet.unsigned { strong { ", unsigned: nobody reviewed it" } }
                ": " (text::line(&sheet.summary))
            }))
            (field("Asked by", &text::line(&shown.asker)))
            (field("Bot", &html! { code { (sheet.bot) } }))
            (field("Question", &html! {
                (sheet.question) ", asked " (sheet.raised_at.in_utc()) ", over " (sheet.expires_at.in_utc())
            }))
        }
    }
}

fn field(name: &str, value: &Markup) -> Markup {
    html! { dt { (name) } dd { (value) } }
}

fn connection(sheet: &Sheet) -> Markup {
    html! {
        (sheet.service) " "
        @match &sheet.label {
            Some(label) => (text::line(label.as_str())),
            None => strong { "not there any more" },
        }
        @if sheet.stand_in { ", for a stand-in: nothing reaches the service itself" }
    }
}

fn looked_up(found: &pinhole_runtime::call::Found) -> Markup {
    let value = found.value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
    html! {
        (found.op) " " (text::line(&Value::Object(found.args.clone()).to_string())) ": "
        (text::line(&found.path)) " is " (text::line(&value))
    }
}

fn unshowable(error: &SheetError) -> Markup {
    html! {
        div.notice role="alert" {
            p { "It cannot be shown, and so not approved: " (text::line(&error.to_string())) "." }
            p {
                @match error {
                    SheetError::Store(error) => (text::line(&super::sentence(error.hint()))),
                    _ => "If the manifest was updated, stop this page (Ctrl-C at its terminal) and start it again; else say no, \
                          and have it asked anew.",
                }
            }
        }
    }
}

fn answers(shown: &Shown, token: &str, key: Option<&KeyholderError>) -> Markup {
    let gone = shown.sheet.as_ref().is_ok_and(|sheet| sheet.label.is_none());
    html! {
        h2 { "Your answer" }
        @match (&shown.sheet, key) {
            (Err(_), _) => {},
            (Ok(_), _) if gone => p { "It cannot be approved: its connection is not there any more." },
            (Ok(_), Some(key)) => (not_ready(key)),
            (Ok(_), None) => form method="post" action={ "/question/" (shown.question.id) "/approve" } {
                (hidden(shown, token))
                label for="passphrase" { "Passphrase of your key" }
                input #passphrase type="password" name="passphrase" required autocomplete="off" aria-describedby="yes-does";
                p #yes-does { "Your passphrase says yes to exactly this, once." }
                button.yes type="submit" { "Say yes" }
            },
        }
        (deny(shown, token, "Say no"))
    }
}

fn deny(shown: &Shown, token: &str, words: &str) -> Markup {
    html! {
        form method="post" action={ "/question/" (shown.question.id) "/deny" } {
            (hidden(shown, token))
            button.no type="submit" { (words) }
        }
    }
}

/// What every form carries: that it is the page's own, and what it stands below.
fn hidden(shown: &Shown, token: &str) -> Markup {
    html! {
        input type="hidden" name="token" value=(token);
        input type="hidden" name="sheet" value=(shown.digest());
    }
}
