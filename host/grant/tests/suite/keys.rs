//! Keys: one text each, sound or refused; files that open with the right passphrase and no other.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_grant::keys::{KEY_FILE_BYTES_MAX, is_protected, public_key};
use pinhole_grant::{KeyFileError, KeyId, KeyKind, Passphrase, PublicKey, PublicKeyError, SecretKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::{bot, broker, member, rng};

/// The text of a key with these parts and a right checksum, sound or not.
pub(crate) fn key_text(kind: u8, x25519: &[u8], ed25519: &[u8]) -> String {
    let mut bytes = [&[kind], x25519, ed25519].concat();
    let checksum = Sha256::digest(&bytes);
    bytes.extend(&checksum[..4]);
    format!("pin1{}", URL_SAFE_NO_PAD.encode(bytes))
}

pub(crate) fn sound_parts() -> ([u8; 32], [u8; 32]) {
    let text = member().public().to_string();
    let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix("pin1").unwrap()).unwrap();
    (bytes[1..33].try_into().unwrap(), bytes[33..65].try_into().unwrap())
}

fn parse(text: &str) -> Result<PublicKey, PublicKeyError> {
    text.parse()
}

#[test]
fn a_public_key_prints_and_parses_to_itself() {
    for key in [member(), bot(), broker()] {
        let text = key.public().to_string();
        assert_eq!(text.len(), 96);
        assert_eq!(parse(&text).unwrap(), *key.public());
        let json = serde_json::to_string(key.public()).unwrap();
        assert_eq!(serde_json::from_str::<PublicKey>(&json).unwrap(), *key.public());
        let id = key.public().id();
        assert_eq!(KeyId::parse(&id.to_string()).unwrap(), id);
        assert_eq!(id.to_string().len(), 43);
        let fingerprint = id.fingerprint();
        assert_eq!(fingerprint.len(), 29);
        assert!(id.to_string().starts_with(&fingerprint.replace(' ', "")), "{fingerprint}");
    }
}

#[test]
fn an_id_covers_the_kind_and_both_keys() {
    let (x, e) = sound_parts();
    let id = |kind| parse(&key_text(kind, &x, &e)).unwrap().id();
    assert_ne!(id(1), id(2));
    assert_ne!(id(2), id(3));
    assert_eq!(id(1).as_bytes()[..], Sha256::digest([&[1][..], &x, &e].concat())[..]);
}

#[test]
fn every_changed_character_is_noticed() {
    let text = bot().public().to_string();
    for at in 0..text.len() {
        for replacement in ['A', 'b', '-', '+', '=', ' '] {
            let mut other: Vec<char> = text.chars().collect();
            if std::mem::replace(&mut other[at], replacement) == replacement {
                continue;
            }
            let other: String = other.into_iter().collect();
            assert!(parse(&other).is_err(), "{other}");
        }
    }
}

#[test]
fn each_fault_of_a_public_key_has_its_own_name() {
    let (x, e) = sound_parts();
    let text = key_text(1, &x, &e);
    assert_eq!(parse(text.trim_start_matches('p')).unwrap_err(), PublicKeyError::Prefix);
    assert_eq!(parse(text.get(..95).unwrap()).unwrap_err(), PublicKeyError::Length);
    assert_eq!(parse(&format!("{text}A")).unwrap_err(), PublicKeyError::Length);
    assert_eq!(parse(&text.replacen('A', "!", 1)).unwrap_err(), PublicKeyError::Encoding);
    let mut swapped: Vec<char> = text.chars().collect();
    let at = (4..95).find(|at| swapped[*at] != swapped[at + 1]).unwrap();
    swapped.swap(at, at + 1);
    assert_eq!(parse(&swapped.into_iter().collect::<String>()).unwrap_err(), PublicKeyError::Checksum);
    assert_eq!(parse(&key_text(0, &x, &e)).unwrap_err(), PublicKeyError::Kind);
    assert_eq!(parse(&key_text(4, &x, &e)).unwrap_err(), PublicKeyError::Kind);
    for (last, first) in [(0x00, 0x00), (0x00, 0x01), (0x7f, 0xec), (0x7f, 0xed), (0x7f, 0xee), (0xff, 0xff)]
    {
        let mut point = [if last == 0 { 0 } else { 0xff }; 32];
        (point[0], point[31]) = (first, last);
        assert_eq!(parse(&key_text(1, &point, &e)).unwrap_err(), PublicKeyError::X25519, "{first:x}");
    }
    let mut high_bit = x;
    high_bit[31] |= 0x80;
    assert_eq!(parse(&key_text(1, &high_bit, &e)).unwrap_err(), PublicKeyError::X25519);
    // The neutral element, a point of order 2, one that is none, and y = p + 3 written beyond the prime.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut beyond = [0xff; 32];
    (beyond[0], beyond[31]) = (0xf0, 0x7f);
    let mut order_two = [0xff; 32];
    (order_two[0], order_two[31]) = (0xec, 0x7f);
    let mut none = [0; 32];
    none[0] = 2;
    for point in [neutral, [0; 32], order_two, none, beyond] {
        assert_eq!(parse(&key_text(1, &x, &point)).unwrap_err(), PublicKeyError::Ed25519, "{point:x?}");
    }
}

#[test]
fn debug_of_a_private_key_is_a_fixed_word() {
    assert_eq!(format!("{:?}", member()), "SecretKey(<secret>)");
}

#[test]
fn a_plain_file_reads_back() {
    let key = bot();
    let file = key.to_file(None, &mut rng(8)).unwrap();
    assert!(!is_protected(&file).unwrap());
    assert_eq!(public_key(&file).unwrap(), *key.public());
    let again = SecretKey::from_file(&file, None).unwrap();
    assert_eq!(again.public(), key.public());
    assert_eq!(*again.to_file(None, &mut rng(9)).unwrap(), *file);
}

#[test]
fn a_protected_file_opens_with_its_passphrase_alone() {
    let key = member();
    let right = Passphrase::new("correct horse".to_owned()).unwrap();
    let wrong = Passphrase::new("correct horse ".to_owned()).unwrap();
    let file = key.to_file(Some(&right), &mut rng(8)).unwrap();
    assert!(is_protected(&file).unwrap());
    assert_eq!(public_key(&file).unwrap(), *key.public());
    assert_eq!(SecretKey::from_file(&file, Some(&right)).unwrap().public(), key.public());
    assert_eq!(SecretKey::from_file(&file, None).unwrap_err(), KeyFileError::PassphraseNeeded);
    assert_eq!(SecretKey::from_file(&file, Some(&wrong)).unwrap_err(), KeyFileError::WrongPassphrase);

    let with = |pointer: &str, value: Value| {
        let mut json: Value = serde_json::from_slice(&file).unwrap();
        *json.pointer_mut(pointer).unwrap() = value;
        SecretKey::from_file(&serde_json::to_vec(&json).unwrap(), Some(&right)).unwrap_err()
    };
    // Costs within bounds that are not the ones it was made with, and another key's name on it.
    assert_eq!(with("/kdf/argon2id/m", json!(19 << 10)), KeyFileError::WrongPassphrase);
    let other = SecretKey::generate(KeyKind::Member, &mut rng(10));
    assert_eq!(with("/public", json!(other.public())), KeyFileError::WrongPassphrase);
    // Costs out of bounds are refused before anything is derived.
    for (name, values) in
        [("m", [0, (19 << 10) - 1, u32::MAX]), ("t", [0, 11, u32::MAX]), ("p", [0, 5, u32::MAX])]
    {
        for value in values {
            assert_eq!(
                with(&format!("/kdf/argon2id/{name}"), json!(value)),
                KeyFileError::Costs,
                "{name} {value}"
            );
        }
    }
}

#[test]
fn a_file_that_is_not_one_is_refused() {
    let file = bot().to_file(None, &mut rng(8)).unwrap();
    let json: Value = serde_json::from_slice(&file).unwrap();
    let with = |name: &str, value: Value| {
        let mut json = json.clone();
        json.as_object_mut().unwrap().insert(name.to_owned(), value);
        SecretKey::from_file(&serde_json::to_vec(&json).unwrap(), None).unwrap_err()
    };
    assert_eq!(with("v", json!(2)), KeyFileError::Version(2));
    assert_eq!(with("kind", json!("member")), KeyFileError::Mismatch);
    assert_eq!(with("kind", json!("robot")), KeyFileError::Malformed);
    assert_eq!(with("public", json!(member().public())), KeyFileError::Mismatch);
    assert_eq!(with("secret", json!("AAAA")), KeyFileError::Malformed);
    assert_eq!(with("secret", json!("not base64!")), KeyFileError::Malformed);
    assert_eq!(with("secret", json!(URL_SAFE_NO_PAD.encode([7; 64]))), KeyFileError::Mismatch);
    assert_eq!(with("extra", json!(1)), KeyFileError::Malformed);
    assert_eq!(with("nonce", json!("AAAAAAAAAAAAAAAA")), KeyFileError::Malformed);
    assert_eq!(SecretKey::from_file(b"", None).unwrap_err(), KeyFileError::Malformed);
    assert_eq!(
        SecretKey::from_file(&vec![b' '; KEY_FILE_BYTES_MAX + 1], None).unwrap_err(),
        KeyFileError::TooLarge
    );
}
