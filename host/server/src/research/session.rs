//! A session over several grants: its palette, and what is left of its time, calls and bytes.
//!
//! INVARIANT: no op is called but a read that one of the grants covers, and none after the end, beyond the count, or on
//! another connection than its grant's. What a service wrote stands between marks. A door keeps sessions by names that
//! nobody can guess; this keeps none.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pinhole_grant::{Label, TextError, UnixTime};
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::outcome::Refusal;
use pinhole_runtime::{CallRequest, Executor, Outcome};
use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde_json::json;

use crate::Reach;
use crate::mcp::answer::{self, Marker};
use crate::mcp::tools::{Connected, Offer, OpPattern, Target, ToolCall, Toolbox, ToolsMode};

/// Most grants of one session.
const GRANTS_MAX: usize = 16;
/// Most ops of one palette: what models' endpoints take.
const OPS_MAX: usize = 128;

/// What a session may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// How long it lives, in seconds.
    pub seconds: i64,
    /// How many calls it has.
    pub calls: u32,
    /// How many bytes of results it passes on, marks and all.
    pub bytes: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { seconds: 600, calls: 60, bytes: 1 << 20 }
    }
}

impl SessionLimits {
    /// The most that any may be.
    pub const MOST: Self = Self { seconds: 600, calls: 1_000, bytes: 16 << 20 };
}

/// Opens sessions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Research {
    limits: SessionLimits,
}

/// Why there is no session. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// There is no grant, or there are too many.
    #[error("a session takes 1 to {GRANTS_MAX} grants")]
    Grants,
    /// A grant does not open, or covers no read.
    #[error("grant {number}: {}", .refusal.message)]
    Grant {
        /// Which, from 1.
        number: usize,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// The grants cover more ops than a model can be offered.
    #[error(
        "the grants cover {0} reads, and a model is offered at most {OPS_MAX}: give grants that name their ops"
    )]
    TooMuch(usize),
    /// A name of a connection is none.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// A session that is open.
#[derive(Debug)]
pub struct Session {
    grants: Vec<Granted>,
    connected: Vec<Connected>,
    offer: Offer,
    until: UnixTime,
    calls_left: AtomicU32,
    bytes_left: AtomicU64,
}

/// A grant, and the connection that it is of. Sealed, and shown to nobody.
struct Granted {
    service: ServiceId,
    label: Label,
    sealed: Vec<u8>,
}

impl std::fmt::Debug for Granted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Granted").field("service", &self.service).finish_non_exhaustive()
    }
}

/// What came of a call.
#[derive(Debug)]
pub struct Called {
    /// What the model is told: a result between marks, or a refusal.
    pub text: String,
    /// Whether it is a result.
    pub ok: bool,
    /// The run, where there was one: a rotated pair in it is its member's, and is handed back to her as after any run.
    pub outcome: Option<Outcome>,
}

impl Research {
    /// Sessions of these limits, each at most [`SessionLimits::MOST`].
    pub fn within(limits: SessionLimits) -> Self {
        let most = SessionLimits::MOST;
        let seconds = limits.seconds.clamp(1, most.seconds);
        let (calls, bytes) = (limits.calls.min(most.calls), limits.bytes.min(most.bytes));
        Self { limits: SessionLimits { seconds, calls, bytes } }
    }

    /// Opens a session at this time. Each grant has to open and to cover a read.
    pub async fn open(
        &self,
        grants: Vec<Vec<u8>>,
        executor: &Executor,
        now: UnixTime,
    ) -> Result<Session, NotOpened> {
        if !(1..=GRANTS_MAX).contains(&grants.len()) {
            return Err(NotOpened::Grants);
        }
        let (mut kept, mut connected, mut patterns) = (Vec::new(), Vec::<Connected>::new(), BTreeMap::new());
        for (at, sealed) in grants.into_iter().enumerate() {
            let palette = executor.palette(&sealed).await.map_err(|refusal| NotOpened::Grant {
                number: at.saturating_add(1),
                refusal: Box::new(refusal),
            })?;
            let label = free_label(&connected, &palette.service, palette.label)?;
            for op in palette.ops {
                let name = format!("{}.{op}", palette.service);
                if let Ok(pattern) = name.parse::<OpPattern>() {
                    patterns.insert(name, pattern);
                }
            }
            let service = palette.service;
            connected.push(Connected {
                service: service.clone(),
                label: label.clone(),
                account: palette.account,
                cap: Access::Read,
            });
            kept.push(Granted { service, label, sealed });
        }
        if patterns.len() > OPS_MAX {
            return Err(NotOpened::TooMuch(patterns.len()));
        }
        let offer = Offer::default().read_only().in_mode(ToolsMode::Each).of_ops(patterns.into_values());
        Ok(Session {
            grants: kept,
            connected,
            offer,
            until: now.plus_secs(self.limits.seconds),
            calls_left: AtomicU32::new(self.limits.calls),
            bytes_left: AtomicU64::new(self.limits.bytes),
        })
    }
}

/// What a connection is called here: as its member calls it, with a number where another of the service is called so.
fn free_label(taken: &[Connected], service: &ServiceId, label: Label) -> Result<Label, TextError> {
    let is_taken =
        |label: &Label| taken.iter().any(|other| other.service == *service && other.label == *label);
    let mut free = label.clone();
    let mut number = 2;
    while is_taken(&free) {
        let short: String = label.as_str().chars().take(60).collect();
        free = Label::parse(&format!("{} {number}", short.trim_end()))?;
        number += 1;
    }
    Ok(free)
}

impl Session {
    /// Which connections it reads.
    pub fn connections(&self) -> &[Connected] {
        &self.connected
    }

    /// Until when it lives.
    pub fn until(&self) -> UnixTime {
        self.until
    }

    /// How many calls are left.
    pub fn calls_left(&self) -> u32 {
        self.calls_left.load(Ordering::Relaxed)
    }

    /// How many bytes of results are left.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left.load(Ordering::Relaxed)
    }

    /// The palette: a tool for each op, and no other.
    pub fn tools(&self, catalog: &Catalog) -> Vec<Tool> {
        let reach = Reach::default();
        Toolbox::new(catalog, &self.connected, &reach, &self.offer).op_tools()
    }

    /// Calls a tool by its name. Whatever is wrong with the call is in what the model is told.
    pub async fn call(&self, name: &str, arguments: JsonObject, executor: &Executor) -> Called {
        let reach = Reach::default();
        let toolbox = Toolbox::new(&executor.catalog, &self.connected, &reach, &self.offer);
        let Some(Target::Op(tool)) = toolbox.find(name).filter(is_read) else {
            return told(
                "no_such_tool",
                "there is no tool of that name in this session",
                "use one that is listed",
            );
        };
        if executor.clock.now() >= self.until {
            return told("session_over", "the session's time is over", "answer with what there is");
        }
        let call = match tool.read(Some(arguments)) {
            Ok(call) => call,
            Err(error) => return of_result(answer::not_a_call(&error), None),
        };
        let Some(request) = self.request(&call) else {
            return told(
                "no_such_tool",
                "there is no such connection in this session",
                "use one that is listed",
            );
        };
        let one_less = |left: u32| left.checked_sub(1);
        if self.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            return told("no_calls_left", "the session has no call left", "answer with what there is");
        }
        let Ok(mut marker) = Marker::new(executor.entropy.as_ref()) else {
            return told(
                "no_entropy",
                "this host cannot mark what others wrote",
                "answer with what there is",
            );
        };
        let outcome = executor.run(request).await;
        let result = answer::outcome(&outcome, Some(call.tool().op()), &mut marker);
        self.counted(of_result(result, Some(outcome)))
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
        let refused = told("no_bytes_left", &message, "ask for less, or answer with what there is");
        Called { outcome: called.outcome, ..refused }
    }
}

fn is_read(target: &Target<'_>) -> bool {
    matches!(target, Target::Op(tool) if tool.op().access == Access::Read)
}

/// What this host itself says: nothing of it comes from a service.
fn told(code: &str, message: &str, hint: &str) -> Called {
    let text = json!({"refusal": {"code": code, "message": message, "hint": hint, "sent": "no"}}).to_string();
    Called { text, ok: false, outcome: None }
}

fn of_result(result: CallToolResult, outcome: Option<Outcome>) -> Called {
    let texts = result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str()));
    let text = texts.collect::<Vec<_>>().join("\n");
    Called { text, ok: result.is_error != Some(true), outcome }
}
