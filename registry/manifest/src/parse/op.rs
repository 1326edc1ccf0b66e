//! One op: reads its members and holds them against each other. DESIGN, "Manifest": an op.
//!
//! Refuses a read that could write and a write that asks nobody. INVARIANT: a write that comes out has a confirm line and
//! an effect; a read has neither.

use std::collections::BTreeMap;

use super::args::Compiling;
use super::body::{PageFeed, check_graphql};
use super::page::{self, PageDraft};
use super::reader::{Object, Value};
use super::request::{self, RequestDraft};
use super::require::{self, RequireDraft};
use super::text::{self, LINE_MAX};
use super::uses::{Place, Uses};
use super::{answer, args, module, names, posted, template};
use crate::Access;
use crate::diagnostic::Code;
use crate::ids::{OpId, ServiceId};
use crate::model::{Action, ArgsSchema, Effect, Limits, Module, Op, Page};
use crate::model::{RESPONSE_BYTES_MAX, RESULT_BYTES_MAX, TIMEOUT_MS_MAX, Template};
use crate::pick::Pick;

/// What an op needs to know of its service.
#[derive(Debug)]
pub(super) struct ServiceContext<'s> {
    pub(super) id: Option<&'s ServiceId>,
    /// The header that carries the key.
    pub(super) credential: Option<&'s str>,
    /// The headers that every request has.
    pub(super) headers: &'s BTreeMap<String, String>,
}

/// An op with its name.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) id: OpId,
    pub(super) parts: Parts,
}

/// An op as far as it could be read.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) access: Option<Access>,
    summary: Option<String>,
    pub(super) args: Option<ArgsSchema>,
    write: WriteParts,
    pub(super) action: ActionDraft,
    page: Option<Page>,
    pub(super) pick: Option<Pick>,
    limits: Limits,
}

/// What only a write has.
#[derive(Debug, Default)]
struct WriteParts {
    confirm: Option<Template>,
    effect: Option<Effect>,
    irreversible: bool,
    idempotency: Option<String>,
    require: Vec<RequireDraft>,
}

/// How an op gets its answer, as far as it could be read.
#[derive(Debug)]
pub(super) enum ActionDraft {
    Request(Option<RequestDraft>),
    Module(Option<Module>),
    /// Neither, or both.
    Unclear,
}

impl Draft {
    pub(super) fn require(&self) -> &[RequireDraft] {
        &self.parts.write.require
    }

    pub(super) fn build(self) -> Option<Op> {
        let Parts { access, summary, args, write, action, page, pick, limits } = self.parts;
        let action = match action {
            ActionDraft::Request(request) => Action::Request(Box::new(request?.build()?)),
            ActionDraft::Module(module) => Action::Module(Box::new(module?)),
            ActionDraft::Unclear => return None,
        };
        let require = write.require.into_iter().map(RequireDraft::build).collect::<Option<_>>()?;
        Some(Op {
            id: self.id,
            access: access?,
            summary: summary?,
            args: args?,
            confirm: write.confirm,
            effect: write.effect,
            irreversible: write.irreversible,
            idempotency: write.idempotency,
            require,
            action,
            page,
            pick: pick?,
            limits,
        })
    }
}

/// Reads an op, and reports what is wrong with it alone.
pub(super) fn op(value: &Value<'_>, context: &ServiceContext<'_>, compiling: Compiling) -> Option<Parts> {
    let mut object = value.object()?;
    let access = object
        .required("access")
        .and_then(|value| value.word(&[("read", Access::Read), ("write", Access::Write)]));
    let summary = object.required("summary").and_then(|value| text::line(&value, LINE_MAX));
    let args_value = object.optional("args");
    let args = args::args(args_value.as_ref(), compiling);
    let (mut uses, mut asides) = (Uses::default(), Uses::default());
    let action = action(&mut object, access, context, &mut uses, &mut asides);
    let request = match &action {
        ActionDraft::Request(request) => request.as_ref(),
        ActionDraft::Module(_) | ActionDraft::Unclear => None,
    };
    let write = write(&mut object, access, context, request, &mut asides);
    let page = paged(&mut object, access, &action);
    let pick = if let Some(value) = object.optional("pick") {
        answer::pick(&value)
    } else {
        object.missing(Code::NoPick, "pick", "write `{\"fields\": […]}`, or `\"none\"`");
        None
    };
    let limits = object.optional("limits").map(|value| limits(&value)).unwrap_or_default();
    object.finish();
    if let Some(graphql) = request.and_then(|request| request.body.graphql.as_ref()) {
        let feed = page.as_ref().map_or(PageFeed::Nothing, PageDraft::feed);
        check_graphql(graphql, access, args.as_ref(), feed, value.faults);
    }
    if let (Some(args), Some(request)) = (&args, request) {
        posted::check_whole_body(request, args, value.faults);
    }
    if let Some(args) = &args {
        uses.check(args, value.faults);
        asides.check(args, value.faults);
        if matches!(action, ActionDraft::Request(_)) {
            uses.check_all_used(args, &value.at.name("args"), value.faults);
        }
    }
    let page = page.and_then(|draft| draft.page);
    Some(Parts { access, summary, args, write, action, page, pick, limits })
}

fn action(
    object: &mut Object<'_>,
    access: Option<Access>,
    context: &ServiceContext<'_>,
    uses: &mut Uses,
    asides: &mut Uses,
) -> ActionDraft {
    let Some((name, value)) = object.one_of(&["request", "module"]) else { return ActionDraft::Unclear };
    if name == "module" {
        if access == Some(Access::Write) {
            let message = "a module only reads, and the op is a write";
            value.faults.add_at_key(
                Code::ModuleWrite,
                &value.at,
                message,
                "write a `request`, or make it a read",
            );
        }
        return ActionDraft::Module(module::module(&value, context, asides));
    }
    let request = request::request(&value, context, uses);
    if let (Some(access), Some(request)) = (access, &request) {
        request::check_method(access, request, value.faults);
    }
    if let Some(request) = &request {
        posted::check_plain(request, value.faults);
    }
    ActionDraft::Request(request)
}

fn write(
    object: &mut Object<'_>,
    access: Option<Access>,
    context: &ServiceContext<'_>,
    request: Option<&RequestDraft>,
    asides: &mut Uses,
) -> WriteParts {
    const WORDS: [(&str, Effect); 5] = [
        ("create", Effect::Create),
        ("update", Effect::Update),
        ("delete", Effect::Delete),
        ("send", Effect::Send),
        ("spend", Effect::Spend),
    ];
    if access == Some(Access::Read) {
        for name in ["confirm", "effect", "irreversible", "idempotency", "require"] {
            if let Some(value) = object.optional(name) {
                let message = format!("a read has no `{name}`");
                value.faults.add_at_key(
                    Code::WriteOnly,
                    &value.at,
                    message,
                    "leave it out, or make it a write",
                );
            }
        }
        return WriteParts::default();
    }
    let confirm = object.optional("confirm");
    let effect = object.optional("effect");
    if access == Some(Access::Write) && confirm.is_none() {
        object.missing(Code::NoConfirm, "confirm", "write the question that a person answers");
    }
    if access == Some(Access::Write) && effect.is_none() {
        object.missing(Code::NoEffect, "effect", "write `create`, `update`, `delete`, `send` or `spend`");
    }
    let confirm = confirm.and_then(|value| {
        text::line(&value, LINE_MAX)?;
        template::text(&value, value.text()?, Place::Confirm, asides)
    });
    WriteParts {
        confirm,
        effect: effect.and_then(|value| value.word(&WORDS)),
        irreversible: object.optional("irreversible").and_then(|value| value.flag()).unwrap_or_default(),
        idempotency: object.optional("idempotency").and_then(|value| idempotency(&value, context, request)),
        require: object.optional("require").map(|value| require::require(&value, asides)).unwrap_or_default(),
    }
}

fn idempotency(
    value: &Value<'_>,
    context: &ServiceContext<'_>,
    request: Option<&RequestDraft>,
) -> Option<String> {
    let mut object = value.object()?;
    let header = object.required("header");
    object.finish();
    let header = header?;
    let name = header.text()?;
    let taken = context.headers.contains_key(name)
        || request.is_some_and(|request| request.header_names().any(|other| other == name));
    if taken {
        header.fault(
            Code::HeaderRepeated,
            "the header is set in another place too",
            "set it in one of the two",
        );
    }
    names::header_value(&header, name, context.credential).then(|| name.to_owned())
}

fn paged(object: &mut Object<'_>, access: Option<Access>, action: &ActionDraft) -> Option<PageDraft> {
    let value = object.optional("page")?;
    let misplaced = match (access, action) {
        (Some(Access::Write), _) => Some("a write has no pages"),
        (_, ActionDraft::Module(_)) => Some("a module finds further pages itself"),
        _ => None,
    };
    if let Some(message) = misplaced {
        value.faults.add_at_key(Code::PageMisplaced, &value.at, message, "leave `page` out");
        return Some(PageDraft { page: None });
    }
    let request = match action {
        ActionDraft::Request(request) => request.as_ref(),
        ActionDraft::Module(_) | ActionDraft::Unclear => None,
    };
    Some(page::page(&value, request))
}

fn limits(value: &Value<'_>) -> Limits {
    let mut limits = Limits::default();
    let Some(mut object) = value.object() else { return limits };
    let mut limit = |name, most, target: &mut u64| {
        if let Some(number) = object.optional(name).and_then(|value| value.integer(1, most)) {
            *target = number;
        }
    };
    limit("response_bytes", RESPONSE_BYTES_MAX, &mut limits.response_bytes);
    limit("result_bytes", RESULT_BYTES_MAX, &mut limits.result_bytes);
    limit("timeout_ms", TIMEOUT_MS_MAX, &mut limits.timeout_ms);
    object.finish();
    limits
}
