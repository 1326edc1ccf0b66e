//! The page in a real browser: what a person does there, and what pages of others try.

pub(crate) mod driver;
mod site;

use pinhole_runtime::store::{QuestionId, QuestionState};
use pinhole_tests::{ORG, REPO};
use serde_json::{Value, json};

use driver::{Chromium, Scripts, is_there};
use site::Site;

use crate::stage::{Desk, PASSPHRASE, WRITE, args};

/// The keys Tab and Enter, as `WebDriver` names them.
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

impl Desk {
    fn place(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn state(&self, id: QuestionId) -> QuestionState {
        self.stage.question(id).unwrap().state
    }
}

/// Goes on with Tab until this has the focus.
async fn tab_to(browser: &Chromium, wanted: &str) {
    for _ in 0..40 {
        browser.press(TAB).await;
        let (name, words) = browser.focus().await;
        if name == wanted || words == wanted {
            return;
        }
    }
    panic!("`{wanted}` is not reached by the keyboard:\n{}", browser.text().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_by_the_keyboard_alone_and_without_any_script() {
    if !is_there() {
        return;
    }
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = Chromium::start(Scripts::DoNotRun).await;
    browser.open(&desk.place(&format!("/open/{}", desk.code))).await;
    assert_eq!(browser.url().await, desk.place("/"));
    tab_to(&browser, "Open issue “The lamp flickers” in pinhole-demo/lantern?").await;
    browser.press(ENTER).await;
    browser.shows("A write waits for your yes").await;
    let question = desk.place(&format!("/question/{id}"));
    assert_eq!(browser.url().await, question);
    let text = browser.text().await;
    for said in ["A write waits for your yes", "The lamp flickers", "Passphrase of your key", "Irreversible"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    // A wrong one, then the right one.
    tab_to(&browser, "passphrase").await;
    browser.press("wrong horse battery").await;
    browser.press(ENTER).await;
    browser.shows("the passphrase does not open your key").await;
    assert_eq!(desk.state(id), QuestionState::Pending);
    tab_to(&browser, "passphrase").await;
    browser.press(PASSPHRASE).await;
    browser.press(ENTER).await;
    browser.shows("The same call runs it now, once").await;
    assert_eq!(browser.url().await, question);
    assert!(!browser.source().await.contains(PASSPHRASE));
    assert!(desk.stage.run(WRITE, &args()).await.result().is_some());
    assert_eq!(desk.stage.written(), 1);
    // What has led there is used up.
    browser.open(&desk.place(&format!("/open/{}", desk.code))).await;
    assert!(browser.text().await.contains("This address is used up"));
    browser.open(&desk.place("/")).await;
    assert!(browser.text().await.contains("Nothing waits for your yes."));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_wrote_is_text_and_looks_like_the_page() {
    if !is_there() {
        return;
    }
    let desk = Desk::new().await;
    let sly = "</code></pre>\"'><script>document.title='x'</script><img src=x onerror=document.title='x'>&lt; \u{202e}\nend ";
    let id = desk.stage.ask(WRITE, &json!({"owner": ORG, "repo": REPO, "title": sly, "body": sly})).await;
    let browser = Chromium::start(Scripts::Run).await;
    browser.open(&desk.place(&format!("/open/{}", desk.code))).await;
    browser.open(&desk.place(&format!("/question/{id}"))).await;
    let there = browser
        .script(
            "return { title: document.title, scripts: document.scripts.length, images: document.images.length,
              forms: document.forms.length, margin: getComputedStyle(document.body).margin,
              texts: [...document.querySelectorAll('dl.args pre')].map(pre => pre.textContent) }",
        )
        .await;
    let shown = sly.replace('\u{202e}', "\\u{202e}").replace('\n', "↵\n");
    assert_eq!(
        there,
        json!({
            "title": "A write waits for your yes – Pinhole", "scripts": 0, "images": 0, "forms": 2, "margin": "0px",
            "texts": [shown, ORG, REPO, shown]
        })
    );
    // Nothing that got in would run, or reach anything.
    let tried = browser
        .script(
            "const script = document.createElement('script'); script.textContent = 'window.ran = true';
             document.body.append(script); document.body.setAttribute('onclick', 'window.ran = true');
             document.body.click();
             return fetch('/').then(() => 'fetched', () => 'refused').then(fetched => [!!window.ran, fetched])",
        )
        .await;
    assert_eq!(tried, json!([false, "refused"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_others_neither_answer_nor_see() {
    if !is_there() {
        return;
    }
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = Chromium::start(Scripts::Run).await;
    browser.open(&desk.place(&format!("/open/{}", desk.code))).await;
    let question = desk.place(&format!("/question/{id}"));
    browser.open(&question).await;
    // The worst case: the other page knows all that the form carries, and the passphrase.
    let fields = browser
        .script("return [...new FormData(document.forms[0])].map(pair => pair[0] + '\\n' + pair[1])")
        .await;
    let input = |field: &Value| {
        let (name, value) = field.as_str().unwrap().split_once('\n').unwrap();
        let value = if name == "passphrase" { "correct horse &amp; battery+" } else { value };
        format!("<input name=\"{name}\" value=\"{value}\">")
    };
    let inputs = fields.as_array().unwrap().iter().map(input).collect::<Vec<_>>().concat();
    assert_eq!(inputs.matches("<input").count(), 3);

    let form = Site::serving(format!(
        "<form method=post action=\"{question}/approve\">{inputs}</form><button onclick=\"document.forms[0].submit()\">x</button>"
    ))
    .await;
    for address in form.addresses() {
        browser.open(&address).await;
        browser.click("button").await;
        browser.shows("another page sent this, and nothing was done").await;
        assert_eq!(desk.state(id), QuestionState::Pending, "{address}");
    }

    let link = Site::serving(format!("<a href=\"{question}\">x</a>")).await;
    for address in link.addresses() {
        browser.open(&address).await;
        browser.click("a").await;
        browser.shows("one step away").await;
        assert_eq!(browser.url().await, question);
        let text = browser.text().await;
        assert!(!text.contains("flickers"), "{address}: {text}");
        // That step is hers.
        browser.click("main a").await;
        browser.shows("The lamp flickers").await;
        assert_eq!(browser.url().await, question);
    }

    let frame = Site::serving(format!("<iframe src=\"{question}\"></iframe>")).await;
    for address in frame.addresses() {
        browser.open(&address).await;
        browser.frame().await;
        let source = browser.source().await;
        assert!(!source.contains("flickers") && !source.contains("one step away"), "{address}: {source}");
    }

    let script = Site::serving("<p>x</p>".to_owned()).await;
    for address in script.addresses() {
        browser.open(&address).await;
        let seen = browser
            .script(&format!(
                "const read = (url, options) => fetch(url, {{credentials: 'include', ...options}})
                     .then(answer => answer.text()).then(text => 'read: ' + text, () => 'refused');
                 const loaded = name => new Promise(done => {{
                     const element = document.createElement(name);
                     element.onload = () => done('loaded'); element.onerror = () => done('refused');
                     if (name == 'link') {{ element.rel = 'stylesheet'; element.href = '{style}'; }}
                     else {{ element.src = '{question}'; }}
                     document.body.append(element);
                 }});
                 return Promise.all([read('{question}'), read('{question}/deny', {{method: 'POST', body: new URLSearchParams('a=b')}}),
                                     read('{question}', {{mode: 'no-cors'}}), loaded('link'), loaded('script'), loaded('img')])",
                style = desk.place("/style.css")
            ))
            .await;
        assert_eq!(seen, json!(vec!["refused"; 6]), "{address}");
    }
    assert_eq!(desk.state(id), QuestionState::Pending);

    // Another name that leads to this machine.
    browser.open(&format!("http://evil.example:{}/question/{id}", desk.port)).await;
    let text = browser.text().await;
    assert!(text.contains("and to no other name") && !text.contains("flickers"), "{text}");
    // The other name that it has is another page to the browser: its cookie is not there.
    browser.open(&format!("http://localhost:{}/question/{id}", desk.port)).await;
    assert!(!browser.text().await.contains("flickers"));
}
