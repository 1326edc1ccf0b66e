//! One component that does, by the name of its op, what an honest module does or what none should.

mod hostile;

use pinhole::op::http::{self, Method, Request, Response};
use pinhole::op::log::{self, Level};
use serde_json::{Value, json};

wit_bindgen::generate!({ path: "../../wit/pinhole-op.wit", world: "module" });

struct Probe;

impl Guest for Probe {
    fn run(op: String, args: String) -> Result<String, OpError> {
        std::panic::set_hook(Box::new(|info| log::write(Level::Error, &info.to_string())));
        let args: Value = serde_json::from_str(&args).map_err(|error| failed(&error.to_string()))?;
        match op.as_str() {
            "stale_things" => stale_things(&args),
            "all_pages" => all_pages(&args),
            "eight_at_once" => eight(&args, |requests| http::send_all(&requests)),
            "eight_in_a_row" => eight(&args, |requests| requests.iter().map(http::send).collect()),
            "echo" => echo(&args),
            "passes" => passes(&args),
            "empty" => Ok("{}".to_owned()),
            "told" => Err(failed("the thing is not there")),
            "logs" => {
                log::write(Level::Info, "a line\nand \u{202e}more");
                Ok(json!({"now": pinhole::op::clock::now()}).to_string())
            }
            _ => hostile::run(&op, &args),
        }
    }
}

export!(Probe);

fn failed(message: &str) -> OpError {
    OpError { message: message.to_owned() }
}

fn get(path: &str) -> Request {
    Request { method: Method::Get, path: path.to_owned(), query: Vec::new(), headers: Vec::new(), body: None }
}

fn sent(request: &Request) -> Result<Response, OpError> {
    http::send(request).map_err(|failure| failed(&format!("{}: {}", failure.code, failure.message)))
}

fn document(response: &Response) -> Result<Value, OpError> {
    if response.status != 200 {
        return Err(failed(&format!("status {}", response.status)));
    }
    serde_json::from_slice(&response.body).map_err(|error| failed(&error.to_string()))
}

fn text<'a>(args: &'a Value, name: &str) -> &'a str {
    args[name].as_str().unwrap_or_default()
}

/// Walks the pages of a repository's things and counts, by owner, those older than a day of the args.
fn stale_things(args: &Value) -> Result<String, OpError> {
    let path = format!("/repos/{}/{}/things", text(args, "owner"), text(args, "repo"));
    let mut owners: Vec<(String, u64)> = Vec::new();
    for page in 1_u32.. {
        let query = vec![("page".to_owned(), page.to_string())];
        let things = document(&sent(&Request { query, ..get(&path) })?)?;
        let Some(things) = things.as_array().filter(|things| !things.is_empty()) else { break };
        for thing in things.iter().filter(|thing| text(thing, "updated") < text(args, "before")) {
            let owner = thing["owner"].as_str().unwrap_or("nobody");
            match owners.iter_mut().find(|(name, _)| name == owner) {
                Some((_, count)) => *count += 1,
                None => owners.push((owner.to_owned(), 1)),
            }
        }
    }
    let rows: Vec<Value> = owners
        .iter()
        .map(|(owner, stale)| json!({"owner": owner, "stale": stale, "secret": "unpicked"}))
        .collect();
    Ok(json!(rows).to_string())
}

/// Asks for ten pages at once; gives the status of each, in order, or the code of its failure.
fn all_pages(args: &Value) -> Result<String, OpError> {
    let path = format!("/repos/{}/{}/things", text(args, "owner"), text(args, "repo"));
    let page = |page: u32| Request { query: vec![("page".to_owned(), page.to_string())], ..get(&path) };
    let requests: Vec<Request> = (1..=10).map(page).collect();
    let results = http::send_all(&requests);
    let said: Vec<String> = results
        .iter()
        .map(|result| match result {
            Ok(response) => String::from_utf8_lossy(&response.body).into_owned(),
            Err(failure) => failure.code.clone(),
        })
        .collect();
    Ok(json!({"said": said}).to_string())
}

/// Asks for eight pages, by this way; gives how many were answered.
fn eight(
    args: &Value,
    send: impl Fn(Vec<Request>) -> Vec<Result<Response, http::Failure>>,
) -> Result<String, OpError> {
    let path = format!("/repos/{}/{}/things", text(args, "owner"), text(args, "repo"));
    let page = |page: u32| Request { query: vec![("page".to_owned(), page.to_string())], ..get(&path) };
    let answered = send((1..=8).map(page).collect()).iter().filter(|result| result.is_ok()).count();
    Ok(json!({"answered": answered}).to_string())
}

/// Gives the body on as it came.
fn passes(args: &Value) -> Result<String, OpError> {
    let path = format!("/repos/{}/{}/things", text(args, "owner"), text(args, "repo"));
    String::from_utf8(sent(&get(&path))?.body).map_err(|error| failed(&error.to_string()))
}

/// Gives back whatever came: status, headers, body.
fn echo(args: &Value) -> Result<String, OpError> {
    let path = format!("/repos/{}/{}/things", text(args, "owner"), text(args, "repo"));
    let response = sent(&get(&path))?;
    let headers: Vec<String> =
        response.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let body = String::from_utf8_lossy(&response.body).into_owned();
    let bytes: Vec<u8> = response.body;
    Ok(json!({"status": response.status, "headers": headers, "body": body, "size": bytes.len()}).to_string())
}
