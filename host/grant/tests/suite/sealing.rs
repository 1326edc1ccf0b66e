//! Sealing and signing by themselves: each kind is its own, sizes are capped, one signature and no other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pinhole_grant::seal::{self, ENVELOPE_BYTES_MAX, PLAINTEXT_BYTES_MAX, SealError, UnsealError};
use pinhole_grant::sign::{self, PAYLOAD_BYTES_MAX, SignError, VerifyError};
use pinhole_grant::{Kind, SecretKey};
use serde_json::{Value, json};

use crate::common::{bot, member, other_bot, other_member, publics, rng};

const KINDS: [Kind; 3] = [Kind::Grant, Kind::Credential, Kind::Returned];

fn edited(envelope: &[u8], name: &str, value: Value) -> Vec<u8> {
    let mut json: Value = serde_json::from_slice(envelope).unwrap();
    json.as_object_mut().unwrap().insert(name.to_owned(), value);
    serde_json::to_vec(&json).unwrap()
}

#[test]
fn what_is_sealed_opens_for_its_recipient_as_its_kind() {
    for kind in KINDS {
        let envelope = seal::seal(kind, bot().public(), b"hello", &mut rng(1)).unwrap();
        assert_eq!(**seal::open(kind, &envelope, &bot()).unwrap(), *b"hello");
        assert_eq!(seal::addressee(&envelope).unwrap(), (kind, bot().public().id()));
        assert_eq!(seal::open(kind, &envelope, &other_bot()).unwrap_err(), UnsealError::WrongRecipient);
        // A file that was saved with a line break at its end is the same envelope.
        let mut saved = envelope.clone();
        saved.push(b'\n');
        assert!(seal::open(kind, &saved, &bot()).is_ok());
    }
}

#[test]
fn the_seal_is_that_of_rfc_9180() {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use hpke::kem::X25519HkdfSha256;
    use hpke::{Deserializable as _, Kem, OpModeR};

    // Opened with nothing of this crate but the private key out of a key file.
    let envelope = seal::seal(Kind::Returned, bot().public(), b"hello", &mut rng(1)).unwrap();
    let envelope: Value = serde_json::from_slice(&envelope).unwrap();
    let file: Value = serde_json::from_slice(&bot().to_file(None, &mut rng(2)).unwrap()).unwrap();
    let bytes = |value: &Value| URL_SAFE_NO_PAD.decode(value.as_str().unwrap()).unwrap();
    let opened =
        hpke::single_shot_open::<hpke::aead::ChaCha20Poly1305, hpke::kdf::HkdfSha256, X25519HkdfSha256>(
            &OpModeR::Base,
            &<X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(&bytes(&file["secret"])[..32]).unwrap(),
            &<X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(&bytes(&envelope["enc"])).unwrap(),
            b"pinhole/returned/v1",
            &bytes(&envelope["ct"]),
            &bytes(&envelope["to"]),
        );
    assert_eq!(opened.unwrap(), b"hello");
}

#[test]
fn one_kind_is_never_taken_for_another() {
    let word = |kind| serde_json::to_value(kind).unwrap();
    for kind in KINDS {
        let envelope = seal::seal(kind, bot().public(), b"hello", &mut rng(1)).unwrap();
        for other in KINDS.into_iter().filter(|other| *other != kind) {
            assert_eq!(seal::open(other, &envelope, &bot()).unwrap_err(), UnsealError::WrongKind);
            let renamed = edited(&envelope, "kind", word(other));
            assert_eq!(seal::open(other, &renamed, &bot()).unwrap_err(), UnsealError::CannotOpen);
        }
    }
}

#[test]
fn an_envelope_readdressed_to_another_key_does_not_open() {
    let envelope = seal::seal(Kind::Grant, bot().public(), b"hello", &mut rng(1)).unwrap();
    let readdressed = edited(&envelope, "to", json!(other_bot().public().id()));
    assert_eq!(seal::open(Kind::Grant, &readdressed, &other_bot()).unwrap_err(), UnsealError::CannotOpen);
}

#[test]
fn what_is_not_exactly_an_envelope_is_refused() {
    let envelope = seal::seal(Kind::Grant, bot().public(), b"hello", &mut rng(1)).unwrap();
    let open = |bytes: &[u8]| seal::open(Kind::Grant, bytes, &bot()).unwrap_err();
    assert_eq!(open(b""), UnsealError::NotAnEnvelope);
    assert_eq!(open(b"null"), UnsealError::NotAnEnvelope);
    assert_eq!(open(&edited(&envelope, "extra", json!(1))), UnsealError::NotAnEnvelope);
    assert_eq!(open(&edited(&envelope, "v", json!(2))), UnsealError::Version(2));
    assert_eq!(open(&edited(&envelope, "enc", json!("AAAA"))), UnsealError::NotAnEnvelope);
    assert_eq!(open(&edited(&envelope, "ct", json!("!"))), UnsealError::NotAnEnvelope);
    assert_eq!(open(&edited(&envelope, "ct", json!(""))), UnsealError::CannotOpen);
    // A low-order ephemeral key would make the shared secret known to all.
    assert_eq!(open(&edited(&envelope, "enc", json!("A".repeat(43)))), UnsealError::CannotOpen);
    let text = String::from_utf8(envelope).unwrap();
    let doubled = text.replacen("{\"v\":1", "{\"v\":1,\"v\":1", 1);
    assert_eq!(open(doubled.as_bytes()), UnsealError::NotAnEnvelope);
    assert_eq!(open(&vec![b' '; ENVELOPE_BYTES_MAX + 1]), UnsealError::TooLarge);
}

#[test]
fn sizes_are_capped_and_the_caps_fit_in_one_another() {
    let key = member();
    let payload = vec![b'x'; PAYLOAD_BYTES_MAX];
    let signed = sign::sign(Kind::Grant, &payload, &key).unwrap();
    let envelope = seal::seal(Kind::Grant, bot().public(), &signed, &mut rng(1)).unwrap();
    let opened = seal::open(Kind::Grant, &envelope, &bot()).unwrap();
    assert_eq!(sign::verify(Kind::Grant, &opened, &publics(&[&key])).unwrap().payload(), payload);

    let one_more = vec![b'x'; PAYLOAD_BYTES_MAX + 1];
    assert_eq!(sign::sign(Kind::Grant, &one_more, &key).unwrap_err(), SignError::TooLarge);
    let much = vec![b'x'; PLAINTEXT_BYTES_MAX + 1];
    assert_eq!(seal::seal(Kind::Grant, bot().public(), &much, &mut rng(1)).unwrap_err(), SealError::TooLarge);
    let most = vec![b'x'; PLAINTEXT_BYTES_MAX];
    assert!(seal::seal(Kind::Grant, bot().public(), &most, &mut rng(1)).unwrap().len() <= ENVELOPE_BYTES_MAX);
}

fn signed(key: &SecretKey) -> Value {
    serde_json::from_slice(&sign::sign(Kind::Grant, b"{\"a\":1}", key).unwrap()).unwrap()
}

fn verify(envelope: &Value) -> Result<Vec<u8>, VerifyError> {
    let keys = publics(&[&other_member(), &member()]);
    let bytes = serde_json::to_vec(envelope).unwrap();
    sign::verify(Kind::Grant, &bytes, &keys).map(|verified| verified.payload().to_vec())
}

#[test]
fn the_exact_bytes_come_back_with_their_signer() {
    let keys = publics(&[&other_member(), &member()]);
    // Not JSON in its usual form: nothing is serialised again.
    let payload = b" { \"b\" : 1.0, \"a\" : 2 }\n";
    let envelope = sign::sign(Kind::Returned, payload, &member()).unwrap();
    let verified = sign::verify(Kind::Returned, &envelope, &keys).unwrap();
    assert_eq!(verified.payload(), payload);
    assert_eq!(verified.signer(), member().public());
    assert!(!format!("{verified:?}").contains("payload"));
}

#[test]
fn the_signature_is_that_of_dsse() {
    use ed25519_dalek::{Signature, VerifyingKey};
    let envelope = signed(&member());
    assert_eq!(envelope["payloadType"], "application/vnd.pinhole.grant+json");
    assert_eq!(envelope["signatures"][0]["keyid"], member().public().id().to_string());
    let pae = b"DSSEv1 34 application/vnd.pinhole.grant+json 7 {\"a\":1}";
    let sig = STANDARD.decode(envelope["signatures"][0]["sig"].as_str().unwrap()).unwrap();
    let (_, ed25519) = crate::keys::sound_parts();
    let key = VerifyingKey::from_bytes(&ed25519).unwrap();
    key.verify_strict(pae, &Signature::from_slice(&sig).unwrap()).unwrap();
}

#[test]
fn another_payload_type_is_refused_by_name_and_by_signature() {
    let mut envelope = signed(&member());
    envelope["payloadType"] = json!("application/vnd.pinhole.credential+json");
    assert_eq!(verify(&envelope).unwrap_err(), VerifyError::WrongType);
    let keys = publics(&[&member()]);
    let bytes = serde_json::to_vec(&envelope).unwrap();
    assert_eq!(sign::verify(Kind::Credential, &bytes, &keys).unwrap_err(), VerifyError::BadSignature);
}

#[test]
fn exactly_one_signature_by_an_accepted_key() {
    let envelope = signed(&member());
    assert!(verify(&envelope).is_ok());
    let mut none = envelope.clone();
    none["signatures"] = json!([]);
    assert_eq!(verify(&none).unwrap_err(), VerifyError::SignatureCount);
    let mut two = envelope.clone();
    two["signatures"].as_array_mut().unwrap().push(envelope["signatures"][0].clone());
    assert_eq!(verify(&two).unwrap_err(), VerifyError::SignatureCount);
    assert_eq!(verify(&signed(&bot())).unwrap_err(), VerifyError::UnknownSigner);
    // Somebody accepted, but not the one who signed.
    let mut claimed = envelope;
    claimed["signatures"][0]["keyid"] = json!(other_member().public().id());
    assert_eq!(verify(&claimed).unwrap_err(), VerifyError::BadSignature);
}

#[test]
fn a_second_way_of_writing_an_envelope_is_refused() {
    let envelope = signed(&member());
    let mut url_safe = envelope.clone();
    let sig = envelope["signatures"][0]["sig"].as_str().unwrap();
    url_safe["signatures"][0]["sig"] = json!(sig.trim_end_matches('='));
    assert_eq!(verify(&url_safe).unwrap_err(), VerifyError::NotAnEnvelope);
    let mut extra = envelope.clone();
    extra["extra"] = json!(1);
    assert_eq!(verify(&extra).unwrap_err(), VerifyError::NotAnEnvelope);
    let mut short = envelope;
    short["signatures"][0]["sig"] = json!(STANDARD.encode([1; 63]));
    assert_eq!(verify(&short).unwrap_err(), VerifyError::BadSignature);
}
