//! Other people's vectors: HPKE of our suite, Wycheproof, RFC 8785.

use std::convert::Infallible;

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _};
use ed25519_dalek::{Signature, VerifyingKey};
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem, OpModeR, OpModeS, PskBundle, Serializable as _};
use pinhole_grant::{PublicKey, PublicKeyError};
use rand_core::{TryCryptoRng, TryRng};
use serde_json::Value;
use x25519_dalek::StaticSecret;

use crate::common::{hex, outside, outside_json};
use crate::keys::{key_text, sound_parts};

/// Entropy that was written down: the `ikmE` of a vector.
struct Fixed(Vec<u8>);

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        panic!("the vectors ask for bytes alone")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("the vectors ask for bytes alone")
    }

    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Infallible> {
        to.copy_from_slice(&self.0);
        Ok(())
    }
}

impl TryCryptoRng for Fixed {}

type PrivateKey = <X25519HkdfSha256 as Kem>::PrivateKey;
type HpkePublicKey = <X25519HkdfSha256 as Kem>::PublicKey;

#[test]
fn hpke_vectors_of_our_suite_in_all_modes() {
    let path = "suites/hpke/x25519-hkdfsha256-chacha20poly1305.json";
    let Some(vectors) = outside_json("hpke_vectors", path) else { return };
    let mut messages = 0;
    for vector in vectors.as_array().unwrap() {
        messages += one_hpke_vector(vector);
    }
    assert_eq!(messages, 4 * 257);
}

fn one_hpke_vector(vector: &Value) -> usize {
    let field = |name: &str| hex(&vector[name]);
    let private = |name: &str| PrivateKey::from_bytes(&field(name)).unwrap();
    let public = |name: &str| HpkePublicKey::from_bytes(&field(name)).unwrap();
    let (psk, psk_id) = match vector.get("psk") {
        Some(psk) => (hex(psk), field("psk_id")),
        None => (Vec::new(), Vec::new()),
    };
    let bundle = || PskBundle::new(&psk, &psk_id).unwrap();
    let (sending, receiving) = match vector["mode"].as_u64().unwrap() {
        0 => (OpModeS::Base, OpModeR::Base),
        1 => (OpModeS::Psk(bundle()), OpModeR::Psk(bundle())),
        2 => (OpModeS::Auth((private("skSm"), public("pkSm"))), OpModeR::Auth(public("pkSm"))),
        _ => (
            OpModeS::AuthPsk((private("skSm"), public("pkSm")), bundle()),
            OpModeR::AuthPsk(public("pkSm"), bundle()),
        ),
    };
    let (enc, mut sender) = hpke::setup_sender_with_rng::<
        hpke::aead::ChaCha20Poly1305,
        hpke::kdf::HkdfSha256,
        X25519HkdfSha256,
    >(&sending, &public("pkRm"), &field("info"), &mut Fixed(field("ikmE")))
    .unwrap();
    assert_eq!(enc.to_bytes()[..], field("enc")[..]);
    let mut receiver = hpke::setup_receiver::<
        hpke::aead::ChaCha20Poly1305,
        hpke::kdf::HkdfSha256,
        X25519HkdfSha256,
    >(&receiving, &private("skRm"), &enc, &field("info"))
    .unwrap();
    let messages = vector["encryptions"].as_array().unwrap();
    for message in messages {
        let (pt, aad, ct) = (hex(&message["pt"]), hex(&message["aad"]), hex(&message["ct"]));
        assert_eq!(sender.seal(&pt, &aad).unwrap(), ct);
        assert_eq!(receiver.open(&ct, &aad).unwrap(), pt);
    }
    messages.len()
}

/// Each test of a Wycheproof file with its group; says how many there were.
fn wycheproof(name: &str, mut each: impl FnMut(&Value, &Value)) -> Option<usize> {
    let file = outside_json(name, &format!("suites/wycheproof/{name}.json"))?;
    let mut count = 0;
    for group in file["testGroups"].as_array().unwrap() {
        for test in group["tests"].as_array().unwrap() {
            each(group, test);
            count += 1;
        }
    }
    Some(count)
}

fn has_flag(test: &Value, flags: &[&str]) -> bool {
    test["flags"].as_array().unwrap().iter().any(|flag| flags.contains(&flag.as_str().unwrap()))
}

#[test]
fn wycheproof_ed25519() {
    let count = wycheproof("ed25519_test", |group, test| {
        let key = hex(&group["publicKey"]["pk"]);
        let verifies = || {
            let key = VerifyingKey::from_bytes(&key.as_slice().try_into().ok()?).ok()?;
            let signature = Signature::from_slice(&hex(&test["sig"])).ok()?;
            key.verify_strict(&hex(&test["msg"]), &signature).ok()
        };
        assert_eq!(verifies().is_some(), test["result"] == "valid", "{test}");
    });
    assert!(count.is_none_or(|count| count == 151));
}

#[test]
fn wycheproof_x25519_and_the_public_keys_that_are_refused() {
    let (_, ed25519) = sound_parts();
    let (mut refused, mut taken) = (0, 0);
    let count = wycheproof("x25519_test", |_group, test| {
        let public: [u8; 32] = hex(&test["public"]).try_into().unwrap();
        let private: [u8; 32] = hex(&test["private"]).try_into().unwrap();
        let shared = StaticSecret::from(private).diffie_hellman(&x25519_dalek::PublicKey::from(public));
        assert_eq!(shared.as_bytes()[..], hex(&test["shared"])[..], "{test}");
        assert_eq!(shared.was_contributory(), !has_flag(test, &["ZeroSharedSecret"]), "{test}");

        let unsound = has_flag(test, &["ZeroSharedSecret", "LowOrderPublic", "NonCanonicalPublic"]);
        match key_text(1, &public, &ed25519).parse::<PublicKey>() {
            Ok(_) => {
                assert!(!unsound, "{test}");
                taken += 1;
            }
            Err(error) => {
                assert!(unsound && error == PublicKeyError::X25519, "{test}");
                refused += 1;
            }
        }
    });
    assert!(count.is_none_or(|count| count == 518 && refused >= 31 && taken >= 264), "{refused} {taken}");
}

#[test]
fn wycheproof_chacha20_poly1305() {
    let count = wycheproof("chacha20_poly1305_test", |_group, test| {
        let (aad, msg) = (hex(&test["aad"]), hex(&test["msg"]));
        let sealed = [hex(&test["ct"]), hex(&test["tag"])].concat();
        let opens = || {
            let key: [u8; 32] = hex(&test["key"]).try_into().ok()?;
            let nonce: [u8; 12] = hex(&test["iv"]).try_into().ok()?;
            let cipher = ChaCha20Poly1305::new(&key.into());
            let opened = cipher.decrypt(&nonce.into(), Payload { msg: &sealed, aad: &aad }).ok()?;
            let again = cipher.encrypt(&nonce.into(), Payload { msg: &msg, aad: &aad }).ok()?;
            assert_eq!((&opened, &again), (&msg, &sealed), "{test}");
            Some(())
        };
        assert_eq!(opens().is_some(), test["result"] == "valid", "{test}");
    });
    assert!(count.is_none_or(|count| count == 325));
}

#[test]
fn wycheproof_hkdf_sha256() {
    let count = wycheproof("hkdf_sha256_test", |_group, test| {
        let mut okm = vec![0; usize::try_from(test["size"].as_u64().unwrap()).unwrap()];
        let hkdf = hkdf::Hkdf::<sha2::Sha256>::new(Some(&hex(&test["salt"])), &hex(&test["ikm"]));
        let expanded = hkdf.expand(&hex(&test["info"]), &mut okm).is_ok();
        assert_eq!(expanded, test["result"] == "valid", "{test}");
        if expanded {
            assert_eq!(okm, hex(&test["okm"]), "{test}");
        }
    });
    assert!(count.is_none_or(|count| count == 86));
}

#[test]
fn rfc_8785_documents() {
    let Some(folder) = outside("rfc_8785_documents", "suites/jcs/testdata") else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join("input")).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |side: &str| std::fs::read(folder.join(side).join(&name)).unwrap();
        let value: Value = serde_json::from_slice(&read("input")).unwrap();
        assert_eq!(serde_json_canonicalizer::to_vec(&value).unwrap(), read("output"), "{}", name.display());
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn rfc_8785_numbers() {
    let Some(path) = outside("rfc_8785_numbers", "suites/jcs/es6-numbers-20k.txt") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in text.lines() {
        let (bits, expected) = line.split_once(',').unwrap();
        let number = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        assert_eq!(serde_json_canonicalizer::to_string(&number).unwrap(), expected, "{bits}");
        count += 1;
    }
    assert_eq!(count, 20_000);
}
