//! Every refusal, provoked from end to end: the table that is held to `Code::ALL`.

use std::collections::BTreeSet;
use std::pin::Pin;

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;

use crate::common::{Provoked, parsed};
use crate::paging::tokens;
use crate::{answers, asking, grants, keys, modules, receipts, renewals, requirements, sending, writes};

/// How far a call came before it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Nothing was handed to the client.
    Nothing,
    /// The client had it, and made no connection.
    Client,
    /// A connection was made, and no request was on it.
    Connection,
    /// The op's request reached the service, or one of those that it requires did.
    Service,
}

type Row = (Code, Sent, Reach, Pin<Box<dyn Future<Output = Provoked>>>);

fn row(code: Code, sent: Sent, reach: Reach, run: impl Future<Output = Provoked> + 'static) -> Row {
    (code, sent, reach, Box::pin(run))
}

fn before(code: Code, run: impl Future<Output = Provoked> + 'static) -> Row {
    row(code, Sent::No, Reach::Nothing, run)
}

fn after(code: Code, run: impl Future<Output = Provoked> + 'static) -> Row {
    row(code, Sent::Yes, Reach::Service, run)
}

fn before_anything_is_sent() -> Vec<Row> {
    vec![
        before(Code::GrantMalformed, grants::malformed()),
        before(Code::WrongBot, grants::another_bots()),
        before(Code::GrantUnopenable, grants::flipped()),
        before(Code::UnknownIssuer, grants::a_strangers()),
        before(Code::BadSignature, grants::badly_signed()),
        before(Code::GrantInconsistent, grants::inconsistent()),
        before(Code::GrantNotYetValid, grants::too_early()),
        before(Code::GrantExpired, grants::too_late()),
        before(Code::GrantRevoked, grants::revoked()),
        before(Code::UnknownService, grants::of_no_service()),
        before(Code::RegistryStale, grants::of_a_stale_service()),
        before(Code::ManifestInvalid, grants::of_an_unreadable_service()),
        before(Code::UnknownOp, grants::of_no_op()),
        before(Code::WrongService, grants::of_another_service()),
        before(Code::HostChanged, grants::of_another_host()),
        before(Code::ManifestChanged, grants::of_another_manifest()),
        before(Code::SourceChanged, grants::of_another_source()),
        before(Code::DialMismatch, grants::for_the_real_host()),
        before(Code::OpOutOfScope, grants::of_other_ops()),
        before(Code::ArgsOutOfScope, grants::of_other_args()),
        before(Code::ReadOnlyGrant, grants::that_only_reads()),
        before(Code::ApprovalRequired, grants::that_approves_nothing()),
        before(Code::ApprovalMismatch, grants::that_approves_another()),
        before(Code::KeyNotTaken, keys::of_a_read()),
        row(Code::KeyConflict, Sent::No, Reach::Service, keys::used_for_another_write()),
        // Another call with the key may have been sent, and was not answered.
        row(Code::UnderWay, Sent::Maybe, Reach::Nothing, keys::that_is_under_way()),
        row(Code::OutcomeUnknown, Sent::Maybe, Reach::Nothing, keys::of_which_nobody_knows()),
        before(Code::PageTokenMalformed, tokens::that_is_none()),
        before(Code::PageTokenExpired, tokens::that_is_old()),
        before(Code::PageTokenMismatch, tokens::of_another_call()),
        before(Code::InvalidArgs, grants::with_invalid_args()),
        before(Code::ArgRefused, grants::with_a_refused_arg()),
        before(Code::ReconnectRequired, renewals::without_a_renewer()),
        before(Code::NoWayBack, renewals::without_a_way_back()),
        before(Code::RenewalFailed, renewals::with_nobody_there()),
        before(Code::StoreFailed, writes::without_a_store()),
        row(Code::Unsendable, Sent::No, Reach::Client, sending::unsendable()),
        row(Code::AddressRefused, Sent::No, Reach::Client, sending::to_an_inward_address()),
        row(Code::NameNotFound, Sent::No, Reach::Client, sending::to_no_address()),
        row(Code::ConnectFailed, Sent::No, Reach::Client, sending::to_a_closed_port()),
        row(Code::TlsFailed, Sent::No, Reach::Connection, sending::to_another_name()),
        row(Code::RequirementFailed, Sent::No, Reach::Service, requirements::onto_a_locked_shelf()),
        // The use is spent by the run before it.
        row(Code::GrantUsedUp, Sent::No, Reach::Service, writes::a_second_time()),
    ]
}

fn of_a_module() -> Vec<Row> {
    use modules::codes as of;
    vec![
        before(Code::ModuleUnreadable, of::without_its_file()),
        before(Code::ModuleChanged, of::with_another_file()),
        before(Code::ModuleInvalid, of::that_is_a_core_module()),
        before(Code::SandboxFailed, of::without_a_sandbox()),
        before(Code::ModuleRequestRefused, of::that_asks_for_another_host()),
        before(Code::ModuleLimit, of::that_sends_many()),
        before(Code::ModuleOutOfMemory, of::that_hoards()),
        before(Code::ModuleOutOfFuel, of::that_computes_long()),
        before(Code::ModuleOutOfTime, of::that_takes_long()),
        before(Code::ModuleStackOverflow, of::that_recurses()),
        before(Code::ModuleTrapped, of::that_panics()),
        before(Code::ModuleOutput, of::that_gives_text()),
        before(Code::ModuleFailed, of::that_gives_an_error()),
    ]
}

/// On a stored connection: the request that proved its key came before, and is all that reached the service.
fn proved(code: Code, run: impl Future<Output = Provoked> + 'static) -> Row {
    row(code, Sent::No, Reach::Service, run)
}

fn before_anything_is_sent_on_a_connection() -> Vec<Row> {
    use asking::codes as on;
    vec![
        before(Code::Busy, grants::turned_away()),
        before(Code::NotConnected, on::without_a_connection()),
        proved(Code::UnknownConnection, on::no_such_connection()),
        proved(Code::NoStoredGrant, on::one_without_the_bots_grant()),
        proved(Code::ReadOnlyConnection, on::one_that_only_reads()),
        proved(Code::ApprovalDenied, on::a_denied_question()),
        proved(Code::ApprovalTaken, on::an_approval_that_is_taken()),
        proved(Code::TooManyQuestions, on::one_question_too_many()),
    ]
}

fn once_it_may_have_been_sent() -> Vec<Row> {
    vec![
        row(Code::TimedOut, Sent::Maybe, Reach::Service, sending::to_a_slow_service()),
        row(Code::Interrupted, Sent::Maybe, Reach::Service, sending::on_a_cut_connection()),
        row(Code::BadResponse, Sent::Maybe, Reach::Service, sending::to_what_is_no_http()),
        after(Code::Redirected, sending::to_a_redirect()),
        after(Code::ResponseTooLarge, sending::to_an_endless_answer()),
        after(Code::HeadersTooLarge, sending::to_many_headers()),
        after(Code::BadEncoding, sending::to_nested_gzip()),
        after(Code::NotJson, answers::html()),
        after(Code::UpstreamInvalid, answers::of_status(422)),
        after(Code::UpstreamUnauthorized, answers::to_a_wrong_key()),
        after(Code::UpstreamForbidden, answers::of_status(403)),
        after(Code::UpstreamNotFound, answers::to_nothing_there()),
        after(Code::UpstreamConflict, answers::of_status(409)),
        after(Code::UpstreamRateLimited, answers::of_status(429)),
        after(Code::UpstreamError, answers::of_status(503)),
        after(Code::UpstreamFailure, answers::failure()),
        after(Code::RootAbsent, answers::without_its_root()),
        after(Code::DuplicateKey, answers::that_says_it_twice()),
        after(Code::ResultTooLarge, answers::of_too_much()),
        after(Code::ReceiptFailed, receipts::without_room_for_one()),
    ]
}

#[tokio::test]
async fn every_refusal_is_provoked() {
    let mut provoked = BTreeSet::new();
    let tables = [
        before_anything_is_sent(),
        of_a_module(),
        before_anything_is_sent_on_a_connection(),
        once_it_may_have_been_sent(),
    ];
    for (code, sent, reach, run) in tables.into_iter().flatten() {
        let run = run.await;
        run.is(code, sent);
        let (connections, requests) = (run.stage.standin.connections(), run.stage.standin.requests().len());
        let handed_over = run.outcome.meta.requests;
        let reached = match (handed_over, connections, requests) {
            (0, 0, 0) => Reach::Nothing,
            (1.., 0, 0) => Reach::Client,
            (1, 1, 0) => Reach::Connection,
            _ if requests > 0 => Reach::Service,
            odd => panic!("{code}: {odd:?}"),
        };
        assert_eq!(reached, reach, "{code}");
        has_the_shape_of_a_refusal(&run, code);
        assert!(provoked.insert(code), "{code} is in the table twice");
    }
    let all: BTreeSet<Code> = Code::ALL.iter().copied().collect();
    assert_eq!(provoked, all);
}

/// DESIGN, "Outcome".
fn has_the_shape_of_a_refusal(run: &Provoked, code: Code) {
    let outcome = parsed(&run.outcome);
    let keys = |value: &serde_json::Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    assert_eq!(keys(&outcome), set(&["ok", "service", "op", "refusal", "meta"]), "{code}");
    assert_eq!(outcome["ok"], false);
    let refusal = &outcome["refusal"];
    let without = |names: BTreeSet<String>, optional: &[&str]| &names - &set(optional);
    let said = without(keys(refusal), &["untrusted", "use_spent", "retry_after", "question"]);
    assert_eq!(said, set(&["code", "message", "hint", "sent"]), "{code}");
    assert_eq!(refusal["code"], code.as_str());
    let of_a_question = [Code::ApprovalDenied, Code::ApprovalTaken].contains(&code);
    assert_eq!(refusal["question"].is_string(), of_a_question, "{code}");
    let hint = refusal["hint"].as_str().unwrap();
    match code {
        // What is wrong with a store has a hint of its own.
        Code::StoreFailed | Code::ReceiptFailed => {}
        Code::NotConnected => assert_eq!(hint, code.hint().replace("SERVICE", "github")),
        // Where nothing was sent and a use is gone, the hint says so too.
        _ => {
            assert!(hint.starts_with(code.hint()), "{hint}");
            assert_eq!(refusal["use_spent"] == true, hint != code.hint(), "{hint}");
        }
    }
    assert!(["no", "maybe", "yes"].contains(&refusal["sent"].as_str().unwrap()));
    let sometimes = ["status", "manifest", "digest", "unsigned", "more_pages", "receipt"];
    let meta = without(keys(&outcome["meta"]), &sometimes);
    assert_eq!(meta, set(&["bytes_in", "bytes_out", "requests", "ms"]), "{code}");
}
