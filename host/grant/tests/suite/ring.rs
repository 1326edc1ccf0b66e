//! A bot's key and those that it had before: what opens, until when, and the file that has them all.

use pinhole_grant::keys::{ENDED, FORMER_KEYS_MAX, KEY_FILE_BYTES_MAX, public_key};
use pinhole_grant::{
    KeyFileError, KeyKind, OpenError, PublicKey, Ring, RingError, SecretKey, UnixTime, open,
};
use serde_json::{Value, json};

use crate::common::{DAY, NOW, bot, member, minted, other_bot, publics, read_scope, request, rng};

fn key(seed: u64) -> SecretKey {
    SecretKey::generate(KeyKind::Bot, &mut rng(seed))
}

/// [`bot`] with another key, and the one before good for a day.
fn rotated() -> Ring {
    Ring::from(bot()).rotated(key(40), NOW.plus_secs(DAY)).unwrap()
}

fn json_of(ring: &Ring) -> Value {
    serde_json::from_slice(&ring.to_file().unwrap()).unwrap()
}

fn read(file: &Value) -> Result<Ring, KeyFileError> {
    Ring::from_file(file.to_string().as_bytes())
}

#[test]
fn a_grant_to_a_former_key_opens_until_its_end_and_not_a_second_longer() {
    let (ring, issuers) = (rotated(), publics(&[&member()]));
    let grant = minted(&request(read_scope()));
    let opened = ring.open(&grant, &issuers, NOW).unwrap();
    assert_eq!(opened.grant().bot(), bot().public().id());
    let mut ended = rotated();
    assert_eq!(ended.end(bot().public().id()), Ok(true));
    assert_eq!(ended.open(&grant, &issuers, NOW).unwrap_err(), OpenError::KeyEnded);
    assert_eq!(ring.open(&grant, &issuers, NOW.plus_secs(DAY)).unwrap_err(), OpenError::KeyEnded);
    assert_ne!(ring.open(&grant, &issuers, NOW.plus_secs(DAY - 1)).err(), Some(OpenError::KeyEnded));
    // To show it permits nothing.
    assert_eq!(ended.inspect(&grant, &issuers).unwrap().bot, bot().public().id());
    // Another bot's is another bot's.
    let others = Ring::from(other_bot()).rotated(key(41), NOW.plus_secs(DAY)).unwrap();
    assert_eq!(others.open(&grant, &issuers, NOW).unwrap_err(), OpenError::WrongBot);
    assert_eq!(ring.open(b"{}", &issuers, NOW).unwrap_err(), OpenError::NotAnEnvelope);
    assert!(open(&grant, ring.current(), &issuers, NOW).is_err());
}

#[test]
fn the_oldest_key_is_the_root_and_the_oldest_open_one_is_shared() {
    let ids = |ring: &Ring| ring.all().map(|key| key.public().id()).collect::<Vec<_>>();
    let ring = rotated().rotated(key(41), NOW.plus_secs(3 * DAY)).unwrap();
    let known = [bot(), key(40), key(41)].map(|key| key.public().id());
    assert_eq!(ids(&ring), known);
    assert_eq!(ring.root().public().id(), known[0]);
    assert_eq!(ring.public().id(), known[2]);
    for (day, shared) in [(0, 0), (1, 1), (2, 1), (3, 2), (99, 2)] {
        let key = ring.shared(NOW.plus_secs(day * DAY));
        assert_eq!(key.public().id(), known[shared], "{day}");
        assert_eq!(ring.root().public().id(), known[0]);
    }
    let alone = Ring::from(bot());
    assert_eq!((alone.root().public(), alone.shared(NOW).public()), (bot().public(), bot().public()));
    assert_eq!(ring.publics().len(), 3);
    assert_eq!(ring.publics()[0], *ring.public());
    let newest_first: Vec<_> = ring.publics().iter().map(PublicKey::id).collect();
    assert_eq!(newest_first, [known[2], known[1], known[0]]);
}

#[test]
fn an_end_is_for_good_whatever_any_clock_says() {
    let mut ring = rotated();
    let id = bot().public().id();
    assert_eq!(ring.end(id), Ok(true));
    assert_eq!(ring.end(id), Ok(false));
    assert_eq!(ring.former()[0].until(), ENDED);
    for moment in [UnixTime::from_secs(0), NOW.plus_secs(-9 * DAY), NOW] {
        assert!(!ring.former()[0].is_open(moment));
    }
    assert_eq!(Ring::from_file(&ring.to_file().unwrap()).unwrap().former()[0].until(), ENDED);
    assert_eq!(ring.end(key(40).public().id()), Err(RingError::NotFormer));
    assert_eq!(ring.end(other_bot().public().id()), Err(RingError::NotFormer));
}

#[test]
fn a_ring_takes_only_bots_each_once_and_so_many() {
    assert_eq!(rotated().rotated(bot(), NOW).err(), Some(RingError::Known));
    assert_eq!(rotated().rotated(key(40), NOW).err(), Some(RingError::Known));
    assert_eq!(rotated().rotated(member(), NOW).err(), Some(RingError::NotABot));
    assert_eq!(Ring::from(member()).rotated(key(40), NOW).err(), Some(RingError::NotABot));
    let mut ring = Ring::from(key(100));
    for seed in 101..=100 + u64::try_from(FORMER_KEYS_MAX).unwrap() {
        ring = ring.rotated(key(seed), NOW).unwrap();
    }
    let file = ring.to_file().unwrap();
    assert!(file.len() < KEY_FILE_BYTES_MAX, "{}", file.len());
    assert_eq!(Ring::from_file(&file).unwrap().former().len(), FORMER_KEYS_MAX);
    assert_eq!(ring.rotated(key(99), NOW).err(), Some(RingError::Full));
}

#[test]
fn the_file_has_them_all_and_its_first_is_the_present_one() {
    let ring = rotated().rotated(key(41), NOW.plus_secs(9)).unwrap();
    let file = ring.to_file().unwrap();
    let again = Ring::from_file(&file).unwrap();
    let facts = |ring: &Ring| {
        let former = ring.former().iter().map(|former| (former.key().public().clone(), former.until()));
        (ring.public().clone(), former.collect::<Vec<_>>())
    };
    assert_eq!(facts(&again), facts(&ring));
    assert_eq!(*again.to_file().unwrap(), *file);
    assert_eq!(public_key(&file).unwrap(), *key(41).public());
    assert_eq!(SecretKey::from_file(&file, None).unwrap().public(), key(41).public());
    // A file of before, and one of a bot that never had another key, are the same.
    let alone = bot().to_file(None, &mut rng(5)).unwrap();
    assert_eq!(*Ring::from(bot()).to_file().unwrap(), *alone);
    assert_eq!(Ring::from_file(&alone).unwrap().public(), bot().public());
    assert!(!format!("{ring:?}").contains(json_of(&ring)["secret"].as_str().unwrap()));
}

#[test]
fn a_file_that_is_no_bots_or_not_in_order_is_refused() {
    let sound = json_of(&rotated());
    assert!(read(&sound).is_ok());
    let other = json_of(&Ring::from(other_bot()));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut file = sound.clone();
        change(&mut file);
        read(&file).err()
    };
    assert_eq!(
        changed(&|file| file["former"][0]["secret"] = other["secret"].clone()),
        Some(KeyFileError::Mismatch)
    );
    assert_eq!(
        changed(&|file| file["former"][0]["public"] = other["public"].clone()),
        Some(KeyFileError::Mismatch)
    );
    let present = json!({"public": sound["public"], "secret": sound["secret"], "until": 9});
    assert_eq!(
        changed(&|file| file["former"].as_array_mut().unwrap().push(present.clone())),
        Some(KeyFileError::Malformed)
    );
    for (member, value) in [("until", json!("soon")), ("until", Value::Null), ("more", json!(1))] {
        assert_eq!(changed(&|file| file["former"][0][member] = value.clone()), Some(KeyFileError::Malformed));
    }
    let hers: Value = serde_json::from_slice(&member().to_file(None, &mut rng(5)).unwrap()).unwrap();
    assert_eq!(
        changed(&|file| {
            let former = file["former"].clone();
            *file = hers.clone();
            file["former"] = former;
        }),
        Some(KeyFileError::Malformed)
    );
    assert_eq!(Ring::from_file(b"").err(), Some(KeyFileError::Malformed));
}
