//! Files that cannot be read on: what is wrong, and where the library stopped.
//!
//! Refuses another encoding and a byte order mark before anything is parsed. RFC 8259, sections 7 and 8.1.

use std::ops::Range;

use super::{JsonFault, SIZE_MAX};
use crate::diagnostic::Code;

pub(super) fn decode(bytes: &[u8]) -> Result<&str, JsonFault> {
    let fault = |code, span, message: &str, help| JsonFault {
        code,
        pointer: String::new(),
        span,
        message: message.to_owned(),
        help,
    };
    if bytes.len() > SIZE_MAX {
        return Err(fault(
            Code::JsonTooLarge,
            0..0,
            "the file has more than 2 MiB",
            "split the service in two",
        ));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let message = "the file starts with a byte order mark";
        return Err(fault(Code::JsonEncoding, 0..3, message, "save it as UTF-8 without the mark"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        fault(Code::JsonEncoding, start..start, "the file is not UTF-8", "save it as UTF-8")
    })
}

pub(super) fn syntax(text: &str, error: &serde_json::Error, stopped: Option<Code>) -> JsonFault {
    let offset = offset_of(text, error);
    let span = byte_at(text, offset);
    let fault = |code, span, message: &str, help| JsonFault {
        code,
        pointer: String::new(),
        span,
        message: message.to_owned(),
        help,
    };
    match stopped {
        Some(Code::JsonTooDeep) => {
            fault(Code::JsonTooDeep, span, "arrays and objects are nested more than 64 deep", "flatten them")
        }
        Some(code) => fault(code, span, "a key has more than 128 bytes", "shorten the key"),
        None => {
            if let Some(span) = lone_surrogate(text, offset) {
                let message = "half of a surrogate pair stands alone";
                return fault(
                    Code::JsonSurrogate,
                    span,
                    message,
                    "write the character itself, or both halves",
                );
            }
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            fault(Code::JsonSyntax, span, message, "correct the JSON here")
        }
    }
}

/// The offset of the byte that the library stopped at; it counts lines from 1 and columns in bytes.
pub(super) fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before.saturating_add(error.column().saturating_sub(1)).min(text.len())
}

/// The whole character at or around an offset.
pub(super) fn byte_at(text: &str, offset: usize) -> Range<usize> {
    let start = text.floor_char_boundary(offset);
    let end = text.get(start..).and_then(|rest| rest.chars().next()).map_or(start, |c| start + c.len_utf8());
    start..end
}

/// The first escape of a surrogate without its other half, where the library stopped just behind it.
fn lone_surrogate(text: &str, stopped_at: usize) -> Option<Range<usize>> {
    let unit = |at: usize| -> Option<u16> {
        let digits = text.get(at..at.checked_add(6)?)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        at = start + 2;
        match unit(start) {
            Some(0xd800..=0xdbff) if unit(start + 6).is_some_and(|low| (0xdc00..=0xdfff).contains(&low)) => {
                at = start + 12;
            }
            Some(0xd800..=0xdfff) => {
                return (start..=start + 12).contains(&stopped_at).then_some(start..start + 6);
            }
            _ => {}
        }
        // The escaped character may be several bytes long in a broken file.
        at = text.floor_char_boundary(at);
    }
    None
}
