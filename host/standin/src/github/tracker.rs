//! A repository's issues, pull requests and comments: listed, shown, opened, changed.
//!
//! INVARIANT: a write that is refused changes nothing.

use crate::Reply;
use crate::log::Seen;
use crate::service::not_found;

use super::issue::{Issue, Place, first_issues};
use super::object::Object;
use super::page::Page;
use super::people::Account;
use super::routes::asked;
use super::write::{Refused, Wanted};
use super::{Github, State};

impl Github {
    /// Runs something on a repository's issues, making them first where nobody has asked for them yet.
    pub(super) fn with_issues<T>(
        &self,
        at: Place<'_>,
        work: impl FnOnce(&mut Vec<Issue>, &mut Moment<'_>) -> T,
    ) -> T {
        self.with_state(|state| {
            let id = at.repository.id;
            let mut issues = state
                .issues
                .remove(&id)
                .unwrap_or_else(|| first_issues(self.seed, at.repository, &self.people, self.first_issues));
            let result = work(&mut issues, &mut Moment(state));
            state.issues.insert(id, issues);
            result
        })
    }

    pub(super) fn issue(
        &self,
        at: Place<'_>,
        number: &str,
        show: impl FnOnce(&mut Issue, &mut Moment<'_>) -> Reply,
    ) -> Reply {
        self.with_issues(at, |issues, moment| {
            match issues.iter_mut().find(|issue| issue.number.to_string() == number) {
                Some(issue) => show(issue, moment),
                None => not_found(),
            }
        })
    }

    pub(super) fn issues(&self, seen: &Seen, at: Place<'_>) -> Reply {
        let labels = asked(seen, "labels");
        let wanted = |issue: &Issue| {
            in_state(issue, &asked(seen, "state"))
                && labels
                    .split(',')
                    .filter(|label| !label.is_empty())
                    .all(|label| issue.labels.iter().any(|given| given.eq_ignore_ascii_case(label)))
        };
        self.with_issues(at, |issues, _| {
            let found: Vec<&Issue> = issues.iter().rev().filter(|issue| wanted(issue)).collect();
            let page = Page::of(seen);
            let shown = page.slice(&found).iter().map(|issue| issue.shown(at).text());
            page.reply(&self.by_id(at, "/issues"), found.len(), shown)
        })
    }

    pub(super) fn pulls(&self, seen: &Seen, at: Place<'_>) -> Reply {
        self.with_issues(at, |issues, _| {
            let state = asked(seen, "state");
            let found: Vec<&Issue> =
                issues.iter().rev().filter(|issue| issue.pull.is_some() && in_state(issue, &state)).collect();
            let page = Page::of(seen);
            let shown =
                page.slice(&found).iter().filter_map(|issue| issue.shown_as_pull(at)).map(Object::text);
            page.reply(&self.by_id(at, "/pulls"), found.len(), shown)
        })
    }

    pub(super) fn open_issue(&self, seen: &Seen, at: Place<'_>, viewer: &Account) -> Result<Reply, Refused> {
        refuse_archived(at)?;
        let wanted = Wanted::read(&seen.body)?;
        self.with_issues(at, |issues, moment| {
            let number = issues.iter().map(|issue| issue.number).max().unwrap_or(0).saturating_add(1);
            let issue = wanted.issue(moment.fresh_id(), number, moment.tick(), viewer, &self.people)?;
            let reply = Reply::json_text(201, issue.shown(at).text()).header(
                "location",
                &format!("{}/repos/{}/issues/{number}", self.base, at.repository.full_name()),
            );
            issues.push(issue);
            Ok(reply)
        })
    }

    pub(super) fn change_issue(&self, seen: &Seen, at: Place<'_>, number: &str) -> Reply {
        self.issue(at, number, |issue, moment| {
            let changed = refuse_archived(at).and_then(|()| Wanted::read(&seen.body)).and_then(|wanted| {
                let mut changed = wanted.change(issue, moment.tick())?;
                wanted.assign(&mut changed, &self.people)?;
                Ok(changed)
            });
            match changed {
                Ok(changed) => {
                    *issue = changed;
                    Reply::json_text(200, issue.shown(at).text())
                }
                Err(refused) => refused.reply(),
            }
        })
    }

    pub(super) fn add_comment(&self, seen: &Seen, at: Place<'_>, number: &str, viewer: &Account) -> Reply {
        self.issue(at, number, |issue, moment| {
            let comment = refuse_archived(at)
                .and_then(|()| Wanted::read(&seen.body))
                .and_then(|wanted| wanted.comment(moment.fresh_id(), moment.tick(), viewer));
            match comment {
                Ok(comment) => {
                    issue.updated = comment.created;
                    let url = format!(
                        "{}/repos/{}/issues/comments/{}",
                        self.base,
                        at.repository.full_name(),
                        comment.id
                    );
                    let reply = Reply::json_text(201, comment.shown(at, issue)).header("location", &url);
                    issue.comments.push(comment);
                    reply
                }
                Err(refused) => refused.reply(),
            }
        })
    }
}

/// What a write may use of the world's state: its clock and its numbers.
pub(super) struct Moment<'a>(&'a mut State);

impl Moment<'_> {
    fn tick(&mut self) -> i64 {
        self.0.tick()
    }

    fn fresh_id(&mut self) -> u64 {
        self.0.fresh_id()
    }
}

/// `all`, `closed`, or anything else, which means open, as at GitHub.
fn in_state(issue: &Issue, state: &str) -> bool {
    match state {
        "all" => true,
        "closed" => issue.closed.is_some(),
        _ => issue.closed.is_none(),
    }
}

fn refuse_archived(at: Place<'_>) -> Result<(), Refused> {
    if at.repository.archived {
        return Err(Refused::Archived);
    }
    Ok(())
}
