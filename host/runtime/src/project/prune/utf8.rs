//! UTF-8 over pieces that may end in the middle of a character.

use super::super::DocumentError;

/// The bytes of a character that the last piece began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Utf8 {
    begun: [u8; 4],
    len: usize,
}

impl Utf8 {
    /// Checks the next piece.
    pub(super) fn check(&mut self, piece: &[u8]) -> Result<(), DocumentError> {
        let mut rest = piece;
        while self.len > 0 {
            let Some((byte, tail)) = rest.split_first() else {
                return Ok(());
            };
            rest = tail;
            *self.begun.get_mut(self.len).ok_or(DocumentError::NotUtf8)? = *byte;
            self.len = self.len.saturating_add(1);
            match std::str::from_utf8(self.begun.get(..self.len).unwrap_or_default()) {
                Ok(_) => self.len = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(DocumentError::NotUtf8),
            }
        }
        let Err(error) = simdutf8::compat::from_utf8(rest) else {
            return Ok(());
        };
        let begun = rest.get(error.valid_up_to()..).unwrap_or_default();
        match (error.error_len(), self.begun.get_mut(..begun.len())) {
            (None, Some(room)) => {
                room.copy_from_slice(begun);
                self.len = begun.len();
                Ok(())
            }
            _ => Err(DocumentError::NotUtf8),
        }
    }

    /// Whether the last character is whole.
    pub(super) fn finish(self) -> Result<(), DocumentError> {
        if self.len == 0 { Ok(()) } else { Err(DocumentError::NotUtf8) }
    }
}
