//! How a credential is put into a request, and how a person gets one. DESIGN, "Manifest": `auth`.

use crate::host::HttpsUrl;
use crate::ids::OpId;
use crate::pick::SingularPath;

/// The `auth` member.
#[derive(Debug)]
#[non_exhaustive]
pub struct Auth {
    /// Where the key stands in a request.
    pub scheme: AuthScheme,
    /// How to get a personal access token.
    pub pat: Option<Pat>,
    /// How to get a token pair by OAuth.
    pub oauth: Option<OAuth>,
    /// The read op that proves a key.
    pub viewer: Option<OpId>,
    /// Where the viewer's picked result names the account.
    pub account: Option<SingularPath>,
}

/// Where the key stands in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthScheme {
    /// `authorization: Bearer <key>`.
    Bearer,
    /// `authorization: <key>`.
    Bare,
    /// `authorization: Basic base64(<key>:)`.
    Basic,
    /// The key alone in this header; the name is in lower case.
    Header(String),
}

impl AuthScheme {
    /// The header that carries the credential, in lower case.
    pub fn header_name(&self) -> &str {
        match self {
            Self::Bearer | Self::Bare | Self::Basic => "authorization",
            Self::Header(name) => name,
        }
    }
}

/// A personal access token, as the service offers it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pat {
    /// What to tick on the service's page.
    pub help: String,
    /// The page where a token is made.
    pub help_url: Option<HttpsUrl>,
    /// What a token looks like; linear in the length of the text.
    pub pattern: Option<regex::Regex>,
}

/// The service's OAuth endpoints, which may be on other hosts than the API.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OAuth {
    /// Where the person says yes.
    pub authorize_url: HttpsUrl,
    /// Where a code or a refresh token becomes a pair.
    pub token_url: HttpsUrl,
    /// Where a token is given back.
    pub revoke_url: Option<HttpsUrl>,
    /// Where the device flow starts (RFC 8628).
    pub device_url: Option<HttpsUrl>,
    /// What the service calls itself in its answer to the browser (RFC 9207), letter by letter; where it is given, an answer
    /// without it is refused. An `https` URL without a query.
    pub issuer: Option<String>,
    /// Scopes for a connection whose cap is read.
    pub scopes: Vec<String>,
    /// Scopes for a connection whose cap is write.
    pub scopes_write: Vec<String>,
    /// How the client shows its secret to the token endpoint.
    pub client_auth: ClientAuth,
    /// Whether the service takes part in PKCE (RFC 7636).
    pub pkce: Pkce,
}

/// How the client shows its secret to the token endpoint (RFC 6749, section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// In the form body.
    Post,
    /// In the `authorization` header.
    Basic,
}

/// Whether the service takes part in PKCE (RFC 7636).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pkce {
    /// A challenge is sent, method S256.
    S256,
    /// The service has none.
    Unsupported,
}
