//! Computes `stale_issues`: the open issues of a repository that nobody has touched for some days, one by one or counted by
//! assignee or label.
//!
//! Refuses to give a part for the whole. INVARIANT: the list comes with the longest untouched first, so that the walk ends
//! at the first issue that is not stale. GitHub lists pull requests among issues; they are left out.

use std::collections::BTreeMap;

use pinhole_guest::{Error, Host, Pages, Request, path, time};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most pages of 100 that are read.
const PAGES_MAX: usize = 100;

#[derive(Debug, Deserialize)]
struct Args {
    owner: String,
    repo: String,
    days: i64,
    labels: Option<Vec<String>>,
    assignee: Option<String>,
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Issue,
    Assignee,
    Label,
}

/// An issue as GitHub lists it; what else it has is not read.
#[derive(Debug, Deserialize)]
struct Issue {
    number: u64,
    title: String,
    html_url: String,
    updated_at: String,
    #[serde(default)]
    assignees: Option<Vec<User>>,
    /// Each is a text, or an object with a name.
    #[serde(default)]
    labels: Vec<Value>,
    pull_request: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct User {
    login: String,
}

#[derive(Debug, Serialize)]
struct Found {
    stale: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    issues: Option<Vec<Row>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<Group>>,
}

#[derive(Debug, Serialize)]
struct Row {
    number: u64,
    title: String,
    days: i64,
    assignees: Vec<String>,
    labels: Vec<String>,
    html_url: String,
}

/// The issues of an assignee or label; without a name, those that have none.
#[derive(Debug, Serialize)]
struct Group {
    name: Option<String>,
    stale: usize,
    oldest_days: i64,
}

fn stale_issues(host: &dyn Host, args: Args) -> Result<Found, Error> {
    let Args { owner, repo, days, labels, assignee, by } = args;
    let first = Request::get(path!("/repos/{}/{}/issues", owner, repo))
        .query("state", "open")
        .query_if("labels", labels.map(|labels| labels.join(",")))
        .query_if("assignee", assignee)
        .query("sort", "updated")
        .query("direction", "asc")
        .query("per_page", 100);
    let narrow = "ask for more `days`, or for `labels` or an `assignee`";
    let mut rows = Vec::new();
    'pages: for page in Pages::by_link(host, first).at_most(PAGES_MAX, narrow) {
        for issue in page?.json::<Vec<Issue>>()? {
            let untouched = age(&issue, host.now())?;
            if untouched < days {
                break 'pages;
            }
            if issue.pull_request.is_none() {
                rows.push(row(issue, untouched));
            }
        }
    }
    let stale = rows.len();
    Ok(match by {
        By::Issue => Found { stale, issues: Some(rows), groups: None },
        By::Assignee => Found { stale, issues: None, groups: Some(groups(&rows, |row| &row.assignees)) },
        By::Label => Found { stale, issues: None, groups: Some(groups(&rows, |row| &row.labels)) },
    })
}

/// Whole days since an issue was touched.
fn age(issue: &Issue, now: i64) -> Result<i64, Error> {
    let updated = time::parse(&issue.updated_at);
    let updated =
        updated.ok_or_else(|| Error::new(format!("issue {} has no readable time", issue.number)))?;
    Ok(now.saturating_sub(updated).div_euclid(time::DAY))
}

fn row(issue: Issue, days: i64) -> Row {
    let Issue { number, title, html_url, assignees, labels, .. } = issue;
    let label = |label: &Value| label.as_str().or_else(|| label.get("name")?.as_str()).map(str::to_owned);
    Row {
        number,
        title,
        days,
        assignees: assignees.unwrap_or_default().into_iter().map(|user| user.login).collect(),
        labels: labels.iter().filter_map(label).collect(),
        html_url,
    }
}

/// The largest first. An issue with several names is in each of their groups.
fn groups(rows: &[Row], names: impl Fn(&Row) -> &[String]) -> Vec<Group> {
    let mut found: BTreeMap<Option<&str>, (usize, i64)> = BTreeMap::new();
    for row in rows {
        let names = names(row);
        let none = names.is_empty().then_some(None);
        for name in names.iter().map(|name| Some(name.as_str())).chain(none) {
            let (stale, oldest) = found.entry(name).or_insert((0, row.days));
            *stale += 1;
            *oldest = row.days.max(*oldest);
        }
    }
    let group = |(name, (stale, oldest_days)): (Option<&str>, _)| Group {
        name: name.map(str::to_owned),
        stale,
        oldest_days,
    };
    let mut groups: Vec<Group> = found.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.stale));
    groups
}

pinhole_guest::export! { "stale_issues" => stale_issues }

#[cfg(test)]
mod tests;
