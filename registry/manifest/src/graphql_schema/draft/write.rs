//! What a mutation does, guessed from its name, and the question before it.
//!
//! INVARIANT: of several guesses the one that asks for more care is taken.

use graphql_tools::static_graphql::schema::Field;

use super::super::Schema;
use super::Service;
use crate::draft::words;

/// Most args that a confirm line names.
const NAMED_MAX: usize = 4;
/// Longest confirm line, in characters.
const LINE_MAX: usize = 300;

const DELETE: &str =
    "clear delete deletes destroy drop erase expire purge remove revoke terminate unlink wipe";
const SPEND: &str = "buy capture charge checkout order pay payment payout purchase refund transfer";
const UPDATE: &str = "archive assign close disable edit enable mark merge move pin rename reopen restore set snooze \
    unarchive update upsert";
const SEND: &str =
    "broadcast comment email invite message notify post publish remind reply resend send share submit";
const CREATE: &str = "add clone copy create duplicate generate import new open start upload";

/// A guess at what a mutation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    pub(super) effect: &'static str,
}

impl Guess {
    /// Whether it cannot be taken back.
    pub(super) fn is_final(self) -> bool {
        matches!(self.effect, "delete" | "spend")
    }
}

/// What a name sounds like.
pub(super) fn guess(name: &str) -> Guess {
    let words = words::words(name);
    let says = |list: &str| words.iter().any(|word| list.split_whitespace().any(|one| one == word));
    let effect = if says(DELETE) {
        "delete"
    } else if says(SPEND) {
        "spend"
    } else if says(UPDATE) {
        "update"
    } else if says(SEND) {
        "send"
    } else if says(CREATE) {
        "create"
    } else {
        "update"
    };
    Guess { effect }
}

/// A question that names the mutation, and the required args that are single values.
pub(super) fn confirm(service: &Service<'_>, name: &str, args: &[String]) -> String {
    let words = words::words(name).join(" ");
    let mut line = format!("{}: {words}", service.escaped_name());
    for (at, arg) in args.iter().take(NAMED_MAX).enumerate() {
        let part = format!("{} {} “{{{arg}}}”", if at == 0 { " with" } else { "," }, arg.replace('_', " "));
        if line.chars().count().saturating_add(part.chars().count()) < LINE_MAX {
            line.push_str(&part);
        }
    }
    line.push('?');
    line
}

/// Whether a mutation only leads to mutations: what it gives back is called so, or has no values and is not called an answer.
pub(super) fn is_namespace(schema: &Schema, field: &Field) -> bool {
    let of = field.field_type.inner_type();
    let fields = schema.fields(of);
    let words = words::words(of);
    let called = |names: &[&str]| words.last().is_some_and(|last| names.contains(&last.as_str()));
    let leads_on = |field: &Field| schema.is_composite(field.field_type.inner_type());
    schema.is_composite(of)
        && (called(&["mutation", "mutations", "namespace"])
            || field.arguments.is_empty()
                && !called(&["output", "payload", "response", "result"])
                && !fields.is_empty()
                && fields.iter().all(leads_on))
}

/// The field of a mutation's answer that says whether it was done, if the schema has one.
pub(super) fn failure<'s>(schema: &'s Schema, field: &Field) -> Option<&'s str> {
    let fields = schema.fields(field.field_type.inner_type());
    let known = |name: &&str| {
        let lower = name.to_ascii_lowercase();
        matches!(lower.as_str(), "success" | "ok" | "errors") || lower.ends_with("usererrors")
    };
    fields.iter().map(|field| field.name.as_str()).find(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mutation_does_is_guessed_with_care() {
        for (name, effect) in [
            ("issueCreate", "create"),
            ("issueUpdate", "update"),
            ("commentUpdate", "update"),
            ("commentCreate", "send"),
            ("commentDelete", "delete"),
            ("issueArchive", "update"),
            ("refundOrder", "spend"),
            ("removeOrder", "delete"),
            ("inviteMember", "send"),
            ("updatePullRequest", "update"),
            ("acceptInvitation", "update"),
            ("frobnicate", "update"),
        ] {
            assert_eq!(guess(name).effect, effect, "{name}");
        }
        assert!(guess("issueDelete").is_final() && !guess("issueArchive").is_final());
    }
}
