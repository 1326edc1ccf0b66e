//! The people and the organisation of the made-up world. None of them exists: every login begins with `demo-`, and
//! the organisation is named by whoever asks for the world.

use super::object::Object;

/// A person or an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) login: String,
    pub(crate) id: u64,
    pub(crate) kind: Kind,
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Person,
    Organisation,
}

impl Account {
    /// The people, the viewer first.
    pub(crate) fn people() -> Vec<Self> {
        let logins =
            ["demo-wren", "demo-ash", "demo-briar", "demo-clover", "demo-dune", "demo-elm", "demo-fern"];
        logins
            .into_iter()
            .zip(70_100_001_u64..)
            .map(|(login, id)| Self { login: login.to_owned(), id, kind: Kind::Person })
            .collect()
    }

    fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Person => "User",
            Kind::Organisation => "Organization",
        }
    }

    fn summary(&self, base: &str) -> Object {
        let (login, id) = (&self.login, self.id);
        let url = |rest: &str| format!("{base}/users/{login}{rest}");
        Object::new()
            .put("login", login)
            .put("id", id)
            .put("node_id", format!("U_kgDO{id:08X}"))
            .put("avatar_url", format!("https://avatars.githubusercontent.com/u/{id}?v=4"))
            .put("gravatar_id", "")
            .put("url", url(""))
            .put("html_url", format!("https://github.com/{login}"))
            .put("followers_url", url("/followers"))
            .put("following_url", url("/following{/other_user}"))
            .put("gists_url", url("/gists{/gist_id}"))
            .put("starred_url", url("/starred{/owner}{/repo}"))
            .put("subscriptions_url", url("/subscriptions"))
            .put("organizations_url", url("/orgs"))
            .put("repos_url", url("/repos"))
            .put("events_url", url("/events{/privacy}"))
            .put("received_events_url", url("/received_events"))
            .put("type", self.kind())
            .put("user_view_type", "public")
            .put("site_admin", false)
    }

    /// The short form that other objects embed.
    pub(crate) fn short(&self, base: &str) -> String {
        self.summary(base).text()
    }

    /// The form of `/user`, with the members that only the person sees.
    pub(crate) fn viewer(&self, base: &str) -> String {
        let plan = Object::new()
            .put("name", "pro")
            .put("space", 976_562_499)
            .put("collaborators", 0)
            .put("private_repos", 9999)
            .text();
        self.summary(base)
            .put("name", "Wren of the Demo")
            .put("company", None::<&str>)
            .put("blog", "")
            .put("location", "Lantern Bay")
            .put("email", "wren@pinhole-demo.example")
            .put("hireable", None::<bool>)
            .put("bio", "Keeps the lamps.")
            .put("twitter_username", None::<&str>)
            .put("notification_email", "wren@pinhole-demo.example")
            .put("public_repos", 5)
            .put("public_gists", 0)
            .put("followers", 12)
            .put("following", 7)
            .put("created_at", "2019-04-02T08:00:00Z")
            .put("updated_at", "2025-12-30T17:21:09Z")
            .put("private_gists", 2)
            .put("total_private_repos", 1)
            .put("owned_private_repos", 1)
            .put("disk_usage", 20_481)
            .put("collaborators", 3)
            .put("two_factor_authentication", true)
            .raw("plan", &plan)
            .text()
    }

    /// The form of `/orgs/{org}`.
    pub(crate) fn organisation(&self, base: &str, repositories: usize) -> String {
        let (login, id) = (&self.login, self.id);
        let url = |rest: &str| format!("{base}/orgs/{login}{rest}");
        Object::new()
            .put("login", login)
            .put("id", id)
            .put("node_id", format!("O_kgDO{id:08X}"))
            .put("url", url(""))
            .put("repos_url", url("/repos"))
            .put("events_url", url("/events"))
            .put("hooks_url", url("/hooks"))
            .put("issues_url", url("/issues"))
            .put("members_url", url("/members{/member}"))
            .put("public_members_url", url("/public_members{/member}"))
            .put("avatar_url", format!("https://avatars.githubusercontent.com/u/{id}?v=4"))
            .put("description", "An organisation that was made up for a demonstration.")
            .put("name", "Pinhole Demonstration")
            .put("company", None::<&str>)
            .put("blog", "https://pinhole-demo.example")
            .put("location", "Lantern Bay")
            .put("email", None::<&str>)
            .put("is_verified", false)
            .put("has_organization_projects", true)
            .put("has_repository_projects", true)
            .put("public_repos", repositories)
            .put("public_gists", 0)
            .put("followers", 31)
            .put("following", 0)
            .put("html_url", format!("https://github.com/{login}"))
            .put("created_at", "2020-02-29T12:00:00Z")
            .put("updated_at", "2025-11-11T11:11:11Z")
            .put("archived_at", None::<&str>)
            .put("type", "Organization")
            .text()
    }
}
