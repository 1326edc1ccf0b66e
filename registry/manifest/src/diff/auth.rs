//! How a credential is put in, how a person gets one, and how it is proved. DESIGN, "Manifest": `auth`.
//!
//! A service that offers neither tokens nor OAuth takes any key that is pasted, so taking the last rule for keys away
//! widens.

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::oauth;
use super::shown::{clip, code, quoted};
use super::told::{Told, other};
use crate::host::HttpsUrl;
use crate::ids::OpId;
use crate::model::{Auth, AuthScheme, Manifest, Pat};
use crate::pick::SingularPath;

pub(super) fn compare(log: &mut Log, old: &Manifest, new: &Manifest) {
    let (old, new) = (old.auth(), new.auth());
    if old.scheme != new.scheme {
        let says = format!("the key is sent as {}", scheme(&new.scheme));
        log.now(Kind::AuthScheme, Direction::Widens, &At::of(&["auth", "scheme"]), says)
            .between(Some(scheme(&old.scheme)), Some(scheme(&new.scheme)));
    }
    match (&old.pat, &new.pat) {
        (None, None) => {}
        (None, Some(pat)) => pat_added(log, pat),
        (Some(_), None) if new.oauth.is_none() => {
            let says = "any text that is pasted is taken for a key, with no rule of what one looks like";
            log.was(Kind::Pat, Direction::Widens, &pat_at(), says);
        }
        (Some(_), None) => {
            log.was(Kind::Pat, Direction::Narrows, &pat_at(), "nobody is asked for a token any more");
        }
        (Some(before), Some(after)) => pat(log, before, after),
    }
    oauth::compare(log, old, new);
    other(
        log,
        (Kind::Viewer, &At::of(&["auth", "viewer"])),
        (old.viewer.as_ref().map(OpId::as_str), new.viewer.as_ref().map(OpId::as_str)),
        |op| match op {
            Some(op) => format!("a key is proved by the op {op}"),
            None => "a key is kept without being proved".to_owned(),
        },
    );
    account(log, old.account.as_ref(), new.account.as_ref());
}

fn pat_at() -> At {
    At::of(&["auth", "pat"])
}

/// What a service that was not there asks for.
pub(super) fn added(log: &mut Log, new: &Auth) {
    let says = format!("the key is sent as {}", scheme(&new.scheme));
    log.now(Kind::AuthScheme, Direction::Widens, &At::of(&["auth", "scheme"]), says);
    if let Some(pat) = &new.pat {
        pat_added(log, pat);
    }
    if let Some(oauth) = &new.oauth {
        oauth::added(log, oauth);
    }
}

fn pat_added(log: &mut Log, pat: &Pat) {
    let says = format!("a person is asked for a token of her own, and told {}", quoted(&pat.help));
    log.now(Kind::Pat, Direction::Widens, &pat_at(), says);
    if let Some(url) = &pat.help_url {
        let says = format!("a person is sent to {} to make a token", code(url.as_str()));
        log.now(Kind::Link, Direction::Widens, &pat_at().name("help_url"), says);
    }
}

fn pat(log: &mut Log, old: &Pat, new: &Pat) {
    let help = Told { kind: Kind::Text, at: pat_at().name("help"), what: "the help for making a token" };
    help.compare(log, Some(&old.help), Some(&new.help));
    let link =
        Told { kind: Kind::Link, at: pat_at().name("help_url"), what: "the link to where tokens are made" };
    link.compare(
        log,
        old.help_url.as_ref().map(HttpsUrl::as_str),
        new.help_url.as_ref().map(HttpsUrl::as_str),
    );
    let (before, after) =
        (old.pattern.as_ref().map(regex::Regex::as_str), new.pattern.as_ref().map(regex::Regex::as_str));
    let at = pat_at().name("pattern");
    let note = match (before, after) {
        (None, Some(_)) => {
            log.now(Kind::PatPattern, Direction::Narrows, &at, "a token must look like one to be taken")
        }
        (Some(_), None) => {
            log.was(Kind::PatPattern, Direction::Widens, &at, "any text that is pasted is taken for a token")
        }
        (Some(before), Some(after)) if before != after => log.now(
            Kind::PatPattern,
            Direction::Unproven,
            &at,
            "other texts than before are taken for tokens",
        ),
        _ => return,
    };
    note.between(before, after);
}

/// Where the account is named decides what a person believes whose key she gave.
fn account(log: &mut Log, old: Option<&SingularPath>, new: Option<&SingularPath>) {
    if old.map(SingularPath::steps) == new.map(SingularPath::steps) {
        return;
    }
    let (before, after) = (old.map(ToString::to_string), new.map(ToString::to_string));
    other(
        log,
        (Kind::Account, &At::of(&["auth", "account"])),
        (before.as_deref(), after.as_deref()),
        |path| match path {
            Some(path) => format!("the account is named by what stands at {path}"),
            None => "a connection no longer says whose account it is".to_owned(),
        },
    );
}

fn scheme(scheme: &AuthScheme) -> String {
    match scheme {
        AuthScheme::Bearer => "`authorization: Bearer <key>`".to_owned(),
        AuthScheme::Bare => "`authorization: <key>`".to_owned(),
        AuthScheme::Basic => "`authorization: Basic <key>`".to_owned(),
        AuthScheme::Header(name) => clip(&format!("`{name}: <key>`")),
    }
}
