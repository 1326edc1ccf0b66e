//! What a receipt says of the args of a call without saying them: equal args of one bot have equal digests.
//!
//! A [`KeyedDigest`] of the RFC 8785 form of the normalised args, so that whoever reads receipts cannot try which args they
//! were. DESIGN, "Words": receipt.

use pinhole_manifest::model::Args;

use crate::keyed::KeyedDigest;
use crate::keys::SecretKey;

const LABEL: &[u8] = b"pinhole/receipt-args/v1";

/// The digest of a call's args. `None` where they have no canonical form, which normal args have.
pub fn args_digest(args: &Args, bot: &SecretKey) -> Option<KeyedDigest> {
    let canonical = serde_json_canonicalizer::to_vec(&args.to_json()).ok()?;
    KeyedDigest::of(bot, LABEL, [canonical.as_slice()])
}
