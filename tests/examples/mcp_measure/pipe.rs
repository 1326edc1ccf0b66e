//! A server at the other end of a pipe, and what it takes of memory. It ends with this.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

/// A process that answers a line with a line.
pub(crate) struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    began: Instant,
    line: Vec<u8>,
}

/// Resident memory, in KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    pub(crate) peak: u64,
    pub(crate) anonymous: u64,
}

impl Pipe {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let began = Instant::now();
        let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
        let input = child.stdin.take().context("a pipe")?;
        let output = BufReader::with_capacity(1 << 18, child.stdout.take().context("a pipe")?);
        Ok(Self { child, input, output, began, line: Vec::new() })
    }

    pub(crate) fn since_start(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn write(&mut self, message: &str) -> anyhow::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.input.flush()?)
    }

    /// The next line that is an answer.
    pub(crate) fn answer(&mut self) -> anyhow::Result<&[u8]> {
        loop {
            self.line.clear();
            ensure!(self.output.read_until(b'\n', &mut self.line)? > 0, "the server has ended");
            // A server may tell of things besides.
            if find(&self.line, b"\"id\":").is_some() {
                return Ok(&self.line);
            }
        }
    }

    /// A request and its answer, which must not be an error.
    pub(crate) fn ask(&mut self, message: &str) -> anyhow::Result<Value> {
        self.write(message)?;
        good(self.answer()?)
    }

    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        memory(self.child.id())
    }

    pub(crate) fn line_of_stdout(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the server has ended");
        Ok(line)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // It may have ended by itself already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn memory(process: u32) -> anyhow::Result<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok()).context("a figure")
    };
    Ok(Memory { resident: of("VmRSS")?, peak: of("VmHWM")?, anonymous: of("RssAnon")? })
}

/// The result of an answer; what is no result, or one of an error, ends the measuring.
pub(crate) fn good(answer: &[u8]) -> anyhow::Result<Value> {
    let mut answer: Value = serde_json::from_slice(answer)?;
    if answer["result"]["isError"] == true || answer["result"].is_null() {
        bail!("the server refuses: {answer}");
    }
    Ok(answer["result"].take())
}

pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
