//! Which path is answered by what. A path that is not here is GitHub's 404; so is a method that it does not take.

use crate::Reply;
use crate::config::{Plus, decoded, pairs};
use crate::log::Seen;
use crate::service::not_found;

use super::activity::{notifications, releases, runs};
use super::issue::{Issue, Place, first_issues};
use super::object::{Object, array};
use super::page::Page;
use super::people::Account;
use super::repository::{Repository, listing_of};
use super::search::Search;
use super::write::{Wanted, invalid};
use super::{Github, GithubWorld, State};

impl Github {
    pub(super) fn route(&self, seen: &Seen) -> Reply {
        let segments: Vec<String> =
            seen.path.trim_matches('/').split('/').map(|segment| decoded(segment, Plus::Plus)).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let read = seen.method == "GET" || seen.method == "HEAD";
        match segments.as_slice() {
            ["repos", owner, name, rest @ ..] => match self.repository(owner, name) {
                Some(repository) => self.in_repository(seen, repository, rest),
                None => not_found(),
            },
            ["repositories", id, rest @ ..] => {
                match self.repositories.iter().find(|repository| repository.id.to_string() == *id) {
                    Some(repository) => self.in_repository(seen, repository, rest),
                    None => not_found(),
                }
            }
            other if read => self.at_top(seen, other),
            _ => not_found(),
        }
    }

    fn at_top(&self, seen: &Seen, segments: &[&str]) -> Reply {
        let Some(viewer) = self.people.first() else { return not_found() };
        let (ours, own) = self.repositories.split_at_checked(self.organisations).unwrap_or((&[], &[]));
        match segments {
            ["user"] => Reply::json_text(200, viewer.viewer(&self.base)),
            ["user", "repos"] => self.listing(seen, own, &format!("{}/user/repos", self.base)),
            ["users", login] => {
                match self.people.iter().find(|person| person.login.eq_ignore_ascii_case(login)) {
                    Some(person) => Reply::json_text(200, person.short(&self.base)),
                    None => not_found(),
                }
            }
            ["orgs", login] if self.is_ours(login) => {
                Reply::json_text(200, self.organisation.organisation(&self.base, self.organisations))
            }
            ["orgs", login, "repos"] if self.is_ours(login) => self.organisation_listing(seen, ours),
            ["organizations", id, "repos"] if *id == GithubWorld::ORGANISATION_ID.to_string() => {
                self.organisation_listing(seen, ours)
            }
            ["search", "issues"] => self.search(seen),
            ["notifications"] => {
                let all = notifications(self.seed, &self.base, ours);
                let page = Page::of(seen);
                page.reply(
                    &format!("{}/notifications", self.base),
                    all.len(),
                    page.slice(&all).iter().cloned(),
                )
            }
            _ => not_found(),
        }
    }

    fn is_ours(&self, login: &str) -> bool {
        self.organisation.login.eq_ignore_ascii_case(login)
    }

    fn repository(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.repositories.iter().find(|repository| {
            repository.owner.login.eq_ignore_ascii_case(owner) && repository.name.eq_ignore_ascii_case(name)
        })
    }

    fn organisation_listing(&self, seen: &Seen, ours: &[Repository]) -> Reply {
        // As at GitHub, the links lead to the organisation by its number, whichever way it was asked for.
        self.listing(
            seen,
            ours,
            &format!("{}/organizations/{}/repos", self.base, GithubWorld::ORGANISATION_ID),
        )
    }

    fn listing(&self, seen: &Seen, all: &[Repository], target: &str) -> Reply {
        self.kept(seen, || {
            let page = Page::of(seen);
            page.linked(Reply::json_text(200, listing_of(page.slice(all))), target, all.len())
        })
    }

    fn in_repository(&self, seen: &Seen, repository: &Repository, rest: &[&str]) -> Reply {
        let at = Place { base: &self.base, repository };
        let Some(viewer) = self.people.first() else { return not_found() };
        match (seen.method.as_str(), rest) {
            ("GET" | "HEAD", []) => Reply::json_text(200, repository.whole(&self.base)),
            ("GET" | "HEAD", ["issues"]) => self.issues(seen, at),
            ("POST", ["issues"]) => self.open_issue(seen, at, viewer).unwrap_or_else(|refusal| refusal),
            ("GET" | "HEAD", ["issues", number]) => {
                self.issue(at, number, |issue, _| Reply::json_text(200, issue.shown(at).text()))
            }
            ("PATCH", ["issues", number]) => self.change_issue(seen, at, number),
            ("GET" | "HEAD", ["issues", number, "comments"]) => self.issue(at, number, |issue, _| {
                let page = Page::of(seen);
                let shown = page.slice(&issue.comments).iter().map(|comment| comment.shown(at, issue));
                page.reply(
                    &self.by_id(at, &format!("/issues/{number}/comments")),
                    issue.comments.len(),
                    shown,
                )
            }),
            ("POST", ["issues", number, "comments"]) => self.add_comment(seen, at, number, viewer),
            ("GET" | "HEAD", ["pulls"]) => self.pulls(seen, at),
            ("GET" | "HEAD", ["pulls", number]) => self.issue(at, number, |issue, _| {
                issue.whole_pull(at).map_or_else(not_found, |text| Reply::json_text(200, text))
            }),
            ("GET" | "HEAD", ["releases"]) => {
                let all = releases(self.seed, at, viewer);
                let page = Page::of(seen);
                page.reply(&self.by_id(at, "/releases"), all.len(), page.slice(&all).iter().cloned())
            }
            ("GET" | "HEAD", ["releases", "latest"]) => {
                // The newest is a prerelease, which GitHub does not call the latest.
                let all = releases(self.seed, at, viewer);
                all.get(1).map_or_else(not_found, |text| Reply::json_text(200, text.clone()))
            }
            ("GET" | "HEAD", ["actions", "runs"]) => {
                let all = runs(self.seed, at, viewer);
                let page = Page::of(seen);
                let items = array(page.slice(&all));
                let body = Object::new().put("total_count", all.len()).raw("workflow_runs", &items).text();
                page.linked(Reply::json_text(200, body), &self.by_id(at, "/actions/runs"), all.len())
            }
            _ => not_found(),
        }
    }

    /// The URL that a repository's links lead to: by its number.
    fn by_id(&self, at: Place<'_>, rest: &str) -> String {
        format!("{}/repositories/{}{rest}", self.base, at.repository.id)
    }

    /// Runs something on a repository's issues, making them first where nobody has asked for them yet.
    fn with_issues<T>(&self, at: Place<'_>, work: impl FnOnce(&mut Vec<Issue>, &mut Moment<'_>) -> T) -> T {
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

    fn issue(
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

    fn issues(&self, seen: &Seen, at: Place<'_>) -> Reply {
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

    fn pulls(&self, seen: &Seen, at: Place<'_>) -> Reply {
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

    fn open_issue(&self, seen: &Seen, at: Place<'_>, viewer: &Account) -> Result<Reply, Reply> {
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

    fn change_issue(&self, seen: &Seen, at: Place<'_>, number: &str) -> Reply {
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
                Err(refusal) => refusal,
            }
        })
    }

    fn add_comment(&self, seen: &Seen, at: Place<'_>, number: &str, viewer: &Account) -> Reply {
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
                Err(refusal) => refusal,
            }
        })
    }

    fn search(&self, seen: &Seen) -> Reply {
        let query = asked(seen, "q");
        if query.trim().is_empty() {
            return invalid("Search", "q", "missing");
        }
        let search = Search::read(&query);
        let mut found = Vec::new();
        for repository in &self.repositories {
            let at = Place { base: &self.base, repository };
            if search.reaches(at) {
                self.with_issues(at, |issues, _| {
                    let hits = issues.iter().rev().filter(|issue| search.finds(issue));
                    found.extend(hits.map(|issue| (repository, issue.clone())));
                });
            }
        }
        let page = Page::of(seen);
        let items = array(page.slice(&found).iter().map(|(repository, issue)| {
            issue.shown(Place { base: &self.base, repository }).put("score", 1.0).text()
        }));
        let body = Object::new()
            .put("total_count", found.len())
            .put("incomplete_results", false)
            .raw("items", &items)
            .text();
        page.linked(Reply::json_text(200, body), &format!("{}/search/issues", self.base), found.len())
    }
}

/// What a write may use of the world's state: its clock and its numbers.
struct Moment<'a>(&'a mut State);

impl Moment<'_> {
    fn tick(&mut self) -> i64 {
        self.0.tick()
    }

    fn fresh_id(&mut self) -> u64 {
        self.0.fresh_id()
    }
}

/// A query's first value of this name; empty where it is absent.
fn asked(seen: &Seen, name: &str) -> String {
    pairs(&seen.query)
        .into_iter()
        .find(|(given, _)| given == name)
        .map(|(_, value)| value)
        .unwrap_or_default()
}

/// `all`, `closed`, or anything else, which means open, as at GitHub.
fn in_state(issue: &Issue, state: &str) -> bool {
    match state {
        "all" => true,
        "closed" => issue.closed.is_some(),
        _ => issue.closed.is_none(),
    }
}

fn refuse_archived(at: Place<'_>) -> Result<(), Reply> {
    if at.repository.archived {
        return Err(crate::service::message(403, "Repository was archived so is read-only."));
    }
    Ok(())
}
