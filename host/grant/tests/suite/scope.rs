//! Scopes: narrowing allows exactly what both allow, and a `where` compares values, not ways of writing them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use pinhole_grant::{Attempt, Scope, ScopeError, UnixTime, Where, WhereError, mint, open};
use pinhole_manifest::{Access, ArgName, OpId};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{NOW, bot, credential, member, publics, read_scope, request, rng};

fn arg(name: &str) -> ArgName {
    ArgName::parse(name).unwrap()
}

fn wheres(lists: &[(&str, Value)]) -> Result<Where, WhereError> {
    let lists = lists.iter().map(|(name, values)| (arg(name), values.as_array().unwrap().clone()));
    Where::new(lists.collect())
}

fn check(scope: &Where, args: &Value) -> Result<(), ScopeError> {
    scope.check(|arg| args.get(arg.as_str()))
}

#[test]
fn every_narrowed_arg_must_be_there_with_a_listed_value() {
    let scope = wheres(&[("owner", json!(["a", "b"])), ("draft", json!([false]))]).unwrap();
    assert_eq!(check(&scope, &json!({"owner": "a", "draft": false, "other": 1})), Ok(()));
    assert_eq!(check(&scope, &json!({"owner": "a"})), Err(ScopeError::WhereAbsent { arg: arg("draft") }));
    let refused = Err(ScopeError::WhereValue { arg: arg("owner") });
    for owner in [json!("c"), json!("A"), json!(null), json!(["a"]), json!({"a": 1}), json!("a ")] {
        assert_eq!(check(&scope, &json!({"owner": owner, "draft": false})), refused, "{owner}");
    }
    let refused = Err(ScopeError::WhereValue { arg: arg("draft") });
    for draft in [json!(true), json!("false"), json!(0)] {
        assert_eq!(check(&scope, &json!({"owner": "a", "draft": draft})), refused, "{draft}");
    }
}

#[test]
fn numbers_compare_as_numbers() {
    let scope = wheres(&[("n", json!([1, 2.5, 9_007_199_254_740_991_i64, 0]))]).unwrap();
    for n in [json!(1), json!(1.0), json!(2.5), json!(9_007_199_254_740_991_i64), json!(0), json!(-0.0)] {
        assert_eq!(check(&scope, &json!({"n": n})), Ok(()), "{n}");
    }
    for n in [json!(-1), json!(1.000_000_1), json!("1"), json!(true), json!(9_007_199_254_740_992_i64)] {
        assert_eq!(check(&scope, &json!({"n": n})), Err(ScopeError::WhereValue { arg: arg("n") }), "{n}");
    }
}

#[test]
fn what_could_not_be_compared_is_not_listed() {
    for value in
        [json!(null), json!([]), json!({}), json!(9_007_199_254_740_992_i64), json!(1e300), json!(i64::MIN)]
    {
        let refused = wheres(&[("a", json!([value]))]).unwrap_err();
        assert_eq!(refused, WhereError::NotAScalar { arg: arg("a") });
    }
    assert_eq!(wheres(&[("a", json!([]))]).unwrap_err(), WhereError::NoValues { arg: arg("a") });
    assert_eq!(wheres(&[("a", json!(["x".repeat(1025)]))]).unwrap_err(), WhereError::TooLarge);
    assert_eq!(wheres(&[("a", json!(vec![1; 257]))]).unwrap_err(), WhereError::TooLarge);
    let many = (0..65).map(|n| (arg(&format!("a{n}")), vec![json!(1)])).collect();
    assert_eq!(Where::new(many).unwrap_err(), WhereError::TooLarge);
}

const OPS: [&str; 3] = ["a", "b", "c"];

fn any_access() -> impl Strategy<Value = Access> {
    prop_oneof![Just(Access::Read), Just(Access::Write)]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![Just(json!("x")), Just(json!("y")), Just(json!(1)), Just(json!(1.0)), Just(json!(true))]
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let lists = prop::collection::btree_map(
        prop::sample::select(&["p", "q"][..]).prop_map(arg),
        prop::collection::vec(any_value(), 1..4),
        0..3,
    );
    let ops = prop::option::of(prop::collection::btree_set(
        prop::sample::select(&OPS[..]).prop_map(|name| OpId::parse(name).unwrap()),
        0..3,
    ));
    (any_access(), ops, lists, 0_i64..200, 0_i64..200, prop::option::of(1_u32..4)).prop_map(
        |(access, ops, lists, from, until, uses): (_, Option<BTreeSet<OpId>>, _, _, _, _)| Scope {
            access,
            ops,
            wheres: Where::new(lists).unwrap(),
            not_before: NOW.plus_secs(from),
            expires_at: NOW.plus_secs(until),
            uses: uses.and_then(NonZeroU32::new),
        },
    )
}

#[derive(Debug, Clone)]
struct Tried {
    op: OpId,
    access: Access,
    args: BTreeMap<ArgName, Value>,
    now: UnixTime,
    used: u32,
}

impl Tried {
    fn is_allowed_by(&self, scope: &Scope) -> bool {
        let Self { op, access, args, now, used } = self;
        scope.allows(&Attempt { op, access: *access, args, now: *now, used: *used }).is_ok()
    }
}

fn any_attempt() -> impl Strategy<Value = Tried> {
    let op = prop::sample::select(&OPS[..]).prop_map(|name| OpId::parse(name).unwrap());
    let args = prop::collection::btree_map(
        prop::sample::select(&["p", "q", "r"][..]).prop_map(arg),
        any_value(),
        0..4,
    );
    (op, any_access(), args, -100_i64..250, 0_u32..4).prop_map(|(op, access, args, now, used)| Tried {
        op,
        access,
        args,
        now: NOW.plus_secs(now),
        used,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn narrowing_allows_exactly_what_both_allow(a in any_scope(), b in any_scope(), tried in any_attempt()) {
        let both = tried.is_allowed_by(&a) && tried.is_allowed_by(&b);
        prop_assert_eq!(tried.is_allowed_by(&a.narrow(&b)), both);
        prop_assert_eq!(tried.is_allowed_by(&b.narrow(&a)), both);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_is_minted_opens_and_says_what_was_asked(scope in any_scope()) {
        let issuers = publics(&[&member()]);
        let Ok(sealed) = mint(&request(scope.clone()), &credential(), &member(), NOW, &mut rng(1)) else {
            return Ok(());
        };
        let opened = open(sealed.as_bytes(), &bot(), &issuers, scope.not_before).unwrap();
        prop_assert_eq!(opened.grant().scope(), &scope);
    }
}

#[test]
fn the_property_is_not_empty() {
    // Random scopes and attempts do meet: a property over things that are never allowed would prove nothing.
    let (scope, args) = (read_scope(), BTreeMap::new());
    let op = OpId::parse("a").unwrap();
    let attempt = Attempt { op: &op, access: Access::Read, args: &args, now: NOW, used: 0 };
    assert_eq!(scope.allows(&attempt), Ok(()));
    assert_eq!(scope.narrow(&scope), scope);
    let late = Attempt { now: scope.expires_at, ..attempt };
    assert_eq!(scope.allows(&late), Err(ScopeError::Expired));
}
