//! Asking a broker and being answered: by keys that it knows, for it alone, for now, and for this one ask.

use pinhole_grant::broker::{ASK_SKEW_SECS, SCOPES_MAX};
use pinhole_grant::seal::UnsealError;
use pinhole_grant::sign::VerifyError;
use pinhole_grant::{
    Answer, AnsweredPair, Ask, Asked, Credential, Kind, MintError, NoPair, OpenAnswerError, OpenAskError,
    OpenCredentialError, OpenError, OpenedAsk, PairHalf, Reached, SealAskError, SealCredentialError,
    SecretKey, open, open_answer, open_ask, open_credential, seal, seal_answer, seal_ask, seal_credential,
    sign,
};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use serde_json::{Value, json};

use crate::common::{
    NOW, REFRESH, TOKEN, bot, broker, credential, github, member, minted, other_bot, other_broker,
    other_member, publics, read_scope, request, rng, secret,
};

fn here() -> HttpsUrl {
    HttpsUrl::parse("https://broker.pinhole.dev/").unwrap()
}

fn refresh() -> Ask {
    Ask::Refresh { service: github(), refresh: secret(REFRESH) }
}

fn exchange() -> Ask {
    Ask::Exchange {
        service: github(),
        cap: Access::Write,
        code: secret("code"),
        verifier: secret("verifier"),
    }
}

fn revoke() -> Ask {
    Ask::Revoke { service: github(), token: secret(REFRESH), half: PairHalf::Refresh }
}

fn asked(ask: &Ask, asker: &SecretKey) -> Asked {
    seal_ask(ask, broker().public(), &here(), asker, NOW, &mut rng(21)).unwrap()
}

fn opened(envelope: &[u8]) -> Result<OpenedAsk, OpenAskError> {
    open_ask(envelope, &broker(), &here(), &publics(&[&member(), &bot()]), NOW)
}

fn answered(answer: &Answer, asked: &Asked) -> Vec<u8> {
    seal_answer(answer, &opened(asked.as_bytes()).unwrap(), &broker(), &mut rng(22)).unwrap()
}

fn pair() -> Answer {
    Answer::Pair(AnsweredPair {
        access: secret(TOKEN),
        refresh: Some(secret(REFRESH)),
        expires_at: Some(NOW.plus_secs(5)),
        obtained_at: NOW,
        scopes: vec!["repo".to_owned()],
    })
}

/// The signed bytes with one member changed, signed anew by the same key and sealed anew.
fn ask_with(name: &str, value: Value, by: &SecretKey) -> OpenAskError {
    let signed = seal::open(Kind::Ask, asked(&refresh(), &bot()).as_bytes(), &broker()).unwrap();
    let keys = publics(&[&bot()]);
    let mut payload: Value =
        serde_json::from_slice(sign::verify(Kind::Ask, &signed, &keys).unwrap().payload()).unwrap();
    payload.as_object_mut().unwrap().insert(name.to_owned(), value);
    let signed = sign::sign(Kind::Ask, &serde_json::to_vec(&payload).unwrap(), by).unwrap();
    opened(&seal::seal(Kind::Ask, broker().public(), &signed, &mut rng(8)).unwrap()).unwrap_err()
}

fn answer_with(name: &str, value: Value) -> OpenAnswerError {
    let asked = asked(&refresh(), &bot());
    let signed = seal::open(Kind::Answer, &answered(&pair(), &asked), &bot()).unwrap();
    let keys = publics(&[&broker()]);
    let mut payload: Value =
        serde_json::from_slice(sign::verify(Kind::Answer, &signed, &keys).unwrap().payload()).unwrap();
    *payload.pointer_mut(name).unwrap() = value;
    let signed = sign::sign(Kind::Answer, &serde_json::to_vec(&payload).unwrap(), &broker()).unwrap();
    let envelope = seal::seal(Kind::Answer, bot().public(), &signed, &mut rng(8)).unwrap();
    open_answer(&envelope, &asked, &bot(), broker().public()).unwrap_err()
}

#[test]
fn what_is_asked_arrives_as_it_was() {
    let opened = |ask: &Ask, asker: &SecretKey| opened(asked(ask, asker).as_bytes()).unwrap();
    let got = opened(&refresh(), &bot());
    assert_eq!((got.asker(), got.at()), (bot().public(), NOW));
    let Ask::Refresh { service, refresh } = got.ask() else { panic!("{got:?}") };
    assert_eq!((service, refresh.expose()), (&github(), REFRESH));
    let got = opened(&exchange(), &member());
    let Ask::Exchange { service, cap, code, verifier } = got.ask() else { panic!("{got:?}") };
    assert_eq!(
        (service, *cap, code.expose(), verifier.expose()),
        (&github(), Access::Write, "code", "verifier")
    );
    let got = opened(&revoke(), &member());
    let Ask::Revoke { service, token, half } = got.ask() else { panic!("{got:?}") };
    assert_eq!((service, token.expose(), *half), (&github(), REFRESH, PairHalf::Refresh));
    assert!(!format!("{got:?}").contains(REFRESH));
}

#[test]
fn what_is_answered_arrives_as_it_was() {
    let asked = asked(&refresh(), &bot());
    let open =
        |answer: &Answer| open_answer(&answered(answer, &asked), &asked, &bot(), broker().public()).unwrap();
    let got = open(&pair());
    assert!(!format!("{got:?}").contains(TOKEN));
    let Answer::Pair(got) = got else { panic!("{got:?}") };
    assert_eq!((got.access.expose(), got.refresh.unwrap().expose()), (TOKEN, REFRESH));
    assert_eq!((got.expires_at, got.obtained_at), (Some(NOW.plus_secs(5)), NOW));
    assert_eq!(got.scopes, ["repo"]);
    assert!(matches!(open(&Answer::Revoked), Answer::Revoked));
    for no in [
        NoPair::NoService,
        NoPair::BadCode,
        NoPair::Dead { code: "invalid_grant".to_owned() },
        NoPair::Client { code: None },
        NoPair::Refused { code: Some("invalid_scope".to_owned()) },
        NoPair::TooMuch { scopes: vec!["repo".to_owned()] },
        NoPair::Unavailable { reached: Reached::Maybe, retry_after: Some(7) },
        NoPair::Unavailable { reached: Reached::No, retry_after: None },
        NoPair::Unreadable { reached: Reached::Yes },
        NoPair::NotOffered,
    ] {
        let got = open(&Answer::No(no.clone()));
        assert!(matches!(&got, Answer::No(got) if *got == no), "{got:?}");
    }
}

#[test]
fn only_a_key_that_the_broker_knows_is_heard() {
    let unknown = Err(OpenAskError::Verify(VerifyError::UnknownSigner));
    let by = |ask: &Ask, asker: &SecretKey| opened(asked(ask, asker).as_bytes()).map(|_opened| ());
    assert_eq!(by(&refresh(), &bot()), Ok(()));
    assert_eq!(by(&refresh(), &other_bot()), unknown);
    assert_eq!(by(&exchange(), &other_member()), unknown);
    // Signed by another than it says, one known as well as not.
    let from = json!(bot().public().id());
    assert_eq!(ask_with("from", from.clone(), &member()), OpenAskError::AskerMismatch);
    assert_eq!(ask_with("from", from, &other_bot()), OpenAskError::Verify(VerifyError::UnknownSigner));
}

#[test]
fn an_ask_is_for_one_broker_at_one_address() {
    let envelope = asked(&refresh(), &bot());
    let keys = publics(&[&bot()]);
    let at = |key: &SecretKey, url: &str| {
        open_ask(envelope.as_bytes(), key, &HttpsUrl::parse(url).unwrap(), &keys, NOW).map(|_opened| ())
    };
    assert_eq!(at(&broker(), "https://broker.pinhole.dev"), Ok(()));
    for url in
        ["https://broker.pinhole.dev/oauth", "https://other.pinhole.dev/", "https://broker.pinhole.dev/?a"]
    {
        assert_eq!(at(&broker(), url), Err(OpenAskError::OtherBroker), "{url}");
    }
    let elsewhere = at(&other_broker(), "https://broker.pinhole.dev");
    assert_eq!(elsewhere, Err(OpenAskError::Unseal(UnsealError::WrongRecipient)));
    // A broker that passes an ask on, sealed anew to another.
    let signed = seal::open(Kind::Ask, envelope.as_bytes(), &broker()).unwrap();
    let passed_on = seal::seal(Kind::Ask, other_broker().public(), &signed, &mut rng(9)).unwrap();
    let got = open_ask(&passed_on, &other_broker(), &here(), &keys, NOW).unwrap_err();
    assert_eq!(got, OpenAskError::OtherBroker);
}

#[test]
fn an_ask_is_good_for_a_minute_either_way() {
    let envelope = asked(&refresh(), &bot());
    let keys = publics(&[&bot()]);
    let at = |seconds: i64| {
        open_ask(envelope.as_bytes(), &broker(), &here(), &keys, NOW.plus_secs(seconds)).map(|_opened| ())
    };
    for seconds in [-ASK_SKEW_SECS, 0, ASK_SKEW_SECS] {
        assert_eq!(at(seconds), Ok(()), "{seconds}");
    }
    for seconds in [-ASK_SKEW_SECS - 1, ASK_SKEW_SECS + 1, i64::MIN, i64::MAX] {
        assert_eq!(at(seconds), Err(OpenAskError::NotNow), "{seconds}");
    }
    assert_eq!(ask_with("at", json!(i64::MIN), &bot()), OpenAskError::NotNow);
}

#[test]
fn a_member_does_not_refresh_and_a_bot_does_nothing_else() {
    for (ask, asker) in [(refresh(), member()), (exchange(), bot()), (revoke(), bot())] {
        let sealed = seal_ask(&ask, broker().public(), &here(), &asker, NOW, &mut rng(1));
        assert_eq!(sealed.unwrap_err(), SealAskError::WrongAsker, "{ask:?}");
    }
    // Whoever makes them by hand is not heard either.
    for ask in [
        json!({"exchange": {"service": "github", "cap": "read", "code": "c", "verifier": "v"}}),
        json!({"revoke": {"service": "github", "token": "t", "half": "access"}}),
    ] {
        assert_eq!(ask_with("ask", ask.clone(), &bot()), OpenAskError::WrongAsker, "{ask}");
    }
    let signed = seal::open(Kind::Ask, asked(&exchange(), &member()).as_bytes(), &broker()).unwrap();
    let keys = publics(&[&member()]);
    let mut payload: Value =
        serde_json::from_slice(sign::verify(Kind::Ask, &signed, &keys).unwrap().payload()).unwrap();
    payload["ask"] = json!({"refresh": {"service": "github", "refresh": REFRESH}});
    let signed = sign::sign(Kind::Ask, &serde_json::to_vec(&payload).unwrap(), &member()).unwrap();
    let envelope = seal::seal(Kind::Ask, broker().public(), &signed, &mut rng(8)).unwrap();
    assert_eq!(opened(&envelope).unwrap_err(), OpenAskError::WrongAsker);
}

#[test]
fn what_is_not_exactly_an_ask_is_refused() {
    for (name, value) in [
        ("extra", json!(1)),
        ("nonce", json!("short")),
        ("nonce", json!(1)),
        ("at", json!("now")),
        ("ask", json!({})),
        ("ask", json!({"refresh": {"service": "github", "refresh": "a b"}})),
        ("ask", json!({"refresh": {"service": "GitHub", "refresh": "a"}})),
        ("ask", json!({"refresh": {"service": "github", "refresh": "a", "cap": "read"}})),
        ("ask", json!({"anything": {"service": "github"}})),
    ] {
        assert_eq!(ask_with(name, value.clone(), &bot()), OpenAskError::Malformed, "{name}: {value}");
    }
}

#[test]
fn an_answer_is_the_broker_s_own_and_to_this_ask() {
    let first = asked(&refresh(), &bot());
    let envelope = answered(&pair(), &first);
    assert!(open_answer(&envelope, &first, &bot(), broker().public()).is_ok());
    let of_another = open_answer(&envelope, &first, &bot(), other_broker().public()).unwrap_err();
    assert_eq!(of_another, OpenAnswerError::Verify(VerifyError::UnknownSigner));
    // An earlier answer that is played again: the nonce of the new ask is another.
    let second = seal_ask(&refresh(), broker().public(), &here(), &bot(), NOW, &mut rng(99)).unwrap();
    let played_again = open_answer(&envelope, &second, &bot(), broker().public()).unwrap_err();
    assert_eq!(played_again, OpenAnswerError::OtherAsk);
    // Passed on to another by who could open it.
    let signed = seal::open(Kind::Answer, &envelope, &bot()).unwrap();
    let passed_on = seal::seal(Kind::Answer, other_bot().public(), &signed, &mut rng(9)).unwrap();
    let got = open_answer(&passed_on, &first, &other_bot(), broker().public()).unwrap_err();
    assert_eq!(got, OpenAnswerError::OtherAsk);
    let got = open_answer(&envelope, &first, &other_bot(), broker().public()).unwrap_err();
    assert_eq!(got, OpenAnswerError::Unseal(UnsealError::WrongRecipient));
}

#[test]
fn a_pinned_key_that_is_not_a_broker_s_answers_nothing() {
    let asked = asked(&refresh(), &bot());
    let opened = opened(asked.as_bytes()).unwrap();
    assert!(seal_answer(&Answer::Revoked, &opened, &member(), &mut rng(1)).is_err());
    // Made by hand by the member, and pinned by mistake.
    let signed = seal::open(Kind::Answer, &answered(&pair(), &asked), &bot()).unwrap();
    let keys = publics(&[&broker()]);
    let payload = sign::verify(Kind::Answer, &signed, &keys).unwrap().payload().to_vec();
    let signed = sign::sign(Kind::Answer, &payload, &member()).unwrap();
    let envelope = seal::seal(Kind::Answer, bot().public(), &signed, &mut rng(8)).unwrap();
    let got = open_answer(&envelope, &asked, &bot(), member().public()).unwrap_err();
    assert_eq!(got, OpenAnswerError::Verify(VerifyError::UnknownSigner));
    let sealed = seal_ask(&refresh(), member().public(), &here(), &bot(), NOW, &mut rng(1));
    assert_eq!(sealed.unwrap_err(), SealAskError::NotABroker);
}

#[test]
fn what_is_not_exactly_an_answer_is_refused() {
    let many: Vec<_> = (0..=SCOPES_MAX).map(|n| format!("scope{n}")).collect();
    for (name, value) in [
        ("/answer", json!({"no": "unheard_of"})),
        ("/answer", json!({"pair": {}})),
        ("/answer", json!({"no": {"dead": {"code": "a\u{1b}[2J"}}})),
        ("/answer", json!({"no": {"client": {"code": "a b"}}})),
        ("/answer", json!({"no": {"refused": {"code": ""}}})),
        ("/answer", json!({"no": {"too_much": {"scopes": ["a\u{202e}"]}}})),
        ("/answer/pair/access", json!("")),
        ("/answer/pair/refresh", json!("a b")),
        ("/answer/pair/scopes", json!(["a\u{1b}[31m"])),
        ("/answer/pair/scopes", json!([""])),
        ("/answer/pair/scopes", json!(many)),
    ] {
        assert_eq!(answer_with(name, value.clone()), OpenAnswerError::Malformed, "{name}: {value}");
    }
    for name in ["/from", "/to"] {
        assert_eq!(answer_with(name, json!(other_bot().public().id())), OpenAnswerError::OtherAsk, "{name}");
    }
}

#[test]
fn no_flipped_bit_of_either_opens() {
    let asked = asked(&refresh(), &bot());
    let answer = answered(&pair(), &asked);
    let flips = |bytes: &[u8], opens: &dyn Fn(&[u8]) -> bool| {
        assert!(opens(bytes));
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.to_vec();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&other), "bit {bit}");
        }
    };
    flips(asked.as_bytes(), &|bytes| opened(bytes).is_ok());
    flips(&answer, &|bytes| open_answer(bytes, &asked, &bot(), broker().public()).is_ok());
}

#[test]
fn none_of_the_kinds_is_taken_for_another() {
    let asked = asked(&refresh(), &bot());
    let answer = answered(&pair(), &asked);
    assert_eq!(
        open_answer(asked.as_bytes(), &asked, &bot(), broker().public()).unwrap_err(),
        OpenAnswerError::Unseal(UnsealError::WrongKind)
    );
    assert_eq!(opened(&answer).unwrap_err(), OpenAskError::Unseal(UnsealError::WrongKind));
    // A grant's payload, sealed as an ask: the signature is over another type.
    let signed = seal::open(Kind::Grant, &minted(&request(read_scope())), &bot()).unwrap();
    let envelope = seal::seal(Kind::Ask, broker().public(), &signed, &mut rng(8)).unwrap();
    assert_eq!(opened(&envelope).unwrap_err(), OpenAskError::Verify(VerifyError::WrongType));
}

#[test]
fn a_broker_s_key_is_good_for_nothing_of_a_member_s_or_a_bot_s() {
    let broker = broker();
    let mint = |request: &_, signer: &SecretKey| {
        pinhole_grant::mint(request, &credential(), signer, NOW, &mut rng(1)).unwrap_err()
    };
    assert_eq!(mint(&request(read_scope()), &broker), MintError::NotAMember);
    let to_it = pinhole_grant::MintRequest { bot: broker.public().clone(), ..request(read_scope()) };
    assert_eq!(mint(&to_it, &member()), MintError::NotABot);
    let back_to_it = request(read_scope()).returning_to(broker.public().clone());
    assert_eq!(mint(&back_to_it, &member()), MintError::BackToABroker);
    let sealed = seal_credential(&credential(), &broker, &mut rng(1)).unwrap_err();
    assert_eq!(sealed, SealCredentialError::NotAMember);
    let own: Result<Credential, _> =
        open_credential(&seal_credential(&credential(), &member(), &mut rng(1)).unwrap(), &broker);
    assert_eq!(own.unwrap_err(), OpenCredentialError::NotAMember);
    let grant = minted(&request(read_scope()));
    assert_eq!(open(&grant, &broker, &publics(&[&member()]), NOW).unwrap_err(), OpenError::NotABot);
}
