//! A client's word for the person's yes: off unless the operator says otherwise, only for what can be put back and the member
//! has lent, and never twice.

use pinhole_server::mcp::{ClientYes, ConfirmArg, Offer};
use serde_json::{Value, json};

use crate::client::{Client, Served, Told, picked, refusal};
use crate::stage;

const NOTE: &str = "thing_add_note";
const FORM: ClientYes = ClientYes { form: true, argument: false };
const ARGUMENT: ClientYes = ClientYes { form: false, argument: true };

fn asks() -> Value {
    json!({"elicitation": {"form": {}}})
}

async fn by_form() -> Served {
    Served::new(stage().await, Told { yes: FORM, ..Told::default() })
}

/// Calls it, and brings back what the person says, with whatever state.
async fn continued(client: &mut Client, tool: &str, arguments: Value, state: &Value, person: Value) -> Value {
    let params = json!({
        "name": tool, "arguments": arguments, "requestState": state, "inputResponses": {"person": person},
    });
    client.request("tools/call", params).await["result"].clone()
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"yes": true}})
}

#[tokio::test]
async fn by_default_no_client_is_asked() {
    let served = Served::new(stage().await, Told::default());
    served.lend(9);
    let mut client = served.modern(asks());
    assert_eq!(refusal(&client.call(NOTE, json!({"text": "a"})).await)["code"], "approval_required");
    let mut client = served.legacy("2025-11-25", asks()).await;
    assert_eq!(refusal(&client.call(NOTE, json!({"text": "b"})).await)["code"], "approval_required");
    let result = client.call(NOTE, json!({"text": "c", "confirm": true})).await;
    assert_eq!(refusal(&result)["code"], "invalid_args");
    assert_eq!(served.written(), 0);
}

#[tokio::test]
async fn what_was_lent_runs_on_a_form_in_two_rounds() {
    let served = by_form().await;
    let mut client = served.modern(asks());
    // Nothing is lent: the member is asked.
    assert_eq!(refusal(&client.call(NOTE, json!({"text": "a"})).await)["code"], "approval_required");
    served.lend(9);
    let first = client.call(NOTE, json!({"text": "b\u{202e}"})).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let asked = &first["inputRequests"]["person"]["params"];
    assert_eq!(asked["requestedSchema"]["required"], json!(["yes"]));
    let message = asked["message"].as_str().unwrap();
    assert!(message.contains("Account: wren") && message.contains("\\u{202e}"), "{message}");
    assert_eq!(served.written(), 0);
    let state = first["requestState"].clone();
    let done = continued(&mut client, NOTE, json!({"text": "b\u{202e}"}), &state, yes()).await;
    assert_eq!(picked(&done), json!({"id": 1}));
    assert_eq!(served.written(), 1);
    let replayed = continued(&mut client, NOTE, json!({"text": "b\u{202e}"}), &state, yes()).await;
    assert_eq!(refusal(&replayed)["code"], "request_state");
    assert_eq!(served.written(), 1);
}

#[tokio::test]
async fn a_state_is_for_this_call_of_this_client_and_not_for_long() {
    let served = by_form().await;
    served.lend(9);
    let mut client = served.modern(asks());
    let begin =
        async |client: &mut Client| client.call(NOTE, json!({"text": "a"})).await["requestState"].clone();
    let state = begin(&mut client).await;
    let text = state.as_str().unwrap();
    let mut tampered = text.to_owned();
    let last = tampered.pop().unwrap();
    tampered.push(if last == 'A' { 'B' } else { 'A' });
    let others = [
        (NOTE, json!({"text": "another"}), state.clone()),
        ("thing_put_thing", json!({"shelf": "north", "name": "a"}), state.clone()),
        (NOTE, json!({"text": "a"}), json!(tampered)),
        (NOTE, json!({"text": "a"}), json!("rs1.e30.AAAA")),
        (NOTE, json!({"text": "a"}), json!("")),
    ];
    for (tool, arguments, state) in others {
        let result = continued(&mut client, tool, arguments.clone(), &state, yes()).await;
        assert_eq!(refusal(&result)["code"], "request_state", "{tool} {arguments}");
    }
    // Another server has another key; a minute more than five and it is too late.
    let elsewhere = by_form().await;
    elsewhere.lend(9);
    let mut stranger = elsewhere.modern(asks());
    let result = continued(&mut stranger, NOTE, json!({"text": "a"}), &state, yes()).await;
    assert_eq!(refusal(&result)["code"], "request_state");
    served.clock.set(301);
    let result = continued(&mut client, NOTE, json!({"text": "a"}), &state, yes()).await;
    assert_eq!(refusal(&result)["code"], "request_state");
    assert_eq!((served.written(), elsewhere.written()), (0, 0));
    // A no, nothing, and what is no answer run nothing either.
    for person in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {"yes": false}}),
        json!({"action": "accept", "content": {"yes": "true"}}),
        json!({"action": "accept"}),
        json!("accept"),
        json!(null),
    ] {
        let state = begin(&mut client).await;
        let result = continued(&mut client, NOTE, json!({"text": "a"}), &state, person.clone()).await;
        assert_eq!(refusal(&result)["code"], "not_confirmed", "{person}");
    }
    assert_eq!(served.written(), 0);
}

#[tokio::test]
async fn no_state_without_an_answer_and_no_answer_without_a_state_runs_anything() {
    let served = by_form().await;
    served.lend(9);
    let mut client = served.modern(asks());
    let params = json!({"name": NOTE, "arguments": {"text": "a"}, "inputResponses": {"person": yes()}});
    let answer = client.request("tools/call", params).await["result"].clone();
    assert_eq!(answer["resultType"], "input_required", "{answer}");
    let params = json!({"name": NOTE, "arguments": {"text": "a"}, "requestState": answer["requestState"]});
    let answer = client.request("tools/call", params).await["result"].clone();
    assert_eq!(refusal(&answer)["code"], "not_confirmed");
    assert_eq!(served.written(), 0);
}

#[tokio::test]
async fn what_spends_sends_deletes_or_stays_done_is_not_for_clients() {
    for yes in [FORM, ARGUMENT] {
        let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
        let offer = if yes == ARGUMENT { offer } else { Offer::default() };
        let served = Served::new(stage().await, Told { offer, yes, ..Told::default() });
        served.lend(9);
        let mut client = served.modern(asks());
        for (tool, arguments) in [
            ("thing_pay", json!({"amount": 5})),
            ("thing_drop_thing", json!({"id": "7"})),
            ("thing_send_note", json!({"text": "a"})),
        ] {
            assert_eq!(refusal(&client.call(tool, arguments.clone()).await)["code"], "approval_required");
            let mut confirmed = arguments;
            confirmed["confirm"] = json!(true);
            assert_eq!(refusal(&client.call(tool, confirmed).await)["code"], "invalid_args", "{tool}");
        }
        assert_eq!(served.written(), 0);
    }
}

#[tokio::test]
async fn a_legacy_client_asks_in_the_middle_of_its_call() {
    let served = by_form().await;
    served.lend(9);
    for (capabilities, version) in [(asks(), "2025-11-25"), (json!({"elicitation": {}}), "2025-06-18")] {
        let mut client = served.legacy(version, capabilities).await;
        for (person, ran) in
            [(yes(), true), (json!({"action": "decline"}), false), (json!({"action": "cancel"}), false)]
        {
            let before = served.written();
            let id = client.begin("tools/call", json!({"name": NOTE, "arguments": {"text": "a"}})).await;
            let asked = client.receive().await.unwrap();
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": person})).await;
            let result = client.answer(id).await["result"].clone();
            assert_eq!(result["isError"] != true, ran, "{result}");
            assert_eq!(served.written() - before, usize::from(ran));
        }
    }
}

#[tokio::test]
async fn a_confirm_argument_runs_what_was_lent_where_the_operator_takes_it() {
    let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
    let served = Served::new(stage().await, Told { offer, yes: ARGUMENT, ..Told::default() });
    let mut client = served.modern(json!({}));
    let confirmed = json!({"text": "a", "confirm": true});
    assert_eq!(refusal(&client.call(NOTE, confirmed.clone()).await)["code"], "approval_required");
    served.lend(1);
    for not in
        [json!({"text": "b"}), json!({"text": "b", "confirm": false}), json!({"text": "b", "confirm": null})]
    {
        assert_eq!(refusal(&client.call(NOTE, not).await)["code"], "approval_required");
    }
    assert_eq!(served.written(), 0);
    assert_eq!(picked(&client.call(NOTE, json!({"text": "c", "confirm": true})).await), json!({"id": 1}));
    // Lent once.
    let result = client.call(NOTE, json!({"text": "d", "confirm": true})).await;
    assert_eq!(refusal(&result)["code"], "approval_required");
    assert_eq!(served.written(), 1);
}

#[tokio::test]
async fn a_write_too_long_to_be_shown_whole_goes_to_the_member() {
    let served = by_form().await;
    served.lend(9);
    let mut client = served.modern(asks());
    let result = client.call(NOTE, json!({"text": "a".repeat(2_000)})).await;
    assert_eq!(refusal(&result)["code"], "approval_required");
}

/// What the member has said of exactly this write goes before what she has lent.
#[tokio::test]
async fn her_no_and_her_yes_go_before_what_she_has_lent() {
    for yes in [ARGUMENT, FORM] {
        let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
        let served = Served::new(stage().await, Told { offer, yes, ..Told::default() });
        let mut client = served.modern(asks());
        let confirmed = |text: &str| json!({"text": text, "confirm": true});
        // Nothing is lent yet, so that she is asked.
        let question = |result: &Value| refusal(result)["question"].as_str().unwrap().to_owned();
        let (no, agreed) = (
            question(&client.call(NOTE, json!({"text": "no"})).await),
            question(&client.call(NOTE, json!({"text": "yes"})).await),
        );
        served.lend(9);
        served.approve(&agreed);
        pinhole_runtime::local::deny(
            served.store.as_ref(),
            served.member.public().id(),
            no.parse().unwrap(),
            served.now(),
        )
        .unwrap();
        for arguments in [json!({"text": "no"}), confirmed("no")] {
            let result = client.call(NOTE, arguments).await;
            assert_eq!(refusal(&result)["code"], "approval_denied", "{result}");
        }
        assert_eq!(served.written(), 0);
        // Her yes is used, and no lent use with it.
        assert_eq!(picked(&client.call(NOTE, confirmed("yes")).await), json!({"id": 1}));
        assert_eq!(served.written(), 1);
    }
}

/// A question that is answered by the client's word waits no more: a later yes to it would run the write again.
#[tokio::test]
async fn a_question_that_was_answered_otherwise_is_over() {
    let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
    let served = Served::new(stage().await, Told { offer, yes: ARGUMENT, ..Told::default() });
    let mut client = served.modern(json!({}));
    client.call(NOTE, json!({"text": "a"})).await;
    served.lend(9);
    assert_eq!(picked(&client.call(NOTE, json!({"text": "a", "confirm": true})).await), json!({"id": 1}));
    assert_eq!(served.questions().remove(0).state, pinhole_runtime::store::QuestionState::Expired);
    assert_eq!(served.written(), 1);
}
