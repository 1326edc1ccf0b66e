//! Issues, pull requests and comments: what is kept of each, and how GitHub shows it.
//!
//! As at GitHub, a pull request is an issue too: it is in the issue lists, with a member `pull_request`.

use super::GithubWorld;
use super::object::{Object, array};
use super::people::Account;
use super::repository::Repository;
use super::seed::{LABELS, Seed, stamp};

/// An issue or a pull request.
#[derive(Debug, Clone)]
pub(crate) struct Issue {
    pub(crate) id: u64,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    pub(crate) author: Account,
    pub(crate) labels: Vec<String>,
    pub(crate) assignees: Vec<Account>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    /// When it was closed, and as what.
    pub(crate) closed: Option<(i64, String)>,
    pub(crate) pull: Option<Pull>,
}

/// What a pull request has beyond an issue.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    branch: String,
    commit: String,
    base_commit: String,
    draft: bool,
    merged: Option<i64>,
}

/// A comment on an issue.
#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) author: Account,
    pub(crate) body: String,
    pub(crate) created: i64,
}

/// What an issue is shown in: the base of all URLs and the repository.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) base: &'a str,
    pub(crate) repository: &'a Repository,
}

/// The issues that a repository begins with; every third is a pull request, every fourth is closed.
pub(crate) fn first_issues(seed: u64, repository: &Repository, people: &[Account], count: u64) -> Vec<Issue> {
    let mut draw = Seed::new(seed, repository.id);
    let mut someone = people.iter().cycle();
    let mut issues = Vec::new();
    for number in 1..=count {
        let Some(author) = someone.next() else { break };
        let id = repository.id.saturating_mul(1000).saturating_add(number.saturating_mul(10));
        let created = draw.moment(700);
        let closed = (number % 4 == 0).then(|| (created.saturating_add(86_400), "completed".to_owned()));
        let pull = (number % 3 == 0).then(|| Pull {
            branch: format!("change-{number}"),
            commit: draw.digits(40),
            base_commit: draw.digits(40),
            draft: draw.once_in(5),
            merged: closed.as_ref().map(|(when, _)| *when),
        });
        let comments = (0..number % 3)
            .map(|place| Comment {
                id: id.saturating_add(place).saturating_add(1),
                author: author.clone(),
                body: draw.words(18),
                created: created.saturating_add(3600),
            })
            .collect();
        issues.push(Issue {
            id,
            number,
            title: draw.words(7),
            body: (!draw.once_in(6)).then(|| draw.words(40)),
            author: author.clone(),
            labels: if draw.once_in(3) { Vec::new() } else { vec![draw.pick(LABELS).to_owned()] },
            assignees: if draw.once_in(2) { Vec::new() } else { people.iter().take(1).cloned().collect() },
            comments,
            created,
            updated: created.saturating_add(7200),
            closed,
            pull,
        });
    }
    if repository.name == GithubWorld::REPOSITORY
        && let Some(issue) = issues.iter_mut().find(|issue| issue.number == GithubWorld::LONG_ISSUE)
    {
        issue.body = Some(pasted_log(&mut draw));
    }
    issues
}

/// A log that somebody pasted whole: 300 KB or a little more.
fn pasted_log(draw: &mut Seed) -> String {
    let mut log = String::from("Here is the whole log:\n");
    for second in 0.. {
        if log.len() >= 300_000 {
            break;
        }
        let words = draw.words(12);
        log.extend([&format!("[{second:>6}] "), words.as_str(), "\n"]);
    }
    log
}

impl Place<'_> {
    fn api(self, rest: &str) -> String {
        format!("{}/repos/{}{rest}", self.base, self.repository.full_name())
    }

    fn page(self, rest: &str) -> String {
        format!("https://github.com/{}{rest}", self.repository.full_name())
    }
}

impl Issue {
    /// `open` or `closed`.
    pub(crate) fn state(&self) -> &'static str {
        if self.closed.is_some() { "closed" } else { "open" }
    }

    fn kind(&self) -> &'static str {
        if self.pull.is_some() { "pull" } else { "issues" }
    }

    /// The issue as GitHub shows it, in lists, alone and (with a score added) in search results.
    pub(crate) fn shown(&self, at: Place<'_>) -> Object {
        let number = self.number;
        let issue = |rest: &str| at.api(&format!("/issues/{number}{rest}"));
        let html = at.page(&format!("/{}/{number}", self.kind()));
        let object = Object::new()
            .put("url", issue(""))
            .put("repository_url", at.api(""))
            .put("labels_url", issue("/labels{/name}"))
            .put("comments_url", issue("/comments"))
            .put("events_url", issue("/events"))
            .put("html_url", &html)
            .put("id", self.id)
            .put("node_id", format!("I_kwDO{:010X}", self.id))
            .put("number", number)
            .put("title", &self.title)
            .raw("user", &self.author.short(at.base))
            .raw("labels", &self.labels(at))
            .put("state", self.state())
            .put("locked", false)
            .raw("assignee", &first(&self.assignees, at))
            .raw("assignees", &array(self.assignees.iter().map(|person| person.short(at.base))))
            .put("milestone", None::<&str>)
            .put("comments", self.comments.len())
            .put("created_at", stamp(self.created))
            .put("updated_at", stamp(self.updated))
            .put("closed_at", self.closed.as_ref().map(|(when, _)| stamp(*when)))
            .put("author_association", "MEMBER")
            .put("active_lock_reason", None::<&str>);
        let object = match &self.pull {
            None => object,
            Some(pull) => {
                object.put("draft", pull.draft).raw("pull_request", &self.pull_links(at, pull, &html))
            }
        };
        object
            .put("body", &self.body)
            .put("closed_by", None::<&str>)
            .raw("reactions", &reactions(&issue("/reactions")))
            .put("timeline_url", issue("/timeline"))
            .put("performed_via_github_app", None::<&str>)
            .put("state_reason", self.closed.as_ref().map(|(_, reason)| reason))
    }

    fn pull_links(&self, at: Place<'_>, pull: &Pull, html: &str) -> String {
        Object::new()
            .put("url", at.api(&format!("/pulls/{}", self.number)))
            .put("html_url", html)
            .put("diff_url", format!("{html}.diff"))
            .put("patch_url", format!("{html}.patch"))
            .put("merged_at", pull.merged.map(stamp))
            .text()
    }

    fn labels(&self, at: Place<'_>) -> String {
        array(self.labels.iter().zip(208_045_946_u64..).map(|(label, id)| {
            Object::new()
                .put("id", id)
                .put("node_id", format!("LA_kwDO{id:08X}"))
                .put("url", at.api(&format!("/labels/{}", label.replace(' ', "%20"))))
                .put("name", label)
                .put("color", "ededed")
                .put("default", true)
                .put("description", None::<&str>)
                .text()
        }))
    }

    /// The pull request as `/pulls` shows it; `None` for an issue.
    pub(crate) fn shown_as_pull(&self, at: Place<'_>) -> Option<Object> {
        let pull = self.pull.as_ref()?;
        let url = at.api(&format!("/pulls/{}", self.number));
        let html = at.page(&format!("/pull/{}", self.number));
        let object = Object::new()
            .put("url", &url)
            .put("id", self.id)
            .put("node_id", format!("PR_kwDO{:010X}", self.id))
            .put("html_url", &html)
            .put("diff_url", format!("{html}.diff"))
            .put("patch_url", format!("{html}.patch"))
            .put("issue_url", at.api(&format!("/issues/{}", self.number)))
            .put("number", self.number)
            .put("state", self.state())
            .put("locked", false)
            .put("title", &self.title)
            .raw("user", &self.author.short(at.base))
            .put("body", &self.body)
            .put("created_at", stamp(self.created))
            .put("updated_at", stamp(self.updated))
            .put("closed_at", self.closed.as_ref().map(|(when, _)| stamp(*when)))
            .put("merged_at", pull.merged.map(stamp))
            .put("merge_commit_sha", &pull.commit)
            .raw("assignee", &first(&self.assignees, at))
            .raw("assignees", &array(self.assignees.iter().map(|person| person.short(at.base))))
            .raw("requested_reviewers", "[]")
            .raw("requested_teams", "[]")
            .raw("labels", &self.labels(at))
            .put("milestone", None::<&str>)
            .put("draft", pull.draft)
            .put("commits_url", format!("{url}/commits"))
            .put("review_comments_url", format!("{url}/comments"))
            .put("statuses_url", at.api(&format!("/statuses/{}", pull.commit)))
            .raw("head", &branch(at, &pull.branch, &pull.commit))
            .raw("base", &branch(at, "main", &pull.base_commit))
            .put("author_association", "MEMBER")
            .put("auto_merge", None::<&str>)
            .put("active_lock_reason", None::<&str>);
        Some(object)
    }

    /// The pull request alone, with the members that a listing leaves out.
    pub(crate) fn whole_pull(&self, at: Place<'_>) -> Option<String> {
        let merged = self.pull.as_ref().and_then(|pull| pull.merged);
        let object = self
            .shown_as_pull(at)?
            .put("merged", merged.is_some())
            .put("mergeable", merged.is_none().then_some(true))
            .put("mergeable_state", if merged.is_some() { "unknown" } else { "clean" })
            .put("comments", self.comments.len())
            .put("review_comments", 0)
            .put("maintainer_can_modify", false)
            .put("commits", 2)
            .put("additions", 41)
            .put("deletions", 7)
            .put("changed_files", 3);
        Some(object.text())
    }
}

impl Comment {
    /// The comment as GitHub shows it.
    pub(crate) fn shown(&self, at: Place<'_>, issue: &Issue) -> String {
        let url = at.api(&format!("/issues/comments/{}", self.id));
        Object::new()
            .put("url", &url)
            .put("html_url", at.page(&format!("/{}/{}#issuecomment-{}", issue.kind(), issue.number, self.id)))
            .put("issue_url", at.api(&format!("/issues/{}", issue.number)))
            .put("id", self.id)
            .put("node_id", format!("IC_kwDO{:010X}", self.id))
            .raw("user", &self.author.short(at.base))
            .put("created_at", stamp(self.created))
            .put("updated_at", stamp(self.created))
            .put("body", &self.body)
            .put("author_association", "MEMBER")
            .raw("reactions", &reactions(&format!("{url}/reactions")))
            .put("performed_via_github_app", None::<&str>)
            .text()
    }
}

fn first(people: &[Account], at: Place<'_>) -> String {
    people.first().map_or_else(|| "null".to_owned(), |person| person.short(at.base))
}

fn branch(at: Place<'_>, name: &str, commit: &str) -> String {
    Object::new()
        .put("label", format!("{}:{name}", at.repository.owner.login))
        .put("ref", name)
        .put("sha", commit)
        .raw("user", &at.repository.owner.short(at.base))
        .raw("repo", &at.repository.short())
        .text()
}

fn reactions(url: &str) -> String {
    let mut object = Object::new().put("url", url).put("total_count", 0);
    for kind in ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"] {
        object = object.put(kind, 0);
    }
    object.text()
}
