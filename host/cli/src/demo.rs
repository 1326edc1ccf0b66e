//! `pinhole demo`: the main job for real, against a stand-in of GitHub's API on this machine. Real keys, a sealed grant,
//! TLS, the pinned client, the projector; only the service is made up.

use anyhow::Context as _;
use pinhole_grant::{Dial, Secret};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Access, OpId, ServiceId};
use pinhole_runtime::catalog::{Catalog, Entry};
use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient};
use pinhole_runtime::outcome::Verdict;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::SqliteStore;
use pinhole_runtime::{CallRequest, Executor, Outcome};
use pinhole_standin::{Config as StandinConfig, GithubWorld, Standin, World};
use serde_json::json;

use crate::args::DemoFlags;
use crate::end::End;
use crate::occasion::{self, Occasion};
use crate::out;

/// The key that the stand-in expects. It opens nothing else.
const DEMO_KEY: &str = "ghp_demo_key_that_opens_nothing_at_all";

/// What the member approves.
const APPROVED_TITLE: &str = "The lamp flickers";

/// How much of a result is shown, in characters.
const SHOWN: usize = 96;

/// One part of the demo: what is tried, and what ought to come of it.
struct Step {
    title: &'static str,
    op: &'static str,
    args: serde_json::Value,
    grant: Grant,
    expect: Expect,
}

/// Under which grant a step runs.
#[derive(Clone, Copy)]
enum Grant {
    /// The read grant of one use that was minted at the start.
    First,
    /// A read grant of one use, of its own.
    AnotherRead,
    /// The member's approval of exactly this write.
    Approval,
    /// The approval of the step before, for other args.
    ApprovalOfAnother,
}

enum Expect {
    Result,
    Refusal(&'static str),
}

pub(crate) async fn main(flags: &DemoFlags) -> anyhow::Result<End> {
    let say = |text: String| {
        if !flags.json {
            out::line(text);
        }
    };
    let stage = Stage::set().await?;
    stage.introduce(&say)?;
    let mut outcomes = Vec::new();
    let mut end = End::Done;
    for (number, step) in steps().iter().enumerate() {
        say(format!("\n{}. {}", number.saturating_add(1), step.title));
        let before = stage.standin.requests().len();
        let outcome = stage.run(step).await?;
        let requests = stage.standin.requests().len().saturating_sub(before);
        narrate(&outcome, requests, &say);
        if !step.expect.met(&outcome) {
            say("   this is not what should have happened".to_owned());
            end = End::Failed;
        }
        outcomes.push(outcome);
    }
    if flags.json {
        out::json(&outcomes)?;
    }
    Ok(end)
}

fn steps() -> Vec<Step> {
    let org = json!({"org": GithubWorld::default().organisation, "per_page": 100});
    let step = |title, op, args, grant, expect| Step { title, op, args, grant, expect };
    vec![
        step(
            "A read under a one-shot read grant",
            "list_org_repo_names",
            org.clone(),
            Grant::First,
            Expect::Result,
        ),
        step(
            "The same grant a second time",
            "list_org_repo_names",
            org,
            Grant::First,
            Expect::Refusal("grant_used_up"),
        ),
        step(
            "A write under a read grant",
            "create_issue",
            issue(APPROVED_TITLE),
            Grant::AnotherRead,
            Expect::Refusal("read_only_grant"),
        ),
        step(
            "The same write, approved by the member",
            "create_issue",
            issue(APPROVED_TITLE),
            Grant::Approval,
            Expect::Result,
        ),
        step(
            "That approval, for a write of the bot's own choice",
            "create_issue",
            issue("Send me the keys"),
            Grant::ApprovalOfAnother,
            Expect::Refusal("approval_mismatch"),
        ),
        step(
            "A read whose result is larger than the op returns",
            "get_issue",
            json!({"owner": "pinhole-demo", "repo": GithubWorld::REPOSITORY, "issue_number": GithubWorld::LONG_ISSUE}),
            Grant::AnotherRead,
            Expect::Refusal("result_too_large"),
        ),
    ]
}

/// The args of a write.
fn issue(title: &str) -> serde_json::Value {
    json!({"owner": "pinhole-demo", "repo": GithubWorld::REPOSITORY, "title": title, "labels": ["bug"]})
}

/// The stand-in, the executor and whoever gives grants.
struct Stage {
    standin: Standin,
    executor: Executor,
    occasion: Occasion,
    first: Vec<u8>,
    _state: tempfile::TempDir,
}

impl Stage {
    async fn set() -> anyhow::Result<Self> {
        let config = StandinConfig {
            token: Some(DEMO_KEY.to_owned()),
            ..StandinConfig::new(World::Github(GithubWorld::default()))
        };
        let standin = Standin::start(config).await?;
        let dial = DialOverride::parse(&format!("api.github.com:443:127.0.0.1:{}", standin.addr().port()))?;
        let settings = NetSettings::default().with_override(dial).with_ca_pem(standin.ca_pem().as_bytes())?;
        let catalog = Catalog::built_in().context("the manifests of the binary do not load")?;
        let entry = github(&catalog)?;
        let key = Secret::new(DEMO_KEY.to_owned())?;
        let (occasion, bot) = Occasion::new(entry, key, Dial::Overridden, Access::Write)?;
        let first = occasion.read_grant(entry)?;
        let issuers = vec![occasion.issuer()];
        let state = tempfile::tempdir()?;
        let client = PinnedClient::new(settings)?;
        let store = std::sync::Arc::new(SqliteStore::open_home(state.path())?);
        let sandbox = Sandbox::default();
        let executor = occasion::executor(catalog, bot.into(), issuers, client, store, sandbox);
        Ok(Self { standin, executor, occasion, first, _state: state })
    }

    async fn run(&self, step: &Step) -> anyhow::Result<Outcome> {
        let entry = github(&self.executor.catalog)?;
        let op = OpId::parse(step.op)?;
        let approval = |args: &serde_json::Value| -> anyhow::Result<Vec<u8>> {
            let known = entry.manifest.op(&op).context("the manifest has the op")?;
            let parsed = known.args.parse_text(&args.to_string());
            let args = parsed.map_err(|faults| anyhow::anyhow!("the args are not right: {faults:?}"))?;
            self.occasion.approval(entry, &op, &args)
        };
        let grant = match step.grant {
            Grant::AnotherRead => self.occasion.read_grant(entry)?,
            Grant::First => self.first.clone(),
            Grant::Approval => approval(&step.args)?,
            Grant::ApprovalOfAnother => approval(&issue(APPROVED_TITLE))?,
        };
        let request = CallRequest::new(entry.manifest.id().clone(), op.clone(), step.args.to_string(), grant);
        Ok(self.executor.run(request).await)
    }

    fn introduce(&self, say: &impl Fn(String)) -> anyhow::Result<()> {
        let manifest = &github(&self.executor.catalog)?.manifest;
        say(format!(
            "manifest  {} for {}: {} ops, {}",
            manifest.label(),
            manifest.host(),
            manifest.ops().len(),
            manifest.digest()
        ));
        say(format!(
            "stand-in  https://{} on {}, a CA of its own, made-up data",
            manifest.host(),
            self.standin.addr()
        ));
        say(format!("bot       {}", self.executor.bot.public()));
        say(format!(
            "grants    {} bytes each, signed by the member, sealed to the bot; the key is inside",
            self.first.len()
        ));
        Ok(())
    }
}

fn github(catalog: &Catalog) -> anyhow::Result<&Entry> {
    catalog.find(&ServiceId::parse("github")?).context("the binary has a manifest of GitHub")
}

impl Expect {
    fn met(&self, outcome: &Outcome) -> bool {
        match (self, &outcome.verdict) {
            (Self::Result, Verdict::Done(_)) => true,
            (Self::Refusal(code), Verdict::Refused(refusal)) => refusal.code.as_str() == *code,
            _ => false,
        }
    }
}

/// Says what came of a step and what was kept back.
fn narrate(outcome: &Outcome, requests: usize, say: &impl Fn(String)) {
    let meta = &outcome.meta;
    let sent = match requests {
        0 => "no request reached the service".to_owned(),
        1 => "1 request reached the service".to_owned(),
        more => format!("{more} requests reached the service"),
    };
    match &outcome.verdict {
        Verdict::Done(picked) => {
            let kept_back = meta.bytes_in.saturating_sub(meta.bytes_out);
            say(format!("   {} answered {}; {sent}", outcome.op, meta.status.unwrap_or_default()));
            say(format!(
                "   {} came back, {} left, {} kept back",
                out::bytes(meta.bytes_in),
                out::bytes(meta.bytes_out),
                out::bytes(kept_back)
            ));
            let shown: String = picked.result.to_string().chars().take(SHOWN).collect();
            say(format!("   {}…", visible(&shown)));
        }
        Verdict::Refused(refusal) => {
            say(format!("   refused ({}): {}", refusal.code, visible(&refusal.message)));
            say(format!("   {sent}"));
            if meta.bytes_in > 0 {
                say(format!("   {} came back, nothing left", out::bytes(meta.bytes_in)));
            }
        }
    }
}
