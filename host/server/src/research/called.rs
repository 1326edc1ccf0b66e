//! A call of a session's tool: held against the palette, then run, then passed on between marks.
//!
//! The two steps stand apart so that a door can have a call wait for its turn between them. INVARIANT: only what was held against
//! the palette runs; what is refused before it runs takes nothing of what the session has.

use std::sync::atomic::Ordering;

use pinhole_grant::PrincipalId;
use pinhole_manifest::{Access, OpId};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::{CallRequest, Executor, Outcome};
use rmcp::model::{CallToolResult, JsonObject};
use serde::Serialize;
use serde_json::json;

use super::session::Session;
use crate::mcp::answer::{self, Marker};
use crate::mcp::tools::{Target, ToolCall, Toolbox};

/// What came of a call.
#[derive(Debug)]
pub struct Called {
    /// What the model is told: a result between marks, or a refusal.
    pub text: String,
    /// Whether it is a result.
    pub ok: bool,
    /// The run, where there was one: a rotated pair in it is its member's, and is handed back to her as after any run.
    pub outcome: Option<Outcome>,
    /// Why the session itself passes nothing on; `None` where the run says so, or nothing is wrong.
    pub declined: Option<Declined>,
}

/// Why a session passes nothing on. Nothing of it comes from a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Declined {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether the op's request left.
    pub sent: Sent,
}

/// A call that the palette has, and that has not run yet.
#[derive(Debug)]
pub struct Ready<'s> {
    session: &'s Session,
    request: CallRequest,
}

impl Session {
    /// Calls a tool by its name. Whatever is wrong with the call is in what the model is told.
    pub async fn call(&self, name: &str, arguments: JsonObject, executor: &Executor) -> Called {
        match self.ready(name, arguments, executor) {
            Ok(ready) => ready.run(executor).await,
            Err(called) => *called,
        }
    }

    /// The call that this is, if it is one of the palette; takes nothing.
    pub fn ready(
        &self,
        name: &str,
        arguments: JsonObject,
        executor: &Executor,
    ) -> Result<Ready<'_>, Box<Called>> {
        let no_such = |what: &str| {
            let message = format!("there is no {what} in this session");
            Box::new(declined("no_such_tool", message, "use one that is listed", Sent::No))
        };
        let toolbox = Toolbox::new(&executor.catalog, &self.connected, &self.reach, &self.offer);
        let Some(Target::Op(tool)) = toolbox.find(name).filter(is_read) else {
            return Err(no_such("tool of that name"));
        };
        self.lives(executor)?;
        let call = tool.read(Some(arguments)).map_err(|error| {
            let why = Declined {
                code: Code::InvalidArgs.as_str(),
                message: error.to_string(),
                hint: error.hint().to_owned(),
                sent: Sent::No,
            };
            let told = of_result(&answer::not_a_call(&error), None);
            Box::new(Called { declined: Some(why), ..told })
        })?;
        let request = self.request(&call).ok_or_else(|| no_such("such connection"))?;
        if self.calls_left() == 0 {
            return Err(Box::new(no_calls_left()));
        }
        Ok(Ready { session: self, request })
    }

    fn lives(&self, executor: &Executor) -> Result<(), Box<Called>> {
        if executor.clock.now() < self.until {
            return Ok(());
        }
        let message = "the session's time is over".to_owned();
        Err(Box::new(declined("session_over", message, "answer with what there is", Sent::No)))
    }

    fn request(&self, call: &ToolCall<'_>) -> Option<CallRequest> {
        let (service, op) = (call.tool().service(), &call.tool().op().id);
        let granted = self
            .grants
            .iter()
            .find(|granted| granted.service == *service && granted.label == *call.connection())?;
        let request = CallRequest::new(service.clone(), op.clone(), call.args(), granted.sealed.clone());
        Some(match call.next() {
            Some(next) => request.with_next(next),
            None => request,
        })
    }

    /// What is passed on, if that many bytes are left; else that they are not.
    fn counted(&self, called: Called) -> Called {
        let size = u64::try_from(called.text.len()).unwrap_or(u64::MAX);
        let less = |left: u64| left.checked_sub(size);
        if self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return called;
        }
        let message = format!("the result has {size} bytes, and the session has {} left", self.bytes_left());
        let sent = match &called.outcome {
            Some(outcome) => outcome.refusal().map_or(Sent::Yes, |refusal| refusal.sent),
            None => Sent::No,
        };
        let hint = "ask for less, or answer with what there is";
        Called { outcome: called.outcome, ..declined("no_bytes_left", message, hint, sent) }
    }
}

impl Ready<'_> {
    /// What is to run.
    pub fn request(&self) -> &CallRequest {
        &self.request
    }

    /// The same on behalf of somebody.
    #[must_use]
    pub fn by(mut self, principal: Option<PrincipalId>) -> Self {
        self.request.principal = principal;
        self
    }

    /// Takes one of the session's calls, and runs.
    pub async fn run(self, executor: &Executor) -> Called {
        let Self { session, request } = self;
        // It may have waited.
        if let Err(over) = session.lives(executor) {
            return *over;
        }
        let one_less = |left: u32| left.checked_sub(1);
        if session.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            return no_calls_left();
        }
        let Ok(mut marker) = Marker::new(executor.entropy.as_ref()) else {
            let message = "this host cannot mark what others wrote".to_owned();
            return declined("no_entropy", message, "answer with what there is", Sent::No);
        };
        let (service, op): (_, OpId) = (request.service.clone(), request.op.clone());
        let outcome = executor.run(request).await;
        let op = executor.catalog.find(&service).and_then(|entry| entry.manifest.op(&op));
        let result = answer::outcome(&outcome, op, &mut marker);
        session.counted(of_result(&result, Some(outcome)))
    }
}

fn is_read(target: &Target<'_>) -> bool {
    matches!(target, Target::Op(tool) if tool.op().access == Access::Read)
}

fn no_calls_left() -> Called {
    let message = "the session has no call left".to_owned();
    declined("no_calls_left", message, "answer with what there is", Sent::No)
}

fn declined(code: &'static str, message: String, hint: &str, sent: Sent) -> Called {
    let why = Declined { code, message, hint: hint.to_owned(), sent };
    let text = json!({ "refusal": why }).to_string();
    Called { text, ok: false, outcome: None, declined: Some(why) }
}

fn of_result(result: &CallToolResult, outcome: Option<Outcome>) -> Called {
    let texts = result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str()));
    let text = texts.collect::<Vec<_>>().join("\n");
    Called { text, ok: result.is_error != Some(true), outcome, declined: None }
}
