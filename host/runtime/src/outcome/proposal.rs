//! A write that waits for nobody here: what its caller takes to the member's own client, which shows it to her.
//!
//! INVARIANT: it permits nothing. Whoever reads it believes no more of it than the service, the op, the args, the bot and the
//! connection, and finds the rest for herself. DESIGN, "Who holds what".

use pinhole_grant::{Account, ActionDigest, CredentialId, PublicKey};
use pinhole_manifest::{Digest, OpId, ServiceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A write that a bot asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Proposal {
    /// The service.
    pub service: ServiceId,
    /// The op.
    pub op: OpId,
    /// Every arg, in its normal form.
    pub args: Value,
    /// The digest of the bot's manifest.
    pub manifest: Digest,
    /// The connection that would be used.
    pub connection: CredentialId,
    /// Whose account it opens, by the bot's grant.
    pub account: Account,
    /// The key of the bot that would run it.
    pub bot: PublicKey,
    /// What the member would be asked, in the words of the bot's manifest.
    pub confirm: String,
    /// The digest of all that, as an approval names it.
    pub action: ActionDigest,
    /// What the conditions of the op were found to be.
    pub found: Value,
}
