//! Writes: what the person is asked, where, and what is told to the model meanwhile.
//!
//! By default a write raises the member's durable question. INVARIANT: a client's word runs only what
//! [`LocalBot::confirmable`] says it may, and only where the operator lets clients say it.
//!
//! [`LocalBot::confirmable`]: pinhole_runtime::local::LocalBot::confirmable

use std::collections::BTreeMap;
use std::time::Duration;

use pinhole_grant::ActionDigest;
use pinhole_runtime::local::Yes;
use pinhole_runtime::outcome::{Code, Refusal};
use pinhole_runtime::store::{Party, QuestionId, QuestionState};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, InputRequest, InputRequiredResult,
};
use serde_json::json;

use super::answer;
use super::call::{Continued, Ran, Tried};
use super::confirm::{self, Kind, Round, Said};
use super::handler::{Caller, Era, Mcp};
use crate::page;

/// The name of what a client is asked in a round.
const ASKED: &str = "person";
/// How long a call waits for the member to answer on her page, once she was sent there.
const PAGE_WAIT: Duration = Duration::from_secs(45);
/// How often it looks.
const PAGE_LOOK: Duration = Duration::from_millis(500);
/// How long a legacy client may take to ask.
const FORM_WAIT: Duration = Duration::from_mins(5);

/// What a client can ask its person.
struct Asks {
    form: bool,
    page: bool,
}

impl Mcp {
    pub(super) async fn write(
        &self,
        tried: &Tried<'_>,
        continued: Continued,
        caller: &Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let asks = self.asks(caller);
        if let Some(state) = &continued.state {
            return self.resumed(tried, state, &continued, caller).await;
        }
        if tried.call.yes == Yes::Approval && asks.form {
            match self.by_form(tried, caller).await? {
                Form::None => {}
                Form::Asked(response) => return Ok(*response),
                Form::Yes => return self.run_tried(tried, Yes::InTheClient, caller).await,
            }
        }
        let ran = self.carry_out(tried.call.clone(), caller).await?;
        if let Some(question) = waits(&ran)
            && asks.page
            && let Some(response) = self.by_page(tried, question, caller).await?
        {
            return Ok(response);
        }
        self.ended_as(ran, tried.op, caller).map(Into::into)
    }

    fn asks(&self, caller: &Caller) -> Asks {
        let elicitation = caller.context.client_capabilities().and_then(|client| client.elicitation);
        // Before there were modes, every client that asks asked by forms.
        let form = elicitation.as_ref().is_some_and(|asks| asks.form.is_some() || asks.url.is_none());
        let page = elicitation.is_some_and(|asks| asks.url.is_some());
        Asks { form: form && self.shared.yes.form, page }
    }

    /// Runs it on somebody's yes.
    async fn run_tried(
        &self,
        tried: &Tried<'_>,
        yes: Yes,
        caller: &Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let ran = self.carry_out(tried.call.clone().on_the_yes(yes), caller).await?;
        self.ended_as(ran, tried.op, caller).map(Into::into)
    }

    /// Goes on with a round that was begun.
    async fn resumed(
        &self,
        tried: &Tried<'_>,
        state: &str,
        continued: &Continued,
        caller: &Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let bot = &self.shared.bot;
        let action = match bot.action(&tried.call).await {
            Ok(action) => action,
            Err(refusal) => {
                let marker = &mut self.marker()?;
                return Ok(answer::refused(&tried.call.service, &refusal, Some(tried.op), marker).into());
            }
        };
        let round = Round { principal: caller.principal.id(), tool: tried.tool, action };
        let kind = match self.shared.rounds.resume(state, &round, bot.executor.clock.now()) {
            Ok(kind) => kind,
            Err(error) => {
                return Ok(unasked(
                    "request_state",
                    &error.to_string(),
                    "call again with the same arguments and no state",
                )
                .into());
            }
        };
        match (kind, said(continued, kind)) {
            (Kind::Form, Said::Yes) if self.shared.yes.form => {
                self.run_tried(tried, Yes::InTheClient, caller).await
            }
            (Kind::Form, Said::Nothing) => Ok(unanswered().into()),
            (Kind::Form, _) => Ok(said_no().into()),
            (Kind::Page(question), said) => {
                if said != Said::No {
                    self.answered(question, caller).await;
                }
                self.run_tried(tried, Yes::Approval, caller).await
            }
        }
    }

    /// Has the client ask its person by a form, where that may be a yes to this write.
    async fn by_form(&self, tried: &Tried<'_>, caller: &Caller) -> Result<Form, ErrorData> {
        // What may not be confirmed so, or fails before it may, takes the usual way and is refused there.
        let Ok(Some(confirmable)) = self.shared.bot.confirmable(&tried.call).await else {
            return Ok(Form::None);
        };
        let Some(form) = confirm::form(&confirmable) else { return Ok(Form::None) };
        if caller.era == Era::Modern {
            let response = self.round(tried.tool, confirmable.action, Kind::Form, form, caller)?;
            return Ok(Form::Asked(Box::new(response)));
        }
        Ok(match self.ask_now(form, caller).await {
            Some(Said::Yes) => Form::Yes,
            Some(Said::No) => Form::Asked(Box::new(said_no().into())),
            Some(Said::Nothing) => Form::Asked(Box::new(unanswered().into())),
            None => Form::None,
        })
    }

    /// Points the client's person to the member's page, where her question waits.
    async fn by_page(
        &self,
        tried: &Tried<'_>,
        question: QuestionId,
        caller: &Caller,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let Some(page) = (self.shared.page)() else { return Ok(None) };
        let Ok(action) = self.shared.bot.action(&tried.call).await else { return Ok(None) };
        let request = ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: format!(
                "Look at question {question} on your Pinhole approval page, and answer it there."
            ),
            url: page::question_url(&page, question).to_string(),
            elicitation_id: question.to_string(),
        };
        if caller.era == Era::Modern {
            return self.round(tried.tool, action, Kind::Page(question), request, caller).map(Some);
        }
        match self.ask_now(request, caller).await {
            None | Some(Said::No) => return Ok(None),
            Some(Said::Yes | Said::Nothing) => self.answered(question, caller).await,
        }
        self.run_tried(tried, Yes::Approval, caller).await.map(Some)
    }

    /// Begins a round.
    fn round(
        &self,
        tool: &str,
        action: ActionDigest,
        kind: Kind,
        request: ElicitRequestParams,
        caller: &Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let executor = &self.shared.bot.executor;
        let round = Round { principal: caller.principal.id(), tool, action };
        let state = self.shared.rounds.begin(&round, kind, executor.clock.now(), executor.entropy.as_ref());
        let state = state.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let request = InputRequest::Elicitation(ElicitRequest::new(request));
        let requests = BTreeMap::from([(ASKED.to_owned(), request)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// Asks a legacy client in the middle of its call; `None` where it does not answer as clients do.
    async fn ask_now(&self, request: ElicitRequestParams, caller: &Caller) -> Option<Said> {
        let is_form = matches!(request, ElicitRequestParams::FormElicitationParams { .. });
        let asked = caller.context.peer.create_elicitation_with_timeout(request, Some(FORM_WAIT)).await;
        match asked {
            Ok(result) if is_form => Some(confirm::said(&result)),
            Ok(result) => Some(sent_there(&result)),
            Err(error) => {
                tracing::debug!(%error, "the client did not ask");
                None
            }
        }
    }

    /// Waits for the member's answer, for a while.
    async fn answered(&self, question: QuestionId, caller: &Caller) {
        let executor = &self.shared.bot.executor;
        let party = Party::Bot(executor.bot.public().id(), caller.principal.id());
        let began = executor.timer.now();
        while executor.timer.now().saturating_duration_since(began) < PAGE_WAIT {
            let (desk, now) = (std::sync::Arc::clone(&self.shared.bot.desk), executor.clock.now());
            let state = tokio::task::spawn_blocking(move || desk.question(party, question, now)).await;
            let pending =
                matches!(&state, Ok(Ok(Some(question))) if question.state == QuestionState::Pending);
            if !pending {
                return;
            }
            tokio::select! {
                () = executor.timer.wait(PAGE_LOOK) => {}
                () = caller.context.ct.cancelled() => return,
            }
        }
    }
}

/// What came of a form.
enum Form {
    /// There was none.
    None,
    /// This is what there is to answer.
    Asked(Box<CallToolResponse>),
    /// The person said yes.
    Yes,
}

/// The question that an outcome waits for.
fn waits(ran: &Ran) -> Option<QuestionId> {
    let Ran::Ended(outcome) = ran else { return None };
    let refusal: &Refusal = outcome.refusal()?;
    refusal.question.filter(|_| refusal.code == Code::ApprovalRequired)
}

/// What the person said, by what the client brings back.
fn said(continued: &Continued, kind: Kind) -> Said {
    let answer = continued.responses.as_ref().and_then(|responses| responses.get(ASKED));
    let result = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer.clone()).ok());
    match (result, kind) {
        (None, _) => Said::Nothing,
        (Some(result), Kind::Form) => confirm::said(&result),
        (Some(result), Kind::Page(_)) => sent_there(&result),
    }
}

/// Whether the person let her client open the page. That is no answer to the question.
fn sent_there(result: &ElicitResult) -> Said {
    match result.action {
        ElicitationAction::Accept => Said::Nothing,
        _ => Said::No,
    }
}

fn said_no() -> CallToolResult {
    unasked("not_confirmed", "the person said no", "do not ask again unless they want it")
}

fn unanswered() -> CallToolResult {
    unasked("not_confirmed", "the person has not answered", "ask whether they want it, then call again")
}

/// A write that did not come as far as the bot.
fn unasked(code: &str, message: &str, hint: &str) -> CallToolResult {
    let told = json!({"refusal": {"code": code, "message": message, "hint": hint, "sent": "no"}});
    CallToolResult::error(vec![ContentBlock::text(told.to_string())])
}
