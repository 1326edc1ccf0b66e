//! `pinhole run`: one op, on a connection, under a grant, or with a key on stdin for one read; one page of it, or all.

use pinhole_grant::CallKey;
use pinhole_runtime::local::LocalBot;
use pinhole_runtime::outcome::{Code, Verdict};
use pinhole_runtime::{CallRequest, Executor, Outcome};

use crate::args::{CallFlags, RunFlags};
use crate::asking::{self, Said};
use crate::call::{self, Permission};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::pages::{self, Lines, Tokens};
use crate::{occasion, out, terminal};

pub(crate) async fn main(flags: RunFlags, config: &Config) -> anyhow::Result<End> {
    call::one_reader_of_stdin(&flags.call)?;
    let (permission, tokens) = match (&flags.call.grant, flags.call.token_stdin) {
        (Some(_), _) => (Permission::Grant, Tokens::Kept),
        // The keys of the occasion go with this process, and what is sealed with them.
        (None, true) => (Permission::Token(occasion::token_from_stdin()?), Tokens::Lost),
        (None, false) => return on_a_connection(flags, config).await,
    };
    let call::Prepared { executor, request } = call::prepare(&flags.call, permission, config)?;
    permitted(&flags, Runner::Executor(&executor), request, tokens).await
}

/// Who runs a call that is permitted.
#[derive(Clone, Copy)]
pub(crate) enum Runner<'a> {
    /// An executor: what it hands back goes to whoever called.
    Executor(&'a Executor),
    /// The bot of the member of this home, for whom a renewed pair waits.
    Bot(&'a LocalBot),
}

impl Runner<'_> {
    /// Who runs it in the end.
    pub(crate) fn executor(&self) -> &Executor {
        match self {
            Self::Executor(executor) => executor,
            Self::Bot(bot) => &bot.executor,
        }
    }

    /// Runs it.
    pub(crate) async fn run(self, request: CallRequest) -> Outcome {
        match self {
            Self::Executor(executor) => executor.run(request).await,
            Self::Bot(bot) => bot.run_permitted(request).await,
        }
    }
}

/// Runs what the bot's stored grant permits, or the member, who is asked where she can be.
async fn on_a_connection(flags: RunFlags, config: &Config) -> anyhow::Result<End> {
    let (bot, mut call) = call::on_a_connection(&flags.call, config)?;
    call.next.clone_from(&flags.next);
    call.key = key(&flags)?;
    let outcome = match bot.way(&call).await {
        Ok(request) => return permitted(&flags, Runner::Bot(&bot), request, Tokens::Kept).await,
        Err(outcome) => *outcome,
    };
    if flags.no_ask || !terminal::is_there() || !was_asked(&bot, &outcome, config) {
        return shown(&outcome, &flags.call);
    }
    match bot.way(&call).await {
        Ok(request) => permitted(&flags, Runner::Bot(&bot), request, Tokens::Kept).await,
        Err(outcome) => shown(&outcome, &flags.call),
    }
}

/// Asks the member at her terminal about the question that an outcome names; whether she said anything.
fn was_asked(bot: &LocalBot, outcome: &Outcome, config: &Config) -> bool {
    let waits = outcome.refusal().filter(|refusal| refusal.code == Code::ApprovalRequired);
    let Some(question) = waits.and_then(|refusal| refusal.question) else { return false };
    match asking::ask(bot, question, config) {
        Ok(said) => said != Said::Nothing,
        // The question waits; the outcome says so.
        Err(error) => {
            out::failure(&error);
            false
        }
    }
}

async fn permitted(
    flags: &RunFlags,
    runner: Runner<'_>,
    mut request: CallRequest,
    tokens: Tokens,
) -> anyhow::Result<End> {
    request.next.clone_from(&flags.next);
    request.key = key(flags)?;
    if flags.all {
        let lines = if flags.call.json { Lines::Outcomes } else { Lines::Elements };
        let ended = pages::follow(runner, request, lines, tokens).await;
        runner.executor().close().await;
        return ended;
    }
    let outcome = runner.run(request).await;
    runner.executor().close().await;
    let outcome = match tokens {
        Tokens::Kept => outcome,
        Tokens::Lost => of_the_occasion(outcome.forgetting_next()),
    };
    shown(&outcome, &flags.call)
}

fn key(flags: &RunFlags) -> anyhow::Result<Option<CallKey>> {
    let Some(text) = &flags.key else { return Ok(None) };
    let key = CallKey::parse(text).map_err(|error| {
        Failure::new(End::Usage, format!("`--key {text}`: {error}"), "such as `--key order-1042`")
    })?;
    Ok(Some(key))
}

fn shown(outcome: &Outcome, flags: &CallFlags) -> anyhow::Result<End> {
    if flags.json {
        out::json(outcome)?;
    } else {
        out::outcome(outcome)?;
    }
    Ok(outcome.refusal().map_or(End::Done, End::of))
}

/// A refusal of a call that had no grant of anybody's speaks of none.
fn of_the_occasion(mut outcome: Outcome) -> Outcome {
    if let Verdict::Refused(refusal) = &mut outcome.verdict {
        refusal.use_spent = false;
        match refusal.code {
            Code::ReadOnlyGrant => {
                "`--token-stdin` is for reads".clone_into(&mut refusal.message);
                "connect the service (`pinhole connect`), and its writes wait for a yes"
                    .clone_into(&mut refusal.hint);
            }
            code => code.hint().clone_into(&mut refusal.hint),
        }
    }
    outcome
}
