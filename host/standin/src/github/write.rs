//! What a client asks to be written: issues opened and changed, comments added.
//!
//! A body is checked as GitHub checks it: what is no JSON object is 400, what is absent or of the wrong kind is 422,
//! and then nothing is written.

use serde_json::{Map, Value, json};

use crate::Reply;
use crate::service::message;

use super::issue::{Comment, Issue};
use super::people::Account;

/// Longest title, in characters.
const TITLE_MAX: usize = 256;

/// A request body that has been read.
pub(crate) struct Wanted(Map<String, Value>);

impl Wanted {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Refused> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            Ok(_) => Err(Refused::NotAnObject),
            Err(_) => Err(Refused::NotJson),
        }
    }

    /// A text that may be absent or `null`.
    fn text(&self, resource: &'static str, name: &'static str) -> Result<Option<String>, Refused> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(invalid(resource, name, "invalid")),
        }
    }

    /// A list of texts, or of objects with this member; `None` where it is absent.
    fn list(
        &self,
        resource: &'static str,
        name: &'static str,
        member: &'static str,
    ) -> Result<Option<Vec<String>>, Refused> {
        let items = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(invalid(resource, name, "invalid")),
        };
        let text = |item: &Value| item.as_str().or_else(|| item.get(member)?.as_str()).map(str::to_owned);
        let texts: Option<Vec<String>> = items.iter().map(text).collect();
        texts.map(Some).ok_or_else(|| invalid(resource, name, "invalid"))
    }

    fn title(&self) -> Result<Option<String>, Refused> {
        let title = self.text("Issue", "title")?;
        match &title {
            Some(text) if text.trim().is_empty() => Err(invalid("Issue", "title", "missing_field")),
            Some(text) if text.chars().count() > TITLE_MAX => Err(invalid("Issue", "title", "too_long")),
            _ => Ok(title),
        }
    }

    /// A new issue; its id, number and time are given.
    pub(crate) fn issue(
        &self,
        id: u64,
        number: u64,
        now: i64,
        author: &Account,
        people: &[Account],
    ) -> Result<Issue, Refused> {
        let title = self.title()?.ok_or_else(|| invalid("Issue", "title", "missing_field"))?;
        Ok(Issue {
            id,
            number,
            title,
            body: self.text("Issue", "body")?,
            author: author.clone(),
            labels: self.list("Issue", "labels", "name")?.unwrap_or_default(),
            assignees: self.assignees(people)?.unwrap_or_default(),
            comments: Vec::new(),
            created: now,
            updated: now,
            closed: None,
            pull: None,
        })
    }

    fn assignees(&self, people: &[Account]) -> Result<Option<Vec<Account>>, Refused> {
        let Some(logins) = self.list("Issue", "assignees", "login")? else { return Ok(None) };
        let found: Option<Vec<Account>> = logins
            .iter()
            .map(|login| people.iter().find(|person| person.login.eq_ignore_ascii_case(login)).cloned())
            .collect();
        found.map(Some).ok_or_else(|| invalid("Issue", "assignees", "invalid"))
    }

    /// Changes an issue; all of it or, where something is wrong, nothing.
    pub(crate) fn change(&self, issue: &Issue, now: i64) -> Result<Issue, Refused> {
        let mut changed = issue.clone();
        if let Some(title) = self.title()? {
            changed.title = title;
        }
        if self.0.contains_key("body") {
            changed.body = self.text("Issue", "body")?;
        }
        if let Some(labels) = self.list("Issue", "labels", "name")? {
            changed.labels = labels;
        }
        let reason = self.text("Issue", "state_reason")?;
        match self.text("Issue", "state")?.as_deref() {
            None => {}
            Some("open") => changed.closed = None,
            Some("closed") => {
                changed.closed = Some((now, reason.unwrap_or_else(|| "completed".to_owned())));
            }
            Some(_) => return Err(invalid("Issue", "state", "invalid")),
        }
        changed.updated = now;
        Ok(changed)
    }

    /// Replaces the assignees, where the request says so.
    pub(crate) fn assign(&self, issue: &mut Issue, people: &[Account]) -> Result<(), Refused> {
        if let Some(assignees) = self.assignees(people)? {
            issue.assignees = assignees;
        }
        Ok(())
    }

    /// A new comment; its id and time are given.
    pub(crate) fn comment(&self, id: u64, now: i64, author: &Account) -> Result<Comment, Refused> {
        let body = self
            .text("IssueComment", "body")?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| invalid("IssueComment", "body", "missing_field"))?;
        Ok(Comment { id, author: author.clone(), body, created: now })
    }
}

/// Why nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The body is no JSON.
    NotJson,
    /// The body is JSON, but no object.
    NotAnObject,
    /// The repository takes no writes.
    Archived,
    /// A member is absent or wrong.
    Invalid { resource: &'static str, field: &'static str, code: &'static str },
}

impl Refused {
    /// The refusal as GitHub words it.
    pub(crate) fn reply(self) -> Reply {
        match self {
            Self::NotJson => message(400, "Problems parsing JSON"),
            Self::NotAnObject => message(400, "Body should be a JSON object"),
            Self::Archived => message(403, "Repository was archived so is read-only."),
            Self::Invalid { resource, field, code } => {
                let body = json!({
                    "message": "Validation Failed",
                    "errors": [{ "resource": resource, "code": code, "field": field }],
                    "documentation_url": "https://docs.github.com/rest",
                    "status": "422",
                });
                Reply::json(422, &body)
            }
        }
    }
}

fn invalid(resource: &'static str, field: &'static str, code: &'static str) -> Refused {
    Refused::Invalid { resource, field, code }
}
