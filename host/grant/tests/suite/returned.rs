//! Rotated pairs: from the grant's bot, to the grant's `return_to`, newer than what is stored.

use pinhole_grant::returned::GENERATIONS_AHEAD_MAX;
use pinhole_grant::seal::UnsealError;
use pinhole_grant::sign::VerifyError;
use pinhole_grant::{
    Credential, CredentialId, CredentialParts, Kind, OpenReturnedError, OpenedGrant, ReturnError, mint, open,
    open_returned, seal, seal_returned, sign,
};
use serde_json::{Value, json};

use crate::common::{
    NOW, bot, member, oauth_parts, other_bot, other_member, pat_parts, publics, read_scope, request, rng,
    secret,
};

fn stored() -> Credential {
    Credential::new(oauth_parts()).unwrap()
}

fn rotated(times: usize) -> Credential {
    let next = |credential: Credential, n| {
        credential.rotated(secret(&format!("access{n}")), Some(secret(&format!("refresh{n}"))), None).unwrap()
    };
    (1..=times).fold(stored(), next)
}

fn granted() -> OpenedGrant {
    let asked = request(read_scope()).returning_to(member().public().clone());
    let sealed = mint(&asked, &stored(), &member(), NOW, &mut rng(6)).unwrap();
    open(sealed.as_bytes(), &bot(), &publics(&[&member()]), NOW).unwrap()
}

fn sent(times: usize) -> Vec<u8> {
    seal_returned(&granted(), &rotated(times), &bot(), &mut rng(7)).unwrap()
}

fn taken(envelope: &[u8], stored: &Credential) -> Result<Credential, OpenReturnedError> {
    open_returned(envelope, &member(), &publics(&[&bot()]), stored)
}

fn altered(name: &str, value: Value) -> OpenReturnedError {
    let signed = seal::open(Kind::Returned, &sent(1), &member()).unwrap();
    let keys = publics(&[&bot()]);
    let payload = sign::verify(Kind::Returned, &signed, &keys).unwrap();
    let mut payload: Value = serde_json::from_slice(payload.payload()).unwrap();
    payload.as_object_mut().unwrap().insert(name.to_owned(), value);
    let signed = sign::sign(Kind::Returned, &serde_json::to_vec(&payload).unwrap(), &bot()).unwrap();
    let envelope = seal::seal(Kind::Returned, member().public(), &signed, &mut rng(8)).unwrap();
    taken(&envelope, &stored()).unwrap_err()
}

#[test]
fn the_pair_takes_the_place_of_the_stored_one_and_nothing_else_does() {
    let now = taken(&sent(1), &stored()).unwrap();
    assert_eq!(now.generation(), 1);
    assert_eq!(now.secret().expose(), "access1");
    assert_eq!(now.refresh().unwrap().expose(), "refresh1");
    let before = stored();
    assert_eq!((now.id(), now.host(), now.cap()), (before.id(), before.host(), before.cap()));
    assert_eq!((now.account(), now.label()), (before.account(), before.label()));
    assert_eq!((now.token_url(), now.dial()), (before.token_url(), before.dial()));
}

#[test]
fn an_older_or_replayed_pair_is_refused() {
    let (first, second) = (sent(1), sent(2));
    let now = taken(&first, &stored()).unwrap();
    assert_eq!(taken(&first, &now).unwrap_err(), OpenReturnedError::Stale);
    let now = taken(&second, &now).unwrap();
    assert_eq!(taken(&first, &now).unwrap_err(), OpenReturnedError::Stale);
    assert_eq!(taken(&second, &now).unwrap_err(), OpenReturnedError::Stale);
    // One message that was lost does not lose the credential.
    assert_eq!(taken(&second, &stored()).unwrap().generation(), 2);
}

#[test]
fn a_bot_cannot_run_ahead() {
    assert_eq!(altered("gen", json!(GENERATIONS_AHEAD_MAX + 1)), OpenReturnedError::TooFarAhead);
    assert_eq!(altered("gen", json!(u64::MAX)), OpenReturnedError::TooFarAhead);
    assert_eq!(altered("gen", json!(0)), OpenReturnedError::Stale);
}

#[test]
fn it_comes_from_a_bot_that_may_return_it() {
    let envelope = sent(1);
    let from = |bots: &[&_]| open_returned(&envelope, &member(), &publics(bots), &stored()).unwrap_err();
    assert_eq!(from(&[]), OpenReturnedError::Verify(VerifyError::UnknownSigner));
    assert_eq!(from(&[&other_bot()]), OpenReturnedError::Verify(VerifyError::UnknownSigner));
    assert_eq!(altered("bot", json!(other_bot().public().id())), OpenReturnedError::BotMismatch);
    let others =
        taken(&envelope, &Credential::new(CredentialParts { id: other_id(), ..oauth_parts() }).unwrap());
    assert_eq!(others.unwrap_err(), OpenReturnedError::WrongCredential);
}

fn other_id() -> CredentialId {
    CredentialId::random(&mut rng(77))
}

#[test]
fn it_goes_where_the_grant_says() {
    let envelope = sent(1);
    let refused = open_returned(&envelope, &other_member(), &publics(&[&bot()]), &stored()).unwrap_err();
    assert_eq!(refused, OpenReturnedError::Unseal(UnsealError::WrongRecipient));
    let signed = seal::open(Kind::Returned, &envelope, &member()).unwrap();
    let passed_on = seal::seal(Kind::Returned, other_member().public(), &signed, &mut rng(8)).unwrap();
    let refused = open_returned(&passed_on, &other_member(), &publics(&[&bot()]), &stored()).unwrap_err();
    assert_eq!(refused, OpenReturnedError::Resealed);
}

#[test]
fn a_payload_that_is_not_exactly_a_pair_is_refused() {
    for (name, value) in
        [("extra", json!(1)), ("secret", json!("a b")), ("refresh", json!("")), ("gen", json!("1"))]
    {
        assert_eq!(altered(name, value), OpenReturnedError::Malformed, "{name}");
    }
}

#[test]
fn only_a_later_generation_of_the_same_credential_is_sent() {
    let send = |credential: &Credential, bot: &_| {
        seal_returned(&granted(), credential, bot, &mut rng(7)).unwrap_err()
    };
    assert_eq!(send(&stored(), &bot()), ReturnError::NotARotation);
    let another = Credential::new(CredentialParts { id: other_id(), ..pat_parts() }).unwrap();
    assert_eq!(send(&another.rotated(secret("x"), None, None).unwrap(), &bot()), ReturnError::NotARotation);
    assert_eq!(send(&rotated(1), &other_bot()), ReturnError::WrongBot);
    let sealed = mint(&request(read_scope()), &stored(), &member(), NOW, &mut rng(6)).unwrap();
    let nowhere = open(sealed.as_bytes(), &bot(), &publics(&[&member()]), NOW).unwrap();
    let refused = seal_returned(&nowhere, &rotated(1), &bot(), &mut rng(7)).unwrap_err();
    assert_eq!(refused, ReturnError::NoReturnTo);
}

#[test]
fn no_pair_of_the_family_before_comes_after_a_reconnection() {
    let again = stored().reconnected(CredentialParts { secret: secret("anew"), ..oauth_parts() }).unwrap();
    for ahead in [1, GENERATIONS_AHEAD_MAX] {
        // Whatever the bot made of the pair before, as long as it could have been taken then.
        let signed = seal::open(Kind::Returned, &sent(1), &member()).unwrap();
        let keys = publics(&[&bot()]);
        let payload = sign::verify(Kind::Returned, &signed, &keys).unwrap();
        let mut payload: Value = serde_json::from_slice(payload.payload()).unwrap();
        payload["gen"] = json!(ahead);
        let signed = sign::sign(Kind::Returned, &serde_json::to_vec(&payload).unwrap(), &bot()).unwrap();
        let envelope = seal::seal(Kind::Returned, member().public(), &signed, &mut rng(8)).unwrap();
        assert!(taken(&envelope, &stored()).is_ok());
        assert_eq!(taken(&envelope, &again).unwrap_err(), OpenReturnedError::Stale);
    }
    // A pasted key has no family.
    let pasted = Credential::new(pat_parts()).unwrap().reconnected(pat_parts()).unwrap();
    assert_eq!(pasted.generation(), 1);
}
