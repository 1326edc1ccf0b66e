//! From a tool call to its result.
//!
//! Reads end when the client cancels: the request to the service is given up with them. A write that was begun is carried to
//! its end, whoever still listens, for a write of which nothing is known is worse than one that nobody waits for.
//! INVARIANT: every op runs through the bot, on behalf of the caller's principal.

use std::sync::Arc;

use pinhole_manifest::Access;
use pinhole_manifest::model::Op;
use pinhole_runtime::Outcome;
use pinhole_runtime::local::StoredCall;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, InputResponses, JsonObject,
};
use tokio::sync::oneshot;

use super::answer::{self, Marker};
use super::handler::{At, Caller, Era, Mcp, signed};
use super::progress::{self, Listener};
use super::tools::{ArgumentError, Target, ToolCall, Toolbox};

/// What a client brings back of a round that it continues.
pub(super) struct Continued {
    pub(super) state: Option<String>,
    pub(super) responses: Option<InputResponses>,
}

/// How a call ended.
pub(super) enum Ran {
    /// With an outcome.
    Ended(Box<Outcome>),
    /// The client gave it up.
    GivenUp,
}

impl Mcp {
    /// Answers a tool call.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        caller: &Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let connections = self.connections()?;
        let toolbox = self.toolbox(&connections, &caller.principal);
        let name = request.name.as_ref();
        let target = toolbox.find(name).ok_or_else(|| {
            let message = "there is no tool of that name here: list the tools again. A write that is missing may be one that \
                           the person's connection does not allow: `pinhole connections cap SERVICE write` lets it be \
                           asked for";
            ErrorData::invalid_params(message, None)
        })?;
        let continued = Continued { state: request.request_state, responses: request.input_responses };
        let response = match meant(&toolbox, target, request.arguments) {
            Err(error) => answer::not_a_call(&error).into(),
            Ok(Meant::Said(result)) => result.into(),
            Ok(Meant::Explain(call)) => self.explain(&call.stored(caller.principal.id())).await.into(),
            Ok(Meant::Run(call)) => self.run(name, &call, continued, caller).await?,
        };
        Ok(of_this_server(response, caller.era))
    }

    async fn explain(&self, call: &StoredCall) -> CallToolResult {
        answer::explained(&call.service, &self.shared.bot.explain(call).await)
    }

    async fn run(
        &self,
        tool: &str,
        call: &ToolCall<'_>,
        continued: Continued,
        caller: &Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let (stored, op) = (call.stored(caller.principal.id()), call.tool().op());
        match op.access {
            Access::Read => {
                let ran = self.read(stored, caller).await;
                self.ended_as(ran, op, caller).map(Into::into)
            }
            Access::Write => self.write(&Tried { tool, op, call: stored }, continued, caller).await,
        }
    }

    async fn read(&self, call: StoredCall, caller: &Caller) -> Ran {
        let work = progress::told(listener(caller), self.shared.bot.run(call));
        tokio::select! {
            outcome = work => Ran::Ended(Box::new(outcome)),
            () = given_up(caller) => Ran::GivenUp,
        }
    }

    /// Runs a write in a task of its own, which a client that goes away does not take with it.
    pub(super) async fn carry_out(&self, call: StoredCall, caller: &Caller) -> Result<Ran, ErrorData> {
        let (shared, listener) = (Arc::clone(&self.shared), listener(caller));
        let (give, given) = oneshot::channel();
        self.shared.writes.spawn(async move {
            let outcome = Box::new(progress::told(listener, shared.bot.run(call)).await);
            // Nobody waits any more: whoever looks for what became of it finds it in the log.
            if let Err(outcome) = give.send(outcome) {
                let code = outcome.refusal().map_or("done", |refusal| refusal.code.as_str());
                let (service, op) = (&outcome.service, &outcome.op);
                tracing::warn!(%service, %op, code, "a write has ended after its caller had gone");
            }
        });
        tokio::select! {
            outcome = given => outcome
                .map(Ran::Ended)
                .map_err(|_broken| ErrorData::internal_error("the write broke off", None)),
            () = given_up(caller) => Ok(Ran::GivenUp),
        }
    }

    /// The result of an outcome. What was given up is answered for form's sake: nobody reads it.
    pub(super) fn ended_as(&self, ran: Ran, op: &Op, caller: &Caller) -> Result<CallToolResult, ErrorData> {
        match ran {
            Ran::Ended(outcome) => Ok(answer::outcome(&outcome, Some(op), &mut self.marker()?)),
            Ran::GivenUp => {
                tracing::debug!(at = ?caller.at, "a call was given up");
                Err(ErrorData::internal_error("the call was given up", None))
            }
        }
    }

    pub(super) fn marker(&self) -> Result<Marker, ErrorData> {
        Marker::new(self.shared.bot.executor.entropy.as_ref())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// A write that is tried.
pub(super) struct Tried<'c> {
    /// The tool, by the name that the client has used.
    pub(super) tool: &'c str,
    pub(super) op: &'c Op,
    pub(super) call: StoredCall,
}

/// What a call asks for.
enum Meant<'c> {
    Run(ToolCall<'c>),
    Explain(ToolCall<'c>),
    Said(CallToolResult),
}

fn meant<'c>(
    toolbox: &Toolbox<'c>,
    target: Target<'c>,
    arguments: Option<JsonObject>,
) -> Result<Meant<'c>, ArgumentError> {
    Ok(match target {
        Target::Op(tool) => Meant::Run(tool.read(arguments)?),
        Target::RunRead => Meant::Run(toolbox.run_op(Access::Read, arguments)?),
        Target::RunWrite => Meant::Run(toolbox.run_op(Access::Write, arguments)?),
        Target::Explain => Meant::Explain(toolbox.explain(arguments)?),
        Target::FindOps => Meant::Said(toolbox.find_ops(arguments)?),
        Target::DescribeOp => Meant::Said(toolbox.describe_op(arguments)?),
    })
}

fn listener(caller: &Caller) -> Option<Listener> {
    let context = &caller.context;
    let token = context.meta.get_progress_token()?;
    Some(Listener::new(context.peer.clone(), token))
}

/// Until the client cancels. Before 2026-07-28 a client that is gone from an HTTP service has cancelled nothing.
async fn given_up(caller: &Caller) {
    match (caller.at, caller.era) {
        (At::Http, Era::Legacy) => std::future::pending().await,
        _ => caller.context.ct.cancelled().await,
    }
}

fn of_this_server(mut response: CallToolResponse, era: Era) -> CallToolResponse {
    match &mut response {
        CallToolResponse::Complete(result) => result.meta = signed(era),
        CallToolResponse::InputRequired(result) => result.meta = signed(era),
        _ => {}
    }
    response
}
