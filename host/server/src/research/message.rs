//! The Messages interface, as far as the loop needs it: what is asked, and what is read of an answer.
//!
//! An answer is a stranger's: it is read strictly in what is used, and bounded. INVARIANT: of an answer nothing goes back into
//! the next request but texts and calls of tools that were read here.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

/// Most parts of one answer.
const PARTS_MAX: usize = 64;
/// Longest id of a call, and longest name of a tool that is asked for, in bytes.
const NAME_MAX: usize = 128;

/// Somebody who answers a request of the Messages interface.
pub trait Model: Send + Sync {
    /// Takes a request, the JSON of its body, and gives the body of the answer, within this time.
    fn say(&self, request: Vec<u8>, time: Duration) -> Saying<'_>;
}

/// The future of an answer.
pub type Saying<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, ModelError>> + Send + 'a>>;

/// Why there is no answer. Holds nothing that the model's host wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It could not be asked.
    #[error("the model could not be asked: {0}")]
    Unreachable(String),
    /// Its host said no.
    #[error("the model's host answered with status {0}")]
    Status(u16),
    /// What it answered is no answer.
    #[error("what the model's host answered is no message")]
    NotAMessage,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Text(String),
    Call(Asked),
}

/// A tool that a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: JsonObject,
}

/// What a tool gave.
pub(super) struct Given {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) ok: bool,
}

/// The conversation so far.
pub(super) struct Talk {
    head: JsonObject,
    messages: Vec<Value>,
}

impl Talk {
    /// Begins with a question.
    pub(super) fn new(model: &str, system: &str, tools: &[Tool], question: &str, tokens: u32) -> Self {
        let tools: Vec<Value> = tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name, "description": tool.description, "input_schema": *tool.input_schema,
                })
            })
            .collect();
        let head = json!({"model": model, "max_tokens": tokens, "system": system, "tools": tools});
        let head = if let Value::Object(head) = head { head } else { JsonObject::new() };
        Self { head, messages: vec![json!({"role": "user", "content": question})] }
    }

    /// The request for the next turn.
    pub(super) fn request(&self) -> Vec<u8> {
        let mut whole = self.head.clone();
        whole.insert("messages".to_owned(), Value::Array(self.messages.clone()));
        Value::Object(whole).to_string().into_bytes()
    }

    /// What the model said, and what its tools gave.
    pub(super) fn go_on(&mut self, said: &[Part], given: Vec<Given>, word: Option<&str>) {
        let said: Vec<Value> = said.iter().map(Part::to_json).collect();
        self.messages.push(json!({"role": "assistant", "content": said}));
        let mut told: Vec<Value> = given
            .into_iter()
            .map(|given| {
                json!({
                    "type": "tool_result", "tool_use_id": given.id, "content": given.text,
                    "is_error": !given.ok,
                })
            })
            .collect();
        told.extend(word.map(|word| json!({"type": "text", "text": word})));
        self.messages.push(json!({"role": "user", "content": told}));
    }
}

impl Part {
    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Call(Asked { id, name, input }) => {
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        }
    }
}

/// The texts and calls of an answer, in their order. Parts of other kinds are left out.
pub(super) fn read(body: &[u8]) -> Result<Vec<Part>, ModelError> {
    let body: Value = serde_json::from_slice(body).map_err(|_no_json| ModelError::NotAMessage)?;
    let parts = body.get("content").and_then(Value::as_array).ok_or(ModelError::NotAMessage)?;
    if parts.len() > PARTS_MAX {
        return Err(ModelError::NotAMessage);
    }
    let mut said = Vec::new();
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = part.get("text").and_then(Value::as_str).ok_or(ModelError::NotAMessage)?;
                // No endpoint takes an empty one back.
                if !text.is_empty() {
                    said.push(Part::Text(text.to_owned()));
                }
            }
            Some("tool_use") => {
                let name = |member: &str| {
                    let text = part.get(member).and_then(Value::as_str);
                    let fits = |text: &&str| {
                        (1..=NAME_MAX).contains(&text.len())
                            && text.bytes().all(|byte| byte.is_ascii_graphic())
                    };
                    text.filter(fits).map(str::to_owned).ok_or(ModelError::NotAMessage)
                };
                let input = part.get("input").and_then(Value::as_object).ok_or(ModelError::NotAMessage)?;
                said.push(Part::Call(Asked { id: name("id")?, name: name("name")?, input: input.clone() }));
            }
            Some(_) => {}
            None => return Err(ModelError::NotAMessage),
        }
    }
    Ok(said)
}
