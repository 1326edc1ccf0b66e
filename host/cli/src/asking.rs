//! Asking the member at her terminal for the write that a `run` is about: the sheet, then her passphrase, which is her yes.

use anyhow::Context as _;
use pinhole_runtime::local::LocalBot;
use pinhole_runtime::store::{Party, QuestionId};

use crate::config::Config;
use crate::member::Word;
use crate::{approvals, keys, local, member, sheet, terminal};

/// What she said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// The same call runs now, once.
    Yes,
    /// No: the question is denied.
    No,
    /// Nothing: the question waits.
    Nothing,
}

/// Shows a question that waits, and takes her answer.
pub(crate) fn ask(bot: &LocalBot, id: QuestionId, config: &Config) -> anyhow::Result<Said> {
    let (desk, catalog) = (bot.desk.as_ref(), &bot.executor.catalog);
    let now = || desk.high_water(bot.executor.clock.now());
    let question = desk.question(Party::Member(bot.member), id, now()?)?.context("the question is gone")?;
    let connection = desk.connection(bot.member, question.connection)?;
    let sheet = approvals::sheet_of(&question, connection.as_ref(), catalog)?;
    terminal::show(&sheet::lines(&sheet))?;
    let prompt = format!("Your passphrase says yes to {id}, `no` denies it, Enter alone leaves it waiting: ");
    let key = match member::word(&prompt, config)? {
        Word::Yes(key) => key,
        Word::No => {
            pinhole_runtime::local::deny(desk, bot.member, id, now()?)?;
            return Ok(Said::No);
        }
        Word::Nothing => return Ok(Said::Nothing),
    };
    let former = keys::formers(&bot.executor.bot, now()?);
    let present = local::present(&key, (bot.executor.bot.public(), &former), desk, catalog, now()?);
    present.approve(&sheet).map_err(|error| approvals::not_approved(error, id))?;
    local::renew_by_the_way(&present);
    Ok(Said::Yes)
}
