//! The refusals of calls on stored connections, each provoked. Where a connection is needed its key was proved before, which
//! is one request of its own; the refused call makes none more.

use std::sync::Arc;

use pinhole_grant::Label;
use pinhole_manifest::Access;
use pinhole_runtime::Outcome;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{
    GrantFilter, Grants as _, Party, QUESTIONS_PENDING_MAX, Questions as _, Removal,
};
use pinhole_tests::{JustBefore, LABEL, LocalStage, PASTED, Setup, call};

use crate::common::{Provoked, comment_args, is, refusal, repo_args};

pub(crate) async fn without_a_connection() -> Provoked {
    let stage = Setup::github().start_local().await;
    let outcome = stage.run("github.get_repo", &repo_args()).await;
    Provoked { stage: stage.into_stage(), outcome }
}

/// Ends a call that was to make no request beside that of the proof.
fn without_a_request(stage: LocalStage, outcome: Outcome) -> Provoked {
    assert_eq!(stage.seen(), ["GET /user"]);
    assert_eq!(outcome.meta.requests, 0);
    Provoked { stage: stage.into_stage(), outcome }
}

pub(crate) async fn no_such_connection() -> Provoked {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    let other = call("github.get_repo", &repo_args()).on(Label::parse("home").unwrap());
    let outcome = stage.bot.run(other).await;
    without_a_request(stage, outcome)
}

pub(crate) async fn one_without_the_bots_grant() -> Provoked {
    let stage = Setup::github().start_local().await;
    let kept = stage.connect("github").await;
    for grant in stage.store.grants(&GrantFilter::default()).unwrap() {
        let removed = stage.store.remove_grant(kept.connection.member, grant.id).unwrap();
        assert_eq!(removed, Removal::Removed);
    }
    let outcome = stage.run("github.get_repo", &repo_args()).await;
    without_a_request(stage, outcome)
}

pub(crate) async fn one_that_only_reads() -> Provoked {
    let stage = Setup::github().start_local().await;
    stage.connect_with("github", PASTED, LABEL, Some(Access::Read)).await.unwrap();
    let outcome = stage.run("github.comment_issue", &comment_args("Hello")).await;
    assert_eq!(stage.questions(), []);
    without_a_request(stage, outcome)
}

pub(crate) async fn a_denied_question() -> Provoked {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    let question = stage.ask("github.comment_issue", &comment_args("Hello")).await;
    stage.deny(question);
    let outcome = stage.run("github.comment_issue", &comment_args("Hello")).await;
    assert_eq!(refusal(&outcome).question, Some(question));
    without_a_request(stage, outcome)
}

/// Another process of the bot is quicker by a moment.
pub(crate) async fn an_approval_that_is_taken() -> Provoked {
    let mut stage = Setup::github().start_local().await;
    stage.connect("github").await;
    let question = stage.ask("github.comment_issue", &comment_args("Hello")).await;
    stage.approve(question).unwrap();
    let (bot, now) = (stage.bot.executor.bot.public().id(), stage.now());
    let quicker = JustBefore::take(Arc::clone(&stage.store), move |store, id| {
        assert!(store.take(Party::Bot(bot, None), id, now).is_ok());
    });
    stage.bot.desk = Arc::new(quicker);
    let outcome = stage.run("github.comment_issue", &comment_args("Hello")).await;
    assert_eq!(refusal(&outcome).question, Some(question));
    without_a_request(stage, outcome)
}

pub(crate) async fn one_question_too_many() -> Provoked {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    for number in 0..QUESTIONS_PENDING_MAX {
        stage.ask("github.comment_issue", &comment_args(&format!("Hello {number}"))).await;
    }
    let outcome = stage.run("github.comment_issue", &comment_args("Hello again")).await;
    is(&outcome, Code::TooManyQuestions, Sent::No);
    without_a_request(stage, outcome)
}
