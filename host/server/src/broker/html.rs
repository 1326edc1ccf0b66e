//! The broker's two pages: the one that asks for a click before anything goes to the service, and the one that says no.
//!
//! No script, nothing inline. INVARIANT: what is asked for is what the form carries.

use maud::{DOCTYPE, Markup, html};
use pinhole_manifest::Access;
use pinhole_manifest::model::OAuth;
use pinhole_manifest::visible::visible;
use pinhole_runtime::oauth::asked;

use super::start::Start;

/// The stylesheet.
pub(super) const STYLE: &str = include_str!("../page/html/style.css");
/// Where it is.
pub(super) const STYLE_PATH: &str = "/oauth/style.css";

/// What is about to happen, and the button that lets it.
pub(super) fn confirm(name: &str, oauth: &OAuth, start: &Start, to: &str, form: &str) -> Markup {
    let name = visible(name);
    let scopes = asked(oauth, start.cap).join(" ");
    page(
        &format!("Connect {name}?"),
        &html! {
            p { "A " code { "pinhole connect" } " wants to be let into your account at " b { (name) } "." }
            dl {
                dt { "For the key" }
                dd { code { (start.key.id().fingerprint()) } }
                dt { "What it may do" }
                dd {
                    @match start.cap {
                        Access::Read => "read",
                        Access::Write => "read and write",
                    }
                }
                @if !scopes.is_empty() {
                    dt { "As " (name) " calls it" }
                    dd { code { (visible(&scopes)) } }
                }
                dt { "You go on to" }
                dd { code { (oauth.authorize_url.host().as_str()) } }
                dt { "and come back to this computer, at" }
                dd { code { (start.redirect) } }
            }
            div.warning {
                p { "Go on only if you have started this yourself just now, and your terminal shows the same key." }
            }
            form method="post" action=(to) {
                @for (name, value) in start.fields() { input type="hidden" name=(name) value=(value); }
                input type="hidden" name="form" value=(form);
                button.yes type="submit" { "Go on to " (name) }
            }
            p { "If a link of somebody else led you here, close this page: nothing was done." }
        },
    )
}

/// Nothing was done, and why.
pub(super) fn nothing(message: &str) -> Markup {
    page(
        "Nothing was connected",
        &html! {
            div.notice role="alert" { p { (message) } }
            p { "You can close this page. To try again, run " code { "pinhole connect" } " again." }
        },
    )
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
                link rel="stylesheet" href=(STYLE_PATH);
            }
            body {
                header { "Pinhole" }
                main { h1 { (title) } (main) }
            }
        }
    }
}
