//! The body of a form: few bytes, in little time, the passphrase in memory that is wiped.
//!
//! INVARIANT: a field counts only where it stands once, and a form with a field that the page did not give it is refused.

use std::time::Duration;

use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes};
use pinhole_grant::{Passphrase, PassphraseError};
use zeroize::Zeroizing;

/// Largest body of a form, in bytes: 16 KiB, a passphrase of the greatest length several times over.
pub const FORM_BYTES_MAX: usize = 16 << 10;

/// Why a form was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FormError {
    /// Another content type.
    #[error("this is not a form of this page")]
    Type,
    /// More than [`FORM_BYTES_MAX`].
    #[error("the form is larger than {FORM_BYTES_MAX} bytes")]
    TooLarge,
    /// It took too long.
    #[error("the form did not arrive in time")]
    TooSlow,
    /// It broke off, or is not what the page's forms are.
    #[error("the form is not whole")]
    Broken,
}

/// What a form of the page says.
#[derive(Debug)]
pub(super) struct Form {
    /// The token that the page gave it.
    pub(super) token: Zeroizing<String>,
    /// The digest of the sheet that it stood below.
    pub(super) sheet: Zeroizing<String>,
    passphrase: Option<Zeroizing<String>>,
}

impl Form {
    /// Reads the body of a request.
    pub(super) async fn read<B>(headers: &HeaderMap, body: B, patience: Duration) -> Result<Self, FormError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let mut types = headers.get_all(CONTENT_TYPE).iter();
        let form = types.next().is_some_and(|kind| kind == "application/x-www-form-urlencoded");
        if !form || types.next().is_some() {
            return Err(FormError::Type);
        }
        let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if said.is_some_and(|length: usize| length > FORM_BYTES_MAX) {
            return Err(FormError::TooLarge);
        }
        let read = tokio::time::timeout(patience, whole(body));
        Self::parse(&read.await.map_err(|_elapsed| FormError::TooSlow)??)
    }

    fn parse(body: &[u8]) -> Result<Self, FormError> {
        let (mut token, mut sheet, mut passphrase) = (None, None, None);
        for pair in body.split(|byte| *byte == b'&') {
            let at = pair.iter().position(|byte| *byte == b'=').ok_or(FormError::Broken)?;
            let (name, value) = pair.split_at_checked(at).ok_or(FormError::Broken)?;
            let place = match name {
                b"token" => &mut token,
                b"sheet" => &mut sheet,
                b"passphrase" => &mut passphrase,
                _ => return Err(FormError::Broken),
            };
            let value = decoded(value.get(1..).unwrap_or_default()).ok_or(FormError::Broken)?;
            if place.replace(value).is_some() {
                return Err(FormError::Broken);
            }
        }
        let (Some(token), Some(sheet)) = (token, sheet) else { return Err(FormError::Broken) };
        Ok(Self { token, sheet, passphrase })
    }

    /// The passphrase, which the form then has no more.
    pub(super) fn passphrase(&mut self) -> Result<Passphrase, PassphraseError> {
        let mut text = self.passphrase.take().unwrap_or_default();
        Passphrase::new(std::mem::take(&mut *text))
    }
}

/// All of a body, in one place.
async fn whole<B: Body<Data = Bytes> + Unpin>(mut body: B) -> Result<Zeroizing<Vec<u8>>, FormError> {
    // As large as it may be from the start, so that no copy of a part is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(FORM_BYTES_MAX));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_error| FormError::Broken)?.into_data() else { continue };
        if bytes.len().saturating_add(data.len()) > FORM_BYTES_MAX {
            return Err(FormError::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// A value as it was before it was encoded for a form; `None` where it is not so encoded, or is not UTF-8.
fn decoded(value: &[u8]) -> Option<Zeroizing<String>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(value.len()));
    let mut rest = value.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let [high, low] = [rest.next()?, rest.next()?].map(|digit| char::from(*digit).to_digit(16));
                u8::try_from(high? * 16 + low?).ok()?
            }
            other => *other,
        });
    }
    let text =
        String::from_utf8(std::mem::take(&mut *bytes)).map_err(|error| Zeroizing::new(error.into_bytes()));
    Some(Zeroizing::new(text.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_it_was_typed() {
        let mut form = Form::parse(b"token=t&sheet=s&passphrase=a+b%2Bc%26%C3%A9%25").unwrap();
        assert_eq!((form.token.as_str(), form.sheet.as_str()), ("t", "s"));
        assert_eq!(form.passphrase.as_ref().unwrap().as_str(), "a b+c&é%");
        assert!(form.passphrase().is_ok());
        assert_eq!(form.passphrase().unwrap_err(), PassphraseError::Empty);
    }

    #[test]
    fn a_form_that_is_none_of_the_page_s_is_refused() {
        for body in [
            "",
            "token=t",
            "sheet=s",
            "token=t&sheet",
            "token=t&sheet=s&",
            "token=t&token=t&sheet=s",
            "token=t&sheet=s&sheet=s",
            "token=t&sheet=s&question=q",
            "token=t&sheet=%",
            "token=t&sheet=%4",
            "token=t&sheet=%zz",
            "token=t&sheet=%ff",
            "Token=t&sheet=s",
        ] {
            assert_eq!(Form::parse(body.as_bytes()).unwrap_err(), FormError::Broken, "{body}");
        }
    }
}
