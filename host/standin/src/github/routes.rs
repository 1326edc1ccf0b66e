//! Which path is answered by what. A path that is not here is GitHub's 404; so is a method that it does not take.

use crate::Reply;
use crate::config::{Plus, decoded, pairs};
use crate::log::Seen;
use crate::service::not_found;

use super::activity::{notifications, releases, runs};
use super::issue::Place;
use super::object::{Object, array};
use super::page::Page;
use super::repository::{Repository, listing_of};
use super::search::Search;
use super::write::Refused;
use super::{Github, GithubWorld};

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
            ("POST", ["issues"]) => self.open_issue(seen, at, viewer).unwrap_or_else(Refused::reply),
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
    pub(super) fn by_id(&self, at: Place<'_>, rest: &str) -> String {
        format!("{}/repositories/{}{rest}", self.base, at.repository.id)
    }

    fn search(&self, seen: &Seen) -> Reply {
        let query = asked(seen, "q");
        if query.trim().is_empty() {
            return Refused::Invalid { resource: "Search", field: "q", code: "missing" }.reply();
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

/// A query's first value of this name; empty where it is absent.
pub(super) fn asked(seen: &Seen, name: &str) -> String {
    pairs(&seen.query)
        .into_iter()
        .find(|(given, _)| given == name)
        .map(|(_, value)| value)
        .unwrap_or_default()
}
