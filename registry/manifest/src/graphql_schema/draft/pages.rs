//! Relay connections: a list with `pageInfo`, and an argument that goes on behind a cursor.
//!
//! Takes nothing for a connection that a relay page could not follow.

use graphql_tools::static_graphql::schema::{Field, InputValue, Type};

use super::super::Schema;

/// The argument that takes the cursor.
pub(super) const AFTER: &str = "after";

/// A field that is a connection.
pub(super) struct Connection<'s> {
    field: &'s str,
    /// The type of what it lists.
    pub(super) node: &'s str,
    /// Whether the nodes stand in `nodes`, or each in one of `edges`.
    has_nodes: bool,
}

impl Connection<'_> {
    /// Where the answer keeps the `pageInfo`.
    pub(super) fn info(&self) -> String {
        format!("$.data.{}.pageInfo", self.field)
    }

    /// The root of the pick.
    pub(super) fn root(&self) -> String {
        let tail = if self.has_nodes { "nodes" } else { "edges[*].node" };
        format!("$.data.{}.{tail}", self.field)
    }

    /// What is selected, around what is selected of a node.
    pub(super) fn around(&self, node: &str) -> String {
        let nodes = if self.has_nodes { format!("nodes {node}") } else { format!("edges {{ node {node} }}") };
        format!(" {{ {nodes} pageInfo {{ hasNextPage endCursor }} }}")
    }
}

/// Whether an argument belongs to the paging of a connection, and no caller sets it.
pub(super) fn is_paging(name: &str) -> bool {
    matches!(name, AFTER | "before" | "last")
}

/// The connection that a field is, if it is one.
pub(super) fn connection<'s>(schema: &'s Schema, field: &'s Field) -> Option<Connection<'s>> {
    let kind = plain(&field.field_type)?;
    let after = field.arguments.iter().find(|argument| argument.name == AFTER)?;
    // The first page has no cursor.
    if !matches!(&after.value_type, Type::NamedType(name) if !schema.is_composite(name) && schema.input(name).is_none())
    {
        return None;
    }
    // What pages the other way must not be asked for.
    let unneeded = |name: &str| !matches!(name, "before" | "last");
    if field.arguments.iter().any(|argument| argument.is_required() && !unneeded(&argument.name)) {
        return None;
    }
    let without_args = |of: &str, name: &str| {
        schema.field(of, name).filter(|field| !field.arguments.iter().any(InputValue::is_required))
    };
    let info = plain(&without_args(kind, "pageInfo")?.field_type)?;
    let next = without_args(info, "hasNextPage")?;
    let end = without_args(info, "endCursor")?;
    if schema.is_composite(next.field_type.inner_type()) || schema.is_composite(end.field_type.inner_type()) {
        return None;
    }
    if let Some(node) = without_args(kind, "nodes").and_then(|nodes| listed(&nodes.field_type)) {
        return Some(Connection { field: &field.name, node, has_nodes: true });
    }
    let edge = listed(&without_args(kind, "edges")?.field_type)?;
    let node = plain(&without_args(edge, "node")?.field_type)?;
    Some(Connection { field: &field.name, node, has_nodes: false })
}

/// The name of a type that is no list.
pub(super) fn plain(kind: &Type) -> Option<&str> {
    match kind {
        Type::NamedType(name) => Some(name),
        Type::NonNullType(inner) => plain(inner),
        Type::ListType(_) => None,
    }
}

/// The name of the type that a list holds.
pub(super) fn listed(kind: &Type) -> Option<&str> {
    match kind {
        Type::ListType(inner) => plain(inner),
        Type::NonNullType(inner) => listed(inner),
        Type::NamedType(_) => None,
    }
}
