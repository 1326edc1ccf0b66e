//! An outcome as it is kept for whoever asks again with the same key: what came of the run, without what it took.
//!
//! Says `None` to whatever is not exactly one. What was kept has been scrubbed and clipped already; what reads it back has opened
//! its seal.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Code, Picked, Refusal, UntrustedText};
use crate::net::Sent;
use crate::project::Tree;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    done: Option<DoneWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<RefusedWire>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DoneWire {
    result: Box<RawValue>,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedWire {
    code: String,
    message: String,
    hint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    untrusted: Option<String>,
}

/// What came of a run that the service answered, and with which status, as text; `None` where it cannot be written.
pub(crate) fn write(verdict: &Result<Picked, Refusal>, status: Option<u16>) -> Option<String> {
    let wire = match verdict {
        Ok(picked) => {
            let result = RawValue::from_string(picked.result.to_string()).ok()?;
            let done = DoneWire { result, notes: picked.notes.clone() };
            Wire { status, done: Some(done), refused: None }
        }
        Err(refusal) => {
            let refused = RefusedWire {
                code: refusal.code.as_str().to_owned(),
                message: refusal.message.clone(),
                hint: refusal.hint.clone(),
                untrusted: refusal.untrusted.as_ref().map(|text| text.as_str().to_owned()),
            };
            Wire { status, done: None, refused: Some(refused) }
        }
    };
    serde_json::to_string(&wire).ok()
}

/// Reads back what [`write`] wrote.
pub(crate) fn read(text: &[u8]) -> Option<(Result<Picked, Refusal>, Option<u16>)> {
    let Wire { status, done, refused } = serde_json::from_slice(text).ok()?;
    let verdict = match (done, refused) {
        (Some(DoneWire { result, notes }), None) => {
            let result = Tree::parse(result.get().as_bytes()).ok()?;
            Ok(Picked { result, next: None, notes, unfollowed: None, unreceipted: false })
        }
        (None, Some(RefusedWire { code, message, hint, untrusted })) => {
            let code = *Code::ALL.iter().find(|known| known.as_str() == code)?;
            let untrusted = match untrusted {
                Some(text) if UntrustedText::is_one(&text) => Some(UntrustedText(text.into())),
                Some(_) => return None,
                None => None,
            };
            let refusal = Refusal::new(code).saying(message).hinting(hint).sent(Sent::Yes);
            Err(Refusal { untrusted, ..refusal })
        }
        _ => return None,
    };
    Some((verdict, status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_back_to_the_digit() {
        let result = Tree::parse(br#"{"id":9007199254740993,"price":1.10,"note":null}"#).unwrap();
        let picked = Picked {
            result: result.clone(),
            next: None,
            notes: vec!["a field".into()],
            unfollowed: None,
            unreceipted: false,
        };
        let text = write(&Ok(picked), Some(201)).unwrap();
        let (back, status) = read(text.as_bytes()).unwrap();
        let back = back.unwrap();
        assert_eq!((back.result, back.notes, status), (result, vec!["a field".to_owned()], Some(201)));

        let refusal = Refusal {
            untrusted: Some(UntrustedText::new("no \u{202e}such")),
            ..Refusal::new(Code::UpstreamInvalid).sent(Sent::Yes)
        };
        let text = write(&Err(refusal.clone()), None).unwrap();
        assert_eq!(read(text.as_bytes()).unwrap().0.unwrap_err(), refusal);
    }

    #[test]
    fn whatever_is_not_exactly_one_is_none() {
        for text in [
            "",
            "{}",
            r#"{"done":{"result":1,"notes":[]},"refused":{"code":"not_json","message":"","hint":""}}"#,
            r#"{"refused":{"code":"no_such_code","message":"","hint":""}}"#,
            r#"{"refused":{"code":"not_json","message":"","hint":"","untrusted":"a\nb"}}"#,
            r#"{"done":{"result":1,"notes":[]},"more":1}"#,
        ] {
            assert!(read(text.as_bytes()).is_none(), "{text}");
        }
    }
}
