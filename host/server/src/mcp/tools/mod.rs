//! What one principal is offered: a tool an op, or, where there are too many, tools that find and run ops.
//!
//! Pure: built anew for every request out of the manifests and what is connected; no tool is made that is not listed.
//! INVARIANT: an op shows, is described and is found only where the service is connected, the connection's cap, the
//! principal's reach and the operator's offer all allow it. What is left out cannot be told from what is not there.
//! DESIGN, "Doors": MCP.

mod call;
mod cursor;
mod describe;
mod fields;
mod fixed;
mod hints;
mod input;
mod offer;
mod op;
mod output;
mod portable;
mod read;
mod search;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use pinhole_grant::{Account, Label};
use pinhole_manifest::model::Op;
use pinhole_manifest::{Access, Digest, OpId, ServiceId};
use pinhole_runtime::catalog::{Catalog, Entry};
use rmcp::model::Tool;

pub use call::{ArgumentError, ToolCall};
pub use cursor::BadCursor;
pub use offer::{ConfirmArg, Offer, OpPattern, PatternError, ToolsMode};
pub use op::OpTool;
pub(super) use text::list as list_of;

use crate::Reach;
use fixed::Fixed;

/// Most op tools that are listed one by one: several clients warn or cut beyond.
pub const EACH_MAX: usize = 40;
/// Tools on a page of the list.
pub const PAGE_TOOLS: usize = 64;

/// A connection that agrees with what is sealed in it, as far as tools know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// The service.
    pub service: ServiceId,
    /// What the member calls it.
    pub label: Label,
    /// Whose account it is.
    pub account: Account,
    /// The most that it may do.
    pub cap: Access,
}

/// What one principal is offered now.
#[derive(Debug)]
pub struct Toolbox<'c> {
    offer: &'c Offer,
    services: BTreeMap<ServiceId, Offered<'c>>,
    style: Style,
}

/// How ops are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A tool an op.
    Each,
    /// Tools that find and run ops.
    Search,
}

/// One service that is connected.
#[derive(Debug)]
struct Offered<'c> {
    entry: &'c Entry,
    /// In order of their labels.
    connections: Vec<&'c Connected>,
    /// In order of their ids.
    ops: Vec<&'c Op>,
}

/// A tool by its name.
#[derive(Debug)]
pub enum Target<'c> {
    /// An op's own.
    Op(OpTool<'c>),
    /// `explain`: what a call would do.
    Explain,
    /// `find_ops`: which ops there are.
    FindOps,
    /// `describe_op`: what an op takes and gives.
    DescribeOp,
    /// `run_read_op`.
    RunRead,
    /// `run_write_op`.
    RunWrite,
}

impl<'c> Toolbox<'c> {
    /// What is connected, as far as the reach and the offer go. Looks at names alone: no schema is made.
    pub fn new(catalog: &'c Catalog, connections: &'c [Connected], reach: &Reach, offer: &'c Offer) -> Self {
        let mut services: BTreeMap<ServiceId, Offered<'c>> = BTreeMap::new();
        for connected in connections {
            if let Some(known) = services.get_mut(&connected.service) {
                known.connections.push(connected);
            } else if let Some(entry) = catalog.find(&connected.service) {
                let offered = Offered { entry, connections: vec![connected], ops: Vec::new() };
                services.insert(connected.service.clone(), offered);
            }
        }
        for (service, offered) in &mut services {
            offered.connections.sort_by(|one, other| one.label.cmp(&other.label));
            let may = |op: &&Op| {
                reach.covers(service, op.access)
                    && offer.covers(service, op)
                    && offered.connections.iter().any(|connected| connected.cap.covers(op.access))
            };
            offered.ops = offered.entry.manifest.ops().values().filter(may).collect();
        }
        services.retain(|_, offered| !offered.ops.is_empty());
        let count: usize = services.values().map(|offered| offered.ops.len()).sum();
        let style = match offer.mode() {
            ToolsMode::Each => Style::Each,
            ToolsMode::Auto if count <= EACH_MAX => Style::Each,
            ToolsMode::Auto | ToolsMode::Search => Style::Search,
        };
        Self { offer, services, style }
    }

    /// A page of the list of tools, and what the next one is asked for with. The list is in order of names and the same for
    /// as long as nothing changes that it is made of.
    ///
    /// # Errors
    /// A cursor that this list did not give: made up, or of the list as it was before a change.
    pub fn page(&self, cursor: Option<&str>) -> Result<(Vec<Tool>, Option<String>), BadCursor> {
        let names = self.names();
        let digest = self.digest();
        let from = cursor.map_or(Ok(0), |cursor| cursor::read(cursor, digest, names.len()))?;
        let page = names.iter().skip(from).take(PAGE_TOOLS);
        let tools = page.map(|listed| listed.tool(self)).collect();
        let next = from.saturating_add(PAGE_TOOLS);
        Ok((tools, (next < names.len()).then(|| cursor::write(digest, next))))
    }

    /// The tool of this name. While ops are found by search their own names still lead to them: a client may hold a list of
    /// before there were so many.
    pub fn find(&self, name: &str) -> Option<Target<'c>> {
        let fixed = Fixed::ALL.into_iter().find(|fixed| fixed.name() == name && self.has(*fixed));
        if let Some(fixed) = fixed {
            return Some(fixed.target());
        }
        let (service, op) = split(name, '_')?;
        self.op(service, op).map(Target::Op)
    }

    /// A tool for each op, in order of services and ops, however many there are.
    pub fn op_tools(&self) -> Vec<Tool> {
        self.all().map(|tool| tool.tool()).collect()
    }

    /// A digest of all that the list is made of: it changes when the list does.
    pub fn digest(&self) -> Digest {
        let mut made_of = vec![format!("{:?} {:?}", self.style, self.offer.confirm_arg())];
        for (service, offered) in &self.services {
            made_of.push(format!("{service} {}", offered.entry.manifest.digest()));
            let label = |one: &&Connected| format!("{} {:?}", one.cap, one.label.as_str());
            made_of.extend(offered.connections.iter().map(label));
            made_of.extend(offered.ops.iter().map(|op| op.id.to_string()));
        }
        Digest::of(made_of.join("\n").as_bytes())
    }

    /// How many ops are offered, one way or the other.
    pub fn ops_count(&self) -> usize {
        self.services.values().map(|offered| offered.ops.len()).sum()
    }

    /// Whether ops are found by search and have no tools of their own.
    pub fn is_search(&self) -> bool {
        self.style == Style::Search
    }

    /// Whether anything that is offered writes.
    pub fn has_writes(&self) -> bool {
        self.all().any(|tool| tool.op().access == Access::Write)
    }

    /// Every op, in order of services and ops.
    fn all(&self) -> impl Iterator<Item = OpTool<'c>> {
        self.services.values().flat_map(|offered| offered.ops.iter().map(|op| self.tool_of(offered, op)))
    }

    fn tool_of(&self, offered: &Offered<'c>, op: &'c Op) -> OpTool<'c> {
        let usable = offered.connections.iter().copied().filter(|one| one.cap.covers(op.access)).collect();
        OpTool::new(offered.entry, op, usable, self.offer.confirm_arg())
    }

    fn op(&self, service: &str, op: &str) -> Option<OpTool<'c>> {
        let offered = self.services.get(service)?;
        let place = offered.ops.binary_search_by(|known| known.id.as_str().cmp(op)).ok()?;
        offered.ops.get(place).map(|op| self.tool_of(offered, op))
    }

    /// The op that a model means: `github.list_issues`, or the name of its tool.
    fn named(&self, name: &str) -> Option<OpTool<'c>> {
        let (service, op) = split(name, '.').or_else(|| split(name, '_'))?;
        self.op(service, op)
    }

    fn has(&self, fixed: Fixed) -> bool {
        match fixed {
            Fixed::Explain => true,
            Fixed::FindOps | Fixed::DescribeOp | Fixed::RunRead => self.is_search(),
            Fixed::RunWrite => self.is_search() && self.has_writes(),
        }
    }

    /// What is listed, in order of names.
    fn names(&self) -> Vec<Listed<'c>> {
        let mut names: Vec<Listed<'c>> =
            Fixed::ALL.into_iter().filter(|fixed| self.has(*fixed)).map(Listed::Fixed).collect();
        if self.style == Style::Each {
            let ops = self.services.values().flat_map(|offered| {
                let service = offered.entry.manifest.id();
                offered.ops.iter().map(move |op| Listed::Op(service, &op.id))
            });
            names.extend(ops);
        }
        names.sort_by(|one, other| one.name().cmp(other.name()));
        names
    }
}

/// A line of the list, not yet a tool.
#[derive(Debug, Clone, Copy)]
enum Listed<'c> {
    Fixed(Fixed),
    Op(&'c ServiceId, &'c OpId),
}

impl Listed<'_> {
    /// The name's bytes.
    fn name(&self) -> impl Iterator<Item = u8> + '_ {
        let (one, between, two) = match self {
            Self::Fixed(fixed) => (fixed.name(), "", ""),
            Self::Op(service, op) => (service.as_str(), "_", op.as_str()),
        };
        one.bytes().chain(between.bytes()).chain(two.bytes())
    }

    fn tool(&self, toolbox: &Toolbox<'_>) -> Tool {
        match self {
            Self::Fixed(fixed) => fixed.tool(toolbox),
            // What is listed is there.
            Self::Op(service, op) => {
                toolbox.op(service.as_str(), op.as_str()).map(|tool| tool.tool()).unwrap_or_default()
            }
        }
    }
}

/// The names of the tools that are no op's own.
#[cfg(test)]
pub(super) fn fixed_names() -> [&'static str; 5] {
    Fixed::ALL.map(Fixed::name)
}

/// A service and an op out of a name that has both. No service has the separator in its id.
fn split(name: &str, separator: char) -> Option<(&str, &str)> {
    name.split_once(separator)
}

/// Whether a tool of this name would write, whoever may use it; `None` where no manifest has such an op. Cheap: for limits.
pub fn access_of(catalog: &Catalog, tool_name: &str) -> Option<Access> {
    let fixed = Fixed::ALL.into_iter().find(|fixed| fixed.name() == tool_name).map(Fixed::access);
    let op = || {
        let (service, op) = split(tool_name, '_')?;
        let entry = catalog.find(&ServiceId::parse(service).ok()?)?;
        Some(entry.manifest.op(&OpId::parse(op).ok()?)?.access)
    };
    // A service named `run` may have an op of the same name as one of ours: the graver of the two counts.
    fixed.max(op())
}
