//! What no recorded case has room for.

use pinhole_guest::recorded::{Recorded, check_cases};
use pinhole_guest::{Request, Response};

use super::*;

fn pipelines() -> Recorded {
    let stage = json!({"id": "new", "label": "New", "archived": false, "metadata": {"isClosed": "false"}});
    let pipeline = json!({"id": "default", "label": "Sales", "archived": false, "stages": [stage]});
    let answer = Response::new(200).with_json(&json!({"results": [pipeline]}));
    Recorded::new().on(Request::get("/crm/pipelines/2026-03/deals"), answer)
}

fn request(after: u64) -> Request {
    Request::post("/crm/objects/2026-03/deals/search").json(&json!({
        "filterGroups": [{"filters": [{"propertyName": "hs_object_id", "operator": "HAS_PROPERTY"}]}],
        "sorts": ["createdate"],
        "properties": ["amount", "deal_currency_code", "dealstage", "pipeline"],
        "after": after.to_string(),
        "limit": 200,
    }))
}

fn deal(amount: &str) -> Value {
    let properties =
        json!({"amount": amount, "deal_currency_code": "EUR", "dealstage": "new", "pipeline": "default"});
    json!({"id": "301", "properties": properties})
}

fn found(deals: &[Value], total: u64, next: Option<u64>) -> Response {
    let paging = next.map(|next| json!({"next": {"after": next.to_string()}}));
    Response::new(200).with_json(&json!({"total": total, "results": deals, "paging": paging}))
}

fn computed(service: &Recorded) -> Result<Value, Error> {
    run(service, "pipeline_summary", "{}").map(|text| serde_json::from_str(&text).unwrap())
}

#[test]
fn every_recorded_case_holds() {
    check_cases(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"), "pipeline_summary", run);
}

#[test]
fn more_deals_than_a_search_gives_are_an_error_that_says_what_to_narrow() {
    let service = pipelines().on(request(0), found(&[deal("1")], 10_001, Some(200)));
    let error = computed(&service).unwrap_err().to_string();
    assert_eq!(error, format!("there are 10001 deals, and a search gives 10000: {NARROW}"));
    // However few it says that there are.
    let endless = (0..50).fold(pipelines(), |service, page| {
        service.on(request(page * 200), found(&[deal("1")], 50, Some((page + 1) * 200)))
    });
    let error = computed(&endless).unwrap_err();
    assert_eq!(error, Error::TooManyPages { pages: 50, narrow: NARROW.to_owned() });
}

#[test]
fn deals_that_change_while_they_are_read_are_an_error() {
    let service = pipelines().on(request(0), found(&[deal("1")], 2, None));
    assert_eq!(
        computed(&service).unwrap_err().to_string(),
        "the deals changed while they were read: ask again"
    );
}

#[test]
fn an_amount_that_cannot_be_added_exactly_is_an_error() {
    for amounts in [&["a lot"][..], &["1,5"], &["170141183460469231731687303715884105727", "1"]] {
        let deals: Vec<Value> = amounts.iter().map(|amount| deal(amount)).collect();
        let service = pipelines().on(request(0), found(&deals, 9, None));
        let error = computed(&service).unwrap_err().to_string();
        assert_eq!(error, "the amount of deal 301 cannot be added exactly");
    }
}

#[test]
fn a_day_that_is_none_asks_for_nothing() {
    let service = Recorded::new();
    let result = run(&service, "pipeline_summary", r#"{"closing_from": "2026-02-30"}"#);
    assert_eq!(result, Err(Error::new("there is no day `2026-02-30`")));
    assert_eq!(service.sent(), []);
}
