//! OAuth: where a person is sent, where codes and tokens go, what is asked for. DESIGN, "Manifest": `auth.oauth`.

use std::collections::BTreeSet;

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::{code, codes};
use crate::host::HttpsUrl;
use crate::model::{Auth, ClientAuth, OAuth, Pkce};

fn at() -> At {
    At::of(&["auth", "oauth"])
}

pub(super) fn compare(log: &mut Log, old: &Auth, new: &Auth) {
    match (&old.oauth, &new.oauth) {
        (None, None) => {}
        (None, Some(oauth)) => added(log, oauth),
        (Some(_), None) if new.pat.is_none() => {
            let says =
                "keys are pasted where a person was sent to the service, and any text is taken for one";
            log.was(Kind::Oauth, Direction::Widens, &at(), says);
        }
        (Some(_), None) => {
            log.was(Kind::Oauth, Direction::Narrows, &at(), "nobody is sent through OAuth any more");
        }
        (Some(before), Some(after)) => both(log, before, after),
    }
}

/// OAuth where there was none.
pub(super) fn added(log: &mut Log, oauth: &OAuth) {
    let says = format!(
        "a person may be sent to {} to connect, and is asked for {}",
        code(oauth.authorize_url.as_str()),
        scopes(&oauth.scopes_write)
    );
    log.now(Kind::Oauth, Direction::Widens, &at(), says);
    url(log, "token_url", None, Some(&oauth.token_url));
    url(log, "revoke_url", None, oauth.revoke_url.as_ref());
    url(log, "device_url", None, oauth.device_url.as_ref());
    address(log, "issuer", None, oauth.issuer.as_deref());
}

fn scopes(scopes: &[String]) -> String {
    if scopes.is_empty() { "no scope by name".to_owned() } else { codes(scopes.iter().map(String::as_str)) }
}

fn both(log: &mut Log, old: &OAuth, new: &OAuth) {
    url(log, "authorize_url", Some(&old.authorize_url), Some(&new.authorize_url));
    url(log, "token_url", Some(&old.token_url), Some(&new.token_url));
    url(log, "revoke_url", old.revoke_url.as_ref(), new.revoke_url.as_ref());
    url(log, "device_url", old.device_url.as_ref(), new.device_url.as_ref());
    address(log, "issuer", old.issuer.as_deref(), new.issuer.as_deref());
    scope_list(log, "scopes", (&old.scopes, &new.scopes));
    scope_list(log, "scopes_write", (&old.scopes_write, &new.scopes_write));
    if old.client_auth != new.client_auth {
        let says = format!("the client's secret is shown to the token URL {}", client_auth(new.client_auth));
        log.now(Kind::OauthClient, Direction::Unproven, &at().name("client_auth"), says)
            .between(Some(client_auth(old.client_auth)), Some(client_auth(new.client_auth)));
    }
    let pkce = at().name("pkce");
    match (old.pkce, new.pkce) {
        (Pkce::S256, Pkce::Unsupported) => {
            let says = "a code that somebody catches on its way back can be made into a token (no PKCE)";
            log.now(Kind::OauthClient, Direction::Widens, &pkce, says);
        }
        (Pkce::Unsupported, Pkce::S256) => {
            log.now(
                Kind::OauthClient,
                Direction::Narrows,
                &pkce,
                "a code is of use to who asked for it alone (PKCE)",
            );
        }
        (Pkce::S256, Pkce::S256) | (Pkce::Unsupported, Pkce::Unsupported) => {}
    }
}

fn client_auth(auth: ClientAuth) -> &'static str {
    match auth {
        ClientAuth::Post => "in the body",
        ClientAuth::Basic => "in the `authorization` header",
    }
}

fn url(log: &mut Log, name: &str, old: Option<&HttpsUrl>, new: Option<&HttpsUrl>) {
    address(log, name, old.map(HttpsUrl::as_str), new.map(HttpsUrl::as_str));
}

fn address(log: &mut Log, name: &str, before: Option<&str>, after: Option<&str>) {
    let at = at().name(name);
    let note = match (before, after) {
        _ if before == after => return,
        (_, Some(after)) => {
            let what = match name {
                "authorize_url" => "a person is sent there to sign in and say yes:",
                "token_url" => "codes, refresh tokens and the client's secret go to",
                "revoke_url" => "tokens that are given up are sent to",
                "issuer" => "a person who comes back from the service is taken to come from",
                _ => "the device flow starts at",
            };
            log.now(Kind::OauthUrl, Direction::Widens, &at, format!("{what} {}", code(after)))
        }
        (_, None) if name == "device_url" => {
            log.was(Kind::OauthUrl, Direction::Narrows, &at, "there is no device flow any more")
        }
        (_, None) if name == "issuer" => {
            let says = "a person who comes back may come from any server on the host that she was sent to";
            log.was(Kind::OauthUrl, Direction::Unproven, &at, says)
        }
        (_, None) => {
            let says = "tokens that are given up are told to nobody, and stay good at the service";
            log.was(Kind::OauthUrl, Direction::Unproven, &at, says)
        }
    };
    note.between(before, after);
}

/// A service that is asked for no scope by name may give all that it has.
fn scope_list(log: &mut Log, name: &str, (old, new): (&[String], &[String])) {
    let set = |list: &'_ [String]| list.iter().cloned().collect::<BTreeSet<String>>();
    let (before, after) = (set(old), set(new));
    let at = at().name(name);
    let cap = if name == "scopes" { "every connection" } else { "a connection that may write" };
    let more: Vec<&str> = after.difference(&before).map(String::as_str).collect();
    let less: Vec<&str> = before.difference(&after).map(String::as_str).collect();
    let (direction, says) = if !more.is_empty() {
        (Direction::Widens, format!("{cap} asks for {} besides", codes(more)))
    } else if less.is_empty() {
        return;
    } else if after.is_empty() {
        let says = format!("{cap} asks for no scope by name, which some services take for all of them");
        (Direction::Unproven, says)
    } else {
        (Direction::Narrows, format!("{cap} no longer asks for {}", codes(less)))
    };
    log.now(Kind::OauthScope, direction, &at, says).between(Some(old.join(" ")), Some(new.join(" ")));
}
