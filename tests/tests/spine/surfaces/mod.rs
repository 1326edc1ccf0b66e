//! The scrub on every surface: a key and a refresh token, each in every form that it may come back in, in every place that
//! a service can write to. Whatever leaves holds neither: result, keys, notes, error text, message, hint, detail, log, the
//! whole outcome as JSON, and what `explain` shows.

mod forms;
mod log;
mod places;

use std::collections::BTreeSet;

use pinhole_grant::{CredentialKind, Secret};
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::outcome::{Code, Refusal};
use pinhole_runtime::scrub::REDACTED;
use pinhole_runtime::{CallRequest, Explained, Outcome};
use pinhole_standin::{Misbehaviour, Reply, Route, When};
use pinhole_tests::{KEY, Setup, Stage, op_name};
use serde_json::{Value, json};

use self::forms::{Form, escaped, forms};
use self::log::{Line, Log};
use self::places::{Surface, kept_back, passed_on};
use crate::common::{no_faults, parsed, refusal};

const MANIFEST: &str = include_str!("leaky.json");
/// With letters that JSON, URLs and base64url write in another way.
const REFRESH: &str = r#"rt_Refresh"Quoted\Back/Slash+Plus=Percent%41&~>?>"#;

fn manifest() -> Value {
    serde_json::from_str(MANIFEST).unwrap()
}

/// A read grant whose credential has both secrets.
fn grant(stage: &Stage) -> Vec<u8> {
    let with_both = stage.grant("leaky").with(|credential| {
        credential.kind = CredentialKind::Oauth;
        credential.refresh = Some(Secret::new(REFRESH.to_owned()).unwrap());
        credential.token_url = Some(HttpsUrl::parse("https://leaky.dev/token").unwrap());
    });
    with_both.seal()
}

/// What each form leaves of itself, of both secrets.
struct Needles(Vec<String>);

impl Needles {
    fn new() -> Self {
        let forms = [KEY, REFRESH].into_iter().flat_map(forms);
        let mut needles: Vec<String> = forms.map(|form| form.secret).collect();
        // As they stand in JSON text and in what `Debug` prints.
        needles.extend(needles.clone().iter().map(|needle| escaped(needle)));
        Self(needles)
    }

    fn found_in(&self, text: &str) -> bool {
        self.0.iter().any(|needle| text.contains(needle.as_str()))
    }
}

/// Every text in a JSON value, keys too.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => {
            members.iter().flat_map(|(key, member)| [vec![key.clone()], texts(member)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

/// Where a secret is in what left.
fn leaks(needles: &Needles, outcome: &Outcome, log: &[Line]) -> Vec<String> {
    let json = parsed(outcome);
    let said = |name: &str| json["refusal"][name].as_str().unwrap_or_default().to_owned();
    let mut places = vec![
        ("the outcome's JSON", outcome.to_json()),
        ("what `Debug` prints", format!("{outcome:?}")),
        ("the message", said("message")),
        ("the hint", said("hint")),
        ("the error's text", said("untrusted")),
        ("the detail", outcome.refusal().and_then(Refusal::private_detail).unwrap_or_default().to_owned()),
    ];
    places.extend(texts(&json["result"]).into_iter().map(|text| ("the result", text)));
    places.extend(texts(&json["notes"]).into_iter().map(|text| ("the notes", text)));
    places.extend(log.iter().map(|line| ("the log", line.text.clone())));
    let leaking = places.into_iter().filter(|(_, text)| needles.found_in(text));
    leaking.map(|(place, text)| format!("it is in {place}: {text}")).collect()
}

/// A form of a secret in a place.
struct Case {
    label: String,
    surface: Surface,
    form: Form,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (whose, secret) in [("the key", KEY), ("the refresh token", REFRESH)] {
        for surfaces in [passed_on, kept_back] {
            for place in 0..surfaces().len() {
                for form in forms(secret) {
                    let surface = surfaces().swap_remove(place);
                    let label = format!("{whose} {} in {}", form.name, surface.name);
                    cases.push(Case { label, surface, form });
                }
            }
        }
    }
    cases
}

impl Case {
    fn faults(&self, needles: &Needles, outcome: &Outcome, log: &[Line]) -> Vec<String> {
        let mut faults = leaks(needles, outcome, log);
        let code = outcome.refusal().map(|refusal| refusal.code);
        let count = outcome.to_json().matches(REDACTED).count();
        if (code, count) != (self.surface.code, self.surface.redacted) {
            faults.push(format!("{code:?}, taken out {count} times: {}", outcome.to_json()));
        }
        let refused = log.iter().any(|line| line.target.starts_with("pinhole_runtime"));
        if refused != code.is_some() {
            faults.push(format!("the log says {log:?}"));
        }
        faults
    }
}

#[tokio::test]
async fn a_secret_comes_out_on_no_surface() {
    let log = Log::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    let cases = cases();
    let mut routes = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let reply = (case.surface.reply)(&case.form);
        routes.push(Route::get(&format!("/thing/{number}"), reply.clone()));
        routes.push(Route::new(http::Method::POST, &format!("/graphql/{number}"), reply));
    }
    let stage = Setup::manifest(&manifest(), routes).start().await;
    let (grant, needles) = (grant(&stage), Needles::new());
    let mut faults = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        drop(log.taken());
        let name = format!("leaky.{}", case.surface.op);
        let outcome = stage.run(&name, &json!({"form": number.to_string()}), &grant).await;
        let found = case.faults(&needles, &outcome, &log.taken());
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", case.label)));
    }
    no_faults(&faults);
    assert_eq!(stage.standin.requests().len(), cases.len());
    let forms: BTreeSet<&str> = cases.iter().map(|case| case.form.name.as_str()).collect();
    let surfaces: BTreeSet<&str> = cases.iter().map(|case| case.surface.name).collect();
    assert_eq!((forms.len(), surfaces.len(), cases.len()), (20, 20, 2 * 20 * 20));
}

/// A note is the manifest's own text, whatever the service says.
#[tokio::test]
async fn a_note_holds_nothing_of_the_services() {
    let body = json!({"text": {KEY: KEY}, "list": [[KEY]], "items": [KEY, {"text": {REFRESH: 1}}], "metadata": {"a": [KEY]}});
    let stage =
        Setup::manifest(&manifest(), vec![Route::get("/thing/1", Reply::json(200, &body))]).start().await;
    let outcome = stage.run("leaky.get_thing", &json!({"form": "1"}), &grant(&stage)).await;
    assert_eq!(parsed(&outcome)["notes"], json!(["items[*].text", "list", "metadata.*", "text"]));
    assert_eq!(leaks(&Needles::new(), &outcome, &[]), Vec::<String>::new());
}

/// What is not HTTP is not repeated, in the log neither.
#[tokio::test]
async fn a_secret_in_what_is_not_http_goes_nowhere() {
    let log = Log::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    let needles = Needles::new();
    for alpn in [pinhole_standin::Alpn::Http1, pinhole_standin::Alpn::H2] {
        let mut setup = Setup::manifest(&manifest(), Vec::new());
        setup.standin.alpn = alpn;
        let stage = setup.start().await;
        let grant = grant(&stage);
        for form in [KEY, REFRESH].into_iter().flat_map(forms) {
            for bytes in
                [format!("{}\r\n\r\n", form.text), format!("HTTP/1.1 200 {0}\r\n{0}\r\n\r\n", form.text)]
            {
                drop(log.taken());
                stage.standin.misbehave(When::Next(1), Misbehaviour::RawBytes(bytes.into()));
                let outcome = stage.run("leaky.get_thing", &json!({"form": "1"}), &grant).await;
                assert!(
                    [Code::BadResponse, Code::Interrupted].contains(&refusal(&outcome).code),
                    "{}",
                    outcome.to_json()
                );
                let found = leaks(&needles, &outcome, &log.taken());
                assert!(found.is_empty(), "{} over {alpn:?}: {found:?}", form.name);
            }
        }
    }
}

/// Neither by the header that carries it, whatever the scheme, nor by the grant that is shown.
#[tokio::test]
async fn what_is_explained_holds_no_secret() {
    let needles = Needles::new();
    for scheme in [
        json!({"scheme": "bearer"}),
        json!({"scheme": "bare"}),
        json!({"scheme": "basic"}),
        json!({"scheme": "header", "header": "x-api-key"}),
    ] {
        let mut manifest = manifest();
        manifest["auth"].as_object_mut().unwrap().extend(scheme.as_object().unwrap().clone());
        let stage = Setup::manifest(&manifest, Vec::new()).start().await;
        let grant = grant(&stage);
        for op in ["leaky.get_thing", "leaky.query_thing"] {
            let (service, name) = op_name(op);
            let request = CallRequest::new(service, name, r#"{"form":"1"}"#, grant.clone());
            let explained = stage.executor.explain(request).await;
            let Explained::WouldRun(explanation) = &explained else { panic!("{explained:?}") };
            let json = serde_json::to_string(explanation).unwrap();
            assert!(json.contains("<credential>"), "{json}");
            assert!(!needles.found_in(&json), "{scheme}: {json}");
            assert!(!needles.found_in(&format!("{explained:?}")), "{scheme}: {explained:?}");
        }
        assert_eq!(stage.standin.connections(), 0);
    }
}
