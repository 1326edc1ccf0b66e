//! What no recorded case has room for.

use pinhole_guest::recorded::{Recorded, check_cases};
use pinhole_guest::{Request, Response};
use serde_json::{Value, json};

use super::*;

const ARGS: &str = r#"{"from": "2025-12", "to": "2025-12"}"#;
/// 2025-12-01 and 2026-01-01.
const DECEMBER: (i64, i64) = (1_764_547_200, 1_767_225_600);

fn first(path: &'static str) -> Request {
    between(Request::get(path), DECEMBER.0, DECEMBER.1)
}

fn list(data: &[Value], has_more: bool) -> Response {
    Response::new(200).with_json(&json!({"object": "list", "data": data, "has_more": has_more}))
}

fn charge(id: &str, amount: i64) -> Value {
    json!({"id": id, "status": "succeeded", "amount_captured": amount, "currency": "eur", "created": DECEMBER.0})
}

#[test]
fn every_recorded_case_holds() {
    check_cases(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"), "revenue_by_month", run);
}

/// So many pages of charges, each with one.
fn charges(pages: usize, service: Recorded) -> Recorded {
    (0..pages).fold(service, |service, page| {
        let request = match page.checked_sub(1) {
            Some(last) => first("/v1/charges").query("starting_after", format!("ch_{last}")),
            None => first("/v1/charges"),
        };
        service.on(request, list(&[charge(&format!("ch_{page}"), 1)], page + 1 < pages))
    })
}

#[test]
fn both_lists_share_the_requests_of_a_call() {
    let service = charges(99, Recorded::new()).on(first("/v1/refunds"), list(&[], false));
    let result: Value = serde_json::from_str(&run(&service, "revenue_by_month", ARGS).unwrap()).unwrap();
    assert_eq!(result["months"][0]["charged"], 99);

    let refund =
        json!({"id": "re_1", "status": "succeeded", "amount": 1, "currency": "eur", "created": DECEMBER.0});
    let service = charges(99, Recorded::new()).on(first("/v1/refunds"), list(&[refund], true));
    let error = run(&service, "revenue_by_month", ARGS).unwrap_err();
    assert!(error.to_string().contains("more than 100 pages"), "{error}");
    assert!(error.to_string().contains("fewer months"), "{error}");
    assert_eq!(service.sent().len(), 100);
    for pages in [100, 101] {
        let service = charges(pages, Recorded::new());
        let error = run(&service, "revenue_by_month", ARGS).unwrap_err();
        assert!(error.to_string().contains("more than 100 pages"), "{error}");
        assert_eq!(service.sent().len(), 100);
    }
}

#[test]
fn amounts_are_added_exactly_or_not_at_all() {
    let of = |amounts: [i64; 2]| {
        let [one, two] = amounts;
        let page = list(&[charge("ch_1", one), charge("ch_2", two)], false);
        let service = Recorded::new().on(first("/v1/charges"), page);
        run(&service.on(first("/v1/refunds"), list(&[], false)), "revenue_by_month", ARGS)
    };
    assert!(of([9_007_199_254_740_993, 2]).unwrap().contains("\"charged\":9007199254740995"));
    assert_eq!(of([i64::MAX, 1]), Err(Error::new("the amounts are too large to be added")));
}

#[test]
fn an_amount_that_is_no_integer_is_an_error() {
    let odd = json!({"id": "ch_1", "status": "succeeded", "amount_captured": 10.5, "currency": "eur", "created": 1});
    let service = Recorded::new().on(first("/v1/charges"), list(&[odd], false));
    assert!(matches!(run(&service, "revenue_by_month", ARGS), Err(Error::Json(_))));
}

#[test]
fn months_in_the_wrong_order_or_that_are_none_ask_for_nothing() {
    for args in
        [r#"{"from": "2026-02", "to": "2026-01"}"#, r#"{"from": "2026-13"}"#, r#"{"from": "2026-02"}"#]
    {
        let service = Recorded::new();
        assert!(matches!(run(&service, "revenue_by_month", args), Err(Error::Op(_))), "{args}");
        assert_eq!(service.sent(), []);
    }
}

#[test]
fn a_month_ends_where_the_next_begins() {
    for (month, after) in
        [("2024-02", "2024-03"), ("2025-02", "2025-03"), ("2025-12", "2026-01"), ("2025-01", "2025-02")]
    {
        assert_eq!(month_after(month).unwrap(), after);
    }
}
