//! Stripe, as `emulate` has it: customers, payment intents and charges.

use pinhole_runtime::outcome::Code;
use serde_json::{Value, json};

use crate::common::{Emulated, row};

/// What the emulator says where it has nothing, in words that are not where Stripe has them.
const NO_ROUTE: (Code, &str) = (Code::UpstreamNotFound, "");
const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn every_op_that_is_served_reads_back_what_was_written() {
    let Some(stripe) = Emulated::start("stripe", json!({"customers": []})).await else { return };
    let customer = customers(&stripe).await;
    let charge = payments(&stripe, &customer).await;
    unserved(&stripe, &charge).await;
    stripe.every_op_had_its_turn();
}

/// Makes one, changes it, and finds it in the list; says its id.
async fn customers(stripe: &Emulated) -> String {
    let form = json!({"name": "Wren & Söhne", "email": "wren+1@example.com", "description": "50% off",
        "address": {"line1": "Kai 1", "city": "Kiel", "country": "DE"}, "preferred_locales": ["de", "en-GB"]});
    let made = stripe.done("create_customer", form).await;
    let id = made["id"].as_str().expect("an id").to_owned();
    let args = json!({"customer": id});
    let got = stripe.done("get_customer", args.clone()).await;
    for member in ["name", "email", "description"] {
        assert_eq!(got[member], made[member], "{member}");
    }
    assert_eq!(got["name"], "Wren & Söhne");
    assert_eq!((&got["email"], &got["description"]), (&json!("wren+1@example.com"), &json!("50% off")));

    let change = json!({"customer": id, "name": "Wren [and] daughters=1", "description": ""});
    assert_eq!(stripe.done("update_customer", change).await["name"], "Wren [and] daughters=1");
    let got = stripe.done("get_customer", args).await;
    assert_eq!((&got["name"], &got["description"]), (&json!("Wren [and] daughters=1"), &json!("")));
    assert_eq!(got["email"], "wren+1@example.com", "what was left out was changed");

    let second = stripe.done("create_customer", json!({"name": "Second"})).await;
    let page = stripe.done("list_customers", json!({"limit": 1})).await;
    assert_eq!((&page["has_more"], &page["data"][0]["id"]), (&json!(true), &second["id"]));
    let page = stripe.done("list_customers", json!({"limit": 1, "starting_after": second["id"]})).await;
    assert_eq!(page["data"][0]["id"], id);
    let page = stripe.done("list_customers", json!({"email": "wren+1@example.com"})).await;
    assert_eq!(page["data"].as_array().map(Vec::len), Some(1));
    let none = stripe.done("list_customers", json!({"created_since": 4_102_444_800_u64})).await;
    assert_eq!(none, json!({"has_more": false, "data": []}));
    let missing = json!({"customer": "cus_Nobody"});
    stripe.refused("get_customer", missing, (Code::UpstreamNotFound, "No such customer: 'cus_Nobody'")).await;
    id
}

/// A payment that was made, and one that was only begun; says the charge's id.
async fn payments(stripe: &Emulated, customer: &str) -> String {
    let body = format!("amount=9007199254740991&currency=jpy&customer={customer}&description=Lamp");
    let begun = stripe.arrange("/v1/payment_intents", FORM, &body).await;
    let intent = begun["id"].as_str().expect("an id");
    let path = format!("/v1/payment_intents/{intent}/confirm");
    stripe.arrange(&path, FORM, "payment_method=pm_card_visa").await;
    let other = stripe.arrange("/v1/payment_intents", FORM, "amount=1050&currency=gbp").await;

    let got = stripe.done("get_payment_intent", json!({"payment_intent": intent})).await;
    assert_eq!((&got["status"], &got["currency"]), (&json!("succeeded"), &json!("jpy")));
    assert_eq!(got["amount"], json!(9_007_199_254_740_991_u64), "an amount keeps its digits");
    let listed = stripe.done("list_payment_intents", json!({"limit": 100})).await;
    assert_eq!(row(&listed["data"], "/id", &other["id"])["status"], "requires_payment_method");
    assert_eq!(row(&listed["data"], "/id", &json!(intent))["customer"], customer);

    let charges = stripe.done("list_charges", json!({"customer": customer})).await;
    let charge = charges["data"][0]["id"].as_str().expect("a charge").to_owned();
    let got = stripe.done("get_charge", json!({"charge": charge})).await;
    assert_eq!((&got["payment_intent"], &got["status"]), (&json!(intent), &json!("succeeded")));
    assert_eq!(got["amount"], json!(9_007_199_254_740_991_u64));
    charge
}

async fn unserved(stripe: &Emulated, charge: &str) {
    let unserved: [(&str, Value); 9] = [
        ("get_account", json!({})),
        ("get_balance", json!({})),
        ("list_balance_transactions", json!({})),
        ("list_invoices", json!({})),
        ("get_invoice", json!({"invoice": "in_1ab"})),
        ("list_subscriptions", json!({})),
        ("get_subscription", json!({"subscription": "sub_1ab"})),
        ("list_refunds", json!({})),
        ("get_refund", json!({"refund": "re_1ab"})),
    ];
    for (op, args) in unserved {
        stripe.refused(op, args, NO_ROUTE).await;
    }
    // Its charges do not say how much of them was captured, and nothing is taken for it.
    let lacks = (Code::ModuleFailed, "missing field `amount_captured`");
    stripe.refused("revenue_by_month", json!({"from": "2026-01"}), lacks).await;
    // It takes the search for a customer of that name.
    let search = json!({"query": "name:\"Wren\""});
    stripe.refused("search_customers", search, (Code::UpstreamNotFound, "No such customer: 'search'")).await;
    // The charge has no `refunded`, so that what the refund requires does not hold, and nothing is sent.
    let refund = json!({"charge": charge, "amount": 1, "currency": "jpy"});
    stripe.refused("create_refund", refund, (Code::RequirementFailed, "")).await;
}
