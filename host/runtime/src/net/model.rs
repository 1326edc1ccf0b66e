//! The way out to a model: one POST of JSON to the endpoint that the operator set, with the operator's own key.
//!
//! No credential of a connection goes this way, and nothing of a connection but what a person agreed to have sent there:
//! that is what a [`ModelPermit`] says. Refuses http but to a literal address of this machine's loopback. INVARIANT: an https
//! endpoint takes the same guard, TLS and refusals (redirects, addresses that are not public) as a pinned host; the key is
//! the last thing put into the request. DESIGN, "Pinned client".

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use pinhole_manifest::ApiHost;
use pinhole_manifest::host::{HostError, HttpsUrl, HttpsUrlError};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::assemble::assemble;
use super::client::{Allowance, DAY, PinnedClient, timed_out};
use super::error::{Stage, WireError, WireErrorKind, before_answer, in_body};
use super::progress::Progress;
use super::settings::{NetSettings, NetSettingsError};
use super::{Outgoing, Sent, WireLimits};

/// The header that carries the key.
const KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The header that says which version of the interface is meant, and its value.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 1_024;

/// Where a model is asked: a Messages endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUrl(Place);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// A public host, by https on 443, and the path with its query.
    Public(ApiHost, String),
    /// This machine.
    Loopback(Url),
}

/// Why a text is not where a model can be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelUrlError {
    /// It is http to something else than a literal address of loopback.
    #[error(
        "http is for a literal address of this machine's loopback, such as `http://127.0.0.1:8080/v1/messages`"
    )]
    NotLoopback,
    /// It is not such a URL.
    #[error(transparent)]
    Url(#[from] HttpsUrlError),
    /// Its host is not a public name.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Proof that a person has agreed to what is sent there. One request uses none of it up: her word is for a whole session.
#[derive(Debug)]
#[must_use = "a word that is not used was asked for in vain"]
pub struct ModelPermit(ModelUrl);

/// The operator's key for a model. Zeroised, never printed.
pub struct ModelKey(Zeroizing<String>);

/// Why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to {KEY_BYTES_MAX} visible ASCII characters")]
pub struct ModelKeyError;

impl fmt::Debug for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelKey(<secret>)")
    }
}

impl ModelKey {
    /// Takes a key; white space at its ends is left out.
    pub fn new(text: Zeroizing<String>) -> Result<Self, ModelKeyError> {
        let key = Zeroizing::new(text.trim().to_owned());
        let fits =
            (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(key)) } else { Err(ModelKeyError) }
    }
}

impl ModelUrl {
    /// Takes an https URL of a public host, or http to a literal address of loopback.
    pub fn parse(text: &str) -> Result<Self, ModelUrlError> {
        if text.starts_with("http://") {
            let url = Url::parse(text).map_err(|_no_url| ModelUrlError::NotLoopback)?;
            let here = match url.host() {
                Some(url::Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
                Some(url::Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
                Some(url::Host::Domain(_)) | None => false,
            };
            let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
            return if here && plain {
                Ok(Self(Place::Loopback(url)))
            } else {
                Err(ModelUrlError::NotLoopback)
            };
        }
        let url = HttpsUrl::parse(text)?;
        let after = url.as_str().strip_prefix("https://").unwrap_or_default();
        let (host, path) = after.split_once('/').unwrap_or((after, ""));
        Ok(Self(Place::Public(ApiHost::parse(host)?, format!("/{path}"))))
    }

    /// Who is there, for a person: the name, or the address and port.
    pub fn host(&self) -> String {
        match &self.0 {
            Place::Public(host, _) => host.to_string(),
            Place::Loopback(url) => {
                let host = url.host_str().unwrap_or_default();
                format!("{host}:{}", url.port_or_known_default().unwrap_or_default())
            }
        }
    }

    /// The public host, if it is one.
    pub fn public_host(&self) -> Option<&ApiHost> {
        match &self.0 {
            Place::Public(host, _) => Some(host),
            Place::Loopback(_) => None,
        }
    }

    /// For whoever has asked the person whether what she asks for may be sent there, and was told yes.
    pub fn agreed(self) -> ModelPermit {
        ModelPermit(self)
    }
}

/// What the endpoint said, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswer {
    /// Never a redirect.
    pub status: StatusCode,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// The client of a model.
#[derive(Debug)]
pub struct ModelDoor {
    pinned: PinnedClient,
    here: Client,
    key: ModelKey,
}

impl ModelDoor {
    /// Makes the door; opens nothing. Public hosts are dialled by `pinned`.
    pub fn new(pinned: PinnedClient, key: ModelKey) -> Result<Self, NetSettingsError> {
        let tls = NetSettings::default().checked()?.tls;
        let here = Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .build()
            .map_err(|_none| NetSettingsError::Client)?;
        Ok(Self { pinned, here, key })
    }

    /// Posts JSON and takes the answer whole, within the limits.
    pub async fn post(
        &self,
        permit: &ModelPermit,
        body: Vec<u8>,
        limits: WireLimits,
    ) -> Result<ModelAnswer, WireError> {
        let progress = Progress::default();
        let now = Instant::now();
        let deadline = now.checked_add(limits.deadline).unwrap_or(now + DAY);
        let asked = async {
            match &permit.0.0 {
                Place::Public(host, target) => {
                    self.public(host, target, body, (limits.response_bytes, deadline), &progress).await
                }
                Place::Loopback(url) => {
                    self.loopback(url, body, limits.response_bytes, limits.deadline).await
                }
            }
        };
        match tokio::time::timeout_at(deadline, asked).await {
            Ok(done) => done,
            Err(_elapsed) => Err(timed_out(Stage::Total, &progress)),
        }
    }

    async fn public(
        &self,
        host: &ApiHost,
        target: &str,
        body: Vec<u8>,
        (cap, deadline): (u64, Instant),
        progress: &Progress,
    ) -> Result<ModelAnswer, WireError> {
        let outgoing = Outgoing {
            method: Method::POST,
            target: target.to_owned(),
            headers: headers(),
            credential: (KEY, self.credential()?),
            body: Some(Bytes::from(body)),
        };
        let request = assemble(host, outgoing, progress.clone())
            .map_err(|fault| WireError::new(WireErrorKind::Unsendable, Sent::No, fault.to_string()))?;
        let allowance = Allowance { cap, deadline, bodiless: false };
        let mut incoming = self.pinned.send(host, request, allowance, progress).await?;
        let mut body = Vec::new();
        while let Some(piece) = incoming.body.next().await? {
            body.extend_from_slice(&piece);
        }
        Ok(ModelAnswer { status: incoming.status, body })
    }

    async fn loopback(
        &self,
        url: &Url,
        body: Vec<u8>,
        cap: u64,
        time: Duration,
    ) -> Result<ModelAnswer, WireError> {
        let request = self.here.post(url.clone()).headers(headers()).header(KEY, self.credential()?);
        let answer = request.timeout(time).body(body).send().await;
        let mut answer = answer.map_err(|error| before_answer(&error, Sent::Maybe))?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(WireError::new(WireErrorKind::Redirected { status }, Sent::Yes, ""));
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| in_body(&error, Sent::Yes))? {
            body.extend_from_slice(&piece);
            if u64::try_from(body.len()).unwrap_or(u64::MAX) > cap {
                return Err(WireError::new(WireErrorKind::ResponseTooLarge, Sent::Yes, ""));
            }
        }
        Ok(ModelAnswer { status, body })
    }

    fn credential(&self) -> Result<HeaderValue, WireError> {
        let value = HeaderValue::from_str(&self.key.0);
        let mut value = value.map_err(|_unusable| {
            WireError::new(WireErrorKind::Unsendable, Sent::No, "the key is no header")
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

fn headers() -> HeaderMap {
    let (version, said) = VERSION;
    [(CONTENT_TYPE, HeaderValue::from_static("application/json")), (version, said)].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_asked_by_https_or_on_this_machine_s_own_addresses() {
        for url in
            ["https://api.example.com/v1/messages", "http://127.0.0.1:8080/v1/messages", "http://[::1]:1/"]
        {
            assert!(ModelUrl::parse(url).is_ok(), "{url}");
        }
        for url in [
            "http://localhost:8080/v1/messages",
            "http://api.example.com/v1/messages",
            "http://10.0.0.1/",
            "http://user:pass@127.0.0.1/",
            "http://127.0.0.1/#a",
            "https://127.0.0.1/v1/messages",
            "https://localhost/",
            "https://api.example.com:8443/",
            "ftp://127.0.0.1/",
            "",
        ] {
            assert!(ModelUrl::parse(url).is_err(), "{url}");
        }
        assert_eq!(ModelUrl::parse("http://127.0.0.1:8080/v1").unwrap().host(), "127.0.0.1:8080");
        assert_eq!(ModelUrl::parse("https://api.example.com/v1").unwrap().host(), "api.example.com");
    }

    #[test]
    fn a_key_is_visible_text_and_is_not_printed() {
        let key = ModelKey::new(Zeroizing::new(" sk-123\n".to_owned())).unwrap();
        assert_eq!(format!("{key:?}"), "ModelKey(<secret>)");
        for text in ["", " ", "a b", "a\u{7f}", &"a".repeat(KEY_BYTES_MAX + 1)] {
            assert!(ModelKey::new(Zeroizing::new(text.to_owned())).is_err(), "{text}");
        }
    }
}
