//! Minting: within the cap and the rules, or not at all.

use std::collections::BTreeMap;

use pinhole_grant::grant::{READ_LIFETIME_SECS_MAX, WRITE_LIFETIME_SECS_MAX};
use pinhole_grant::{
    ActionDigest, Credential, CredentialParts, MintError, MintRequest, RuleBroken, Scope, SealedGrant, Where,
    mint, open,
};
use pinhole_manifest::{Access, ArgName, OpId};
use serde_json::{Value, json};

use crate::common::{
    DAY, HOUR, NOW, bot, credential, manifest, member, op, ops, pat_parts, payload_of, publics, read_scope,
    request, rng, times, write_scope,
};

pub(crate) fn action() -> ActionDigest {
    serde_json::from_value(json!(manifest())).unwrap()
}

fn try_mint(request: &MintRequest) -> Result<SealedGrant, MintError> {
    mint(request, &credential(), &member(), NOW, &mut rng(6))
}

fn rule(scope: Scope) -> RuleBroken {
    match try_mint(&request(scope)) {
        Err(MintError::Rule(rule)) => rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_grant_says_what_was_asked() {
    let wheres =
        Where::new(BTreeMap::from([(ArgName::parse("owner").unwrap(), vec![json!("octocat")])])).unwrap();
    let scope = write_scope().with_ops(ops(&["create_issue", "get_repo"])).with_where(wheres.clone());
    let asked = request(scope.clone()).returning_to(member().public().clone());
    let sealed = try_mint(&asked).unwrap();
    let opened = open(sealed.as_bytes(), &bot(), &publics(&[&member()]), NOW).unwrap();
    let grant = opened.grant();
    assert_eq!(grant.id(), sealed.id());
    assert_eq!(grant.issuer(), member().public().id());
    assert_eq!(grant.bot(), bot().public().id());
    assert_eq!(grant.connection(), credential().id());
    assert_eq!(grant.account(), credential().account());
    assert_eq!(grant.service(), credential().service());
    assert_eq!(grant.host(), credential().host());
    assert_eq!(grant.manifest(), manifest());
    assert_eq!(*grant.scope(), scope);
    assert_eq!(grant.access(), Access::Write);
    assert_eq!(grant.issued_at(), NOW);
    assert_eq!(grant.return_to(), Some(member().public()));
    assert_eq!(grant.approves(), None);
    assert_eq!(grant.credential().secret().expose(), credential().secret().expose());

    let payload = payload_of(sealed.as_bytes());
    assert_eq!(payload["where"], json!({"owner": ["octocat"]}));
    assert_eq!(payload["ops"], json!(["create_issue", "get_repo"]));
    assert_eq!(payload["uses"], json!(3));
}

#[test]
fn two_grants_are_never_the_same() {
    let mut rng = rng(6);
    let asked = request(read_scope());
    let one = mint(&asked, &credential(), &member(), NOW, &mut rng).unwrap();
    let two = mint(&asked, &credential(), &member(), NOW, &mut rng).unwrap();
    assert_ne!(one.id(), two.id());
    assert_ne!(one.as_bytes(), two.as_bytes());
}

#[test]
fn nothing_above_the_cap() {
    let read_only = Credential::new(CredentialParts { cap: Access::Read, ..pat_parts() }).unwrap();
    let asked = request(write_scope());
    let refused = mint(&asked, &read_only, &member(), NOW, &mut rng(6)).unwrap_err();
    assert_eq!(refused, MintError::Rule(RuleBroken::AboveCap));
    assert!(mint(&request(read_scope()), &read_only, &member(), NOW, &mut rng(6)).is_ok());
    assert!(try_mint(&asked).is_ok());
}

#[test]
fn a_life_of_at_most_ninety_days_or_one() {
    assert_eq!((READ_LIFETIME_SECS_MAX, WRITE_LIFETIME_SECS_MAX), (90 * DAY, DAY));
    for (access, limit_secs) in
        [(Access::Read, READ_LIFETIME_SECS_MAX), (Access::Write, WRITE_LIFETIME_SECS_MAX)]
    {
        let lasting = |secs| Scope::new(access, NOW, NOW.plus_secs(secs)).with_uses(times(1));
        assert!(try_mint(&request(lasting(limit_secs))).is_ok());
        assert_eq!(rule(lasting(limit_secs + 1)), RuleBroken::TooLong { limit_secs });
        assert_eq!(rule(lasting(i64::MAX)), RuleBroken::TooLong { limit_secs });
        assert_eq!(rule(lasting(0)), RuleBroken::NoLifetime);
        assert_eq!(rule(lasting(-HOUR)), RuleBroken::NoLifetime);
        // Dating it ahead makes it live no longer.
        let ahead = Scope { not_before: NOW.plus_secs(HOUR), ..lasting(limit_secs + 1) };
        assert_eq!(rule(ahead), RuleBroken::TooLong { limit_secs });
    }
}

#[test]
fn a_beginning_in_the_past_is_now() {
    let early = Scope { not_before: NOW.plus_secs(-DAY), ..read_scope() };
    let sealed = try_mint(&request(early)).unwrap();
    assert_eq!(payload_of(sealed.as_bytes())["not_before"], json!(NOW));
}

#[test]
fn a_write_says_how_often() {
    assert_eq!(rule(Scope { uses: None, ..write_scope() }), RuleBroken::WriteWithoutUses);
}

#[test]
fn an_approval_is_one_write() {
    let (bot, now) = (bot().public().clone(), NOW);
    let good = MintRequest::approval(bot, manifest(), op("create_issue"), action(), now, now.plus_secs(HOUR));
    let sealed = try_mint(&good).unwrap();
    let payload = payload_of(sealed.as_bytes());
    assert_eq!((&payload["uses"], &payload["access"]), (&json!(1), &json!("write")));
    assert_eq!(payload["approves"], json!(action()));
    for scope in [read_scope(), read_scope().with_uses(times(1)), write_scope()] {
        let refused = try_mint(&MintRequest { scope, ..good.clone() }).unwrap_err();
        assert_eq!(refused, MintError::Rule(RuleBroken::ApprovalShape));
    }
}

#[test]
fn a_scope_that_allows_nothing_is_refused() {
    assert_eq!(rule(read_scope().with_ops(Vec::<OpId>::new())), RuleBroken::NoOps);
    let owner = |name: &str| {
        let list = BTreeMap::from([(ArgName::parse("owner").unwrap(), vec![json!(name)])]);
        read_scope().with_where(Where::new(list).unwrap())
    };
    assert_eq!(rule(owner("a").narrow(&owner("b"))), RuleBroken::NoValues);
}

#[test]
fn members_give_and_bots_receive() {
    let asked = request(read_scope());
    let refused = mint(&asked, &credential(), &bot(), NOW, &mut rng(6)).unwrap_err();
    assert_eq!(refused, MintError::NotAMember);
    let to_member = MintRequest { bot: member().public().clone(), ..asked };
    assert_eq!(try_mint(&to_member).unwrap_err(), MintError::NotABot);
}

#[test]
fn too_many_values_do_not_fit() {
    let values =
        |arg: usize| (0..256).map(move |n| json!(format!("{arg:0>4}{n:0>60}"))).collect::<Vec<Value>>();
    let lists = (0..8).map(|arg| (ArgName::parse(&format!("a{arg}")).unwrap(), values(arg))).collect();
    let scope = read_scope().with_where(Where::new(lists).unwrap());
    assert_eq!(try_mint(&request(scope)).unwrap_err(), MintError::TooLarge);
}
