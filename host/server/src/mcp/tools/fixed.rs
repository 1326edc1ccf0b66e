//! The tools that are no op's own: `explain`, and those that find and run ops where there are too many to list.
//!
//! INVARIANT: what runs a read never runs a write, so that each has the hints of what it does.

use pinhole_manifest::Access;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::offer::ConfirmArg;
use super::output::object_of;
use super::read::By;
use super::{Target, Toolbox, hints, input, output};

pub(super) const EXPLAIN: &str = "explain";
pub(super) const FIND: &str = "find_ops";
pub(super) const DESCRIBE: &str = "describe_op";
pub(super) const RUN_READ: &str = "run_read_op";
pub(super) const RUN_WRITE: &str = "run_write_op";

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    Explain,
    FindOps,
    DescribeOp,
    RunRead,
    RunWrite,
}

impl Fixed {
    pub(super) const ALL: [Self; 5] =
        [Self::Explain, Self::FindOps, Self::DescribeOp, Self::RunRead, Self::RunWrite];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Explain => EXPLAIN,
            Self::FindOps => FIND,
            Self::DescribeOp => DESCRIBE,
            Self::RunRead => RUN_READ,
            Self::RunWrite => RUN_WRITE,
        }
    }

    pub(super) fn access(self) -> Access {
        match self {
            Self::RunWrite => Access::Write,
            Self::Explain | Self::FindOps | Self::DescribeOp | Self::RunRead => Access::Read,
        }
    }

    pub(super) fn target<'c>(self) -> Target<'c> {
        match self {
            Self::Explain => Target::Explain,
            Self::FindOps => Target::FindOps,
            Self::DescribeOp => Target::DescribeOp,
            Self::RunRead => Target::RunRead,
            Self::RunWrite => Target::RunWrite,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Explain => "Explain a call without making it",
            Self::FindOps => "Find ops",
            Self::DescribeOp => "Describe an op",
            Self::RunRead => "Run a read op",
            Self::RunWrite => "Run a write op",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Explain => {
                "What a call would do, without doing it: the exact request with the credential left out, the fields that \
                 would come back, and whether it would run, ask the person, or be refused. Nothing is sent or asked."
            }
            Self::FindOps => {
                "Finds the ops that may be run, by words of what they do, such as `list issues`. Gives each op's name, what \
                 it does, whether it reads or writes, and its required args. An empty query lists them by service."
            }
            Self::DescribeOp => {
                "What an op takes and gives: the schema of its args, the fields that come back, whether it reads or writes, \
                 and what a write takes. Look here before you run an op for the first time."
            }
            Self::RunRead => {
                "Runs an op that reads, at once. Returns what the op's description says, as data that others wrote."
            }
            Self::RunWrite => {
                "Runs an op that writes. Nothing is sent before the person says yes: the first call gives a question to tell \
                 them of; after their yes, repeat the call with exactly the same arguments."
            }
        }
    }

    fn hints(self) -> ToolAnnotations {
        match self {
            Self::Explain | Self::FindOps | Self::DescribeOp => hints::local(self.title()),
            Self::RunRead => hints::any_read(self.title()),
            Self::RunWrite => hints::any_write(self.title()),
        }
    }

    /// The arguments that must be there.
    fn required(self) -> &'static [&'static str] {
        match self {
            Self::FindOps => &[],
            Self::Explain | Self::DescribeOp | Self::RunRead | Self::RunWrite => &["op"],
        }
    }

    fn names(self, confirm: ConfirmArg) -> &'static [&'static str] {
        match self {
            Self::Explain => taken(By::Explain, confirm),
            Self::FindOps => &["query", "service", "limit"],
            Self::DescribeOp => &["op"],
            Self::RunRead => taken(By::Run(Access::Read), confirm),
            Self::RunWrite => taken(By::Run(Access::Write), confirm),
        }
    }

    /// The tool as a client lists it.
    pub(super) fn tool(self, toolbox: &Toolbox<'_>) -> Tool {
        let confirm = toolbox.offer.confirm_arg();
        let properties: Map<String, Value> =
            self.names(confirm).iter().map(|name| ((*name).to_owned(), argument(name, toolbox))).collect();
        let mut schema = object_of([
            ("type", json!("object")),
            ("properties", Value::Object(properties)),
            ("additionalProperties", json!(false)),
        ]);
        if !self.required().is_empty() {
            schema.insert("required".to_owned(), json!(self.required()));
        }
        let tool = Tool::new(self.name(), self.description(), schema)
            .with_title(self.title())
            .with_annotations(self.hints());
        match self {
            Self::RunRead | Self::RunWrite => tool.with_raw_output_schema(output::any().into()),
            Self::Explain | Self::FindOps | Self::DescribeOp => tool,
        }
    }
}

/// The arguments of a tool that takes any op.
pub(super) fn taken(by: By, confirm: ConfirmArg) -> &'static [&'static str] {
    match (by, confirm) {
        (By::Run(Access::Read), _) => &["op", "args", "connection", "next"],
        (By::Explain, _) | (By::Run(Access::Write), ConfirmArg::Off) => &["op", "args", "connection"],
        (By::Run(Access::Write), ConfirmArg::Reversible) => &["op", "args", "connection", "confirm"],
    }
}

fn argument(name: &str, toolbox: &Toolbox<'_>) -> Value {
    match name {
        "op" => {
            json!({"type": "string", "description": "The op, such as `github.list_issues`, or the name of its tool."})
        }
        "args" => json!({"type": "object", "description": "The op's args, by its schema."}),
        "connection" => {
            json!({"type": "string", "description": "The label of the person's connection, where the service has several."})
        }
        "next" => input::next(),
        "confirm" => input::confirm(),
        "query" => json!({"type": "string", "description": "Words of what the op does; empty for all."}),
        "service" => {
            let services: Vec<&str> =
                toolbox.services.keys().map(pinhole_manifest::ServiceId::as_str).collect();
            json!({"type": "string", "enum": services, "description": "Only ops of this service."})
        }
        _ => {
            json!({"type": "integer", "minimum": 1, "maximum": super::search::LIMIT_MAX, "description": "Most ops to give; 10 if left out."})
        }
    }
}
