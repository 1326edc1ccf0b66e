//! One client on stdin and stdout: a JSON-RPC message a line.
//!
//! Refuses what is no message with the error that JSON-RPC has for it, and reads on; batches are none (MCP). Bounded are a line,
//! its values, the requests that have no answer yet (one that is answered and not read by the client has none), and what
//! waits to be written. INVARIANT: only whole messages are written, one at a time. MCP 2026-07-28 and 2025-11-25, "Transports": stdio.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcError, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler, serve_server};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};

use super::values;

/// Longest line that is read, in bytes: 4 MiB.
pub const LINE_BYTES_MAX: usize = 4 << 20;
/// Messages that wait to be written.
const WAITING_MAX: usize = 16;
/// Most requests that have no answer yet; more are refused.
pub const REQUESTS_MAX: usize = 64;
/// The error of one that is: none of JSON-RPC's own.
const BUSY: ErrorCode = ErrorCode(-32000);

/// Why a client was served no further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// What the client said first is no beginning of MCP.
    #[error("the client did not begin as MCP clients do: {0}")]
    Beginning(Box<rmcp::service::ServerInitializeError>),
    /// The task that served it broke off.
    #[error("the client could not be served to the end")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves one client until it closes its end. A client that closes before it has said anything is no error.
pub async fn serve<H, R, W>(handler: H, input: R, output: W) -> Result<(), StdioError>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    use rmcp::service::ServerInitializeError::ConnectionClosed;
    match serve_server(handler, Lines::new(BufReader::new(input), output)).await {
        Ok(running) => running.waiting().await.map(|_reason| ()).map_err(StdioError::Broken),
        Err(ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Beginning(Box::new(error))),
    }
}

/// Why a message was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinesError {
    #[error("the message cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    #[error("the client reads no more")]
    Closed,
}

/// The transport.
struct Lines<R> {
    input: R,
    /// The line as far as it was read.
    line: Vec<u8>,
    /// Whether the line was longer than it may be; the rest of it is dropped.
    overlong: bool,
    /// What is to be answered before the next line is read.
    owed: Option<Bytes>,
    output: mpsc::Sender<(Bytes, oneshot::Sender<()>)>,
    open: Open,
}

/// The requests that have no answer yet, and the answers that wait to be written.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    ids: HashSet<RequestId>,
    unwritten: usize,
}

/// An answer that waits to be written.
struct Unwritten(Open);

impl Drop for Unwritten {
    fn drop(&mut self) {
        let mut counted = self.0.counted();
        counted.unwritten = counted.unwritten.saturating_sub(1);
    }
}

impl Open {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request in, or says what answers it instead. What a client cancels needs no answer any more.
    fn take_in(&self, message: &ClientJsonRpcMessage) -> Result<(), JsonRpcError> {
        let mut counted = self.counted();
        let Counted { ids, unwritten } = &mut *counted;
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let id = || Some(request.id.clone());
                if ids.contains(&request.id) {
                    return Err(invalid(id(), "a request of this id has no answer yet".to_owned()));
                }
                if ids.len().saturating_add(*unwritten) >= REQUESTS_MAX {
                    let busy = format!(
                        "{REQUESTS_MAX} requests have no answer yet, which is as many as may: wait for one"
                    );
                    return Err(JsonRpcError::new(id(), ErrorData::new(BUSY, busy, None)));
                }
                ids.insert(request.id.clone());
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    ids.remove(id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes an answer in that is to be written: its id is free from now on, its place when it is written.
    fn answering(&self, message: &ServerJsonRpcMessage) -> Option<Unwritten> {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return None,
        };
        let mut counted = self.counted();
        if let Some(id) = id {
            counted.ids.remove(id);
        }
        counted.unwritten = counted.unwritten.saturating_add(1);
        Some(Unwritten(self.clone()))
    }
}

impl<R: AsyncBufRead + Send + Unpin> Lines<R> {
    fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        // Ends when the transport is dropped, or with the first line that cannot be written.
        drop(tokio::spawn(write_lines(output, receiver)));
        Self { input, line: Vec::new(), overlong: false, owed: None, output: sender, open: Open::default() }
    }

    /// Reads on to the end of a line; what was read stays when the future is dropped. `None` at the end of the input.
    async fn line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            if self.line.len().saturating_add(part.len()) > LINE_BYTES_MAX {
                self.overlong = true;
                self.line = Vec::new();
            }
            if !self.overlong {
                self.line.extend_from_slice(part);
            }
            let taken = part.len().saturating_add(usize::from(end.is_some()));
            self.input.consume(taken);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Ok(Some(if std::mem::take(&mut self.overlong) {
                    Line::Overlong
                } else {
                    Line::Whole(line)
                }));
            }
        }
    }
}

/// A line of the input.
enum Line {
    Whole(Vec<u8>),
    Overlong,
}

impl Line {
    /// The message of a line, nothing for an empty one, or the error that answers it.
    fn message(self) -> Result<Option<ClientJsonRpcMessage>, JsonRpcError> {
        match self {
            Self::Overlong => {
                Err(invalid(None, format!("the message is longer than {LINE_BYTES_MAX} bytes")))
            }
            Self::Whole(line) if line.trim_ascii().is_empty() => Ok(None),
            Self::Whole(line) if values::too_many(&line) => {
                Err(invalid(None, format!("the message has more than {} values", values::VALUES_MAX)))
            }
            Self::Whole(line) => read_message(&line).map(Some),
        }
    }
}

/// Reads one message. The error is the one that answers it: -32700 for what is not JSON, -32600 for what is no message.
fn read_message(text: &[u8]) -> Result<ClientJsonRpcMessage, JsonRpcError> {
    let error = match serde_json::from_slice(text) {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    match serde_json::from_slice::<Value>(text) {
        Err(_no_json) => {
            let message = "not JSON: send one JSON-RPC message";
            Err(JsonRpcError::new(None, ErrorData::new(ErrorCode::PARSE_ERROR, message, None)))
        }
        Ok(Value::Array(_)) => Err(invalid(None, "batches are not taken: send one message".to_owned())),
        Ok(value) => {
            let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            tracing::debug!(%error, "a message that is none");
            Err(invalid(id, "not a JSON-RPC message of MCP".to_owned()))
        }
    }
}

fn invalid(id: Option<RequestId>, message: String) -> JsonRpcError {
    JsonRpcError::new(id, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

impl<R: AsyncBufRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = LinesError;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), LinesError>> + Send + 'static {
        let (output, waits) = (self.output.clone(), self.open.answering(&message));
        async move {
            let _until_it_is_written = waits;
            let line = in_a_line(&message)?;
            let (written, done) = oneshot::channel();
            output.send((line, written)).await.map_err(|_closed| LinesError::Closed)?;
            done.await.map_err(|_dropped| LinesError::Closed)
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.owed.is_some() {
                let place = self.output.reserve().await.ok()?;
                let (written, _nobody_waits) = oneshot::channel();
                place.send((self.owed.take()?, written));
            }
            let line = match self.line().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read");
                    return None;
                }
            };
            match line.message() {
                Ok(None) => {}
                Ok(Some(message)) => match self.open.take_in(&message) {
                    Ok(()) => return Some(message),
                    Err(error) => self.owed = in_a_line(&error).ok(),
                },
                Err(error) => self.owed = in_a_line(&error).ok(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), LinesError> {
        Ok(())
    }
}

fn in_a_line(message: &impl serde::Serialize) -> Result<Bytes, LinesError> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line.into())
}

async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<(Bytes, oneshot::Sender<()>)>,
) {
    while let Some((line, written)) = lines.recv().await {
        let done = match output.write_all(&line).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            tracing::debug!(%error, "the client reads no more");
            return;
        }
        // Whoever answered a line that is no message does not wait.
        let _nobody_waits = written.send(());
    }
}
