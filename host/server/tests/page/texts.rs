//! What other people's texts come to: whole, in their place, every character visible.

use pinhole_grant::{Label, PrincipalId};
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::StoredCall;
use pinhole_runtime::store::{TokenRow, TokenScope, Tokens as _};
use pinhole_server::page::Patience;
use pinhole_standin::{Reply, Route};
use pinhole_tests::{ORG, PASTED, REPO, Setup, connectable_thing, op_name};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::json;

use crate::stage::{Answer, Desk, Form, PASSPHRASE, PASSPHRASE_IN_A_FORM, WRITE, args};

/// A text that would be markup, a way out of an attribute, and a script.
const MARKUP: &str = "</code></pre></bdi>\"'><script>alert(1)</script><img src=x onerror=alert(1)><form action=http://evil.example>&lt;";
/// The same as the page has it.
const ESCAPED: &str = "&lt;/code&gt;&lt;/pre&gt;&lt;/bdi&gt;&quot;'&gt;&lt;script&gt;alert(1)&lt;/script&gt;\
    &lt;img src=x onerror=alert(1)&gt;&lt;form action=http://evil.example&gt;&amp;lt;";

/// Every tag of a page, in order, without its attributes.
fn tags(page: &Answer) -> Vec<String> {
    let tags = page.body.split('<').skip(1);
    tags.map(|tag| tag.split([' ', '>']).next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn no_text_is_markup() {
    let desk = Desk::new().await;
    let browser = desk.enter().await;
    let issue = |text: &str| json!({"owner": ORG, "repo": REPO, "title": text, "body": text});
    let plain = desk.stage.ask(WRITE, &issue("plain")).await;
    let plain = browser.get(&format!("/question/{plain}")).send().await;
    let id = desk.stage.ask(WRITE, &issue(MARKUP)).await;
    let page = browser.get(&format!("/question/{id}")).send().await;
    // The same tags in the same order, whatever the texts are.
    assert_eq!(tags(&page), tags(&plain));
    assert_eq!(page.body.matches(ESCAPED).count(), 2, "{}", page.body);
    let list = browser.get("/").send().await;
    assert!(!list.body.contains("<script") && !list.body.contains("<img"), "{}", list.body);
    assert!(list.body.contains("&lt;script&gt;"), "{}", list.body);
}

#[tokio::test]
async fn a_label_an_account_and_a_token_s_name_are_texts_too() {
    let manifest = connectable_thing();
    let routes = vec![Route::get("/me", Reply::json(200, &json!({"login": MARKUP})))];
    let desk = Desk::of(&manifest, routes).await;
    let label = "<i>work</i>";
    desk.stage.connect_with("thing", PASTED, label, Some(Access::Write)).await.unwrap();
    let label = Label::parse(label).unwrap();
    assert_eq!(desk.connection().account.as_str(), MARKUP);
    let (service, op) = op_name("thing.send_note");
    let principal = PrincipalId::random(&mut UnwrapErr(SysRng));
    let call = StoredCall::new(service, op, json!({"text": "Hello"}).to_string()).on(label).by(principal);
    let outcome = desk.stage.bot.run(call).await;
    let id = outcome.refusal().unwrap().question.unwrap_or_else(|| panic!("{}", outcome.to_json()));
    let browser = desk.enter().await;
    let page = browser.get(&format!("/question/{id}")).send().await;
    assert!(page.body.contains(&format!("<dt>Account</dt><dd><bdi>{ESCAPED}</bdi></dd>")), "{}", page.body);
    assert!(page.body.contains("thing <bdi>&lt;i&gt;work&lt;/i&gt;</bdi>"), "{}", page.body);
    let unnamed = format!("a token that is not known here ({principal})");
    assert!(page.body.contains(&unnamed), "{}", page.body);
    desk.stage.store.add_token(&token(&desk, principal)).unwrap();
    let page = browser.get(&format!("/question/{id}")).send().await;
    let named = format!("the token “the &lt;b&gt;night&lt;/b&gt; shift” ({principal})");
    assert!(page.body.contains(&named), "{}", page.body);
    // Nobody reviewed its manifest: she sees what else it sends.
    assert!(page.body.contains("unsigned: nobody reviewed it"), "{}", page.body);
    assert!(page.body.contains("<dt>Body</dt>"), "{}", page.body);
    let list = browser.get("/").send().await;
    assert!(list.body.contains(ESCAPED), "{}", list.body);
    assert!(list.body.contains(&format!(" UTC by <bdi>{named}</bdi>")), "{}", list.body);
}

fn token(desk: &Desk, id: PrincipalId) -> TokenRow {
    let now = desk.stage.now();
    TokenRow {
        id,
        member: desk.stage.member.public().id(),
        name: Label::parse("the <b>night</b> shift").unwrap(),
        digest: Digest::of(b"a token"),
        scope: TokenScope::new([Access::Write], None).unwrap(),
        created_at: now,
        expires_at: now.plus_secs(3600),
        revoked_at: None,
    }
}

#[tokio::test]
async fn everything_of_a_question_is_there() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let page = browser.get(&format!("/question/{id}")).send().await;
    let bot = desk.stage.bot.executor.bot.public().id();
    let account = desk.connection().account;
    for said in [
        "<p class=\"confirm\"><bdi>Open issue “The lamp flickers” in pinhole-demo/lantern?</bdi></p>".to_owned(),
        "<dt><bdi>title</bdi></dt><dd><span class=\"kind\">text</span>".to_owned(),
        "<code>The lamp flickers</code>".to_owned(),
        "<code>lantern</code>".to_owned(),
        "<dt>Request</dt><dd>POST <bdi>https://api.github.com/repos/pinhole-demo/lantern/issues</bdi></dd>".to_owned(),
        "<dt>Connection</dt><dd>github <bdi>work</bdi>, for a stand-in: nothing reaches the service itself</dd>".to_owned(),
        format!("<dt>Account</dt><dd><bdi>{account}</bdi></dd>"),
        "<dt>Effect</dt><dd>create</dd>".to_owned(),
        "<dt>Irreversible</dt><dd>no</dd>".to_owned(),
        "<dt>Looked up</dt><dd>get_repo <bdi>{&quot;owner&quot;:&quot;pinhole-demo&quot;,&quot;repo&quot;:&quot;lantern&quot;}</bdi>: <bdi>$.archived</bdi> is <bdi>false</bdi></dd>".to_owned(),
        "<dt>Operation</dt><dd>github.create_issue of github@".to_owned(),
        "this machine's own".to_owned(),
        format!("<code>{bot}</code>"),
        format!("<dt>Question</dt><dd>{id}, asked 2027-01-15 08:00:00 UTC, over 2027-01-16 08:00:00 UTC</dd>"),
        "<label for=\"passphrase\">".to_owned(),
    ] {
        assert!(page.body.contains(&said), "{said}\n{}", page.body);
    }
    // Of a reviewed manifest the body is what its args are.
    assert!(!page.body.contains("<dt>Body</dt>"));
    assert!(!page.body.contains("the token"));
}

#[tokio::test]
async fn a_long_text_is_whole_and_its_lines_end_visibly() {
    let desk = Desk::new().await;
    let line = "0123456789abcdef".repeat(1_000);
    let body = format!("{line}\n\u{202e}{line}\u{200b}\r\n\n{line} ");
    let mut long = args();
    long["body"] = json!(body);
    let id = desk.stage.ask(WRITE, &long).await;
    let browser = desk.enter().await;
    let page = browser.get(&format!("/question/{id}")).send().await;
    let shown = format!(
        "<code>{line}<i>↵</i>\n<i>\\u{{202e}}</i>{line}<i>\\u{{200b}}</i><i>\\u{{d}}</i><i>↵</i>\n<i>↵</i>\n{line} </code>"
    );
    assert!(page.body.contains(&shown));
    assert!(!page.body.contains(['\u{202e}', '\u{200b}', '\r']));
}

#[tokio::test]
async fn what_waits_is_listed_the_newest_first_and_what_is_over_is_not() {
    let desk = Desk::new().await;
    let mut asked = Vec::new();
    for title in ["one", "two", "three"] {
        let mut args = args();
        args["title"] = json!(title);
        asked.push(desk.stage.ask(WRITE, &args).await.to_string());
    }
    desk.stage.deny(asked[1].parse().unwrap());
    let list = desk.enter().await.get("/").send().await;
    let place = |id: &String| list.body.find(&format!("/question/{id}"));
    assert!(place(&asked[2]).unwrap() < place(&asked[0]).unwrap(), "{}", list.body);
    assert_eq!(place(&asked[1]), None);
    assert!(!list.body.contains(" by "), "nobody's but this machine's own: {}", list.body);
}

#[tokio::test]
async fn what_cannot_be_shown_cannot_be_approved_but_denied() {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    // A page that has no manifest of the service any more.
    let nothing = Catalog::default();
    let passphrase = Some(PASSPHRASE);
    let desk = Desk::with(stage, nothing, passphrase, Patience::default()).await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    assert!(browser.get("/").send().await.body.contains("github.create_issue, which cannot be shown"));
    let page = browser.get(&format!("/question/{id}")).send().await;
    assert!(!page.body.contains("name=\"passphrase\""), "{}", page.body);
    let form = Form::of(&page);
    let answered = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
    assert_eq!(answered.status, 409, "{answered:?}");
    assert_eq!(browser.no(id, &form).await.status, 303);
}
