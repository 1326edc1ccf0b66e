//! What the service answered. Refuses no status by itself: [`Response::error_for_status`] does.

use std::str::from_utf8;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::error::clipped;

/// What the service answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    /// An empty one, for a test.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn from_parts(status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        Self { status, headers, body }
    }

    /// With a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// With a body of JSON.
    pub fn with_json<T: Serialize + ?Sized>(self, body: &T) -> Self {
        // What a test writes down is JSON; were it none, the test would read an empty body and fail.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { body, ..self }
    }

    /// With a body of any bytes.
    pub fn with_body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// A header's value; the first, should there be several.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// All headers; names in lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as text.
    pub fn text(&self) -> Result<&str, Error> {
        from_utf8(&self.body).map_err(|error| Error::Json(format!("the answer is no text: {error}")))
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// What stands in `data` of a GraphQL answer. Errors in it are an error, data or not.
    pub fn data<T: DeserializeOwned>(&self) -> Result<T, Error> {
        #[derive(Deserialize)]
        struct Answer {
            data: Option<Value>,
            #[serde(default)]
            errors: Vec<Fault>,
        }
        #[derive(Deserialize)]
        struct Fault {
            #[serde(default)]
            message: String,
        }
        let answer: Answer = match self.json() {
            Ok(answer) => answer,
            Err(_) if !self.is_success() => return Err(self.refusal()),
            Err(error) => return Err(error),
        };
        if let Some(fault) = answer.errors.first() {
            return Err(Error::GraphQl(clipped(&fault.message)));
        }
        if !self.is_success() {
            return Err(self.refusal());
        }
        Ok(serde_json::from_value(answer.data.unwrap_or_default())?)
    }

    /// Itself where the status is 2xx; else an error with the status and the service's `message`, `error.message` or
    /// `error`.
    pub fn error_for_status(self) -> Result<Self, Error> {
        if self.is_success() { Ok(self) } else { Err(self.refusal()) }
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn refusal(&self) -> Error {
        let body: Value = self.json().unwrap_or_default();
        let said = ["/message", "/error/message", "/error"]
            .into_iter()
            .find_map(|at| body.pointer(at).and_then(Value::as_str))
            .map(clipped);
        Error::Status { status: self.status, said }
    }

    /// The query of the `Link` header's `rel="next"`, decoded. RFC 8288.
    pub(crate) fn next_query(&self) -> Option<Vec<(String, String)>> {
        let next = |link: &str| {
            let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
            let is_next = parameters.split(';').any(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                let mut words = value.trim().trim_matches('"').split_ascii_whitespace();
                name.trim().eq_ignore_ascii_case("rel") && words.any(|word| word.eq_ignore_ascii_case("next"))
            });
            is_next.then(|| target.split_once('?').map_or("", |(_, query)| query).to_owned())
        };
        let links = self.headers.iter().filter(|(name, _)| name == "link");
        // A comma may stand in a target, but not with a `<` behind it.
        let query = links.flat_map(|(_, value)| split_links(value)).find_map(|link| next(&link))?;
        Some(pairs(query.split('#').next().unwrap_or_default()))
    }
}

fn split_links(value: &str) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for part in value.split(',') {
        match links.last_mut() {
            Some(last) if !part.trim_start().starts_with('<') => {
                last.push(',');
                last.push_str(part);
            }
            _ => links.push(part.to_owned()),
        }
    }
    links
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&key.replace('+', " ")), decoded(&value.replace('+', " ")))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// Without percent-escapes; a broken one stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|hex| *byte == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let value =
            digits.and_then(|hex| from_utf8(hex).ok()).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(value.unwrap_or(*byte));
        rest = if value.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
