//! A request to the service of the manifest. It has no host and no key; the host adds both.

use std::fmt::Display;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Error, Host, Path, Response};

/// A method. In format 1 a module only reads: [`Method::Get`], [`Method::Head`], and [`Method::Post`] where the line of
/// the manifest says that it reads or fixes a GraphQL document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say all")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// As it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// A request. It must match a line of the op's `requests` in the manifest, else the host ends the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Option<String>,
    fault: Option<String>,
}

impl Request {
    /// Any method.
    pub fn new(method: Method, path: impl Into<Path>) -> Self {
        let Path { text, fault } = path.into();
        let fault = fault.map(str::to_owned);
        Self { method, path: text, query: Vec::new(), headers: Vec::new(), body: None, fault }
    }

    /// `GET`.
    pub fn get(path: impl Into<Path>) -> Self {
        Self::new(Method::Get, path)
    }

    /// `HEAD`.
    pub fn head(path: impl Into<Path>) -> Self {
        Self::new(Method::Head, path)
    }

    /// `POST`, for a line that says `"reads": true`.
    pub fn post(path: impl Into<Path>) -> Self {
        Self::new(Method::Post, path)
    }

    /// A GraphQL query. The document is, letter by letter, that of the line: keep it in a file and use `include_str!`.
    pub fn graphql<V: Serialize + ?Sized>(path: impl Into<Path>, document: &str, variables: &V) -> Self {
        let request = Self::post(path);
        match serde_json::to_value(variables) {
            Ok(variables) => request.json(&json!({"query": document, "variables": variables})),
            Err(error) => Self { fault: Some(format!("its variables are not JSON: {error}")), ..request },
        }
    }

    /// Adds a parameter of the query, which the host encodes. The line lists its key.
    pub fn query(mut self, key: &str, value: impl Display) -> Self {
        self.query.push((key.to_owned(), value.to_string()));
        self
    }

    /// The same, and nothing where there is no value.
    pub fn query_if(self, key: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.query(key, value),
            None => self,
        }
    }

    /// Sets a parameter of the query: whatever it had under this key is gone.
    pub fn set_query(mut self, key: &str, value: impl Display) -> Self {
        self.query.retain(|(other, _)| other != key);
        self.query(key, value)
    }

    /// Adds a header. The line lists its name; the manifest's own and the key are the host's to add.
    pub fn header(mut self, name: &str, value: impl Display) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.to_string()));
        self
    }

    /// Sets the body.
    pub fn json<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        match serde_json::to_string(body) {
            Ok(text) => self.body = Some(text),
            Err(error) => self.fault = Some(format!("its body is not JSON: {error}")),
        }
        self
    }

    /// Sets a variable of a GraphQL query, or a member of any other JSON object that is the body.
    pub(crate) fn set_member(self, within: &str, name: &str, value: Value) -> Self {
        let body = self.body.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(mut body) = body else { return self };
        let holder = if within.is_empty() { Some(&mut body) } else { body.get_mut(within) };
        if let Some(Value::Object(members)) = holder {
            members.insert(name.to_owned(), value);
        }
        self.json(&body)
    }

    pub(crate) fn with_query(self, query: Vec<(String, String)>) -> Self {
        Self { query, ..self }
    }

    /// Sends it and waits for the whole answer, whatever its status.
    pub fn send(&self, host: &dyn Host) -> Result<Response, Error> {
        self.sendable()?;
        Ok(host.send(self)?)
    }

    /// That a value has a place in it.
    pub(crate) fn sendable(&self) -> Result<(), Error> {
        match &self.fault {
            Some(fault) => Err(Error::Request(fault.clone())),
            None => Ok(()),
        }
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The path, encoded, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The pairs of the query, not encoded, in their order.
    pub fn query_pairs(&self) -> &[(String, String)] {
        &self.query
    }

    /// The headers; names in lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The body, as JSON.
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }
}
