//! Page tokens: what was sealed opens for the same bot, the same call and an hour; nothing else opens at all.

use pinhole_grant::page::{PAGE_LIFE_SECS, PAGE_TOKEN_BYTES_MAX, PLACE_BYTES_MAX};
use pinhole_grant::{
    Account, Action, ActionDigest, CredentialId, GrantId, KeyId, OpenPageError, PageParts, PrincipalId,
    SealPageError, UnixTime, open_page, seal_page,
};
use pinhole_manifest::model::Args;
use pinhole_manifest::{Digest, OpId, ServiceId};
use proptest::prelude::*;

use crate::common::{NOW, bot, credential, github, manifest, member, op, other_bot, other_member, rng};

fn args(text: &str) -> Args {
    let manifest = serde_json::json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": { "scheme": "bearer" }, "ops": { "list": {
            "access": "read", "summary": "Lists.", "pick": "none", "request": { "method": "GET", "path": "/{a}" },
            "args": { "type": "object", "additionalProperties": false, "required": ["a"],
                      "properties": { "a": { "type": "string", "description": "A text." } } },
        } },
    });
    let manifest = pinhole_manifest::read(manifest.to_string().as_bytes()).into_result().unwrap();
    manifest.op(&op("list")).unwrap().args.parse_text(text).unwrap()
}

/// What an action is made of.
struct Call {
    service: ServiceId,
    op: OpId,
    args: Args,
    manifest: Digest,
    connection: CredentialId,
    account: Account,
    bot: KeyId,
}

fn action(change: impl FnOnce(&mut Call)) -> ActionDigest {
    let credential = credential();
    let mut call = Call {
        service: github(),
        op: op("list"),
        args: args(r#"{"a":"x"}"#),
        manifest: manifest(),
        connection: credential.id(),
        account: credential.account().clone(),
        bot: bot().public().id(),
    };
    change(&mut call);
    let Call { service, op, args, manifest, connection, account, bot } = &call;
    let (manifest, connection, bot) = (*manifest, *connection, *bot);
    Action { service, op, args, manifest, connection, account, bot }.digest().unwrap()
}

fn parts(place: &str) -> PageParts {
    PageParts {
        issuer: member().public().id(),
        action: action(|_| ()),
        grant: GrantId::random(&mut rng(8)),
        principal: None,
        place: place.to_owned(),
    }
}

fn sealed(place: &str) -> String {
    seal_page(parts(place), &bot(), NOW, [7; 12]).unwrap().to_string()
}

fn refused(token: &str, now: UnixTime) -> OpenPageError {
    open_page(token, &bot(), now).unwrap_err()
}

#[test]
fn what_was_sealed_opens_for_its_call() {
    let token = sealed("here");
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{token}");
    assert!(!token.contains("here") && !token.starts_with('-'));
    let opened = open_page(&token, &bot(), NOW).unwrap();
    let wanted = parts("here");
    assert_eq!(opened.check(wanted.issuer, wanted.action, None), Ok((wanted.grant, "here".to_owned())));
}

#[test]
fn it_is_good_for_an_hour_and_no_clock_revives_it() {
    let token = sealed("here");
    for (after, opens) in [(0, true), (1, true), (PAGE_LIFE_SECS - 1, true), (PAGE_LIFE_SECS, false)] {
        assert_eq!(open_page(&token, &bot(), NOW.plus_secs(after)).is_ok(), opens, "{after}");
    }
    for now in [NOW.plus_secs(-1), UnixTime::from_secs(i64::MIN), UnixTime::from_secs(i64::MAX)] {
        assert_eq!(refused(&token, now), OpenPageError::Expired);
    }
    // At the end of time there is no hour left.
    let end = UnixTime::from_secs(i64::MAX);
    let token = seal_page(parts("x"), &bot(), end, [1; 12]).unwrap();
    assert_eq!(refused(token.as_str(), end), OpenPageError::Expired);
}

#[test]
fn it_is_for_whom_it_was_given_to() {
    let [one, other] = [1, 2].map(|seed| Some(PrincipalId::random(&mut rng(seed))));
    let (issuer, action) = (member().public().id(), action(|_| ()));
    for principal in [None, one] {
        let parts = PageParts { principal, ..parts("here") };
        let token = seal_page(parts, &bot(), NOW, [7; 12]).unwrap();
        for by in [None, one, other] {
            let opened = open_page(token.as_str(), &bot(), NOW).unwrap();
            assert_eq!(opened.check(issuer, action, by).is_ok(), by == principal);
        }
    }
}

#[test]
fn it_is_for_one_call_of_one_member() {
    let (member, good) = (member().public().id(), action(|_| ()));
    let others = [
        (other_member().public().id(), good),
        (member, action(|call| call.args = args(r#"{"a":"y"}"#))),
        (member, action(|call| call.service = ServiceId::parse("thing").unwrap())),
        (member, action(|call| call.op = op("read"))),
        (member, action(|call| call.account = Account::parse("hubot").unwrap())),
        (member, action(|call| call.manifest = Digest::of(b"another"))),
        (member, action(|call| call.connection = CredentialId::random(&mut rng(9)))),
        (member, action(|call| call.bot = other_bot().public().id())),
    ];
    let token = sealed("here");
    for (place, (issuer, action)) in others.into_iter().enumerate() {
        let opened = open_page(&token, &bot(), NOW).unwrap();
        assert_eq!(opened.check(issuer, action, None), Err(OpenPageError::OtherCall), "{place}");
    }
    assert!(open_page(&token, &bot(), NOW).unwrap().check(member, good, None).is_ok());
}

#[test]
fn it_is_one_bots() {
    assert_eq!(open_page(&sealed("x"), &other_bot(), NOW).err(), Some(OpenPageError::CannotOpen));
    assert_eq!(seal_page(parts("x"), &member(), NOW, [1; 12]).err(), Some(SealPageError::NotABot));
}

#[test]
fn no_flipped_bit_and_no_part_of_it_opens() {
    let token = sealed("here");
    for at in 0..token.len() {
        for bit in 0..7 {
            let mut other = token.clone().into_bytes();
            other[at] ^= 1 << bit;
            let other = String::from_utf8(other).unwrap();
            assert!(open_page(&other, &bot(), NOW).is_err(), "{at} {bit}");
        }
        assert!(open_page(token.get(..at).unwrap(), &bot(), NOW).is_err(), "first {at}");
        assert!(open_page(token.get(at + 1..).unwrap(), &bot(), NOW).is_err(), "after {at}");
    }
    for more in ["=", "A", "==", "\n", " "] {
        assert!(open_page(&format!("{token}{more}"), &bot(), NOW).is_err(), "{more:?}");
    }
}

#[test]
fn what_is_no_token_is_told_apart() {
    for (text, error) in [
        ("", OpenPageError::NotAToken),
        ("pnx", OpenPageError::Version),
        ("pnx1", OpenPageError::NotAToken),
        ("pnx1AAAA", OpenPageError::NotAToken),
        ("pnx1AAAAAAAAAAAAAAAA", OpenPageError::CannotOpen),
        ("pnx2AAAAAAAAAAAAAAAA", OpenPageError::Version),
        ("pnx1AAAAAAAAAAAAAAA*", OpenPageError::NotAToken),
        ("https://api.github.com/?page=2", OpenPageError::NotAToken),
    ] {
        assert_eq!(refused(text, NOW), error, "{text}");
    }
    let long = format!("pnx1{}", "A".repeat(PAGE_TOKEN_BYTES_MAX));
    assert_eq!(refused(&long, NOW), OpenPageError::TooLong);
}

#[test]
fn a_place_is_bounded_and_what_seals_opens() {
    for place in ["", "\u{0}\"\\", &"x".repeat(PLACE_BYTES_MAX)] {
        let opened = open_page(&sealed(place), &bot(), NOW).unwrap();
        let wanted = parts(place);
        assert_eq!(opened.check(wanted.issuer, wanted.action, None).unwrap().1, place);
    }
    for place in ["x".repeat(PLACE_BYTES_MAX + 1), "\u{0}".repeat(PLACE_BYTES_MAX)] {
        assert_eq!(seal_page(parts(&place), &bot(), NOW, [1; 12]).err(), Some(SealPageError::TooLong));
    }
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_open(text in "\\PC{0,80}", encoded in "[A-Za-z0-9_-]{0,200}") {
        prop_assert!(open_page(&text, &bot(), NOW).is_err());
        let token = format!("pnx1{encoded}");
        prop_assert!(open_page(&token, &bot(), NOW).is_err());
    }

    #[test]
    fn every_place_comes_back(place in ".{0,200}") {
        let opened = open_page(&sealed(&place), &bot(), NOW).unwrap();
        let wanted = parts("");
        prop_assert_eq!(opened.check(wanted.issuer, wanted.action, None), Ok((wanted.grant, place)));
    }
}
