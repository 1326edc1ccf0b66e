//! What is posted: read strictly, and then not believed.
//!
//! Refuses what two readers could read differently, and any member that is none of these. INVARIANT: the args reach the spine as
//! they were written, every digit of them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pinhole_grant::{CallKey, PrincipalId};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{OpId, ServiceId, check_json};
use pinhole_runtime::CallRequest;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::answer::No;
use super::tools::Dialect;

/// Most characters of what is wrong that are repeated.
const SAID_MAX: usize = 200;

/// A call as it is posted.
pub(super) struct Posted {
    request: CallRequest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    service: String,
    op: String,
    #[serde(default)]
    args: Option<Box<RawValue>>,
    grant: Box<RawValue>,
    #[serde(default)]
    next: Option<String>,
    #[serde(default)]
    key: Option<String>,
}

impl Posted {
    /// Reads a body.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, No> {
        let body: Body = strict(bytes)?;
        let service = ServiceId::parse(&body.service).map_err(|error| malformed(&error.to_string()))?;
        let op = OpId::parse(&body.op).map_err(|error| malformed(&error.to_string()))?;
        let args = body.args.map_or_else(|| "{}".to_owned(), |args| String::from(Box::<str>::from(args)));
        let mut request = CallRequest::new(service, op, args, grant(&body.grant)?);
        request.next = body.next;
        request.key = body
            .key
            .as_deref()
            .map(CallKey::parse)
            .transpose()
            .map_err(|error| malformed(&error.to_string()))?;
        Ok(Self { request })
    }

    /// The call, on behalf of somebody.
    pub(super) fn by(self, principal: Option<PrincipalId>) -> CallRequest {
        let mut request = self.request;
        request.principal = principal;
        request
    }
}

/// What a research session is to be opened with.
pub(super) struct Opening {
    /// The sealed grants.
    pub(super) grants: Vec<Vec<u8>>,
    /// In whose form its tools are given.
    pub(super) dialect: Dialect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpeningBody {
    grants: Vec<Box<RawValue>>,
    #[serde(default)]
    dialect: Option<String>,
}

impl Opening {
    /// Reads a body.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, No> {
        let body: OpeningBody = strict(bytes)?;
        let dialect = body.dialect.as_deref().unwrap_or("messages");
        let dialect = Dialect::named(dialect)
            .ok_or_else(|| malformed("`dialect` is `messages`, `functions` or `mcp`"))?;
        let grants = body.grants.iter().map(|raw| grant(raw)).collect::<Result<_, _>>()?;
        Ok(Self { grants, dialect })
    }
}

/// A call of a session's tool, as a model asks for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    /// The tool's name.
    pub(super) tool: String,
    /// What it is given.
    #[serde(default)]
    pub(super) args: JsonObject,
}

impl Wish {
    /// Reads a body.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, No> {
        strict(bytes)
    }
}

/// A document that is read in one way alone.
fn strict<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, No> {
    check_json(bytes).map_err(|error| malformed(&error.to_string()))?;
    // A list of values in the order of the members would be read as one.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(malformed("what is posted is a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| malformed(&error.to_string()))
}

/// A sealed grant: the envelope itself, or its bytes in base64.
fn grant(raw: &RawValue) -> Result<Vec<u8>, No> {
    let text = raw.get();
    if text.starts_with('{') {
        return Ok(text.as_bytes().to_vec());
    }
    let wrong = || malformed("`grant` is the sealed envelope as an object, or its bytes in base64 as a text");
    let text: String = serde_json::from_str(text).map_err(|_no_text| wrong())?;
    STANDARD.decode(&text).or_else(|_other| URL_SAFE_NO_PAD.decode(&text)).map_err(|_neither| wrong())
}

fn malformed(why: &str) -> No {
    No::Malformed(visible(&why.chars().take(SAID_MAX).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CallRequest, String> {
        match Posted::read(text.as_bytes()) {
            Ok(posted) => Ok(posted.by(None)),
            Err(No::Malformed(why)) => Err(why),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn args_keep_every_digit_and_a_grant_is_itself_or_base64() {
        let text =
            r#"{"service":"github","op":"get_repo","args":{"id": 9007199254740993.10},"grant":{"v": 1}}"#;
        let call = read(text).unwrap();
        assert_eq!(
            (call.args.as_str(), call.grant.as_slice()),
            (r#"{"id": 9007199254740993.10}"#, &br#"{"v": 1}"#[..])
        );
        for encoded in ["eyJ2IjogMX0/Pz8=", "eyJ2IjogMX0_Pz8"] {
            let text = format!(r#"{{"service":"github","op":"get_repo","grant":"{encoded}","next":"n"}}"#);
            let call = read(&text).unwrap();
            assert_eq!((call.args.as_str(), call.grant.as_slice()), ("{}", &br#"{"v": 1}???"#[..]));
            assert_eq!(call.next.as_deref(), Some("n"));
        }
    }

    #[test]
    fn what_is_ambiguous_or_unknown_is_refused() {
        let deep = format!(
            r#"{{"service":"a1","op":"b","grant":{{}},"args":{}{}}}"#,
            "[".repeat(70),
            "]".repeat(70)
        );
        for (text, said) in [
            ("", "EOF"),
            ("[]", "object"),
            (r#"["github","get_repo",{},{},null,null]"#, "object"),
            (r#"{"service":"github","op":"get_repo"}"#, "grant"),
            (r#"{"service":"github","op":"get_repo","grant":{},"gront":1}"#, "gront"),
            (r#"{"service":"github","service":"stripe","op":"get_repo","grant":{}}"#, "second time"),
            (r#"{"service":"github","op":"get_repo","grant":{},"args":{"a":1,"a":2}}"#, "second time"),
            (r#"{"service":"github","op":"get_repo","grant":{}} {}"#, "follows"),
            (r#"{"service":"../x","op":"get_repo","grant":{}}"#, "service"),
            (r#"{"service":"github","op":"get_repo","grant":{},"key":"a b"}"#, "a key is"),
            (r#"{"service":"github","op":"get_repo","grant":7}"#, "`grant`"),
            (r#"{"service":"github","op":"get_repo","grant":"!"}"#, "`grant`"),
            (&deep, ""),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.to_lowercase().contains(&said.to_lowercase()), "{text}: {why}");
        }
    }
}
