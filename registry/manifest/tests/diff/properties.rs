//! What holds of all comparisons: what does not widen takes no call that was not taken, sends none otherwise and picks
//! nothing more; two such steps are one; and back again widens.

use std::cell::Cell;
use std::collections::BTreeSet;

use pinhole_manifest::Manifest;
use pinhole_manifest::diff::diff;
use pinhole_manifest::model::{Args, Body, JsonTemplate, Op, Piece, Template};
use pinhole_manifest::pick::{Pick, Step};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{Map, Value, json};

use crate::parts::{built, call, calls, three};

fn op(manifest: &Manifest) -> &Op {
    manifest.ops().values().next().unwrap()
}

/// A naive rendering: what a call says, as one value.
fn said(op: &Op, args: &Args) -> Value {
    let request = op.request().unwrap();
    let query: Map<String, Value> = request
        .query
        .iter()
        .filter_map(|param| Some((param.key.clone(), filled(&as_json(&param.value), args)?)))
        .collect();
    let Body::Json(body) = &request.body else { panic!("a JSON body") };
    json!([request.method.as_str(), query, filled(body, args)])
}

fn as_json(template: &Template) -> JsonTemplate {
    match template.pieces() {
        [Piece::Arg(arg)] => JsonTemplate::Arg(arg.clone()),
        [Piece::Literal(text)] => JsonTemplate::Literal(json!(text)),
        _ => panic!("an arg or a text"),
    }
}

fn filled(template: &JsonTemplate, args: &Args) -> Option<Value> {
    Some(match template {
        JsonTemplate::Literal(value) => value.clone(),
        JsonTemplate::Arg(arg) => return args.get(arg).cloned(),
        JsonTemplate::Object(members) => Value::Object(
            members.iter().filter_map(|(key, value)| Some((key.clone(), filled(value, args)?))).collect(),
        ),
        JsonTemplate::Text(_) | JsonTemplate::Array(_) => panic!("objects of args"),
    })
}

fn picked(op: &Op) -> (Vec<Step>, BTreeSet<String>) {
    let Pick::Fields(projection) = &op.pick else { panic!("fields") };
    let fields = projection.fields.iter().map(|field| format!("{:?} {:?}", field.steps, field.alias));
    (projection.root.clone(), fields.collect())
}

/// Runs a property over so many cases, and says how often what it is about came up.
fn holds<S: Strategy>(
    cases: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<bool, TestCaseError>,
) -> u32 {
    let hits = Cell::new(0);
    let mut runner = TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let judged = runner.run(&strategy, |value| {
        if property(value)? {
            hits.set(hits.get() + 1);
        }
        Ok(())
    });
    match judged {
        Ok(()) => hits.get(),
        Err(TestError::Fail(why, value)) => panic!("{why}: {value:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

#[test]
fn what_does_not_widen_takes_no_other_call_sends_none_otherwise_and_picks_nothing_more() {
    let taken = Cell::new(0);
    let narrower = holds(1_000, (three(), calls()), |([one, two, _], calls)| {
        let (Some(old), Some(new)) = (built(&one), built(&two)) else { return Ok(false) };
        let compared = diff(&old, &new);
        if compared.widens() || compared.is_empty() {
            return Ok(false);
        }
        let (before, after) = (op(&old), op(&new));
        for picks in calls {
            let call = call(&two, picks);
            let Ok(args) = after.args.parse_text(&call.to_string()) else { continue };
            taken.set(taken.get() + 1);
            let known = before.args.parse_text(&call.to_string());
            prop_assert_eq!(known.as_ref(), Ok(&args), "{}", call);
            prop_assert_eq!(said(before, &args), said(after, &args), "{}", call);
        }
        let ((old_root, old_fields), (new_root, new_fields)) = (picked(before), picked(after));
        prop_assert_eq!(old_root, new_root);
        prop_assert!(new_fields.is_subset(&old_fields));
        prop_assert!(after.limits.result_bytes <= before.limits.result_bytes);
        Ok(true)
    });
    assert!(narrower > 100 && taken.get() > 1_000, "{narrower} narrower, {} calls", taken.get());
}

#[test]
fn two_steps_that_do_not_widen_are_one_that_does_not() {
    let both = holds(1_000, three(), |[one, two, three]| {
        let (Some(one), Some(two), Some(three)) = (built(&one), built(&two), built(&three)) else {
            return Ok(false);
        };
        let (first, second) = (diff(&one, &two), diff(&two, &three));
        if first.widens() || second.widens() {
            return Ok(false);
        }
        let whole = diff(&one, &three);
        prop_assert!(!whole.widens(), "{:?}", whole.changes());
        Ok(!first.is_empty() && !second.is_empty())
    });
    assert!(both > 15, "{both}");
}

#[test]
fn a_manifest_is_itself_and_back_from_narrower_widens() {
    let narrower = holds(500, three(), |[one, two, _]| {
        let (Some(old), Some(new)) = (built(&one), built(&two)) else { return Ok(false) };
        prop_assert!(diff(&old, &old).changes().is_empty());
        let (there, back) = (diff(&old, &new), diff(&new, &old));
        prop_assert_eq!(there.is_empty(), back.is_empty());
        if there.widens() || there.is_empty() {
            return Ok(false);
        }
        prop_assert!(back.widens(), "{:?}", back.changes());
        Ok(true)
    });
    assert!(narrower > 50, "{narrower}");
}
