//! What is asked.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::ClientError;

/// A call of an op, under a sealed grant.
#[derive(Clone)]
pub struct Call {
    service: String,
    op: String,
    args: String,
    grant: String,
    next: Option<String>,
    key: Option<String>,
}

#[derive(Serialize)]
struct Body<'c> {
    service: &'c str,
    op: &'c str,
    args: &'c RawValue,
    grant: &'c RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'c str>,
}

impl Call {
    /// Of `service.op` without args, under the text of a sealed grant.
    pub fn new(service: impl Into<String>, op: impl Into<String>, grant: impl Into<String>) -> Self {
        let (service, op, grant) = (service.into(), op.into(), grant.into());
        Self { service, op, args: "{}".to_owned(), grant, next: None, key: None }
    }

    /// The same with args, as the text of one JSON object.
    #[must_use]
    pub fn with_args(self, args: impl Into<String>) -> Self {
        Self { args: args.into(), ..self }
    }

    /// The same for the page that the `next` of an earlier outcome stands for.
    #[must_use]
    pub fn with_next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// The same write under a key: it is carried out once under that, and answered the same for a day.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    pub(crate) fn body(&self) -> Result<String, ClientError> {
        let args = serde_json::from_str(&self.args).map_err(|_bad| ClientError::NotJson("args"))?;
        let grant = serde_json::from_str(&self.grant).map_err(|_bad| ClientError::NotJson("grant"))?;
        let Self { service, op, next, key, .. } = self;
        let body = Body { service, op, args, grant, next: next.as_deref(), key: key.as_deref() };
        serde_json::to_string(&body).map_err(|_bad| ClientError::NotJson("call"))
    }
}

/// A grant is sealed, and its args may be private all the same.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("service", &self.service).field("op", &self.op).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Opening<'c> {
    grants: Vec<&'c RawValue>,
    dialect: &'static str,
}

/// The body that opens a research session with the texts of sealed grants.
pub(crate) fn opening<'c>(grants: &[&'c str], dialect: Dialect) -> Result<String, ClientError> {
    let read = |grant: &'c str| serde_json::from_str(grant).map_err(|_bad| ClientError::NotJson("grant"));
    let grants = grants.iter().copied().map(read).collect::<Result<Vec<&'c RawValue>, _>>()?;
    let body = Opening { grants, dialect: dialect.as_str() };
    serde_json::to_string(&body).map_err(|_bad| ClientError::NotJson("opening"))
}

#[derive(Serialize)]
struct Wish<'c> {
    tool: &'c str,
    args: &'c RawValue,
}

/// The body of a call of a session's tool, with the text of one JSON object.
pub(crate) fn wish(tool: &str, args: &str) -> Result<String, ClientError> {
    let args = serde_json::from_str(args).map_err(|_bad| ClientError::NotJson("args"))?;
    serde_json::to_string(&Wish { tool, args }).map_err(|_bad| ClientError::NotJson("call"))
}

/// Whether an op looks or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// It looks.
    #[default]
    Read,
    /// It changes.
    Write,
}

/// In whose form tools are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// As Messages APIs take them.
    #[default]
    Messages,
    /// As chat completions take them.
    Functions,
    /// As MCP has them.
    Mcp,
}

impl Dialect {
    fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Functions => "functions",
            Self::Mcp => "mcp",
        }
    }
}

/// Which tools are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolsWanted {
    /// Of these services; of all where there is none.
    pub services: Vec<String>,
    /// Reads, or writes.
    pub access: Access,
    /// In this form.
    pub dialect: Dialect,
}

impl ToolsWanted {
    pub(crate) fn target(&self) -> String {
        let access = match self.access {
            Access::Read => "read",
            Access::Write => "write",
        };
        let dialect = self.dialect.as_str();
        // What is no service's id is left out rather than put into an address: there is no such service.
        let plain =
            |id: &&String| !id.is_empty() && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let services: Vec<String> = self
            .services
            .iter()
            .map(|id| if plain(&id) { id.clone() } else { "unknown".to_owned() })
            .collect();
        let services =
            if services.is_empty() { String::new() } else { format!("&service={}", services.join(",")) };
        format!("/v1/tools?access={access}&dialect={dialect}{services}")
    }
}
