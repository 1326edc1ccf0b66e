//! What a call says, by whichever way: lines of the contract's `log.write`, and what is written to the streams of WASI.
//!
//! Refuses more lines and bytes than a call may write, over all ways together. INVARIANT: so what has been said and nobody
//! has looked at yet is bounded too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;
use wasmtime::Error;

use super::fault::Limit;
use super::guest::Event;
use super::settings::SandboxSettings;

/// Most bytes that are kept of what a component said last.
const LAST_BYTES: usize = 1024;

/// A stream of WASI that lines are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Its lines have the level `info`.
    Out,
    /// Its lines have the level `error`.
    Err,
}

/// What one call says. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Said(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    events: UnboundedSender<Event>,
    lines_max: u32,
    bytes_max: usize,
    lines: u32,
    bytes: usize,
    /// What stands in the streams after their last whole line.
    out: Vec<u8>,
    err: Vec<u8>,
    last: Last,
    ended: Option<Limit>,
}

/// What was said last that was an error.
#[derive(Debug, Default)]
enum Last {
    #[default]
    Nothing,
    Line(String),
    /// The end of what stands in the error stream: a message has several lines there, and not always the last one matters.
    Stream(String),
}

impl Said {
    pub(super) fn new(settings: &SandboxSettings, events: UnboundedSender<Event>) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            events,
            lines_max: settings.log_lines,
            bytes_max: settings.log_bytes,
            lines: 0,
            bytes: 0,
            out: Vec::new(),
            err: Vec::new(),
            last: Last::Nothing,
            ended: None,
        })))
    }

    /// Takes a line of the contract.
    pub(super) fn line(&self, level: &'static str, text: String) -> Result<(), Error> {
        let mut inner = self.inner();
        inner.count(text.len())?;
        if level == "error" {
            let end = text.floor_char_boundary(LAST_BYTES.min(text.len()));
            inner.last = Last::Line(text.get(..end).unwrap_or_default().to_owned());
        }
        inner.emit(level, text)
    }

    /// Takes bytes of a stream. A line is one when its end is there.
    pub(super) fn write(&self, stream: Stream, bytes: &[u8]) -> Result<(), Error> {
        let mut inner = self.inner();
        inner.count(bytes.len())?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let mut part = lines.next();
        while let Some(bytes) = part {
            inner.part(stream).extend_from_slice(bytes);
            part = lines.next();
            if part.is_some() {
                inner.end_line(stream)?;
            }
        }
        Ok(())
    }

    /// Nothing more will be said: what stands in the streams is a line.
    pub(super) fn end(&self) -> Result<(), Error> {
        let mut inner = self.inner();
        for stream in [Stream::Out, Stream::Err] {
            if !inner.part(stream).is_empty() {
                inner.end_line(stream)?;
            }
        }
        Ok(())
    }

    /// What was said last that was an error.
    pub(super) fn last(&self) -> Option<String> {
        match std::mem::take(&mut self.inner().last) {
            Last::Nothing => None,
            Last::Line(text) | Last::Stream(text) => Some(text),
        }
    }

    /// What was said too much of.
    pub(super) fn ended(&self) -> Option<Limit> {
        self.inner().ended
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn refuse(&mut self, limit: Limit) -> Result<(), Error> {
        self.ended = Some(limit);
        Err(Error::msg("a limit of the call"))
    }

    fn count(&mut self, bytes: usize) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bytes_max { self.refuse(Limit::LogBytes(self.bytes_max)) } else { Ok(()) }
    }

    fn emit(&mut self, level: &'static str, text: String) -> Result<(), Error> {
        self.lines = self.lines.saturating_add(1);
        if self.lines > self.lines_max {
            return self.refuse(Limit::LogLines(self.lines_max));
        }
        Ok(self.events.send(Event::Says(level, text))?)
    }

    fn part(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }

    fn end_line(&mut self, stream: Stream) -> Result<(), Error> {
        let bytes = std::mem::take(self.part(stream));
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        match stream {
            Stream::Out => self.emit("info", text.to_owned()),
            Stream::Err => {
                let before = match std::mem::take(&mut self.last) {
                    Last::Stream(before) => before + "\n",
                    Last::Nothing | Last::Line(_) => String::new(),
                };
                let mut last = before + text;
                last.drain(..last.ceil_char_boundary(last.len().saturating_sub(LAST_BYTES)));
                self.last = Last::Stream(last);
                self.emit("error", text.to_owned())
            }
        }
    }
}
