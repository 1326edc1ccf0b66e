//! The one operation of a GraphQL document.
//!
//! Refuses a document that a service could read in another way than a reviewer does: more than one operation, characters
//! that cannot be seen, a carriage return alone. INVARIANT: a document that is let through is one query or one mutation,
//! and uses exactly the variables it declares. DESIGN, "Manifest": Request; GraphQL, September 2025.

mod walk;

use std::collections::BTreeSet;

use graphql_tools::parser::parse_query_with_token_limit;
use graphql_tools::parser::query::{Definition, OperationDefinition, Type, VariableDefinition};

use crate::visible::is_invisible;

/// Longest document, in bytes.
pub(crate) const DOCUMENT_MAX: usize = 32 << 10;
/// Most tokens. The parser itself takes 50 levels of brackets.
const TOKENS_MAX: usize = 8_192;

/// The operation of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Whether it looks or changes.
    pub kind: OperationKind,
    /// Its variables, in the document's order.
    pub variables: Vec<OperationVariable>,
}

/// Whether an operation looks or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationKind {
    /// It looks.
    Query,
    /// It changes.
    Mutation,
}

/// A variable that an operation declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationVariable {
    /// Its name, without the `$`.
    pub name: String,
    /// Whether it must be given: its type is non-null and it has no default.
    pub required: bool,
}

/// Why a document is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum GraphqlFault {
    /// Longer than 32 KiB.
    #[error("the document is longer than {DOCUMENT_MAX} bytes")]
    TooLong,
    /// Holds a control or an invisible character other than a tab or a line end.
    #[error("the document holds a character that cannot be seen (U+{0:04X})")]
    Invisible(u32),
    /// Not a GraphQL document of operations and fragments, or nested too deeply.
    #[error("the document is not GraphQL: {0}")]
    Syntax(String),
    /// Fragments only.
    #[error("the document has no operation")]
    NoOperation,
    /// More than one operation.
    #[error("the document has {0} operations: an op sends exactly one")]
    ManyOperations(usize),
    /// A subscription.
    #[error("a subscription is not one question and one answer")]
    Subscription,
    /// A variable declared twice.
    #[error("the variable `${0}` is declared twice")]
    VariableTwice(String),
    /// A variable that is used and not declared.
    #[error("the variable `${0}` is used and not declared")]
    UndeclaredVariable(String),
    /// A variable that is declared and not used.
    #[error("the variable `${0}` is declared and not used")]
    UnusedVariable(String),
    /// A fragment defined twice.
    #[error("the fragment `{0}` is defined twice")]
    FragmentTwice(String),
    /// A fragment that is spread and not defined.
    #[error("the fragment `{0}` is spread and not defined")]
    UndefinedFragment(String),
    /// A fragment that is defined and not spread.
    #[error("the fragment `{0}` is defined and not spread")]
    UnusedFragment(String),
    /// A fragment that spreads itself, directly or by way of others.
    #[error("the fragment `{0}` spreads itself")]
    FragmentCycle(String),
}

/// Reads a document and checks what can be checked without the service's schema.
pub(crate) fn check(document: &str) -> Result<Operation, GraphqlFault> {
    if document.len() > DOCUMENT_MAX {
        return Err(GraphqlFault::TooLong);
    }
    visible(document)?;
    let parsed = parse_query_with_token_limit::<&str>(document, TOKENS_MAX)
        .map_err(|error| GraphqlFault::Syntax(first_line(&error.to_string())))?;
    let mut operations = Vec::new();
    let mut fragments = Vec::new();
    for definition in &parsed.definitions {
        match definition {
            Definition::Operation(operation) => operations.push(operation),
            Definition::Fragment(fragment) => fragments.push(fragment),
        }
    }
    let operation = match operations.as_slice() {
        [] => return Err(GraphqlFault::NoOperation),
        [operation] => *operation,
        more => return Err(GraphqlFault::ManyOperations(more.len())),
    };
    let (kind, variables, directives, selection) = match operation {
        OperationDefinition::SelectionSet(selection) => {
            (OperationKind::Query, [].as_slice(), [].as_slice(), selection)
        }
        OperationDefinition::Query(query) => (
            OperationKind::Query,
            query.variable_definitions.as_slice(),
            query.directives.as_slice(),
            &query.selection_set,
        ),
        OperationDefinition::Mutation(mutation) => (
            OperationKind::Mutation,
            mutation.variable_definitions.as_slice(),
            mutation.directives.as_slice(),
            &mutation.selection_set,
        ),
        OperationDefinition::Subscription(_) => return Err(GraphqlFault::Subscription),
    };
    let used = walk::variables(directives, selection, &fragments)?;
    Ok(Operation { kind, variables: declared(variables, &used)? })
}

/// Only what everybody sees: a parser that ends a comment at another character than the next one reads another document.
fn visible(document: &str) -> Result<(), GraphqlFault> {
    let mut chars = document.chars().peekable();
    while let Some(c) = chars.next() {
        let line_end = c == '\n' || (c == '\r' && chars.peek() == Some(&'\n'));
        // The parser cuts lines of a block string by bytes, and panics where it cuts through a blank of another alphabet.
        let blank = c.is_whitespace() && !c.is_ascii();
        if blank || is_invisible(c) && !line_end && c != '\t' {
            return Err(GraphqlFault::Invisible(c.into()));
        }
    }
    Ok(())
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.chars().take(200).collect()
}

/// The declared variables, held against the used ones.
fn declared<'a>(
    variables: &[VariableDefinition<'a, &'a str>],
    used: &BTreeSet<&str>,
) -> Result<Vec<OperationVariable>, GraphqlFault> {
    let mut names = BTreeSet::new();
    for variable in variables {
        if !names.insert(variable.name) {
            return Err(GraphqlFault::VariableTwice(variable.name.into()));
        }
    }
    if let Some(name) = used.difference(&names).next() {
        return Err(GraphqlFault::UndeclaredVariable((*name).into()));
    }
    if let Some(name) = names.difference(used).next() {
        return Err(GraphqlFault::UnusedVariable((*name).into()));
    }
    let variable = |variable: &VariableDefinition<'a, &'a str>| OperationVariable {
        name: variable.name.into(),
        required: matches!(variable.var_type, Type::NonNullType(_)) && variable.default_value.is_none(),
    };
    Ok(variables.iter().map(variable).collect())
}

#[cfg(test)]
mod tests;
