//! What a failure of the wire comes to: a code, whether the request was sent, and words of our own.

use crate::net::{WireError, WireErrorKind};
use crate::outcome::{Code, Refusal};

/// What a failure of the wire comes to, for an op that allows so many bytes of an answer.
pub(super) fn wire_refusal(error: &WireError, response_bytes: u64) -> Refusal {
    let code = match &error.kind {
        WireErrorKind::Unsendable => Code::Unsendable,
        WireErrorKind::AddressRefused => Code::AddressRefused,
        WireErrorKind::NameNotFound => Code::NameNotFound,
        WireErrorKind::Connect => Code::ConnectFailed,
        WireErrorKind::Tls => Code::TlsFailed,
        WireErrorKind::Timeout { .. } => Code::TimedOut,
        WireErrorKind::Redirected { .. } => Code::Redirected,
        WireErrorKind::ResponseTooLarge => Code::ResponseTooLarge,
        WireErrorKind::HeadersTooLarge => Code::HeadersTooLarge,
        WireErrorKind::BadEncoding => Code::BadEncoding,
        WireErrorKind::Interrupted => Code::Interrupted,
        WireErrorKind::BadResponse => Code::BadResponse,
    };
    let refusal = Refusal::new(code).sent(error.sent).detail(error.detail());
    match &error.kind {
        WireErrorKind::ResponseTooLarge => {
            refusal.saying(format!("the answer is larger than the {response_bytes} bytes that the op allows"))
        }
        WireErrorKind::Redirected { status } => refusal.saying(format!(
            "the service answered with a redirect (HTTP {}), which is never followed",
            status.as_u16()
        )),
        _ => refusal,
    }
}
