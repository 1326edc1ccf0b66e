//! What a broker says of itself: its key, and where its client leads for a service. Nothing of it is secret, and nothing
//! signed: the key is for a person to compare, and the rest is held against the manifest.

use std::time::Duration;

use pinhole_grant::{KeyKind, PublicKey};
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::OAuth;
use pinhole_manifest::{Access, ServiceId};
use serde::Deserialize;

use crate::net::{DownloadBase, DownloadError, PinnedClient, WireLimits};
use crate::oauth::asked;

const LIMITS: WireLimits = WireLimits { response_bytes: 64 << 10, deadline: Duration::from_secs(10) };

/// What a broker says of a service.
#[derive(Debug, Clone)]
pub struct BrokerConfig {
    /// Its key.
    pub key: PublicKey,
    /// Where a flow begins, without its query.
    pub start: String,
}

/// Why nothing can be begun at a broker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address has more than a name.
    #[error("`{}` is no broker's address: write `https://`, a name and nothing else", .0.as_str())]
    Address(HttpsUrl),
    /// It could not be asked.
    #[error("the broker says nothing of itself: {0}")]
    Download(#[from] DownloadError),
    /// It has no client of the service, or is none.
    #[error("the broker has no client of `{0}`: ask its operator")]
    NoService(ServiceId),
    /// What it says is none of a broker's.
    #[error("what is at that address is not a broker")]
    NotABroker,
    /// It believes to be elsewhere.
    #[error("the broker is reached at another address: use the one that it prints at its start")]
    OtherAddress,
    /// Its manifest leads elsewhere than the one here.
    #[error(
        "the broker's manifest of `{0}` leads elsewhere than the one here: one of the two is out of date"
    )]
    OtherManifest(ServiceId),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigWire {
    broker: String,
    key: PublicKey,
    service: ServiceId,
    authorize_url: String,
    token_url: String,
    scopes: ScopesWire,
    #[expect(dead_code, reason = "it is for who registers the client at the service")]
    redirect: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScopesWire {
    read: Vec<String>,
    write: Vec<String>,
}

/// Asks a broker what it says of a service, and holds it against the service's manifest.
pub async fn config(
    client: &PinnedClient,
    broker: &HttpsUrl,
    service: &ServiceId,
    oauth: &OAuth,
) -> Result<BrokerConfig, ConfigError> {
    let start = super::place(broker, &format!("oauth/{service}/start"));
    let start = start.ok_or_else(|| ConfigError::Address(broker.clone()))?;
    let base = DownloadBase::parse(broker.as_str()).or(Err(ConfigError::Address(broker.clone())))?;
    let said = client.download(&base, &format!("oauth/config?service={service}"), LIMITS).await?;
    let said = said.ok_or_else(|| ConfigError::NoService(service.clone()))?;
    let said: ConfigWire = serde_json::from_slice(&said).or(Err(ConfigError::NotABroker))?;
    if said.key.kind() != KeyKind::Broker || said.service != *service {
        return Err(ConfigError::NotABroker);
    }
    if said.broker != broker.as_str() {
        return Err(ConfigError::OtherAddress);
    }
    let leads = (said.authorize_url.as_str(), said.token_url.as_str());
    let asks = (said.scopes.read.as_slice(), said.scopes.write.as_slice());
    if leads != (oauth.authorize_url.as_str(), oauth.token_url.as_str())
        || asks != (asked(oauth, Access::Read), asked(oauth, Access::Write))
    {
        return Err(ConfigError::OtherManifest(service.clone()));
    }
    Ok(BrokerConfig { key: said.key, start: start.as_str().to_owned() })
}
