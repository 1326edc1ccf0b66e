//! The `auth` member: how a credential is put in, and how a person gets one. DESIGN, "Manifest".
//!
//! Refuses a header that something else uses, a pattern that could run long, and URLs that are not public. Holds no
//! secret. INVARIANT: where a part is `None` a fault was reported, or it is not there.

use super::answer;
use super::names;
use super::reader::{Object, Value, clip};
use super::service::url;
use super::text::{self, HELP_MAX};
use crate::args::PATTERN_BYTES;
use crate::diagnostic::Code;
use crate::ids::OpId;
use crate::model::{Auth, AuthScheme, ClientAuth, OAuth, Pat, Pkce};
use crate::pick::SingularPath;

/// Longest `pattern`, in bytes.
const PATTERN_MAX: usize = 512;
/// Most scopes in a list.
const SCOPES_MAX: usize = 64;

/// `auth` as far as it could be read.
#[derive(Debug)]
pub(super) struct AuthDraft {
    pub(super) scheme: Option<AuthScheme>,
    pat: Option<Pat>,
    oauth: Option<OAuth>,
    /// The op's name, not yet looked up.
    pub(super) viewer: Option<String>,
    pub(super) account: Option<SingularPath>,
}

impl AuthDraft {
    pub(super) fn build(self) -> Option<Auth> {
        let viewer = match self.viewer {
            Some(name) => Some(OpId::parse(&name).ok()?),
            None => None,
        };
        Some(Auth { scheme: self.scheme?, pat: self.pat, oauth: self.oauth, viewer, account: self.account })
    }
}

pub(super) fn auth(value: &Value<'_>) -> Option<AuthDraft> {
    let mut object = value.object()?;
    let scheme = scheme(&mut object);
    let pat = object.optional("pat").and_then(|value| pat(&value));
    let oauth = object.optional("oauth").and_then(|value| oauth(&value));
    let viewer = object.optional("viewer");
    let account = object.optional("account");
    if let (None, Some(account)) = (&viewer, &account) {
        account.fault(
            Code::AccountPath,
            "`account` reads the viewer's result, and there is no viewer",
            "write `viewer`",
        );
    }
    let viewer = viewer.and_then(|value| value.text()).map(str::to_owned);
    let account = account.and_then(|value| answer::path(&value));
    object.finish();
    Some(AuthDraft { scheme, pat, oauth, viewer, account })
}

fn scheme(object: &mut Object<'_>) -> Option<AuthScheme> {
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Bearer,
        Bare,
        Basic,
        Header,
    }
    let words =
        [("bearer", Word::Bearer), ("bare", Word::Bare), ("basic", Word::Basic), ("header", Word::Header)];
    let word = object.required("scheme").and_then(|value| value.word(&words));
    let header = object.optional("header");
    let scheme = match word? {
        Word::Bearer => AuthScheme::Bearer,
        Word::Bare => AuthScheme::Bare,
        Word::Basic => AuthScheme::Basic,
        Word::Header => {
            let Some(value) = header else {
                object.missing(Code::AuthHeader, "header", "write the header's name, such as `x-api-key`");
                return None;
            };
            let name = value.text()?;
            if !names::is_auth_header(name) {
                let message = format!("`{}` cannot be the header that carries the key", clip(name));
                value.fault(Code::AuthHeader, message, "write a name in lower case, such as `x-api-key`");
                return None;
            }
            return Some(AuthScheme::Header(name.to_owned()));
        }
    };
    if let Some(value) = header {
        value.faults.add_at_key(
            Code::AuthHeader,
            &value.at,
            "this scheme has its own header",
            "leave `header` out, or write the scheme `header`",
        );
    }
    Some(scheme)
}

fn pat(value: &Value<'_>) -> Option<Pat> {
    let mut object = value.object()?;
    let help = object.required("help").and_then(|value| text::line(&value, HELP_MAX));
    let help_url = object.optional("help_url").and_then(|value| url(&value));
    let pattern = object.optional("pattern").and_then(|value| pattern(&value));
    object.finish();
    Some(Pat { help: help?, help_url, pattern })
}

fn pattern(value: &Value<'_>) -> Option<regex::Regex> {
    let text = value.text()?;
    let build = || regex::RegexBuilder::new(text).size_limit(PATTERN_BYTES).build().ok();
    let pattern = if text.len() <= PATTERN_MAX { build() } else { None };
    if pattern.is_none() {
        let help =
            "write one without look-around and back-references, at most 512 bytes and 64 KiB once compiled";
        value.fault(Code::AuthPattern, "this is not a small regular expression of linear time", help);
    }
    pattern
}

fn oauth(value: &Value<'_>) -> Option<OAuth> {
    let mut object = value.object()?;
    let authorize_url = object.required("authorize_url").and_then(|value| url(&value));
    let token_url = object.required("token_url").and_then(|value| url(&value));
    let revoke_url = object.optional("revoke_url").and_then(|value| url(&value));
    let device_url = object.optional("device_url").and_then(|value| url(&value));
    let issuer = object.optional("issuer").and_then(|value| issuer(&value));
    let scopes = object.optional("scopes").and_then(|value| scope_list(&value)).unwrap_or_default();
    let scopes_write = object.optional("scopes_write").and_then(|value| scope_list(&value));
    let client_auth = match object.optional("client_auth") {
        Some(value) => value.word(&[("post", ClientAuth::Post), ("basic", ClientAuth::Basic)]),
        None => Some(ClientAuth::Post),
    };
    let pkce = match object.optional("pkce") {
        Some(value) => value.flag().map(|flag| if flag { Pkce::S256 } else { Pkce::Unsupported }),
        None => Some(Pkce::S256),
    };
    object.finish();
    // A service without scopes of its own for writes has the same for both.
    let scopes_write = scopes_write.unwrap_or_else(|| scopes.clone());
    Some(OAuth {
        authorize_url: authorize_url?,
        token_url: token_url?,
        revoke_url,
        device_url,
        issuer,
        scopes,
        scopes_write,
        client_auth: client_auth?,
        pkce: pkce?,
    })
}

/// An issuer is compared letter by letter, so its text is kept as it is (RFC 8414, section 2).
fn issuer(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    url(value)?;
    if text.contains('?') {
        value.fault(Code::Url, "an issuer has no query", "write what the service sends as `iss`");
        return None;
    }
    Some(text.to_owned())
}

fn scope_list(value: &Value<'_>) -> Option<Vec<String>> {
    let elements = value.elements()?;
    if elements.len() > SCOPES_MAX {
        value.fault(Code::OutOfRange, format!("there are {} scopes", elements.len()), "keep at most 64");
    }
    let scope = |value: &Value<'_>| {
        let text = value.text()?;
        let good = (1..=128).contains(&text.len())
            && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
        if !good {
            let message = format!("`{}` is not a scope", clip(text));
            value.fault(Code::AuthScope, message, "write one scope an element, without blanks");
        }
        good.then(|| text.to_owned())
    };
    Some(elements.iter().filter_map(scope).collect())
}
