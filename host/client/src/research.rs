//! Research sessions: several grants for ten minutes, as tools that only read.
//!
//! INVARIANT: what is for a model is `content` alone; the id of a session is in no `Debug`.

use std::fmt;

use http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{Answered, Meta, Refusal, parse};
use crate::call::{opening, wish};
use crate::{Client, ClientError, Dialect};

/// A session that is open. Whoever has its id, and is who opened it, may call its tools.
#[derive(Clone, PartialEq, Deserialize)]
pub struct Session {
    id: String,
    /// Until when it lives, in seconds since 1970.
    pub until: i64,
    /// How many calls it has.
    pub calls_left: u32,
    /// How many bytes of results it has.
    pub bytes_left: u64,
    /// Its tools, in the form that was asked for: the reads that the grants cover, and nothing else.
    pub tools: Vec<Value>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("until", &self.until).finish_non_exhaustive()
    }
}

/// What came of a call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Called {
    /// What the model is told: a result with what others wrote between marks, or what was refused.
    pub content: String,
    /// How many calls are left.
    pub calls_left: u32,
    /// How many bytes of results are left.
    pub bytes_left: u64,
    /// Why there is no result, where there is none.
    #[serde(default)]
    pub refusal: Option<Refusal>,
    /// What it took, where it ran.
    #[serde(default)]
    pub meta: Option<Meta>,
    /// The renewed key, sealed to the member, where one was due: hand it to her client, and to no model.
    #[serde(default)]
    pub rotated: Option<Value>,
}

#[derive(Deserialize)]
struct Ended {}

impl Client {
    /// Opens a research session with the texts of sealed grants.
    pub async fn research(
        &self,
        grants: &[&str],
        dialect: Dialect,
    ) -> Result<Result<Session, Refusal>, ClientError> {
        self.answered(Method::POST, "/v1/research", Some(opening(grants, dialect)?)).await
    }

    /// Calls a tool of a session, with the text of one JSON object. A refusal of the call is in what was called; one beside it
    /// means that the session is over, or that the call got no turn.
    pub async fn call_tool(
        &self,
        session: &Session,
        tool: &str,
        args: &str,
    ) -> Result<Result<Called, Refusal>, ClientError> {
        let target = format!("{}/call", session.target()?);
        let answer = self.line.ask(Method::POST, &target, Some(wish(tool, args)?)).await?;
        if let Ok(called) = parse::<Called>(&answer) {
            return Ok(Ok(called));
        }
        let answered: Answered = parse(&answer)?;
        answered.refusal().map(Err).ok_or(ClientError::Unreadable)
    }

    /// Ends a session before its time.
    pub async fn end_research(&self, session: &Session) -> Result<Result<(), Refusal>, ClientError> {
        let ended = self.answered::<Ended>(Method::DELETE, &session.target()?, None).await?;
        Ok(ended.map(|_ended| ()))
    }
}

impl Session {
    /// Its path. What could not be an id is put into none.
    fn target(&self) -> Result<String, ClientError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if self.id.is_empty() || !self.id.bytes().all(plain) {
            return Err(ClientError::Unreadable);
        }
        Ok(format!("/v1/research/{}", self.id))
    }
}
