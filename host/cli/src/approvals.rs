//! `pinhole approvals`: the writes that wait for the member's yes, each shown whole, and her answers.
//!
//! INVARIANT: what is approved is what was shown: the approval is minted from the sheet that was printed.

mod page;

use anyhow::Context as _;
use pinhole_grant::KeyId;
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::{self as runtime, ApproveError, Sheet, SheetError};
use pinhole_runtime::store::{
    AnswerError, Party, Question, QuestionId, QuestionState, Removal, StoreError, Table,
};
use serde_json::{Value, json};

use crate::args::{ApprovalsCommand, PassphraseFlags};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::tokens::Askers;
use crate::wait::block_on;
use crate::{keys, local, member, occasion, out, sheet, terminal};

pub(crate) use page::PageFlags;

pub(crate) fn main(command: ApprovalsCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        ApprovalsCommand::List { all, json } => list(all, json, config),
        ApprovalsCommand::Show { question, json, local } => {
            show(&question, json, &occasion::catalog(&local, config)?, config)
        }
        ApprovalsCommand::Approve { question, passphrase, local } => {
            approve(&question, &passphrase, &occasion::catalog(&local, config)?, config)
        }
        ApprovalsCommand::Deny { question } => deny(&question, config),
        ApprovalsCommand::Page(flags) => block_on(page::main(&flags, config)),
    }
}

fn list(all: bool, json: bool, config: &Config) -> anyhow::Result<End> {
    let (mut questions, askers) = match keys::member_public(config)? {
        Some(_) => {
            let desktop = Desktop::open(config)?;
            let questions = desktop.store.questions(Party::Member(desktop.member.id()), desktop.now)?;
            (questions, Askers::of(&desktop)?)
        }
        None => (Vec::new(), Askers::default()),
    };
    // A yes that was not used yet can be taken back.
    let waits =
        |question: &Question| matches!(question.state, QuestionState::Pending | QuestionState::Approved);
    questions.retain(|question| all || waits(question));
    if json {
        let rows: Vec<Value> = questions.iter().map(|question| in_json(question, &askers)).collect();
        out::json(&rows)?;
        return Ok(End::Done);
    }
    if questions.is_empty() {
        out::note("nothing waits for your yes");
        return Ok(End::Done);
    }
    let lines: Vec<String> = questions.iter().map(|question| in_a_line(question, &askers)).collect();
    out::document(lines.join("\n"))?;
    if questions.iter().any(waits) {
        out::note("`pinhole approvals show QUESTION` shows all that a yes would do");
    }
    Ok(End::Done)
}

/// Most characters of the args in a line.
const ARGS_SHOWN: usize = 60;

fn in_a_line(question: &Question, askers: &Askers) -> String {
    let args = visible(&question.args);
    let clipped: String = args.chars().take(ARGS_SHOWN).collect();
    let more = if clipped.len() < args.len() { "…" } else { "" };
    format!(
        "{}  {:<8}  {}  {}{}.{} {clipped}{more} on {}",
        question.id,
        question.state.as_str(),
        out::moment(question.raised_at),
        question.principal.map(|asker| format!("by {}: ", askers.shown(asker))).unwrap_or_default(),
        question.service,
        question.op,
        visible(question.account.as_str()),
    )
}

fn in_json(question: &Question, askers: &Askers) -> Value {
    json!({
        "question": question.id, "state": question.state.as_str(), "service": question.service, "op": question.op,
        "connection": question.connection, "account": question.account, "bot": question.bot,
        "principal": question.principal, "asked_by": question.principal.and_then(|asker| askers.name(asker)),
        "raised_at": question.raised_at, "expires_at": question.expires_at, "answered_at": question.answered_at,
    })
}

fn show(question: &str, json: bool, catalog: &Catalog, config: &Config) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let sheet = read(&desktop, id(question)?, catalog)?;
    if json {
        out::json(&sheet)?;
    } else {
        out::document(terminal::fitted(lines(&sheet, &desktop)?).join("\n"))?;
        if sheet.state == QuestionState::Pending {
            let id = sheet.question;
            out::note(format_args!(
                "`pinhole approvals approve {id}` says yes, `pinhole approvals deny {id}` no"
            ));
        }
    }
    Ok(End::Done)
}

fn approve(
    question: &str,
    passphrase: &PassphraseFlags,
    catalog: &Catalog,
    config: &Config,
) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let sheet = read(&desktop, id(question)?, catalog)?;
    if sheet.state != QuestionState::Pending {
        return Err(over(&AnswerError::NotPending(sheet.state)).into());
    }
    member::may_permit_writes(config)?;
    member::tell(passphrase, &lines(&sheet, &desktop)?)?;
    let purpose = format!("which says yes to {}", sheet.question);
    let key = member::key(passphrase, Access::Write, &purpose, config)?;
    // She may have taken her time.
    let desktop = desktop.later()?;
    let present = desktop.present(&key, catalog);
    let until = present.approve(&sheet).map_err(|error| not_approved(error, sheet.question))?;
    local::renew_by_the_way(&present);
    out::line(format_args!(
        "approved: it runs once, until {}, when the same call is made again",
        out::moment(until)
    ));
    Ok(End::Done)
}

/// The lines of a sheet, and on whose behalf it is asked.
fn lines(sheet: &Sheet, desktop: &Desktop) -> anyhow::Result<Vec<String>> {
    let mut lines = sheet::lines(sheet);
    if let Some(asker) = sheet.principal {
        lines.push(format!("  asked by: {}", Askers::of(desktop)?.shown(asker)));
    }
    Ok(lines)
}

fn deny(question: &str, config: &Config) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let member = desktop.member.id();
    let Ok(id) = question.parse::<QuestionId>() else {
        // What has no id that a question could have can only be forgotten.
        return match desktop.store.forget_unreadable(Table::Questions, member, question)? {
            Removal::Removed => {
                out::document(format_args!("forgotten: {}", visible(question)))?;
                Ok(End::Done)
            }
            Removal::Absent => Err(id(question).err().unwrap_or_else(|| over(&AnswerError::Absent).into())),
        };
    };
    match runtime::deny(&*desktop.store, member, id, desktop.now) {
        Ok(()) => out::document(format_args!("denied: {id}"))?,
        Err(AnswerError::Store(StoreError::Tampered { .. })) => {
            desktop.store.forget_question(member, id)?;
            out::document(format_args!("forgotten: {id}, whose row was tampered with"))?;
        }
        Err(AnswerError::Store(error)) => return Err(error.into()),
        Err(error) => return Err(over(&error).into()),
    }
    Ok(End::Done)
}

/// Why a yes was not given, with what to do.
pub(crate) fn not_approved(error: ApproveError, question: QuestionId) -> anyhow::Error {
    let error = match error {
        ApproveError::Store(store) | ApproveError::Answer(AnswerError::Store(store)) => return store.into(),
        error => error,
    };
    if let ApproveError::Answer(error) = &error {
        return over(error).into();
    }
    let hint = error.hint(question);
    Failure::new(End::Refused, error.to_string(), hint).into()
}

fn over(error: &AnswerError) -> Failure {
    Failure::new(End::Refused, error.to_string(), "`pinhole approvals list --all` shows what became of each")
}

fn id(text: &str) -> anyhow::Result<QuestionId> {
    text.parse().map_err(|error| {
        Failure::new(End::Usage, format!("`{text}` is {error}"), "`pinhole approvals list` shows them").into()
    })
}

fn read(desktop: &Desktop, id: QuestionId, catalog: &Catalog) -> anyhow::Result<Sheet> {
    let member: KeyId = desktop.member.id();
    let question = desktop.store.question(Party::Member(member), id, desktop.now)?;
    let question = question.ok_or_else(|| over(&AnswerError::Absent))?;
    let connection = desktop.store.connection(member, question.connection)?;
    sheet_of(&question, connection.as_ref(), catalog).context("the question cannot be shown")
}

/// The sheet of a question; one that cannot be shown can still be denied.
pub(crate) fn sheet_of(
    question: &Question,
    connection: Option<&pinhole_runtime::store::ConnectionRow>,
    catalog: &Catalog,
) -> anyhow::Result<Sheet> {
    Sheet::of(question, connection, catalog).map_err(|error| match error {
        SheetError::Store(store) => anyhow::Error::from(store),
        error => {
            let hint = format!("`pinhole approvals deny {}`, and have it asked anew", question.id);
            Failure::new(End::Refused, error.to_string(), hint).into()
        }
    })
}
