//! The tool of one op.
//!
//! INVARIANT: whoever has one may use it: the toolbox makes them, and, for those who bring a grant along, the sidecar.

use pinhole_grant::Label;
use pinhole_manifest::ServiceId;
use pinhole_manifest::model::Op;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Entry;
use rmcp::model::{JsonObject, Tool};

use super::call::{ArgumentError, ToolCall};
use super::input::Extras;
use super::offer::ConfirmArg;
use super::{Connected, describe, hints, input, output, read};

/// An op that may be used, and the connections that it may be used on.
#[derive(Debug, Clone)]
pub struct OpTool<'c> {
    entry: &'c Entry,
    op: &'c Op,
    connections: Vec<&'c Connected>,
    confirm_arg: ConfirmArg,
}

impl<'c> OpTool<'c> {
    pub(super) fn new(
        entry: &'c Entry,
        op: &'c Op,
        connections: Vec<&'c Connected>,
        confirm_arg: ConfirmArg,
    ) -> Self {
        Self { entry, op, connections, confirm_arg }
    }

    /// The tool of an op for whoever brings the grant along: there is no connection to choose.
    pub(crate) fn of_a_grant(entry: &'c Entry, op: &'c Op) -> Self {
        Self::new(entry, op, Vec::new(), ConfirmArg::Off)
    }

    /// The name of the argument that asks for another page, where there are pages.
    pub(crate) fn next_argument(&self) -> Option<String> {
        self.extras().next
    }

    /// `<service>_<op>`: a manifest whose ops make longer names than 48 characters does not load, and no service has a `_`
    /// in its id, so that two ops never share one.
    pub fn name(&self) -> String {
        format!("{}_{}", self.service(), self.op.id)
    }

    /// `github.list_issues`, as the rest of Pinhole calls it.
    pub fn id(&self) -> String {
        format!("{}.{}", self.service(), self.op.id)
    }

    /// The op.
    pub fn op(&self) -> &'c Op {
        self.op
    }

    /// Its manifest, and where that came from.
    pub fn entry(&self) -> &'c Entry {
        self.entry
    }

    /// Its service.
    pub fn service(&self) -> &'c ServiceId {
        self.entry.manifest.id()
    }

    /// The connections that it may be used on, in order of their labels; at least one.
    pub fn connections(&self) -> &[&'c Connected] {
        &self.connections
    }

    /// What it is called for people.
    pub fn title(&self) -> String {
        let op = self.op.id.as_str().replace('_', " ");
        format!("{}: {op}", visible(self.entry.manifest.name()))
    }

    /// The tool as a client lists it.
    pub fn tool(&self) -> Tool {
        let title = self.title();
        let schema = input::schema(self.op, &self.extras(), &self.labels());
        let annotations = hints::of(self.op, &title);
        Tool::new(self.name(), describe::of(self), schema)
            .with_title(title)
            .with_raw_output_schema(output::schema(self.op).into())
            .with_annotations(annotations)
    }

    /// Reads the arguments of a call of this tool.
    pub fn read(self, arguments: Option<JsonObject>) -> Result<ToolCall<'c>, ArgumentError> {
        read::own(self, arguments.unwrap_or_default())
    }

    pub(super) fn extras(&self) -> Extras {
        Extras::of(self.op, self.connections.len(), self.confirm_arg)
    }

    pub(super) fn labels(&self) -> Vec<&'c Label> {
        self.connections.iter().map(|connected| &connected.label).collect()
    }

    pub(super) fn confirm_arg(&self) -> ConfirmArg {
        self.confirm_arg
    }
}
