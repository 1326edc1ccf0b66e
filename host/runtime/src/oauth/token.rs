//! What is asked of a token endpoint: a code or a refresh token becomes a pair, a token is given up.
//!
//! Refuses to ask a host that is dialled elsewhere than the credential says. INVARIANT: each is asked once; whether it may be
//! asked again is for whoever knows what became of the first. RFC 6749, sections 4.1.3 and 6; RFC 7009.

use std::time::Duration;

use pinhole_grant::Secret;
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::Pkce;

use super::answer::{ANSWER_BYTES_MAX, Answer};
use super::form::Form;
use super::{Client, FreshPair, TokenEndpoint, TokenError, Verifier};
use crate::net::{TokenPermit, WireLimits};

/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// Which of a pair's two tokens is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// The access token.
    Access,
    /// The refresh token; most servers end the access token with it.
    Refresh,
}

impl TokenEndpoint<'_> {
    /// Exchanges the code of a callback. `redirect` is the very one that the authorization was asked with, `verifier` that of
    /// its challenge. A read connection that was given what only a write connection asks for gets no pair: it is given up
    /// again, where that can be done.
    pub async fn exchange(
        &self,
        code: &Secret,
        verifier: Option<&Verifier>,
        redirect: &str,
        cap: Access,
    ) -> Result<FreshPair, TokenError> {
        self.check_pkce(verifier)?;
        let mut form = self.form();
        form.add("grant_type", "authorization_code");
        form.add("code", code.expose());
        form.add("redirect_uri", redirect);
        if let Some(verifier) = verifier {
            form.add("code_verifier", verifier.expose());
        }
        let pair = self.ask(&self.oauth.token_url, form).await?.pair(self.now)?;
        self.within(pair, cap).await
    }

    /// Asks for a fresh pair. A server that rotates ends `refresh` with its answer: keep the new one before it is used.
    pub async fn refresh(&self, refresh: &Secret) -> Result<FreshPair, TokenError> {
        let mut form = self.form();
        form.add("grant_type", "refresh_token");
        form.add("refresh_token", refresh.expose());
        self.ask(&self.oauth.token_url, form).await?.pair(self.now)
    }

    /// Gives a token up. One that the server does not know any more counts as given up.
    pub async fn revoke(&self, token: &Secret, kind: TokenKind) -> Result<(), TokenError> {
        let url =
            self.oauth.revoke_url.as_ref().ok_or(TokenError::NotOffered("URL that takes tokens back"))?;
        let mut form = self.form();
        form.add("token", token.expose());
        form.add(
            "token_type_hint",
            match kind {
                TokenKind::Access => "access_token",
                TokenKind::Refresh => "refresh_token",
            },
        );
        let answer = self.ask(url, form).await?;
        if answer.is_done() { Ok(()) } else { answer.said().map(|_members| ()) }
    }

    /// A public client goes with PKCE or not at all, and nobody leaves it out where the service has it.
    pub(super) fn check_pkce(&self, verifier: Option<&Verifier>) -> Result<(), TokenError> {
        match (self.client, self.oauth.pkce, verifier) {
            (Client::Public { .. }, Pkce::Unsupported, _) => Err(TokenError::PublicWithoutPkce),
            (_, Pkce::S256, None) => Err(TokenError::NotOffered("way without a code verifier")),
            _ => Ok(()),
        }
    }

    pub(super) fn form(&self) -> Form<'_> {
        Form::of(self.client, self.oauth.client_auth)
    }

    /// Posts a form and takes what comes back.
    pub(super) async fn ask(&self, url: &HttpsUrl, form: Form<'_>) -> Result<Answer, TokenError> {
        if self.wire.dial(&url.host()) != self.dial {
            return Err(TokenError::Dial);
        }
        let limits = WireLimits {
            response_bytes: u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX),
            deadline: DEADLINE,
        };
        let answer = self.wire.post_form(TokenPermit::to(url), form.into_posting(), limits).await;
        Answer::take(answer.map_err(|error| TokenError::of_wire(&error))?, self.now).await
    }

    /// Passes a pair that may do what its connection's cap allows.
    pub(super) async fn within(&self, pair: FreshPair, cap: Access) -> Result<FreshPair, TokenError> {
        let scopes = pair.scopes.only_for_writes(self.oauth);
        if cap == Access::Write || scopes.is_empty() {
            return Ok(pair);
        }
        for (token, kind) in
            [(pair.refresh.as_ref(), TokenKind::Refresh), (Some(&pair.access), TokenKind::Access)]
        {
            if let Some(token) = token
                && let Err(error) = self.revoke(token, kind).await
            {
                tracing::debug!(%error, "a pair that may do too much was not given up");
            }
        }
        Err(TokenError::TooMuch { scopes })
    }
}
