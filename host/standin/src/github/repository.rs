//! Repositories in GitHub's shape: 80 members each, of which 46 are URLs, as in a real listing.

use super::object::{Object, array};
use super::people::Account;
use super::seed::{FIRST, LANGUAGES, SECOND, Seed, TOPICS, stamp};

/// A repository: what other replies need to know of it, and its listing form as text.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) owner: Account,
    pub(crate) archived: bool,
    listing: Object,
}

/// Numbers of a repository that several members repeat.
struct Counts {
    stars: u64,
    forks: u64,
    issues: u64,
}

/// The members that are URLs below the repository's own, in GitHub's order, up to the dates.
const URLS: &[(&str, &str)] = &[
    ("forks_url", "/forks"),
    ("keys_url", "/keys{/key_id}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("teams_url", "/teams"),
    ("hooks_url", "/hooks"),
    ("issue_events_url", "/issues/events{/number}"),
    ("events_url", "/events"),
    ("assignees_url", "/assignees{/user}"),
    ("branches_url", "/branches{/branch}"),
    ("tags_url", "/tags"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("trees_url", "/git/trees{/sha}"),
    ("statuses_url", "/statuses/{sha}"),
    ("languages_url", "/languages"),
    ("stargazers_url", "/stargazers"),
    ("contributors_url", "/contributors"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("commits_url", "/commits{/sha}"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("comments_url", "/comments{/number}"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("contents_url", "/contents/{+path}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("merges_url", "/merges"),
    ("archive_url", "/{archive_format}{/ref}"),
    ("downloads_url", "/downloads"),
    ("issues_url", "/issues{/number}"),
    ("pulls_url", "/pulls{/number}"),
    ("milestones_url", "/milestones{/number}"),
    ("notifications_url", "/notifications{?since,all,participating}"),
    ("labels_url", "/labels{/name}"),
    ("releases_url", "/releases{/id}"),
    ("deployments_url", "/deployments"),
];

impl Repository {
    /// The repository at this place of its owner's list. The first is `lantern`; every seventeenth is archived.
    pub(crate) fn new(seed: u64, base: &str, owner: &Account, index: usize) -> Self {
        let place = u64::try_from(index).unwrap_or(0);
        let mut draw = Seed::new(seed, owner.id.wrapping_add(place));
        let name = name(index);
        let id = owner.id.saturating_mul(8).saturating_add(place.saturating_mul(37));
        let archived = index % 17 == 16;
        let listing = listing(&mut draw, base, owner, &name, id, archived);
        Self { id, name, owner: owner.clone(), archived, listing }
    }

    /// `owner/name`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.owner.login, self.name)
    }

    /// The form of a listing.
    pub(crate) fn short(&self) -> String {
        self.listing.clone().text()
    }

    /// The form of the repository alone, with the members that a listing leaves out.
    pub(crate) fn whole(&self, base: &str) -> String {
        self.listing
            .clone()
            .put("allow_squash_merge", true)
            .put("allow_merge_commit", true)
            .put("allow_rebase_merge", false)
            .put("allow_auto_merge", false)
            .put("delete_branch_on_merge", true)
            .raw("organization", &self.owner.short(base))
            .put("network_count", 4)
            .put("subscribers_count", 9)
            .text()
    }
}

/// `lantern`, then two words and a number each, so that no two are alike.
fn name(index: usize) -> String {
    if index == 0 {
        return "lantern".to_owned();
    }
    let word = |list: &[&'static str], at: usize| {
        at.checked_rem(list.len()).and_then(|at| list.get(at)).copied().unwrap_or("plain")
    };
    let (first, second) = (word(FIRST, index), word(SECOND, index));
    format!("{first}-{second}-{index:03}")
}

fn listing(draw: &mut Seed, base: &str, owner: &Account, name: &str, id: u64, archived: bool) -> Object {
    let full = format!("{}/{name}", owner.login);
    let url = format!("{base}/repos/{full}");
    let (created, pushed) = (draw.moment(2400), draw.moment(400));
    let counts = Counts { stars: draw.below(4000), forks: draw.below(300), issues: draw.below(90) };
    let sentence = draw.words(14);
    let mut object = Object::new()
        .put("id", id)
        .put("node_id", format!("R_kgDO{id:010X}"))
        .put("name", name)
        .put("full_name", &full)
        .put("private", false)
        .raw("owner", &owner.short(base))
        .put("html_url", format!("https://github.com/{full}"))
        .put("description", if draw.once_in(9) { None } else { Some(sentence) })
        .put("fork", draw.once_in(8))
        .put("url", &url);
    for (member, rest) in URLS {
        object = object.put(member, format!("{url}{rest}"));
    }
    let object = object
        .put("created_at", stamp(created.min(pushed)))
        .put("updated_at", stamp(created.max(pushed)))
        .put("pushed_at", stamp(pushed))
        .put("git_url", format!("git://github.com/{full}.git"))
        .put("ssh_url", format!("git@github.com:{full}.git"))
        .put("clone_url", format!("https://github.com/{full}.git"))
        .put("svn_url", format!("https://github.com/{full}"))
        .put("homepage", draw.once_in(3).then(|| format!("https://{name}.pinhole-demo.example")));
    rest(object, draw, base, &counts, archived)
}

fn rest(object: Object, draw: &mut Seed, base: &str, counts: &Counts, archived: bool) -> Object {
    let topics: Vec<&str> = (0..draw.below(5)).map(|_| draw.pick(TOPICS)).collect();
    object
        .put("size", draw.below(90_000))
        .put("stargazers_count", counts.stars)
        .put("watchers_count", counts.stars)
        .put("language", if draw.once_in(12) { None } else { Some(draw.pick(LANGUAGES)) })
        .put("has_issues", true)
        .put("has_projects", true)
        .put("has_downloads", true)
        .put("has_wiki", draw.once_in(2))
        .put("has_pages", draw.once_in(6))
        .put("has_discussions", draw.once_in(6))
        .put("forks_count", counts.forks)
        .put("mirror_url", None::<&str>)
        .put("archived", archived)
        .put("disabled", false)
        .put("open_issues_count", counts.issues)
        .raw("license", &license(draw, base))
        .put("allow_forking", true)
        .put("is_template", false)
        .put("web_commit_signoff_required", false)
        .put("topics", topics)
        .put("visibility", "public")
        .put("forks", counts.forks)
        .put("open_issues", counts.issues)
        .put("watchers", counts.stars)
        .put("default_branch", "main")
        .raw("permissions", &permissions())
}

fn license(draw: &mut Seed, base: &str) -> String {
    let (key, name, spdx, node) = match draw.below(4) {
        0 => ("mit", "MIT License", "MIT", "MDc6TGljZW5zZTEz"),
        1 => ("mpl-2.0", "Mozilla Public License 2.0", "MPL-2.0", "MDc6TGljZW5zZTE0"),
        2 => return "null".to_owned(),
        _ => ("apache-2.0", "Apache License 2.0", "Apache-2.0", "MDc6TGljZW5zZTI="),
    };
    Object::new()
        .put("key", key)
        .put("name", name)
        .put("spdx_id", spdx)
        .put("url", format!("{base}/licenses/{key}"))
        .put("node_id", node)
        .text()
}

fn permissions() -> String {
    Object::new()
        .put("admin", false)
        .put("maintain", false)
        .put("push", true)
        .put("triage", true)
        .put("pull", true)
        .text()
}

/// A listing of repositories as one text.
pub(crate) fn listing_of<'a>(repositories: impl IntoIterator<Item = &'a Repository>) -> String {
    array(repositories.into_iter().map(Repository::short))
}
