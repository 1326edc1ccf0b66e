//! Credentials: whole or not at all, for their member alone.

use pinhole_grant::credential::SealCredentialError;
use pinhole_grant::seal::UnsealError;
use pinhole_grant::sign::VerifyError;
use pinhole_grant::{
    Credential, CredentialError, CredentialKind, CredentialParts, Dial, Kind, OpenCredentialError,
    open_credential, seal, seal_credential, sign,
};
use pinhole_manifest::Access;
use serde_json::{Value, json};

use crate::common::{
    REFRESH, TOKEN, bot, brokered_parts, credential, member, minted, oauth_parts, other_member, pat_parts,
    publics, read_scope, request, rng, secret,
};

fn payload() -> Value {
    payload_of(pat_parts())
}

fn payload_of(parts: CredentialParts) -> Value {
    let envelope = seal_credential(&Credential::new(parts).unwrap(), &member(), &mut rng(1)).unwrap();
    let signed = seal::open(Kind::Credential, &envelope, &member()).unwrap();
    let keys = publics(&[&member()]);
    serde_json::from_slice(sign::verify(Kind::Credential, &signed, &keys).unwrap().payload()).unwrap()
}

fn reopened(payload: &Value) -> Result<Credential, OpenCredentialError> {
    let signed = sign::sign(Kind::Credential, &serde_json::to_vec(payload).unwrap(), &member()).unwrap();
    let envelope = seal::seal(Kind::Credential, member().public(), &signed, &mut rng(2)).unwrap();
    open_credential(&envelope, &member())
}

#[test]
fn it_comes_back_as_it_was() {
    for (parts, same) in [pat_parts, oauth_parts, brokered_parts].map(|parts| (parts(), parts())) {
        let envelope = seal_credential(&Credential::new(parts).unwrap(), &member(), &mut rng(1)).unwrap();
        let opened = open_credential(&envelope, &member()).unwrap();
        assert_eq!(opened.id(), same.id);
        assert_eq!(opened.generation(), 0);
        assert_eq!(*opened.service(), same.service);
        assert_eq!(*opened.label(), same.label);
        assert_eq!(*opened.account(), same.account);
        assert_eq!(*opened.host(), same.host);
        assert_eq!(opened.token_url(), same.token_url.as_ref());
        assert_eq!(*opened.registry(), same.registry);
        assert_eq!(opened.kind(), same.kind);
        assert_eq!(opened.secret().expose(), TOKEN);
        assert_eq!(
            opened.refresh().map(pinhole_grant::Secret::expose),
            same.refresh.as_ref().map(|_| REFRESH)
        );
        assert_eq!(opened.expires_at(), same.expires_at);
        assert_eq!(opened.renewer(), same.renewer.as_deref());
        assert_eq!(opened.cap(), same.cap);
        assert_eq!(opened.dial(), Dial::Real);
    }
}

#[test]
fn neither_the_envelope_nor_debug_shows_a_secret() {
    let credential = Credential::new(oauth_parts()).unwrap();
    let envelope = String::from_utf8(seal_credential(&credential, &member(), &mut rng(1)).unwrap()).unwrap();
    for shown in [format!("{credential:?}"), envelope] {
        assert!(!shown.contains(TOKEN) && !shown.contains(REFRESH), "{shown}");
    }
}

#[test]
fn only_its_member_opens_it() {
    let envelope = seal_credential(&credential(), &member(), &mut rng(1)).unwrap();
    let refused = open_credential(&envelope, &other_member()).unwrap_err();
    assert_eq!(refused, OpenCredentialError::Unseal(UnsealError::WrongRecipient));
    assert_eq!(open_credential(&envelope, &bot()).unwrap_err(), OpenCredentialError::NotAMember);
    let sealed = seal_credential(&credential(), &bot(), &mut rng(1));
    assert_eq!(sealed.unwrap_err(), SealCredentialError::NotAMember);
}

#[test]
fn one_that_somebody_else_signed_is_refused() {
    // Anybody can seal to a member: only what she signed herself counts.
    let bytes = serde_json::to_vec(&payload()).unwrap();
    let signed = sign::sign(Kind::Credential, &bytes, &other_member()).unwrap();
    let envelope = seal::seal(Kind::Credential, member().public(), &signed, &mut rng(2)).unwrap();
    let refused = open_credential(&envelope, &member()).unwrap_err();
    assert_eq!(refused, OpenCredentialError::Verify(VerifyError::UnknownSigner));
}

#[test]
fn a_grant_is_no_credential() {
    let grant = minted(&request(read_scope()));
    let refused = open_credential(&grant, &member()).unwrap_err();
    assert_eq!(refused, OpenCredentialError::Unseal(UnsealError::WrongKind));
}

#[test]
fn no_cap_is_read() {
    let mut payload = payload();
    assert_eq!(reopened(&payload).unwrap().cap(), Access::Write);
    payload.as_object_mut().unwrap().remove("cap").unwrap();
    assert_eq!(reopened(&payload).unwrap().cap(), Access::Read);
    assert_eq!(credential().with_cap(Access::Read).cap(), Access::Read);
}

#[test]
fn a_payload_that_is_not_exactly_a_credential_is_refused() {
    for (name, value) in [
        ("extra", json!(1)),
        ("secret", json!("")),
        ("secret", json!("a\r\nx-evil: 1")),
        ("secret", json!("x".repeat(8193))),
        ("refresh", json!("token")),
        ("token_url", json!("https://github.com/token")),
        ("token_url", json!("http://github.com/token")),
        ("host", json!("127.0.0.1")),
        ("cap", json!("admin")),
        ("dial", json!("else")),
        ("gen", json!(9_007_199_254_740_992_u64)),
        ("gen", json!(-1)),
        ("id", json!("short")),
        ("renewer", json!({"client": "Iv1.8a61f9b3a7aba766"})),
        ("label", json!("a\nb")),
    ] {
        let mut payload = payload();
        payload.as_object_mut().unwrap().insert(name.to_owned(), value.clone());
        assert_eq!(reopened(&payload).unwrap_err(), OpenCredentialError::Malformed, "{name} {value}");
    }
    let names: Vec<String> = payload().as_object().unwrap().keys().cloned().collect();
    for name in names.into_iter().filter(|name| name != "cap") {
        let mut payload = payload();
        payload.as_object_mut().unwrap().remove(&name).unwrap();
        assert_eq!(reopened(&payload).unwrap_err(), OpenCredentialError::Malformed, "{name} absent");
    }
}

#[test]
fn a_renewer_that_is_not_exactly_one_is_refused() {
    let key = member().public().to_string();
    let mut payload = payload_of(brokered_parts());
    assert!(reopened(&payload).is_ok());
    for renewer in [
        json!({"client": ""}),
        json!({"client": "a b"}),
        json!({"client": "a", "broker": {"url": "https://broker.pinhole.dev/", "key": key}}),
        json!({"broker": {"url": "http://broker.pinhole.dev/", "key": key}}),
        json!({"broker": {"url": "https://127.0.0.1/", "key": key}}),
        json!({"broker": {"url": "https://broker.pinhole.dev:8443/", "key": key}}),
        json!({"broker": {"url": "https://broker.pinhole.dev/", "key": key.replace("pin1", "pin2")}}),
        json!({"broker": {"url": "https://broker.pinhole.dev/"}}),
        json!({"broker": {"url": "https://broker.pinhole.dev/", "key": key, "secret": "s"}}),
        json!({"other": "a"}),
        json!("client"),
    ] {
        payload.as_object_mut().unwrap().insert("renewer".to_owned(), renewer.clone());
        assert_eq!(reopened(&payload).unwrap_err(), OpenCredentialError::Malformed, "{renewer}");
    }
}

#[test]
fn a_renewer_needs_oauth_and_a_token_url_and_stays_with_the_pair() {
    let parts = || CredentialParts { refresh: None, ..oauth_parts() };
    let no_url = CredentialParts { token_url: None, ..parts() };
    assert_eq!(Credential::new(no_url).unwrap_err(), CredentialError::RefreshWithoutTokenUrl);
    let pat = CredentialParts { kind: CredentialKind::Pat, token_url: None, ..parts() };
    assert_eq!(Credential::new(pat).unwrap_err(), CredentialError::RefreshWithoutOauth);
    let rotated = Credential::new(oauth_parts()).unwrap().rotated(secret("next"), None, None).unwrap();
    assert_eq!(rotated.renewer(), oauth_parts().renewer.as_deref());
}

#[test]
fn a_refresh_token_needs_oauth_and_a_token_url() {
    let parts = || CredentialParts { renewer: None, ..oauth_parts() };
    let no_url = CredentialParts { token_url: None, ..parts() };
    assert_eq!(Credential::new(no_url).unwrap_err(), CredentialError::RefreshWithoutTokenUrl);
    let pat = CredentialParts { kind: CredentialKind::Pat, ..parts() };
    assert_eq!(Credential::new(pat).unwrap_err(), CredentialError::RefreshWithoutOauth);
    let no_refresh = CredentialParts { refresh: None, ..oauth_parts() };
    assert!(Credential::new(no_refresh).is_ok());
}

#[test]
fn rotation_counts_and_keeps_the_refresh_token_that_was_not_replaced() {
    let credential = Credential::new(oauth_parts()).unwrap();
    let rotated = credential.rotated(secret("next"), None, None).unwrap();
    assert_eq!((rotated.generation(), rotated.secret().expose()), (1, "next"));
    assert_eq!(rotated.refresh().unwrap().expose(), REFRESH);
    assert_eq!(rotated.expires_at(), None);
    let rotated = rotated.rotated(secret("third"), Some(secret("r3")), None).unwrap();
    assert_eq!((rotated.generation(), rotated.refresh().unwrap().expose()), (2, "r3"));
}
