//! UTF-8 over pieces that may end in the middle of a character: what comes out are whole characters.

use super::super::DocumentError;

/// The bytes of a character that the last piece began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Utf8 {
    begun: [u8; 4],
    len: usize,
}

impl Utf8 {
    /// Checks the next piece. Gives the character that ends in it, if one was begun before, and what whole characters
    /// come behind; one that the piece begins is kept for the next.
    pub(super) fn whole<'b>(&mut self, piece: &'b [u8]) -> Result<(Option<char>, &'b str), DocumentError> {
        let mut rest = piece;
        let mut ended = None;
        while self.len > 0 {
            let Some((byte, tail)) = rest.split_first() else {
                return Ok((None, ""));
            };
            rest = tail;
            *self.begun.get_mut(self.len).ok_or(DocumentError::NotUtf8)? = *byte;
            self.len = self.len.saturating_add(1);
            match std::str::from_utf8(self.begun.get(..self.len).unwrap_or_default()) {
                Ok(text) => {
                    ended = text.chars().next();
                    self.len = 0;
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(DocumentError::NotUtf8),
            }
        }
        let error = match simdutf8::compat::from_utf8(rest) {
            Ok(text) => return Ok((ended, text)),
            Err(error) => error,
        };
        let (whole, begun) = rest.split_at_checked(error.valid_up_to()).ok_or(DocumentError::NotUtf8)?;
        match (error.error_len(), self.begun.get_mut(..begun.len())) {
            (None, Some(room)) => {
                room.copy_from_slice(begun);
                self.len = begun.len();
                let text = simdutf8::basic::from_utf8(whole).map_err(|_error| DocumentError::NotUtf8)?;
                Ok((ended, text))
            }
            _ => Err(DocumentError::NotUtf8),
        }
    }

    /// Whether the last character is whole.
    pub(super) fn finish(self) -> Result<(), DocumentError> {
        if self.len == 0 { Ok(()) } else { Err(DocumentError::NotUtf8) }
    }
}
