//! The way through the browser: where the person is sent, and what comes back with her.
//!
//! Refuses what comes back without the state of this very attempt, from another issuer, or saying anything twice. INVARIANT:
//! a state is 256 random bits, compared without telling how far it agreed. RFC 6749, sections 4.1.1 and 4.1.2; RFC 9207.

use std::collections::HashSet;
use std::fmt;

use pinhole_grant::{ClientId, Secret};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::OAuth;
use sha2::{Digest as _, Sha256};
use url::Url;
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::pkce::random_text;
use super::{ErrorCode, scopes};
use crate::entropy::{Entropy, EntropyError};

/// What binds an answer to the attempt that asked for it. Good once: whoever holds it lets it go with the answer.
pub struct State(Zeroizing<String>);

impl State {
    /// A new one, of 43 characters.
    pub fn new(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        random_text(entropy).map(Self)
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether a text is this state.
    pub fn matches(&self, text: &str) -> bool {
        // How far two digests agree says nothing of how far the texts do.
        Sha256::digest(self.expose()) == Sha256::digest(text)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State(<secret>)")
    }
}

/// What the person is asked to allow.
#[derive(Debug)]
pub struct Authorize<'a> {
    /// The service's endpoints.
    pub oauth: &'a OAuth,
    /// Who asks.
    pub client: &'a ClientId,
    /// Where she is sent back to, exactly as the client is registered.
    pub redirect: &'a str,
    /// What binds the answer to this attempt.
    pub state: &'a State,
    /// The S256 challenge, where the service has PKCE.
    pub challenge: Option<&'a str>,
    /// The most that the connection is to allow.
    pub cap: Access,
}

/// Why there is no page to send her to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizeError {
    /// The manifest's URL already has a parameter that is written here.
    #[error("the manifest's authorize URL holds a parameter that belongs to the request")]
    Parameter,
    /// It is no URL.
    #[error("the manifest's authorize URL is not read back")]
    Url,
}

impl Authorize<'_> {
    /// The URL of the page at which she says yes.
    pub fn url(&self) -> Result<String, AuthorizeError> {
        let scope = scopes::asked(self.oauth, self.cap).join(" ");
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", self.client.as_str()),
            ("redirect_uri", self.redirect),
            ("state", self.state.expose()),
        ];
        if !scope.is_empty() {
            pairs.push(("scope", &scope));
        }
        if let Some(challenge) = self.challenge {
            pairs.extend([("code_challenge", challenge), ("code_challenge_method", "S256")]);
        }
        let mut url = Url::parse(self.oauth.authorize_url.as_str()).map_err(|_source| AuthorizeError::Url)?;
        if url.query_pairs().any(|(name, _)| pairs.iter().any(|(written, _)| *written == name)) {
            return Err(AuthorizeError::Parameter);
        }
        url.query_pairs_mut().extend_pairs(pairs);
        Ok(url.into())
    }
}

/// What came back with the person.
#[derive(Debug, Clone, Copy)]
pub struct Callback<'a> {
    /// The query of the request, without its `?`.
    pub query: &'a str,
    /// The state of the one attempt that waits.
    pub state: &'a State,
    /// The service's endpoints.
    pub oauth: &'a OAuth,
}

/// Why there is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallbackError {
    /// It is no answer to this attempt: it neither ends nor answers it.
    #[error("this is not the answer that is waited for")]
    NotOurs,
    /// It says something twice, or neither code nor error.
    #[error("the answer of the authorization server says something twice, or nothing")]
    Malformed,
    /// It comes from another authorization server.
    #[error("the answer names another authorization server than the service's")]
    Issuer,
    /// The person said no.
    #[error("the connection was declined on the service's page")]
    Denied,
    /// The server refused.
    #[error("the authorization server refuses the request{}", code.map(|code| format!(" (`{code}`)")).unwrap_or_default())]
    Refused {
        /// What it said, where it said anything known.
        code: Option<ErrorCode>,
    },
}

/// The code in an answer, if it is one to this attempt.
pub fn callback(callback: Callback<'_>) -> Result<Secret, CallbackError> {
    let Callback { query, state, oauth } = callback;
    let mut seen = HashSet::new();
    let (mut code, mut error, mut issuer, mut ours, mut twice) = (None, None, None, false, false);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = Zeroizing::new(value.into_owned());
        match &*name {
            "state" => ours = state.matches(&value),
            "code" => code = Some(value),
            "error" => error = Some(value),
            "iss" => issuer = Some(value),
            _ => continue,
        }
        twice |= !seen.insert(name.into_owned());
    }
    if !ours {
        return Err(CallbackError::NotOurs);
    }
    if twice {
        return Err(CallbackError::Malformed);
    }
    if !is_from(issuer.as_ref().map(|issuer| issuer.as_str()), oauth) {
        return Err(CallbackError::Issuer);
    }
    match (code, error) {
        (Some(code), None) => Secret::new(code.to_string()).map_err(|_source| CallbackError::Malformed),
        (None, Some(error)) if *error == "access_denied" => Err(CallbackError::Denied),
        (None, Some(error)) => Err(CallbackError::Refused { code: ErrorCode::known(&error) }),
        _ => Err(CallbackError::Malformed),
    }
}

/// Whether an answer comes from the service's own authorization server: the issuer that the manifest names, and where it
/// names none, one of the host at which the person was.
fn is_from(issuer: Option<&str>, oauth: &OAuth) -> bool {
    match (issuer, oauth.issuer.as_deref()) {
        (given, Some(expected)) => given == Some(expected),
        (Some(given), None) => {
            HttpsUrl::parse(given).is_ok_and(|given| given.host() == oauth.authorize_url.host())
        }
        (None, None) => true,
    }
}
