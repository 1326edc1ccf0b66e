//! Files of this machine's own loopback, by plain http: for harnesses that test the client of a registry, and nothing else.
//!
//! Refuses every other host, whatever a name leads to: only address literals of loopback and `localhost`, which is dialled at
//! them. No credential, no redirect, no proxy. DESIGN, "Registry".

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::Sent;
use super::download::{DownloadError, is_there};
use super::error::{WireError, WireErrorKind, before_answer, in_body};
use super::settings::{NetSettings, NetSettingsError};

/// Longest time that one file may take.
const FILE_TIME: Duration = Duration::from_secs(30);

/// A client for files of this machine's own loopback.
#[derive(Debug)]
pub struct LoopbackFiles(Client);

impl LoopbackFiles {
    /// Makes the client.
    pub fn new() -> Result<Self, NetSettingsError> {
        let tls = NetSettings::default().checked()?.tls;
        let here = |port| {
            [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))]
        };
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .resolve_to_addrs("localhost", &here(0))
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .timeout(FILE_TIME)
            .build();
        client.map(Self).map_err(|_none| NetSettingsError::Client)
    }

    /// Gets a file of at most so many bytes; `None` where the server says that there is none.
    pub async fn get(&self, url: &Url, at_most: u64) -> Result<Option<Vec<u8>>, DownloadError> {
        if !is_here(url) {
            let detail = "only http on this machine's own loopback";
            return Err(WireError::new(WireErrorKind::AddressRefused, Sent::No, detail).into());
        }
        let answer = self.0.get(url.clone()).send().await;
        let mut answer = answer.map_err(|error| before_answer(&error, Sent::Maybe))?;
        if !is_there(answer.status())? {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| in_body(&error, Sent::Yes))? {
            bytes.extend_from_slice(&piece);
            if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > at_most {
                return Err(WireError::new(WireErrorKind::ResponseTooLarge, Sent::Yes, "").into());
            }
        }
        Ok(Some(bytes))
    }
}

fn is_here(url: &Url) -> bool {
    let host = match url.host() {
        Some(url::Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(url::Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    host && url.scheme() == "http"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_here() {
        for url in ["http://127.0.0.1:8000/a", "http://[::1]/a", "http://localhost:1/a", "http://127.9.9.9/"]
        {
            assert!(is_here(&Url::parse(url).unwrap()), "{url}");
        }
        for url in [
            "https://127.0.0.1/",
            "http://localhost.example.com/",
            "http://10.0.0.1/",
            "http://example.com/",
            "http://[::ffff:8.8.8.8]/",
            "file:///etc/passwd",
        ] {
            assert!(!is_here(&Url::parse(url).unwrap()), "{url}");
        }
    }
}
