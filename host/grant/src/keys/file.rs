//! Key files: JSON, plain or protected by a passphrase (Argon2id, then ChaCha20-Poly1305).
//!
//! Refuses key-derivation costs that are too low to protect or so high that a hostile file would eat the machine.
//! INVARIANT: the public key stands in clear in both forms, and a secret that is not its own is refused. Where the file
//! lives and its mode are the caller's. DESIGN, "Crypto": Keys; RFC 9106; RFC 8439.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::private::SecretKey;
use super::public::{KeyKind, PublicKey};
use super::ring::{Former, Ring};
use crate::secret::Passphrase;
use crate::text;
use crate::time::UnixTime;
use crate::wire::{WireSecret, to_secret_json};

/// Largest key file, in bytes: a bot's may hold as many former keys as it can have had.
pub const KEY_FILE_BYTES_MAX: usize = 32 << 10;

/// What a new file costs to open: 64 MiB, three passes, one lane.
const COSTS: Costs = Costs { m: 64 << 10, t: 3, p: 1 };

/// Why a key file was not written or read. Holds nothing of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// It is larger than [`KEY_FILE_BYTES_MAX`].
    #[error("the key file is larger than {KEY_FILE_BYTES_MAX} bytes")]
    TooLarge,
    /// It is not a key file.
    #[error("not a key file")]
    Malformed,
    /// It is of a later version.
    #[error("the key file is of version {0}; this program reads version 1")]
    Version(u8),
    /// Its key-derivation costs are out of bounds (19 to 256 MiB, 1 to 10 passes, 1 to 4 lanes).
    #[error("the key file asks for an amount of memory or work that no such file does")]
    Costs,
    /// It is protected, and no passphrase was given.
    #[error("the key is protected: its passphrase is needed")]
    PassphraseNeeded,
    /// The passphrase does not open it, or the file was changed: the two cannot be told apart.
    #[error("the passphrase does not open the key file")]
    WrongPassphrase,
    /// The secret is not that of the public key beside it.
    #[error("the key file is damaged: its secret is not that of its public key")]
    Mismatch,
    /// The derivation or the encryption itself failed.
    #[error("the passphrase could not be worked into a key")]
    Derivation,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWire {
    v: u8,
    kind: KeyKind,
    public: PublicKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<WireSecret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kdf: Option<KdfWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former: Vec<FormerWire>,
}

/// A key that a bot has given up.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormerWire {
    public: PublicKey,
    secret: WireSecret,
    until: UnixTime,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KdfWire {
    argon2id: ArgonWire,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgonWire {
    m: u32,
    t: u32,
    p: u32,
    salt: String,
}

/// Argon2id costs: memory in KiB, passes, lanes.
#[derive(Clone, Copy)]
struct Costs {
    m: u32,
    t: u32,
    p: u32,
}

struct Protected {
    costs: Costs,
    salt: [u8; 16],
    nonce: [u8; 12],
    ct: Vec<u8>,
}

struct File {
    public: PublicKey,
    body: Body,
    former: Vec<FormerWire>,
}

enum Body {
    Plain(WireSecret),
    Protected(Protected),
}

/// Whether the file needs a passphrase.
pub fn is_protected(file: &[u8]) -> Result<bool, KeyFileError> {
    Ok(matches!(read(file)?.body, Body::Protected(_)))
}

/// The public key of a file, without its passphrase. It is as trustworthy as the file's place: only opening the file proves
/// that the secret is this key's.
pub fn public_key(file: &[u8]) -> Result<PublicKey, KeyFileError> {
    read(file).map(|file| file.public)
}

impl SecretKey {
    /// Writes a key file; protected where a passphrase is given, which takes 64 MiB of memory and a moment.
    pub fn to_file<R: CryptoRng>(
        &self,
        passphrase: Option<&Passphrase>,
        rng: &mut R,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        let mut wire = FileWire::of(self.public());
        match passphrase {
            None => wire.secret = Some(in_clear(self)),
            Some(passphrase) => {
                let (mut salt, mut nonce) = ([0; 16], [0; 12]);
                rng.fill_bytes(&mut salt);
                rng.fill_bytes(&mut nonce);
                let aad = aad(self.public(), COSTS, &salt);
                let seeds = self.seeds();
                let ct = cipher(passphrase, COSTS, &salt)?
                    .encrypt(&nonce.into(), Payload { msg: &*seeds, aad: &aad })
                    .map_err(|_source| KeyFileError::Derivation)?;
                let Costs { m, t, p } = COSTS;
                wire.kdf = Some(KdfWire { argon2id: ArgonWire { m, t, p, salt: text::encode(&salt) } });
                wire.nonce = Some(text::encode(&nonce));
                wire.ct = Some(text::encode(&ct));
            }
        }
        to_secret_json(&wire, KEY_FILE_BYTES_MAX).ok_or(KeyFileError::Malformed)
    }

    /// Reads a key file; of a bot's, the present key. A passphrase for a file that needs none is not used.
    pub fn from_file(file: &[u8], passphrase: Option<&Passphrase>) -> Result<Self, KeyFileError> {
        let File { public, body, former: _ } = read(file)?;
        Self::opened(&public, body, passphrase)
    }

    fn opened(public: &PublicKey, body: Body, passphrase: Option<&Passphrase>) -> Result<Self, KeyFileError> {
        let seeds = match body {
            Body::Plain(secret) => Zeroizing::new(text::decode(secret.as_str()).unwrap_or_default()),
            Body::Protected(Protected { costs, salt, nonce, ct }) => {
                let passphrase = passphrase.ok_or(KeyFileError::PassphraseNeeded)?;
                let aad = aad(public, costs, &salt);
                let opened = cipher(passphrase, costs, &salt)?
                    .decrypt(&nonce.into(), Payload { msg: &ct, aad: &aad })
                    .map_err(|_source| KeyFileError::WrongPassphrase)?;
                Zeroizing::new(opened)
            }
        };
        let seeds = seeds.as_slice().try_into().map_err(|_source| KeyFileError::Malformed)?;
        let key = Self::from_seeds(public.kind(), seeds).map_err(|_source| KeyFileError::Mismatch)?;
        if key.public() == public { Ok(key) } else { Err(KeyFileError::Mismatch) }
    }
}

impl Ring {
    /// Writes the key file of a bot, with the keys that it had before.
    pub fn to_file(&self) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        let mut wire = FileWire::of(self.public());
        wire.secret = Some(in_clear(self.current()));
        wire.former = self
            .former()
            .iter()
            .map(|former| FormerWire {
                public: former.key().public().clone(),
                secret: in_clear(former.key()),
                until: former.until(),
            })
            .collect();
        to_secret_json(&wire, KEY_FILE_BYTES_MAX).ok_or(KeyFileError::Malformed)
    }

    /// Reads the key file of a bot.
    pub fn from_file(file: &[u8]) -> Result<Self, KeyFileError> {
        let File { public, body, former } = read(file)?;
        let current = SecretKey::opened(&public, body, None)?;
        let read = |FormerWire { public, secret, until }| {
            SecretKey::opened(&public, Body::Plain(secret), None).map(|key| Former::new(key, until))
        };
        let former = former.into_iter().map(read).collect::<Result<_, _>>()?;
        Self::from_parts(current, former).map_err(|_source| KeyFileError::Malformed)
    }
}

impl FileWire {
    fn of(public: &PublicKey) -> Self {
        let (kind, public) = (public.kind(), public.clone());
        Self { v: 1, kind, public, secret: None, kdf: None, nonce: None, ct: None, former: Vec::new() }
    }
}

fn in_clear(key: &SecretKey) -> WireSecret {
    WireSecret::new(text::encode(&*key.seeds()))
}

fn read(file: &[u8]) -> Result<File, KeyFileError> {
    if file.len() > KEY_FILE_BYTES_MAX {
        return Err(KeyFileError::TooLarge);
    }
    // The reader's own error could quote a secret: it is dropped.
    let wire: FileWire = serde_json::from_slice(file).map_err(|_source| KeyFileError::Malformed)?;
    if wire.v != 1 {
        return Err(KeyFileError::Version(wire.v));
    }
    if wire.public.kind() != wire.kind {
        return Err(KeyFileError::Mismatch);
    }
    let body = match (wire.secret, wire.kdf, wire.nonce, wire.ct) {
        (Some(secret), None, None, None) => Body::Plain(secret),
        (None, Some(KdfWire { argon2id: ArgonWire { m, t, p, salt } }), Some(nonce), Some(ct)) => {
            if !(19 << 10..=256 << 10).contains(&m) || !(1..=10).contains(&t) || !(1..=4).contains(&p) {
                return Err(KeyFileError::Costs);
            }
            Body::Protected(Protected {
                costs: Costs { m, t, p },
                salt: text::decode_array(&salt).ok_or(KeyFileError::Malformed)?,
                nonce: text::decode_array(&nonce).ok_or(KeyFileError::Malformed)?,
                ct: text::decode(&ct).ok_or(KeyFileError::Malformed)?,
            })
        }
        _ => return Err(KeyFileError::Malformed),
    };
    if !wire.former.is_empty() && (wire.kind != KeyKind::Bot || matches!(body, Body::Protected(_))) {
        return Err(KeyFileError::Malformed);
    }
    Ok(File { public: wire.public, body, former: wire.former })
}

fn cipher(passphrase: &Passphrase, costs: Costs, salt: &[u8]) -> Result<ChaCha20Poly1305, KeyFileError> {
    let params = Params::new(costs.m, costs.t, costs.p, Some(32)).map_err(|_source| KeyFileError::Costs)?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.expose(), salt, &mut *key)
        .map_err(|_source| KeyFileError::Derivation)?;
    Ok(ChaCha20Poly1305::new((&*key).into()))
}

/// What the ciphertext vouches for: the public key with its kind, and every cost.
fn aad(public: &PublicKey, costs: Costs, salt: &[u8; 16]) -> Vec<u8> {
    let mut aad = b"pinhole/key/v1".to_vec();
    aad.extend(public.body());
    aad.extend([costs.m, costs.t, costs.p].iter().flat_map(|cost| cost.to_be_bytes()));
    aad.extend(salt);
    aad
}
