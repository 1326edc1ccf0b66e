//! The serialised form of a grant: strict, private, zeroised.
//!
//! Says `None` to whatever is not exactly one grant; why is not told, for it could quote the secret.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use pinhole_manifest::{Access, ApiHost, Digest, OpId, ServiceId};
use serde::{Deserialize, Serialize};

use super::Grant;
use crate::approval::ActionDigest;
use crate::credential::wire::{CredentialWire, read_only};
use crate::keys::{KeyId, PublicKey};
use crate::scope::{Scope, Where};
use crate::text::{Account, CredentialId, GrantId};
use crate::time::UnixTime;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantWire {
    pub(super) id: GrantId,
    pub(super) issuer: KeyId,
    pub(super) bot: KeyId,
    pub(super) connection: CredentialId,
    pub(super) account: Account,
    pub(super) service: ServiceId,
    pub(super) host: ApiHost,
    pub(super) manifest: Digest,
    /// No access is the lower one.
    #[serde(default = "read_only")]
    pub(super) access: Access,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ops: Option<BTreeSet<OpId>>,
    #[serde(default, rename = "where", skip_serializing_if = "Where::is_empty")]
    pub(super) wheres: Where,
    pub(super) iat: UnixTime,
    pub(super) not_before: UnixTime,
    pub(super) expires_at: UnixTime,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) uses: Option<NonZeroU32>,
    pub(super) credential: CredentialWire,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) return_to: Option<PublicKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) approves: Option<ActionDigest>,
}

pub(super) fn read(payload: &[u8]) -> Option<Grant> {
    let wire: GrantWire = serde_json::from_slice(payload).ok()?;
    Some(Grant {
        id: wire.id,
        issuer: wire.issuer,
        bot: wire.bot,
        connection: wire.connection,
        account: wire.account,
        service: wire.service,
        host: wire.host,
        manifest: wire.manifest,
        scope: Scope {
            access: wire.access,
            ops: wire.ops,
            wheres: wire.wheres,
            not_before: wire.not_before,
            expires_at: wire.expires_at,
            uses: wire.uses,
        },
        issued_at: wire.iat,
        credential: wire.credential.into_credential()?,
        return_to: wire.return_to,
        approves: wire.approves,
    })
}
