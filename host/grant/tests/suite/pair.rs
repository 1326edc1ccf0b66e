//! Kept pairs: sealed by a bot to itself, read by nobody else; their digests find a pair and say nothing of it.

use pinhole_grant::seal::UnsealError;
use pinhole_grant::sign::VerifyError;
use pinhole_grant::{
    Credential, CredentialParts, KeptPair, Kind, OpenPairError, PairDigest, SealPairError, open_pair, seal,
    seal_pair, sign,
};
use serde_json::{Value, json};

use crate::common::{
    HOUR, NOW, bot, flipped, member, oauth_parts, other_bot, other_member, publics, rng, secret,
};

fn held() -> Credential {
    Credential::new(oauth_parts()).unwrap()
}

fn pair() -> KeptPair {
    KeptPair {
        issuer: member().public().id(),
        credential: held().id(),
        generation: 3,
        access: secret("access3-SECRET"),
        refresh: Some(secret("refresh3-SECRET")),
        obtained_at: NOW,
        expires_at: Some(NOW.plus_secs(HOUR)),
    }
}

fn sealed() -> Vec<u8> {
    seal_pair(&pair(), &bot(), &mut rng(7)).unwrap()
}

#[test]
fn what_a_bot_keeps_it_opens_again() {
    let opened = open_pair(&sealed(), &bot()).unwrap();
    assert_eq!((opened.issuer, opened.credential), (pair().issuer, pair().credential));
    assert_eq!((opened.generation, opened.obtained_at), (3, NOW));
    assert_eq!(opened.expires_at, Some(NOW.plus_secs(HOUR)));
    assert_eq!(opened.access.expose(), "access3-SECRET");
    assert_eq!(opened.refresh.unwrap().expose(), "refresh3-SECRET");
    assert!(!format!("{:?}", pair()).contains("SECRET"));
}

#[test]
fn it_changes_the_pair_of_a_grant_and_nothing_else() {
    let now = pair().of(&held()).unwrap();
    assert_eq!((now.generation(), now.secret().expose()), (3, "access3-SECRET"));
    assert_eq!(now.refresh().unwrap().expose(), "refresh3-SECRET");
    let before = held();
    assert_eq!((now.id(), now.host(), now.token_url()), (before.id(), before.host(), before.token_url()));
    assert_eq!((now.account(), now.cap(), now.dial()), (before.account(), before.cap(), before.dial()));
    // However it was counted, it is newer than what it replaces.
    assert_eq!(KeptPair { generation: 0, ..pair() }.of(&held()).unwrap().generation(), 1);
}

#[test]
fn nobody_else_opens_it_and_nobody_else_makes_one() {
    let refused = open_pair(&sealed(), &other_bot()).unwrap_err();
    assert_eq!(refused, OpenPairError::Unseal(UnsealError::WrongRecipient));
    assert_eq!(open_pair(&sealed(), &member()).unwrap_err(), OpenPairError::NotABot);
    assert_eq!(seal_pair(&pair(), &member(), &mut rng(7)).unwrap_err(), SealPairError::NotABot);
    // Anybody can seal to the bot; only the bot signs as itself.
    let signed = seal::open(Kind::Pair, &sealed(), &bot()).unwrap();
    let keys = publics(&[&bot()]);
    let payload = sign::verify(Kind::Pair, &signed, &keys).unwrap();
    let forged = sign::sign(Kind::Pair, payload.payload(), &other_bot()).unwrap();
    let forged = seal::seal(Kind::Pair, bot().public(), &forged, &mut rng(8)).unwrap();
    assert_eq!(open_pair(&forged, &bot()).unwrap_err(), OpenPairError::Verify(VerifyError::UnknownSigner));
    // A pair on its way back is none that is kept.
    let returned = sign::sign(Kind::Returned, payload.payload(), &bot()).unwrap();
    let returned = seal::seal(Kind::Pair, bot().public(), &returned, &mut rng(8)).unwrap();
    assert_eq!(open_pair(&returned, &bot()).unwrap_err(), OpenPairError::Verify(VerifyError::WrongType));
}

#[test]
fn no_flipped_bit_of_a_kept_pair_opens() {
    let (envelope, bot) = (sealed(), bot());
    for (bit, other) in flipped(&envelope) {
        assert!(open_pair(&other, &bot).is_err(), "bit {bit}");
    }
}

#[test]
fn a_payload_that_is_not_exactly_a_kept_pair_is_refused() {
    let signed = seal::open(Kind::Pair, &sealed(), &bot()).unwrap();
    let keys = publics(&[&bot()]);
    let payload = sign::verify(Kind::Pair, &signed, &keys).unwrap();
    let payload: Value = serde_json::from_slice(payload.payload()).unwrap();
    let changes =
        [("extra", json!(1)), ("access", json!("a b")), ("refresh", json!("")), ("gen", json!("1"))];
    for (name, value) in changes {
        let mut payload = payload.clone();
        payload.as_object_mut().unwrap().insert(name.to_owned(), value);
        let signed = sign::sign(Kind::Pair, &serde_json::to_vec(&payload).unwrap(), &bot()).unwrap();
        let envelope = seal::seal(Kind::Pair, bot().public(), &signed, &mut rng(8)).unwrap();
        assert_eq!(open_pair(&envelope, &bot()).unwrap_err(), OpenPairError::Malformed, "{name}");
    }
}

#[test]
fn a_digest_is_of_one_pair_one_credential_one_member_and_one_bot() {
    let of = |bot: &_, issuer, credential: &Credential| PairDigest::of(bot, issuer, credential).unwrap();
    let (whose, held) = (member().public().id(), held());
    let digest = of(&bot(), whose, &held);
    assert_eq!(digest, of(&bot(), whose, &self::held()));
    assert_eq!(PairDigest::parse(&digest.to_string()).unwrap(), digest);
    assert!(PairDigest::parse("").is_err());
    let other = |change: fn(&mut CredentialParts)| {
        let mut parts = oauth_parts();
        change(&mut parts);
        of(&bot(), whose, &Credential::new(parts).unwrap())
    };
    let others = [
        of(&other_bot(), whose, &held),
        of(&bot(), other_member().public().id(), &held),
        other(|parts| parts.id = pinhole_grant::CredentialId::random(&mut rng(77))),
        other(|parts| parts.secret = secret("another")),
        other(|parts| parts.refresh = Some(secret("another"))),
        other(|parts| parts.refresh = None),
        // The same letters, cut at another place.
        other(|parts| {
            let text = format!("{}r", parts.secret.expose());
            parts.secret = secret(&text);
        }),
    ];
    for (number, other) in others.iter().enumerate() {
        assert!(*other != digest && !others[..number].contains(other), "{number}");
    }
    // What is kept is found under what a grant with the same pair has.
    let kept = pair();
    assert_eq!(kept.digest(&bot()).unwrap(), of(&bot(), whose, &kept.of(&held).unwrap()));
}
