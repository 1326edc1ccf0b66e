//! The serialised form of a credential: strict, private, zeroised.
//!
//! Says `None` to whatever is not exactly one credential; why is not told, for it could quote the secret.

use pinhole_manifest::{Access, ApiHost, ServiceId, host::HttpsUrl};
use serde::{Deserialize, Serialize};

use super::renewer::RenewerWire;
use super::{Credential, CredentialKind, CredentialParts, Dial};
use crate::secret::Secret;
use crate::text::{Account, CredentialId, Label, SourceName};
use crate::time::UnixTime;
use crate::wire::WireSecret;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialWire {
    id: CredentialId,
    #[serde(rename = "gen")]
    generation: u64,
    service: ServiceId,
    label: Label,
    account: Account,
    host: ApiHost,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_url: Option<String>,
    registry: SourceName,
    kind: CredentialKind,
    secret: WireSecret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<WireSecret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<UnixTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renewer: Option<RenewerWire>,
    /// No cap is the lower one.
    #[serde(default = "read_only")]
    cap: Access,
    dial: Dial,
}

pub(crate) fn read_only() -> Access {
    Access::Read
}

impl CredentialWire {
    pub(crate) fn of(credential: &Credential) -> Self {
        let copy = |secret: &Secret| WireSecret::new(secret.expose().to_owned());
        Self {
            id: credential.id(),
            generation: credential.generation(),
            service: credential.service().clone(),
            label: credential.label().clone(),
            account: credential.account().clone(),
            host: credential.host().clone(),
            token_url: credential.token_url().map(|url| url.as_str().to_owned()),
            registry: credential.registry().clone(),
            kind: credential.kind(),
            secret: copy(credential.secret()),
            refresh: credential.refresh().map(copy),
            expires_at: credential.expires_at(),
            renewer: credential.renewer().map(RenewerWire::of),
            cap: credential.cap(),
            dial: credential.dial(),
        }
    }

    pub(crate) fn into_credential(self) -> Option<Credential> {
        let take = |secret: WireSecret| Secret::from_zeroizing(secret.into_inner()).ok();
        let parts = CredentialParts {
            id: self.id,
            service: self.service,
            label: self.label,
            account: self.account,
            host: self.host,
            token_url: self.token_url.map(|url| HttpsUrl::parse(&url)).transpose().ok()?,
            registry: self.registry,
            kind: self.kind,
            secret: take(self.secret)?,
            refresh: match self.refresh {
                Some(refresh) => Some(take(refresh)?),
                None => None,
            },
            expires_at: self.expires_at,
            renewer: match self.renewer {
                Some(renewer) => Some(Box::new(renewer.into_renewer()?)),
                None => None,
            },
            cap: self.cap,
            dial: self.dial,
        };
        Credential::of_generation(parts, self.generation).ok()
    }
}

pub(crate) fn read(payload: &[u8]) -> Option<Credential> {
    serde_json::from_slice::<CredentialWire>(payload).ok()?.into_credential()
}
