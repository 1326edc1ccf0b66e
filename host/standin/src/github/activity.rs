//! Releases, workflow runs and notifications: made up when asked for, never changed.

use super::issue::Place;
use super::object::Object;
use super::people::Account;
use super::repository::Repository;
use super::seed::{Seed, stamp};

/// The releases of a repository, newest first.
pub(crate) fn releases(seed: u64, at: Place<'_>, author: &Account) -> Vec<String> {
    let mut draw = Seed::new(seed ^ 0x72, at.repository.id);
    let full = at.repository.full_name();
    let count = draw.below(4).saturating_add(2);
    let mut when = draw.moment(60);
    let mut list = Vec::new();
    for place in 0..count {
        let minor = count.saturating_sub(place);
        let (tag, id) = (format!("v1.{minor}.0"), at.repository.id.saturating_mul(10).saturating_add(minor));
        let url = format!("{}/repos/{full}/releases/{id}", at.base);
        when = when.saturating_sub(30 * 86_400);
        let release = Object::new()
            .put("url", &url)
            .put("assets_url", format!("{url}/assets"))
            .put(
                "upload_url",
                format!("https://uploads.github.com/repos/{full}/releases/{id}/assets{{?name,label}}"),
            )
            .put("html_url", format!("https://github.com/{full}/releases/tag/{tag}"))
            .put("id", id)
            .raw("author", &author.short(at.base))
            .put("node_id", format!("RE_kwDO{id:010X}"))
            .put("tag_name", &tag)
            .put("target_commitish", "main")
            .put("name", format!("Version 1.{minor}"))
            .put("draft", false)
            .put("immutable", false)
            .put("prerelease", place == 0)
            .put("created_at", stamp(when))
            .put("updated_at", stamp(when))
            .put("published_at", stamp(when.saturating_add(600)))
            .raw("assets", "[]")
            .put("tarball_url", format!("{}/repos/{full}/tarball/{tag}", at.base))
            .put("zipball_url", format!("{}/repos/{full}/zipball/{tag}", at.base))
            .put("body", draw.words(30));
        list.push(release.text());
    }
    list
}

/// The workflow runs of a repository, newest first.
pub(crate) fn runs(seed: u64, at: Place<'_>, actor: &Account) -> Vec<String> {
    let mut draw = Seed::new(seed ^ 0x75, at.repository.id);
    let full = at.repository.full_name();
    let mut when = draw.moment(10);
    let mut list = Vec::new();
    for number in (1..=12_u64).rev() {
        let id = at.repository.id.saturating_mul(100).saturating_add(number);
        let url = format!("{}/repos/{full}/actions/runs/{id}", at.base);
        when = when.saturating_sub(3 * 3600);
        let conclusion = if draw.once_in(4) { "failure" } else { "success" };
        let run = Object::new()
            .put("id", id)
            .put("name", "checks")
            .put("node_id", format!("WFR_kwLO{id:010X}"))
            .put("head_branch", "main")
            .put("head_sha", draw.digits(40))
            .put("path", ".github/workflows/checks.yml")
            .put("display_title", draw.words(6))
            .put("run_number", number)
            .put("event", "push")
            .put("status", "completed")
            .put("conclusion", conclusion)
            .put("workflow_id", at.repository.id)
            .put("check_suite_id", id)
            .put("url", &url)
            .put("html_url", format!("https://github.com/{full}/actions/runs/{id}"))
            .raw("pull_requests", "[]")
            .put("created_at", stamp(when))
            .put("updated_at", stamp(when.saturating_add(240)))
            .raw("actor", &actor.short(at.base))
            .put("run_attempt", 1)
            .put("run_started_at", stamp(when))
            .raw("triggering_actor", &actor.short(at.base))
            .put("jobs_url", format!("{url}/jobs"))
            .put("logs_url", format!("{url}/logs"))
            .put("check_suite_url", format!("{}/repos/{full}/check-suites/{id}", at.base))
            .put("artifacts_url", format!("{url}/artifacts"))
            .put("cancel_url", format!("{url}/cancel"))
            .put("rerun_url", format!("{url}/rerun"))
            .put("previous_attempt_url", None::<&str>)
            .put("workflow_url", format!("{}/repos/{full}/actions/workflows/checks.yml", at.base))
            .raw("repository", &at.repository.short());
        list.push(run.text());
    }
    list
}

/// The viewer's notifications: one for each of the first repositories.
pub(crate) fn notifications(seed: u64, base: &str, repositories: &[Repository]) -> Vec<String> {
    let mut list = Vec::new();
    for (repository, id) in repositories.iter().take(12).zip(9_000_000_001_u64..) {
        let mut draw = Seed::new(seed ^ 0x6e, id);
        let issue =
            format!("{base}/repos/{}/issues/{}", repository.full_name(), draw.below(5).saturating_add(1));
        let subject = Object::new()
            .put("title", draw.words(7))
            .put("url", &issue)
            .put("latest_comment_url", &issue)
            .put("type", "Issue");
        let url = format!("{base}/notifications/threads/{id}");
        let thread = Object::new()
            .put("id", id.to_string())
            .put("unread", true)
            .put("reason", draw.pick(&["mention", "subscribed", "assign", "review_requested"]))
            .put("updated_at", stamp(draw.moment(9)))
            .put("last_read_at", None::<&str>)
            .raw("subject", &subject.text())
            .raw("repository", &repository.short())
            .put("url", &url)
            .put("subscription_url", format!("{url}/subscription"));
        list.push(thread.text());
    }
    list
}
