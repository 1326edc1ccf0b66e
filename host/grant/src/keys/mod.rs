//! The keys of members, bots and brokers: each has an X25519 pair, to receive, and an Ed25519 pair, to sign. A bot keeps those
//! that it had before. DESIGN, "Crypto": Keys.

mod file;
mod private;
mod public;
mod ring;

pub use file::{KEY_FILE_BYTES_MAX, KeyFileError, is_protected, public_key};
pub use private::SecretKey;
pub use public::{KeyId, KeyIdError, KeyKind, PublicKey, PublicKeyError};
pub use ring::{ENDED, FORMER_KEYS_MAX, Former, Ring, RingError};
