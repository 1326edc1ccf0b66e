//! What members say of each other across the file: the viewer, and what a write requires. DESIGN, "Manifest".
//!
//! Refuses names that lead nowhere. Says nothing where the op that is named could not be read. INVARIANT: every op that a
//! manifest names is there, and is a read.

use super::auth::AuthDraft;
use super::op::{ActionDraft, Draft};
use super::reader::{Value, clip};
use super::require::RequireDraft;
use super::service::Ops;
use crate::Access;
use crate::diagnostic::Code;
use crate::model::{ArgsSchema, JsonTemplate};
use crate::pick::{Node, Pick, Projection, SingularPath, SingularStep, Step};

/// Checks everything that needs more than one op.
pub(super) fn check(auth: Option<&AuthDraft>, ops: &Ops, top: &Value<'_>) {
    if let Some(auth) = auth {
        viewer(auth, ops, top);
    }
    for draft in &ops.drafts {
        for requirement in draft.require() {
            require(draft, requirement, ops, top);
        }
    }
}

fn find<'o>(ops: &'o Ops, name: &str) -> Found<'o> {
    if let Some(draft) = ops.drafts.iter().find(|draft| draft.id.as_str() == name) {
        Found::Draft(draft)
    } else if ops.names.iter().any(|other| other == name) {
        Found::Unreadable
    } else {
        Found::Nothing
    }
}

enum Found<'o> {
    Draft(&'o Draft),
    Unreadable,
    Nothing,
}

fn viewer(auth: &AuthDraft, ops: &Ops, top: &Value<'_>) {
    let Some(name) = &auth.viewer else { return };
    let at = top.at.name("auth").name("viewer");
    let faults = top.faults;
    let draft = match find(ops, name) {
        Found::Draft(draft) => draft,
        Found::Unreadable => return,
        Found::Nothing => {
            let message = format!("there is no op `{}`", clip(name));
            faults.add(Code::ViewerUnknown, &at, message, "name a read op that says whose key it is");
            return;
        }
    };
    if draft.parts.access == Some(Access::Write) {
        faults.add(Code::ViewerNotRead, &at, format!("`{name}` is a write"), "name a read op");
    }
    if draft.parts.args.as_ref().is_some_and(|args| args.defs().values().any(|def| def.required)) {
        faults.add(Code::ViewerArgs, &at, format!("`{name}` needs args"), "name an op without required args");
    }
    if let (Some(account), Some(pick)) = (&auth.account, &draft.parts.pick)
        && !passes(pick, account)
    {
        let at = top.at.name("auth").name("account");
        let message = format!("the pick of `{name}` does not let `{}` through", clip(account.as_str()));
        faults.add(Code::AccountPath, &at, message, "name a value of the viewer's result, such as `$.login`");
    }
}

/// Whether a path into the result of a pick names one value that it lets through.
fn passes(pick: &Pick, path: &SingularPath) -> bool {
    let Pick::Fields(projection) = pick else { return false };
    // A result with several roots is an array: then the account would be whoever came first.
    if projection.root.contains(&Step::Each) {
        return false;
    }
    match path.steps() {
        [SingularStep::Name(name)] if alias(projection, name) => true,
        steps => leaf(&projection.tree, steps, projection),
    }
}

fn alias(projection: &Projection, name: &str) -> bool {
    projection.fields.iter().any(|field| field.alias.as_deref() == Some(name))
}

fn leaf(node: &Node, steps: &[SingularStep], projection: &Projection) -> bool {
    match steps {
        [] => {
            let nested = |at: &usize| projection.fields.get(*at).is_some_and(|field| field.alias.is_none());
            node.leaves.iter().any(nested)
        }
        [SingularStep::Name(name), rest @ ..] => {
            node.names.iter().any(|(other, inner)| other == name && leaf(inner, rest, projection))
        }
        [SingularStep::Index(_), ..] => false,
    }
}

fn require(writer: &Draft, requirement: &RequireDraft, ops: &Ops, top: &Value<'_>) {
    let Some(name) = &requirement.op else { return };
    let at = requirement.at.name("op");
    let faults = top.faults;
    let draft = match find(ops, name) {
        Found::Draft(draft) => draft,
        Found::Unreadable => return,
        Found::Nothing => {
            faults.add(
                Code::RequireUnknown,
                &at,
                format!("there is no op `{}`", clip(name)),
                "name a read op of this file",
            );
            return;
        }
    };
    let is_module = matches!(draft.parts.action, ActionDraft::Module(_));
    if draft.parts.access == Some(Access::Write) || is_module {
        let message = format!("`{name}` is not a read with one request");
        faults.add(Code::RequireNotRead, &at, message, "name a read op that has a `request`");
    }
    if let Some(args) = &draft.parts.args {
        fed(writer, requirement, args, top);
    }
}

/// Whether a requirement feeds what its op takes.
fn fed(writer: &Draft, requirement: &RequireDraft, args: &ArgsSchema, top: &Value<'_>) {
    let at = requirement.at.name("args");
    for (name, _) in &requirement.args {
        if !args.defs().contains_key(name.as_str()) {
            let message = format!("the op has no arg `{}`", clip(name));
            top.faults.add_at_key(Code::RequireArgs, &at.name(name), message, "leave it out");
        }
    }
    for (name, _) in args.defs().iter().filter(|(_, def)| def.required) {
        match requirement.args.iter().find(|(other, _)| other == name.as_str()) {
            None => {
                let message = format!("the required arg `{name}` is not fed");
                let help = format!("write `\"{name}\": …` in `args`");
                top.faults.add_at_key(Code::RequireArgs, &requirement.at, message, help);
            }
            Some((_, Some(JsonTemplate::Arg(arg)))) if may_be_absent(writer, arg) => {
                let message =
                    format!("the required arg `{name}` is fed from `{{{arg}}}`, which may be absent");
                top.faults.add(Code::RequireArgs, &at.name(name.as_str()), message, "feed it a required arg");
            }
            Some(_) => {}
        }
    }
}

fn may_be_absent(writer: &Draft, arg: &crate::ArgName) -> bool {
    let def = writer.parts.args.as_ref().and_then(|args| args.defs().get(arg));
    def.is_some_and(|def| !def.always_present())
}
