//! Whether enough keys have signed: the library's check, over signatures of which no two are one key's.
//!
//! INVARIANT: a key counts once, under however many ids a role has it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::de::DeserializeOwned;
use tough::schema::decoded::{Decoded, Hex};
use tough::schema::key::Key;
use tough::schema::{Role, Root, Signature, Signed};

use super::refused::{Refused, Signers};
use super::role::{Document, public_part};
use crate::RoleName;

/// The file with one signature a key. Where a key has two ids, the first of its signatures is the one that counts, right or
/// wrong.
pub(super) fn counted<'a, T: Role + Clone>(
    keys: &HashMap<Decoded<Hex>, Key>,
    file: &'a Signed<T>,
) -> Cow<'a, Signed<T>> {
    let mut seen = HashSet::new();
    let first = |signature: &&Signature| match keys.get(&signature.keyid) {
        Some(key) => seen.insert(public_part(key)),
        None => true,
    };
    let signatures: Vec<_> = file.signatures.iter().filter(first).cloned().collect();
    if signatures.len() == file.signatures.len() {
        Cow::Borrowed(file)
    } else {
        Cow::Owned(Signed { signed: file.signed.clone(), signatures })
    }
}

/// Whether enough keys of that root have signed.
pub(super) fn signed<T: Role + DeserializeOwned + Clone>(
    root: &Root,
    document: &Document<T>,
    role: RoleName,
    by: Signers,
) -> Result<(), Refused> {
    let ids: HashSet<_> = document.role.signatures.iter().map(|signature| &signature.keyid).collect();
    if ids.len() != document.role.signatures.len() {
        return Err(Refused::SignedTwice { role });
    }
    let source = match root.verify_role(&counted(&root.keys, &document.role)) {
        Ok(()) => return Ok(()),
        Err(source) => Box::new(source),
    };
    Err(Refused::NotSigned { role, by, source })
}
