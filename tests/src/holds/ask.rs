//! Opening what is asked of a broker: nobody without a key on its list makes an ask that opens, whichever layer is attacked; and
//! one that such a key signed opens only for this broker, at this address, now, and for what this kind of key asks.

use pinhole_grant::broker::ASK_SKEW_SECS;
use pinhole_grant::{
    Ask, KeyKind, Kind, OpenAskError, PublicKey, Secret, SecretKey, open_ask, seal, seal_ask, sign,
};
use pinhole_manifest::ServiceId;
use pinhole_manifest::host::HttpsUrl;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;

use super::altered::altered;
use crate::stage::NOW;

const TOKEN: &str = "hidden-refresh-token";

struct Keys {
    broker: SecretKey,
    other_broker: SecretKey,
    bot: SecretKey,
    member: SecretKey,
    stranger: SecretKey,
    address: HttpsUrl,
    /// Those who may ask.
    allowed: Vec<PublicKey>,
    /// The one ask that was made.
    made: Vec<u8>,
    payload: Value,
}

impl Keys {
    fn new() -> Self {
        let key = |kind, seed| SecretKey::generate(kind, &mut StdRng::seed_from_u64(seed));
        let (broker, other_broker) = (key(KeyKind::Broker, 1), key(KeyKind::Broker, 2));
        let (bot, member, stranger) = (key(KeyKind::Bot, 3), key(KeyKind::Member, 4), key(KeyKind::Bot, 5));
        let address = HttpsUrl::parse("https://broker.pinhole.dev").expect("a URL");
        let refresh = Secret::new(TOKEN.to_owned()).expect("a token");
        let ask = Ask::Refresh { service: ServiceId::parse("github").expect("a service"), refresh };
        let made = seal_ask(&ask, broker.public(), &address, &bot, NOW, &mut rng()).expect("an ask");
        let allowed = vec![bot.public().clone(), member.public().clone()];
        let signed = seal::open(Kind::Ask, made.as_bytes(), &broker).expect("the broker's");
        let payload = sign::verify(Kind::Ask, &signed, &allowed).expect("the bot's").payload().to_vec();
        let payload = serde_json::from_slice(&payload).expect("JSON");
        let made = made.as_bytes().to_vec();
        Self { broker, other_broker, bot, member, stranger, address, allowed, made, payload }
    }
}

fn rng() -> StdRng {
    StdRng::seed_from_u64(6)
}

thread_local! {
    static KEYS: Keys = Keys::new();
}

/// The first byte says what the rest is: an envelope, what is sealed in one, a payload that one on the list, a member or a
/// stranger signs, or changes to the one sound payload, which is then signed by one of these.
pub fn ask(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    KEYS.with(|keys| {
        let changed = || altered(keys.payload.clone(), rest).to_string().into_bytes();
        match first % 7 {
            0 => outside(keys, rest),
            1 => {
                let sealed = seal::seal(Kind::Ask, keys.broker.public(), rest, &mut rng());
                sealed.map(|envelope| outside(keys, &envelope)).unwrap_or_default();
            }
            2 => signed(keys, rest, &keys.bot),
            3 => signed(keys, &changed(), &keys.bot),
            4 => signed(keys, &changed(), &keys.member),
            5 => signed(keys, &changed(), &keys.stranger),
            _ => signed(keys, rest, &keys.stranger),
        }
    });
}

/// Inputs of [`ask`], named.
pub fn ask_seeds() -> Vec<(String, Vec<u8>)> {
    KEYS.with(|keys| {
        let payload = keys.payload.to_string().into_bytes();
        let envelope = std::iter::once(&0).chain(&keys.made).copied().collect();
        let signed = [2, 6].map(|how| [&[how], payload.as_slice()].concat());
        let [by_the_bot, by_a_stranger] = signed;
        let changes = |how| vec![how, 0, 3, 0, b'1', 0xff, 0, 1, 2, b'x'];
        vec![
            ("envelope".to_owned(), envelope),
            ("signed".to_owned(), by_the_bot),
            ("by_a_stranger".to_owned(), by_a_stranger),
            ("changed".to_owned(), changes(3)),
            ("changed_by_a_member".to_owned(), changes(4)),
            ("changed_by_a_stranger".to_owned(), changes(5)),
        ]
    })
}

fn open(keys: &Keys, envelope: &[u8]) -> Result<pinhole_grant::OpenedAsk, OpenAskError> {
    open_ask(envelope, &keys.broker, &keys.address, &keys.allowed, NOW)
}

/// What anybody can make opens only if it is the one ask that was made.
fn outside(keys: &Keys, envelope: &[u8]) {
    if let Ok(opened) = open(keys, envelope) {
        assert_eq!(opened.asker(), keys.bot.public());
        let Ask::Refresh { refresh, .. } = opened.ask() else { panic!("another ask") };
        assert_eq!(refresh.expose(), TOKEN);
    }
    assert!(open_ask(envelope, &keys.other_broker, &keys.address, &keys.allowed, NOW).is_err());
}

fn signed(keys: &Keys, payload: &[u8], by: &SecretKey) {
    let Ok(dsse) = sign::sign(Kind::Ask, payload, by) else { return };
    let Ok(envelope) = seal::seal(Kind::Ask, keys.broker.public(), &dsse, &mut rng()) else { return };
    let opened = open(keys, &envelope);
    if !keys.allowed.contains(by.public()) {
        assert!(matches!(opened, Err(OpenAskError::Verify(_))), "{opened:?}");
        return;
    }
    let Ok(opened) = opened else { return };
    let said: Value = serde_json::from_slice(payload).expect("JSON");
    assert_eq!(said["from"], by.public().id().to_string());
    assert_eq!(said["to"], keys.broker.public().id().to_string());
    assert_eq!(said["audience"], keys.address.as_str());
    assert!(opened.at().secs_since(NOW).is_some_and(|apart| apart.abs() <= ASK_SKEW_SECS));
    assert_eq!(matches!(opened.ask(), Ask::Refresh { .. }), by.public().kind() == KeyKind::Bot);
    assert_eq!(opened.asker(), by.public());
    // The same is no ask to anybody else, at another address, or once its time is over.
    let elsewhere = HttpsUrl::parse("https://broker.pinhole.dev/other").expect("a URL");
    assert!(open_ask(&envelope, &keys.broker, &elsewhere, &keys.allowed, NOW).is_err());
    let later = opened.at().plus_secs(ASK_SKEW_SECS + 1);
    assert!(open_ask(&envelope, &keys.broker, &keys.address, &keys.allowed, later).is_err());
    assert!(open_ask(&envelope, &keys.broker, &keys.address, &[], NOW).is_err());
    let shown = format!("{opened:?}");
    assert!(!shown.contains(TOKEN), "{shown}");
}
