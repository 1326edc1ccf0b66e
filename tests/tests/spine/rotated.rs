//! A bot whose key was changed for another: what was sealed to the one before opens until its end, and what the bot knew is known
//! to it still.

use std::sync::Arc;

use pinhole_grant::{CallKey, KeyKind, PublicKey, Ring, SecretKey, UnixTime, open_returned};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::renew::Renewing;
use pinhole_runtime::{CallRequest, Outcome};
use pinhole_standin::Provider;
use pinhole_tests::{NOW, Setup, Stage, op_name};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use crate::common::{get, is, parsed, post, refusal, result};
use crate::renewals::{granted, held, run, staged, tokens};

/// When the key of before ends, in seconds after the stage's clock begins.
const END: i64 = 2_000;

fn copy(keys: &Ring) -> Ring {
    Ring::from_file(&keys.to_file().unwrap()).unwrap()
}

/// The host's process ends, and another begins with these keys.
fn restart(stage: &mut Stage, keys: Ring) {
    stage.executor.bot = Arc::new(keys);
    stage.executor.renewing = Renewing::default();
}

/// Changes the bot's key; gives what a process that was started before has.
fn rotate(stage: &mut Stage) -> Ring {
    let before = copy(&stage.executor.bot);
    let next = SecretKey::generate(KeyKind::Bot, &mut UnwrapErr(SysRng));
    restart(stage, copy(&before).rotated(next, at(END)).unwrap());
    before
}

fn at(second: i64) -> UnixTime {
    NOW.plus_secs(second)
}

fn bots(keys: &Ring) -> [PublicKey; 1] {
    [keys.public().clone()]
}

/// The pair that [`staged`]'s provider gave first, in a grant to the bot's present key.
fn of_the_first_pair(stage: &Stage, provider: &Provider) -> Vec<u8> {
    granted(stage, provider, Some(0))
        .with(|parts| {
            parts.secret = pinhole_grant::Secret::new("access-1+/=".to_owned()).unwrap();
            parts.refresh = Some(pinhole_grant::Secret::new("refresh-2+/=".to_owned()).unwrap());
        })
        .seal()
}

#[tokio::test]
async fn a_pair_is_the_same_one_whatever_key_its_grant_was_sealed_to() {
    let (mut stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(0));
    let held = held(&grant);
    let to_the_first = grant.seal();
    result(&run(&stage, &to_the_first).await);
    assert_eq!(provider.refreshes(), 1);
    let before = rotate(&mut stage);
    let now = copy(&stage.executor.bot);
    let to_the_second = of_the_first_pair(&stage, &provider);
    // The spent refresh token of the grant is not shown again, and the pair goes back from whom the member gave it to.
    for (grant, by) in [(&to_the_second, &now), (&to_the_first, &before)] {
        let outcome = run(&stage, grant).await;
        result(&outcome);
        let rotated = outcome.rotated.as_ref().unwrap().to_bytes();
        let newer = open_returned(&rotated, &stage.member, &bots(by), &held).unwrap();
        assert_eq!(newer.secret().expose(), "access-3+/=");
    }
    assert_eq!((provider.refreshes(), provider.dead_families()), (1, 0));
    // What the new process renews, the one that was started before knows; and the other way round.
    for (second, grant, renews) in
        [(100, &to_the_second, true), (101, &to_the_first, false), (300, &to_the_first, true)]
    {
        stage.clock.set(second);
        let process = if grant == &to_the_first { copy(&before) } else { copy(&now) };
        restart(&mut stage, process);
        if renews {
            provider.expire();
        }
        let refreshes = provider.refreshes();
        result(&run(&stage, grant).await);
        assert_eq!(provider.refreshes(), refreshes + usize::from(renews), "{second}");
    }
    restart(&mut stage, copy(&now));
    result(&run(&stage, &to_the_second).await);
    assert_eq!((provider.refreshes(), provider.dead_families()), (3, 0));
}

#[tokio::test]
async fn a_former_key_opens_grants_until_its_end_and_then_says_what_to_do() {
    let (mut stage, provider) = staged().await;
    let to_the_first = granted(&stage, &provider, None).seal();
    rotate(&mut stage);
    stage.clock.set(END - 1);
    result(&run(&stage, &to_the_first).await);
    stage.clock.set(END);
    let ended = run(&stage, &to_the_first).await;
    is(&ended, Code::WrongBot, Sent::No);
    let said = refusal(&ended);
    let present = stage.executor.bot.public().to_string();
    assert!(said.message.contains("former key") && said.hint.contains(&present), "{}", ended.to_json());
    assert_eq!(tokens(&stage).len(), 1);
}

#[tokio::test]
async fn after_its_end_a_pair_is_sealed_to_the_new_key_and_the_old_process_burns_nothing() {
    let (mut stage, provider) = staged().await;
    let to_the_first = granted(&stage, &provider, Some(0)).seal();
    result(&run(&stage, &to_the_first).await);
    let before = rotate(&mut stage);
    let to_the_second = of_the_first_pair(&stage, &provider);
    stage.clock.set(END + 100);
    provider.expire();
    result(&run(&stage, &to_the_second).await);
    assert_eq!(provider.refreshes(), 2);
    // It cannot know that its key has ended. What it does not have it does not guess.
    let now = copy(&stage.executor.bot);
    restart(&mut stage, before);
    let (sent, outcome) = (tokens(&stage).len(), run(&stage, &to_the_first).await);
    is(&outcome, Code::StoreFailed, Sent::No);
    let detail = refusal(&outcome).private_detail().unwrap().to_owned();
    assert!(detail.contains("start the process anew"), "{detail}");
    assert_eq!(tokens(&stage).len(), sent);
    restart(&mut stage, now);
    result(&run(&stage, &to_the_second).await);
    assert_eq!((provider.refreshes(), provider.dead_families()), (2, 0));
}

async fn note(stage: &Stage, grant: &[u8]) -> Outcome {
    let (service, op) = op_name("thing.add_note");
    let request = CallRequest::new(service, op, json!({"text": "once"}).to_string(), grant);
    stage.executor.run(request.with_key(CallKey::parse("k").unwrap())).await
}

#[tokio::test]
async fn a_write_under_a_callers_key_is_carried_out_once_over_a_change_of_keys() {
    let mut stage = Setup::thing(vec![post("/notes", &json!({"id": 1}))]).start().await;
    let first = note(&stage, &stage.grant("thing").write(1).seal()).await;
    assert!(!first.meta.replayed);
    let before = rotate(&mut stage);
    let now = copy(&stage.executor.bot);
    let to_the_second = stage.grant("thing").write(1).seal();
    for second in [0, END + 1] {
        stage.clock.set(second);
        let again = note(&stage, &to_the_second).await;
        assert_eq!((result(&again), again.meta.replayed), (result(&first), true), "{second}");
    }
    // One that the new process keeps is found by the old one.
    stage.clock.set(10);
    let other = stage.grant("thing").write(1);
    let connection = pinhole_grant::CredentialId::random(&mut UnwrapErr(SysRng));
    let other = other.with(|parts| parts.id = connection).seal();
    assert!(!note(&stage, &other).await.meta.replayed);
    restart(&mut stage, before);
    let same = stage.grant("thing").write(1).with(|parts| parts.id = connection).seal();
    assert!(note(&stage, &same).await.meta.replayed);
    restart(&mut stage, now);
    assert_eq!(stage.seen(), ["POST /notes", "POST /notes"]);
}

#[tokio::test]
async fn pages_and_approvals_of_a_former_key_go_on_until_its_end() {
    let mut stage = Setup::shelf(5).start().await;
    let args = json!({"shelf": "a", "color": "red", "tags": []});
    let grant = stage.grant("shelf").uses(1).seal();
    let first = stage.run("shelf.linked", &args, &grant).await;
    let next = parsed(&first)["next"].as_str().unwrap().to_owned();
    rotate(&mut stage);
    result(&stage.run_next("shelf.linked", &args, &grant, &next).await);
    // Another bot's page is not the new key's, though it is the same bot: the member gave another grant.
    let to_the_second = stage.grant("shelf").seal();
    is(
        &stage.run_next("shelf.linked", &args, &to_the_second, &next).await,
        Code::PageTokenMalformed,
        Sent::No,
    );

    let mut stage = Setup::thing(vec![post("/notes", &json!({"id": 1}))]).start().await;
    let args = json!({"text": "a"});
    let approval = stage.approval("thing.add_note", &args).seal();
    rotate(&mut stage);
    result(&stage.run("thing.add_note", &args, &approval).await);
    is(&stage.run("thing.add_note", &args, &approval).await, Code::GrantUsedUp, Sent::No);
    assert_eq!(stage.seen(), ["POST /notes"]);
}

#[tokio::test]
async fn a_proposal_names_the_key_that_the_member_knows() {
    let mut stage = Setup::thing(vec![get("/quick", &json!({"id": "1"}))]).start().await;
    let to_the_first = stage.grant("thing").seal();
    let before = rotate(&mut stage);
    let (service, op) = op_name("thing.add_note");
    let request = CallRequest::new(service, op, json!({"text": "a"}).to_string(), to_the_first);
    let proposed = stage.executor.run_or_propose(request).await;
    let shown: Value = serde_json::from_str(&proposed.to_json()).unwrap();
    assert_eq!(shown["proposal"]["bot"], before.public().to_string(), "{shown}");
}
