//! Where each message of an HTTP/1.1 connection ends, by its bytes alone.
//!
//! Refuses whatever two readers could end at two places: a line feed without its carriage return, a folded header, more than
//! one length, a length beside chunks, a coding other than `chunked`. INVARIANT: the verdict is the same however the bytes
//! were cut into reads. RFC 9112.

/// Longest line that says how long a chunk is, in bytes.
const SIZE_LINE_MAX: usize = 256;
/// Most hexadecimal digits of a chunk's length.
const SIZE_DIGITS_MAX: usize = 15;

/// Why a connection is read no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It is ambiguous, or no HTTP/1.1.
    Malformed,
    /// A head is longer than may be.
    TooLong,
}

/// Where in a message its reader is.
#[derive(Debug)]
pub(super) struct Framing {
    at: At,
    /// The line that is being read.
    line: Vec<u8>,
    /// Bytes of lines since the message, or its last chunk, began.
    lines: usize,
    head_bytes: usize,
    length: Option<Length>,
}

#[derive(Debug, Clone, Copy)]
enum At {
    Request,
    Field,
    /// So many bytes of a body that has a length.
    Body(u64),
    Size,
    /// So many bytes of a chunk.
    Chunk(u64),
    ChunkEnd,
    Trailer,
}

#[derive(Debug, Clone, Copy)]
enum Length {
    Bytes(u64),
    Chunks,
}

impl Framing {
    pub(super) fn new(head_bytes: usize) -> Self {
        Self { at: At::Request, line: Vec::new(), lines: 0, head_bytes, length: None }
    }

    /// Follows these bytes; or says at which of them it stops, and why.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), (usize, Why)> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let before = bytes.len() - rest.len();
            rest = match self.at {
                At::Body(left) | At::Chunk(left) => self.skip(left, rest),
                _ => {
                    let end = rest.iter().position(|byte| *byte == b'\n').map(|at| at.saturating_add(1));
                    let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
                    let stop = |why| (before.saturating_add(line.len()).saturating_sub(1), why);
                    self.hold(line).map_err(stop)?;
                    if end.is_some() {
                        self.end_line().map_err(stop)?;
                    }
                    after
                }
            };
        }
        Ok(())
    }

    fn skip<'b>(&mut self, left: u64, rest: &'b [u8]) -> &'b [u8] {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        let left = left.saturating_sub(u64::try_from(here).unwrap_or(u64::MAX));
        self.at = match (self.at, left) {
            (At::Body(_), 0) => At::Request,
            (At::Body(_), left) => At::Body(left),
            (_, 0) => At::ChunkEnd,
            (_, left) => At::Chunk(left),
        };
        rest.split_at(here).1
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), Why> {
        self.lines = self.lines.saturating_add(part.len());
        let most = match self.at {
            At::Size | At::ChunkEnd => SIZE_LINE_MAX,
            _ => self.head_bytes,
        };
        if self.lines > most {
            let in_head = matches!(self.at, At::Request | At::Field);
            return Err(if in_head { Why::TooLong } else { Why::Malformed });
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Why> {
        let held = std::mem::take(&mut self.line);
        let line = held.strip_suffix(b"\r\n").ok_or(Why::Malformed)?;
        if line.contains(&b'\r') || line.contains(&0) {
            return Err(Why::Malformed);
        }
        self.at = match self.at {
            // An empty line before a request is let go; after a trailer it ends the message.
            At::Request | At::Trailer if line.is_empty() => At::Request,
            At::Request => {
                self.length = None;
                At::Field
            }
            At::Field if line.is_empty() => self.body(),
            At::Field => {
                self.field(line)?;
                At::Field
            }
            At::Size => match size(line)? {
                0 => At::Trailer,
                left => At::Chunk(left),
            },
            At::ChunkEnd if line.is_empty() => At::Size,
            At::Trailer => At::Trailer,
            At::ChunkEnd | At::Body(_) | At::Chunk(_) => return Err(Why::Malformed),
        };
        if !matches!(self.at, At::Field | At::Trailer) {
            self.lines = 0;
        }
        // The next line takes the same room.
        self.line = held;
        self.line.clear();
        Ok(())
    }

    fn body(&self) -> At {
        match self.length {
            None | Some(Length::Bytes(0)) => At::Request,
            Some(Length::Bytes(length)) => At::Body(length),
            Some(Length::Chunks) => At::Size,
        }
    }

    fn field(&mut self, line: &[u8]) -> Result<(), Why> {
        let colon = line.iter().position(|byte| *byte == b':').ok_or(Why::Malformed)?;
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        // White space before a name folds the line before; after it, some take it for part of the name.
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return Err(Why::Malformed);
        }
        let length = if name.eq_ignore_ascii_case(b"content-length") {
            Length::Bytes(decimal(value).ok_or(Why::Malformed)?)
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Why::Malformed);
            }
            Length::Chunks
        } else {
            return Ok(());
        };
        if self.length.replace(length).is_some() { Err(Why::Malformed) } else { Ok(()) }
    }
}

fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
}

/// The length of a chunk, without what extends it.
fn size(line: &[u8]) -> Result<u64, Why> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let is_number = (1..=SIZE_DIGITS_MAX).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let number = std::str::from_utf8(digits).ok().filter(|_digits| is_number);
    number.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or(Why::Malformed)
}

#[cfg(test)]
mod tests;
