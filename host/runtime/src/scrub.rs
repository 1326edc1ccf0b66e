//! A net under accidents: takes a secret, in the forms it may come back in, out of everything that leaves.
//!
//! It is not the defence. What keeps a key in is that it is put into a request last and that only picked fields come out;
//! this catches an API that echoes it. Refuses nothing: what it finds it replaces by [`REDACTED`].
//!
//! It works on decoded strings, so that JSON's own escapes are gone before it looks. Found forms: the text itself, with any
//! of its bytes percent-encoded (`+` for a space too); hex in either case; base64 and base64url, alone, padded or inside a
//! longer encoded text at each of the three alignments (RFC 4648), of which `Basic` is a case; and the text as JSON escapes
//! it once more. DESIGN, "Outcome": scrub.

mod unescaped;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::project::Tree;
use unescaped::unescaped;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";
/// A secret shorter than this many bytes is not looked for at all: it would take ordinary words out of every answer.
pub const SECRET_BYTES_MIN: usize = 4;
/// A secret shorter than this many bytes is looked for as it is, not encoded: three letters of base64 are anybody's.
pub const ENCODED_BYTES_MIN: usize = 6;

/// Largest body that is decoded to be scrubbed, in bytes.
const DECODED_MAX: usize = 1 << 20;

/// The secrets of one call. Zeroised on drop; prints a fixed word.
pub struct Scrub {
    /// Looked for with any byte percent-encoded.
    plain: Vec<Zeroizing<Vec<u8>>>,
    /// Looked for in either case.
    hex: Vec<Zeroizing<Vec<u8>>>,
    /// Looked for as they are.
    encoded: Vec<Zeroizing<Vec<u8>>>,
    heads: Heads,
}

/// How any form may begin, so that few places of a text are held against them all.
struct Heads {
    first: Zeroizing<[bool; 256]>,
    second: Zeroizing<[bool; 256]>,
}

impl fmt::Debug for Scrub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrub(..)")
    }
}

impl Scrub {
    /// A net for these secrets.
    pub fn new(secrets: &[&str]) -> Self {
        let heads = Heads { first: Zeroizing::new([false; 256]), second: Zeroizing::new([false; 256]) };
        let mut scrub = Self { plain: Vec::new(), hex: Vec::new(), encoded: Vec::new(), heads };
        for secret in secrets.iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN) {
            scrub.plain.push(Zeroizing::new(secret.as_bytes().to_vec()));
            if secret.len() >= ENCODED_BYTES_MIN {
                scrub.hex.push(hex(secret.as_bytes()));
                scrub.encoded.extend(json_escaped(secret));
                scrub.add_base64(secret.as_bytes());
            }
        }
        scrub.add_heads();
        scrub
    }

    fn add_heads(&mut self) {
        for form in self.plain.iter().chain(&self.encoded) {
            self.heads.add(form);
        }
        for form in &self.hex {
            self.heads.add(form);
            self.heads.add(&form.to_ascii_uppercase());
        }
        // Any byte of these may be percent-encoded, and a space be a `+`.
        if !self.plain.is_empty() {
            self.heads.add(b"%%");
            self.heads.add(b"++");
        }
    }

    fn add_base64(&mut self, secret: &[u8]) {
        let mut basic = Zeroizing::new(Vec::with_capacity(secret.len().saturating_add(1)));
        basic.extend_from_slice(secret);
        basic.push(b':');
        for whole in [secret, basic.as_slice()] {
            self.encoded.extend(
                [&STANDARD, &URL_SAFE, &STANDARD_NO_PAD, &URL_SAFE_NO_PAD]
                    .map(|engine| encode(engine, whole)),
            );
        }
        for lead in 0..3 {
            self.encoded
                .extend([&STANDARD_NO_PAD, &URL_SAFE_NO_PAD].map(|engine| core(engine, lead, secret)));
        }
        self.encoded.sort_unstable_by(|a, b| a.as_slice().cmp(b.as_slice()));
        self.encoded.dedup();
    }

    /// A text without the secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.ranges(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut kept_to = 0;
        for Range { start, end } in found {
            // Secrets are whole characters, so a range that cuts one cannot be: if it did, nothing would be let through.
            let Some(kept) = text.get(kept_to..start) else { return Cow::Borrowed(REDACTED) };
            clean.push_str(kept);
            clean.push_str(REDACTED);
            kept_to = end;
        }
        let Some(kept) = text.get(kept_to..) else { return Cow::Borrowed(REDACTED) };
        clean.push_str(kept);
        Cow::Owned(clean)
    }

    /// A body without the secrets. Where escapes hide one, a document of JSON that is small enough is scrubbed in its decoded
    /// strings; of any other body nothing is left.
    pub fn body(&self, bytes: Vec<u8>) -> Vec<u8> {
        if bytes.contains(&b'\\') && self.contains(&unescaped(&bytes)) {
            let small = bytes.len() <= DECODED_MAX;
            let Some(mut tree) = small.then(|| Tree::parse(&bytes).ok()).flatten() else {
                return REDACTED.as_bytes().to_vec();
            };
            self.tree(&mut tree);
            return tree.to_string().into_bytes();
        }
        let found = self.ranges(&bytes);
        if found.is_empty() {
            return bytes;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut kept_to = 0;
        for Range { start, end } in found {
            clean.extend_from_slice(bytes.get(kept_to..start).unwrap_or_default());
            clean.extend_from_slice(REDACTED.as_bytes());
            kept_to = end;
        }
        clean.extend_from_slice(bytes.get(kept_to..).unwrap_or_default());
        clean
    }

    /// Takes the secrets out of every string, key and number of a tree. A number that holds one becomes a string.
    pub fn tree(&self, tree: &mut Tree) {
        match tree {
            Tree::Null | Tree::Bool(_) => {}
            Tree::Number(digits) => {
                if self.contains(digits.as_str().as_bytes()) {
                    *tree = Tree::String(REDACTED.to_owned());
                }
            }
            Tree::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Tree::Array(elements) => elements.iter_mut().for_each(|element| self.tree(element)),
            Tree::Object(members) => {
                for (key, member) in members {
                    if let Cow::Owned(clean) = self.text(key) {
                        *key = clean.into();
                    }
                    self.tree(member);
                }
            }
        }
    }

    /// Whether bytes hold a secret in one of its forms.
    pub fn contains(&self, bytes: &[u8]) -> bool {
        (0..bytes.len()).any(|start| bytes.get(start..).is_some_and(|rest| self.longest(rest).is_some()))
    }

    /// Where the secrets stand, in order; overlapping and touching places are one.
    fn ranges(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for start in 0..bytes.len() {
            let Some(length) = bytes.get(start..).and_then(|rest| self.longest(rest)) else { continue };
            let end = start.saturating_add(length);
            match ranges.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => ranges.push(start..end),
            }
        }
        ranges
    }

    /// The length of the longest form of a secret that bytes start with.
    fn longest(&self, bytes: &[u8]) -> Option<usize> {
        if !self.heads.may_start(bytes) {
            return None;
        }
        let plain = self.plain.iter().filter_map(|secret| percent_prefix(bytes, secret));
        let hex = self
            .hex
            .iter()
            .filter(|needle| bytes.get(..needle.len()).is_some_and(|head| head.eq_ignore_ascii_case(needle)));
        let encoded = self.encoded.iter().filter(|needle| bytes.starts_with(needle));
        plain.chain(hex.chain(encoded).map(|needle| needle.len())).max()
    }
}

impl Heads {
    fn add(&mut self, form: &[u8]) {
        if let [first, second, ..] = form {
            for (set, byte) in [(&mut self.first, first), (&mut self.second, second)] {
                if let Some(slot) = set.get_mut(usize::from(*byte)) {
                    *slot = true;
                }
            }
        }
    }

    /// Whether a form may start here: false is sure. Every form has more than two bytes; what follows a `%` may be
    /// anything.
    fn may_start(&self, bytes: &[u8]) -> bool {
        let has = |set: &[bool; 256], byte: u8| set.get(usize::from(byte)).copied().unwrap_or(true);
        match bytes {
            [first, second, ..] => has(&self.first, *first) && (*first == b'%' || has(&self.second, *second)),
            _ => false,
        }
    }
}

/// The length of the secret at the start of bytes, as it is, or each of its bytes as it is or percent-encoded.
fn percent_prefix(bytes: &[u8], secret: &[u8]) -> Option<usize> {
    if bytes.starts_with(secret) {
        return Some(secret.len());
    }
    let mut rest = bytes;
    for wanted in secret {
        rest = match rest {
            // First, so that a `%` of the secret is found in its encoded form too.
            [b'%', high, low, rest @ ..] if hex_value(*high, *low) == Some(*wanted) => rest,
            [found, rest @ ..] if found == wanted || (*found == b'+' && *wanted == b' ') => rest,
            _ => return None,
        };
    }
    bytes.len().checked_sub(rest.len())
}

fn hex_value(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digit(high)?.checked_mul(16)?.checked_add(digit(low)?)
}

fn hex(secret: &[u8]) -> Zeroizing<Vec<u8>> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let nibbles = secret.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    let mut text = Zeroizing::new(Vec::with_capacity(secret.len().saturating_mul(2)));
    text.extend(nibbles.filter_map(|nibble| DIGITS.get(usize::from(nibble))));
    text
}

fn encode(engine: &GeneralPurpose, bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(engine.encode(bytes).into_bytes())
}

/// The letters that a secret has in the encoding of any text in which it stands `lead` bytes after a multiple of three:
/// those of which every bit is the secret's.
fn core(engine: &GeneralPurpose, lead: usize, secret: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0; lead]);
    bytes.reserve_exact(secret.len());
    bytes.extend_from_slice(secret);
    let letters = encode(engine, &bytes);
    let first = lead.saturating_mul(8).div_ceil(6);
    let last = bytes.len().saturating_mul(8) / 6;
    Zeroizing::new(letters.get(first..last).unwrap_or_default().to_vec())
}

/// The secret as it stands in JSON text inside a string, with `/` as it is and escaped, where that differs from it.
fn json_escaped(secret: &str) -> impl Iterator<Item = Zeroizing<Vec<u8>>> {
    let quoted = Zeroizing::new(serde_json::to_string(secret).unwrap_or_default());
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let escaped = [inner.to_owned(), inner.replace('/', "\\/")].map(|text| Zeroizing::new(text.into_bytes()));
    let secret = secret.as_bytes();
    escaped.into_iter().filter(move |text| !text.is_empty() && text.as_slice() != secret)
}

#[cfg(test)]
mod tests;
