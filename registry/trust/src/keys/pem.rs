//! The text of a key file: PKCS#8 version 1 (RFC 5958) as PEM, plain or encrypted (PBES2 with scrypt), as openssl reads and
//! writes it.
//!
//! Refuses work that a hostile file asks for beyond fixed bounds, before it is done. INVARIANT: every buffer that holds the
//! secret is zeroised.

use pkcs8::der::asn1::{ObjectIdentifier, OctetStringRef};
use pkcs8::der::{Decode as _, Encode as _, SecretDocument};
use pkcs8::pkcs5::{EncryptionScheme, pbes2};
use pkcs8::spki::AlgorithmIdentifierRef;
use pkcs8::{EncryptedPrivateKeyInfoRef, LineEnding, PrivateKeyInfoRef};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{Passphrase, RegistryKey};

/// Most memory that the scrypt of a key file may ask for, in bytes: 64 MiB (we write 16).
pub const SCRYPT_MEMORY_MAX: u64 = 64 << 20;
/// Most rounds that the PBKDF2 of a key file may ask for (openssl writes 2,048; 600,000 are recommended).
pub const PBKDF2_ROUNDS_MAX: u32 = 2_000_000;

/// Most lanes of scrypt: each costs as much as the memory says.
const SCRYPT_LANES_MAX: u64 = 4;
/// What openssl's own limit of memory lets through.
const SCRYPT_LOG_N: u8 = 14;
const SCRYPT_BLOCK: u32 = 8;
const SCRYPT_LANES: u32 = 1;
const SALT_BYTES: usize = 16;
const IV_BYTES: usize = 16;

const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const PLAIN: &str = "PRIVATE KEY";
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
/// An Ed25519 secret inside of PKCS#8 is an octet string of 32 bytes once more.
const INNER: [u8; 2] = [0x04, 0x20];

/// Why a text is not a key, or does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTextError {
    /// No PEM, or not that of a private key.
    #[error("it is not a private key in PEM: pass a file that begins with `-----BEGIN PRIVATE KEY-----`")]
    Syntax,
    /// Another algorithm than Ed25519.
    #[error("it is not an Ed25519 key: make one with `pinhole registry key`")]
    Algorithm,
    /// It is encrypted, and no passphrase was given.
    #[error("the key is protected: its passphrase is needed")]
    Protected,
    /// It asks for more work than the bounds allow, or for an encryption other than PBES2 with AES.
    #[error(
        "the key asks for an encryption that is not taken, or for more work than is allowed: protect it anew \
         with scrypt"
    )]
    Work,
    /// The passphrase does not open it, or the file was changed: the two cannot be told apart.
    #[error("the passphrase does not open the key")]
    Passphrase,
    /// The library could not write the form.
    #[error("the key could not be written as PKCS#8")]
    Unwritten,
}

/// Whether the text needs a passphrase.
pub(super) fn is_protected(text: &str) -> bool {
    text.trim_start().starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----")
}

pub(super) fn read(text: &str, passphrase: Option<&Passphrase>) -> Result<RegistryKey, KeyTextError> {
    let (label, document) = SecretDocument::from_pem(text).map_err(|_syntax| KeyTextError::Syntax)?;
    match label {
        PLAIN => from_der(document.as_bytes()),
        ENCRYPTED => {
            let info = EncryptedPrivateKeyInfoRef::from_der(document.as_bytes())
                .map_err(|_syntax| KeyTextError::Syntax)?;
            let passphrase = passphrase.ok_or(KeyTextError::Protected)?;
            bounded(&info.encryption_algorithm)?;
            let plain = info.decrypt(passphrase.expose()).map_err(|_wrong| KeyTextError::Passphrase)?;
            from_der(plain.as_bytes()).map_err(|fault| match fault {
                // What a wrong passphrase leaves is noise, which now and then has sound padding.
                KeyTextError::Syntax => KeyTextError::Passphrase,
                other => other,
            })
        }
        _ => Err(KeyTextError::Syntax),
    }
}

pub(super) fn write<R: CryptoRng>(
    key: &RegistryKey,
    passphrase: Option<&Passphrase>,
    rng: &mut R,
) -> Result<Zeroizing<String>, KeyTextError> {
    let mut inner = Zeroizing::new([0; 34]);
    inner.iter_mut().zip(INNER.iter().chain(key.seed())).for_each(|(to, from)| *to = *from);
    let unwritten = |_library| KeyTextError::Unwritten;
    let octets = OctetStringRef::new(&*inner).map_err(unwritten)?;
    // Without the public key it is version 1, the one that openssl and Python read.
    let info = PrivateKeyInfoRef::new(AlgorithmIdentifierRef { oid: ED25519, parameters: None }, octets);
    let der = Zeroizing::new(info.to_der().map_err(unwritten)?);
    let Some(passphrase) = passphrase else {
        let document = SecretDocument::try_from(der.as_slice()).map_err(unwritten)?;
        return document.to_pem(PLAIN, LineEnding::LF).map_err(unwritten);
    };
    let (mut salt, mut iv) = ([0; SALT_BYTES], [0; IV_BYTES]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut iv);
    let parameters = scrypt(&salt, iv).ok_or(KeyTextError::Unwritten)?;
    let document = info
        .encrypt_with_params(parameters, passphrase.expose())
        .map_err(|_library| KeyTextError::Unwritten)?;
    document.to_pem(ENCRYPTED, LineEnding::LF).map_err(unwritten)
}

fn scrypt(salt: &[u8], iv: [u8; IV_BYTES]) -> Option<pbes2::Parameters> {
    let costs = pkcs8::pkcs5::scrypt::Params::new(SCRYPT_LOG_N, SCRYPT_BLOCK, SCRYPT_LANES).ok()?;
    pbes2::Parameters::generate_scrypt_aes256cbc(costs, salt, iv).ok()
}

fn from_der(der: &[u8]) -> Result<RegistryKey, KeyTextError> {
    let info = PrivateKeyInfoRef::try_from(der).map_err(|_syntax| KeyTextError::Syntax)?;
    if info.algorithm.oid != ED25519 || info.algorithm.parameters.is_some() {
        return Err(KeyTextError::Algorithm);
    }
    let seed = info.private_key.as_bytes().strip_prefix(&INNER);
    let seed: &[u8; 32] = seed.and_then(|seed| seed.try_into().ok()).ok_or(KeyTextError::Syntax)?;
    let key = RegistryKey::from_seed(seed);
    let stated = info.public_key.map(|public| public.raw_bytes());
    if stated.is_some_and(|stated| stated != key.0.verifying_key().as_bytes()) {
        return Err(KeyTextError::Syntax);
    }
    Ok(key)
}

/// Refuses what would take minutes or gigabytes before any of it is done.
fn bounded(scheme: &EncryptionScheme) -> Result<(), KeyTextError> {
    let EncryptionScheme::Pbes2(parameters) = scheme else { return Err(KeyTextError::Work) };
    let allowed = match &parameters.kdf {
        pbes2::Kdf::Scrypt(costs) => {
            let (block, lanes) = (u64::from(costs.block_size), u64::from(costs.parallelization));
            let memory = costs.cost_parameter.checked_mul(block).and_then(|all| all.checked_mul(128));
            memory.is_some_and(|memory| memory <= SCRYPT_MEMORY_MAX) && lanes <= SCRYPT_LANES_MAX
        }
        pbes2::Kdf::Pbkdf2(costs) => costs.iteration_count <= PBKDF2_ROUNDS_MAX,
        _ => false,
    };
    if allowed { Ok(()) } else { Err(KeyTextError::Work) }
}
