//! The format of a compiled module's file: a header, a MAC, the code. Bytes in, bytes out; but for the one call by which
//! code that was compiled before becomes a component again.
//!
//! Refuses code of another engine, of another module, or that was not sealed with this key. INVARIANT: `unsafe` stands
//! here once, and what it loads is the very slice whose MAC was checked.

use std::array;
use std::hash::{Hash as _, Hasher};

use hmac::{Hmac, KeyInit as _, Mac as _};
use pinhole_manifest::Digest;
use sha2::Sha256;
use wasmtime::component::Component;
use wasmtime::{Engine, Error};
use zeroize::Zeroizing;

use super::key::Key;

/// What a file begins with; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"pinmod\0\x01";
/// The format, the engine, the module, the length of the code.
const HEADER: usize = MAGIC.len() + 32 + 32 + 8;
/// HMAC-SHA256.
const MAC: usize = 32;

/// What code is for: an engine and a module.
pub(super) struct Purpose<'e> {
    engine: &'e Engine,
    /// All by which this engine compiles, its version and this machine's instructions included, and the version of this crate.
    config: Digest,
    module: Digest,
}

/// Why bytes are no code for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotOurs {
    #[error("it is too short")]
    Short,
    #[error("it is for another engine, of another module, of another format, or cut off")]
    Header,
    #[error("it was not written with this key, or changed since")]
    Mac,
}

/// Code whose MAC is right.
#[derive(Debug)]
pub(super) struct Code<'e, 'b> {
    engine: &'e Engine,
    bytes: &'b [u8],
}

impl<'e> Purpose<'e> {
    pub(super) fn new(engine: &'e Engine, module: Digest) -> Self {
        let mut config = Bytes(Vec::new());
        engine.precompile_compatibility_hash().hash(&mut config);
        // What one version looks at before it compiles, the next one may refuse.
        config.0.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
        Self { engine, config: Digest::of(&config.0), module }
    }

    /// The name of its file. Two purposes have two; what a file is for is read in it.
    pub(super) fn name(&self) -> String {
        let [module, config] =
            [self.module, self.config].map(|digest| digest.to_string().replace("sha256:", ""));
        format!("{module}-{}{SUFFIX}", config.get(..16).unwrap_or_default())
    }

    /// What stands before this code in its file.
    pub(super) fn seal(&self, code: &[u8], key: &Key) -> Vec<u8> {
        let header = self.header(code);
        let mac = mac(key, &header, code).finalize().into_bytes();
        [&header[..], &mac[..]].concat()
    }

    /// The code in a file's bytes.
    pub(super) fn open<'b>(&self, bytes: &'b [u8], key: &Key) -> Result<Code<'e, 'b>, NotOurs> {
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or(NotOurs::Short)?;
        let (tag, code) = rest.split_at_checked(MAC).ok_or(NotOurs::Short)?;
        if header != self.header(code) {
            return Err(NotOurs::Header);
        }
        mac(key, header, code).verify_slice(tag).map_err(|_differs| NotOurs::Mac)?;
        Ok(Code { engine: self.engine, bytes: code })
    }

    fn header(&self, code: &[u8]) -> Vec<u8> {
        let length = u64::try_from(code.len()).unwrap_or(u64::MAX).to_le_bytes();
        [&MAGIC[..], self.config.as_bytes(), self.module.as_bytes(), &length].concat()
    }
}

/// What the name of a compiled module's file ends with.
pub(super) const SUFFIX: &str = ".module";

impl Code<'_, '_> {
    /// The component that was compiled to this code.
    #[expect(unsafe_code, reason = "wasmtime has no other way to load what it compiled before")]
    pub(super) fn load(&self) -> Result<Component, Error> {
        // SAFETY: `deserialize` must be given what `Component::serialize` gave for an engine such as this one, and runs it as
        // machine code unchecked. INVARIANT: a `Code` is made by `Purpose::open` alone, once the MAC over these bytes and
        // their purpose was found right under the key of this user's cache. That key is in a file that nobody else can read,
        // and nothing is sealed with it but what `serialize` gave (`Cache::keep`). The purpose has the hash of all by which
        // this very engine compiles. The bytes are borrowed from memory that nobody else changes; the file is not read again.
        unsafe { Component::deserialize(self.engine, self.bytes) }
    }
}

/// The header has one length, so no two pairs of header and code are the same bytes.
fn mac(key: &Key, header: &[u8], code: &[u8]) -> Hmac<Sha256> {
    let block: [u8; 64] = array::from_fn(|at| key.expose().get(at).copied().unwrap_or(0));
    let block = Zeroizing::new(block);
    Hmac::<Sha256>::new((&*block).into()).chain_update(header).chain_update(code)
}

/// Takes what is hashed as it is.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Nobody asks.
    fn finish(&self) -> u64 {
        0
    }
}
