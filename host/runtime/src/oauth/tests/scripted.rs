//! A way out that answers what it is told to, and keeps what it was handed.

use std::collections::VecDeque;
use std::sync::Mutex;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use pinhole_grant::Dial;
use pinhole_manifest::ApiHost;

use crate::net::{
    Body, Exchange, Incoming, Media, Outgoing, Permit, Posting, Sent, TokenPermit, Wire, WireError,
    WireErrorKind, WireLimits,
};

pub(super) const DIAL: Dial = Dial::Overridden;

/// What comes back.
pub(super) enum Reply {
    Says(u16, &'static str, String),
    After(u16, &'static str),
    Fails(WireErrorKind, Sent),
}

impl Reply {
    #[expect(clippy::needless_pass_by_value, reason = "a test writes its value in place")]
    pub(super) fn json(status: u16, body: impl ToString) -> Self {
        Self::Says(status, "application/json", body.to_string())
    }

    pub(super) fn pair() -> Self {
        Self::json(200, r#"{"access_token":"access-2","refresh_token":"refresh-2","token_type":"bearer"}"#)
    }

    fn incoming(self) -> Result<Incoming, WireError> {
        let incoming = |status, headers, body: String| {
            let status = StatusCode::from_u16(status).unwrap();
            Ok(Incoming { status, headers, body: Body::whole(body) })
        };
        let header = |name, value: &str| {
            HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())])
        };
        match self {
            Self::Says(status, kind, body) => incoming(status, header("content-type", kind), body),
            Self::After(status, after) => incoming(status, header("retry-after", after), "{}".to_owned()),
            Self::Fails(kind, sent) => Err(WireError::new(kind, sent, "scripted")),
        }
    }
}

/// What was handed over.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) form: Vec<(String, String)>,
    pub(super) authorization: Option<String>,
    pub(super) limits: WireLimits,
}

impl Asked {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub(super) struct Scripted {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
}

impl Scripted {
    pub(super) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: Mutex::new(replies.into_iter().collect()), asked: Mutex::default() }
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Wire for Scripted {
    fn exchange(&self, _permit: Permit, _request: Outgoing, _limits: WireLimits) -> Exchange<'_> {
        panic!("the OAuth room runs no op")
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        assert_eq!(posting.media, Media::Form);
        let form = url::form_urlencoded::parse(&posting.body).into_owned().collect();
        let authorization = posting.authorization.map(|text| text.to_string());
        let url = permit.url().as_str().to_owned();
        self.asked.lock().unwrap().push(Asked { url, form, authorization, limits });
        let reply = self.replies.lock().unwrap().pop_front().expect("no more is scripted");
        Box::pin(std::future::ready(reply.incoming()))
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        if host.as_str().ends_with(".thing.dev") { DIAL } else { Dial::Real }
    }
}
