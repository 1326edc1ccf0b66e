//! The keys of members and bots: each has an X25519 pair, to receive, and an Ed25519 pair, to sign. DESIGN, "Crypto": Keys.

mod file;
mod private;
mod public;

pub use file::{KEY_FILE_BYTES_MAX, KeyFileError, is_protected, public_key};
pub use private::SecretKey;
pub use public::{KeyId, KeyIdError, KeyKind, PublicKey, PublicKeyError};
