//! What a body says, as far as a door must know before the protocol's own reader has it.
//!
//! INVARIANT: what is weighed here is what is run: a member that is there twice, which two readers could take for two things,
//! is refused. One message a body, never a batch. JSON-RPC 2.0; MCP 2026-07-28, "Transports".

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::said::No;

/// Longest id that an answer repeats, in bytes.
const ID_BYTES_MAX: usize = 256;

/// Longest name of a method, in bytes.
const METHOD_BYTES_MAX: usize = 128;

/// One message.
#[derive(Debug)]
pub(super) struct Message<'b> {
    id: Option<&'b RawValue>,
    params: Option<&'b RawValue>,
    pub(super) what: What<'b>,
}

/// What kind of message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What<'b> {
    /// `initialize`, which begins the older protocol.
    Initialize,
    /// `tools/call`.
    Call {
        /// The tool's name.
        tool: Cow<'b, str>,
    },
    /// `subscriptions/listen`, whose answer does not end.
    Listening,
    /// A request of a method that is no name of one.
    Nameless,
    /// Another request.
    Request,
    /// A notification.
    Notification,
    /// An answer to a question of the server's.
    Answer,
}

#[derive(Deserialize)]
struct Wire<'b> {
    #[serde(borrow)]
    jsonrpc: Option<&'b RawValue>,
    #[serde(borrow)]
    id: Option<&'b RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'b, str>>,
    #[serde(borrow)]
    params: Option<&'b RawValue>,
    #[serde(borrow)]
    result: Option<&'b RawValue>,
    #[serde(borrow)]
    error: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct Params<'b> {
    #[serde(borrow)]
    name: Option<Cow<'b, str>>,
    #[serde(borrow)]
    arguments: Option<&'b RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'b>>,
}

#[derive(Deserialize)]
struct Meta<'b> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'b RawValue>,
}

impl<'b> Message<'b> {
    /// Reads the one message of a body.
    pub(super) fn read(body: &'b [u8]) -> Result<Self, No> {
        let wire: &RawValue = serde_json::from_slice(body).map_err(|_error| No::NotJson)?;
        if !wire.get().starts_with('{') {
            return Err(No::NotOne);
        }
        let wire: Wire<'b> = serde_json::from_str(wire.get()).map_err(|_error| No::NotRpc(None))?;
        let id = wire
            .id
            .filter(|id| id.get().len() <= ID_BYTES_MAX && !id.get().starts_with(['{', '[', 't', 'f']));
        let id_text = || id.map(|id| id.get().to_owned());
        let (not_rpc, not_params) = (|| No::NotRpc(id_text()), || No::NotParams(id_text()));
        if wire.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") || id.is_some() != wire.id.is_some()
        {
            return Err(not_rpc());
        }
        let what = match (wire.method.as_deref(), wire.id.is_some()) {
            (Some("initialize"), true) => What::Initialize,
            (Some("subscriptions/listen"), true) => What::Listening,
            (Some("tools/call"), true) => What::Call { tool: tool(wire.params).ok_or_else(not_params)? },
            (Some(method), true) if !is_name(method) => What::Nameless,
            (Some(_), true) => What::Request,
            (Some(_), false) => What::Notification,
            (None, _) if wire.result.is_some() != wire.error.is_some() => What::Answer,
            (None, _) => return Err(not_rpc()),
        };
        Ok(Self { id, params: wire.params, what })
    }

    /// Whether an answer is waited for.
    pub(super) fn is_request(&self) -> bool {
        !matches!(self.what, What::Notification | What::Answer)
    }

    /// Its id as it was written.
    pub(super) fn id_text(&self) -> Option<String> {
        self.id.filter(|_id| self.is_request()).map(|id| id.get().to_owned())
    }

    /// Whether it says of itself which version it is of.
    pub(super) fn has_version(&self) -> bool {
        let params = self.params.and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok());
        params.and_then(|params| params.meta).is_some_and(|meta| meta.version.is_some())
    }
}

/// What an answer may repeat: `tools/list`, and nothing that a terminal obeys.
fn is_name(method: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-.$".contains(&byte);
    (1..=METHOD_BYTES_MAX).contains(&method.len()) && method.bytes().all(is_plain)
}

fn tool<'b>(params: Option<&'b RawValue>) -> Option<Cow<'b, str>> {
    let params: Params<'b> = serde_json::from_str(params?.get()).ok()?;
    let is_object = params.arguments.is_none_or(|arguments| arguments.get().starts_with('{'));
    params.name.filter(|_name| is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(body: &str) -> Option<What<'_>> {
        Message::read(body.as_bytes()).ok().map(|message| message.what)
    }

    #[test]
    fn each_kind_of_message_is_known() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_\u0062","arguments":{"name":1}}}"#;
        assert_eq!(what(call), Some(What::Call { tool: "a_b".into() }));
        assert_eq!(what(r#"{"jsonrpc":"2.0","id":"x","method":"initialize"}"#), Some(What::Initialize));
        assert_eq!(
            what(r#" {"jsonrpc":"2.0","id":"x","method":"subscriptions/listen"} "#),
            Some(What::Listening)
        );
        assert_eq!(what(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#), Some(What::Request));
        assert_eq!(what(r#"{"jsonrpc":"2.0","id":1,"method":"tools/\u001b[31m"}"#), Some(What::Nameless));
        assert_eq!(what(r#"{"jsonrpc":"2.0","method":"tools/call"}"#), Some(What::Notification));
        assert_eq!(what(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Some(What::Answer));
        assert_eq!(what(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#), Some(What::Answer));
    }

    #[test]
    fn what_two_readers_could_take_for_two_things_is_refused() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","name":"write"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"},"params":{"name":"y"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
            r#"{"id":1,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0"}"#,
        ] {
            let refused = Message::read(body.as_bytes()).unwrap_err();
            assert!(matches!(refused, No::NotRpc(_) | No::NotParams(_)), "{body}: {refused:?}");
        }
    }

    #[test]
    fn a_batch_is_not_one_message_and_anything_else_is_no_json() {
        for body in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#, "1", "\"x\"", "null"] {
            assert!(matches!(Message::read(body.as_bytes()), Err(No::NotOne)), "{body}");
        }
        for body in [&b""[..], b"{", b"{}x", b"\xff", b"{\"a\":\"\xff\"}", b"{'a':1}", b"\xef\xbb\xbf{}"] {
            assert!(matches!(Message::read(body), Err(No::NotJson)), "{body:?}");
        }
    }
}
