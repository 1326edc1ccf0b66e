//! Computes `@OP@`: what stands at the top of the answer to one request. A start for a module of your own.

use pinhole_guest::{Error, Host, Request, path};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The args of the op, as its manifest describes them.
#[derive(Debug, Deserialize)]
struct Args {}

/// Its result. What of it goes back, `pick` in the manifest says.
#[derive(Debug, Serialize)]
struct Output {
    members: usize,
    names: Vec<String>,
}

fn @OP@(host: &dyn Host, _args: Args) -> Result<Output, Error> {
    // A value goes into a path as `path!("/users/{}", args.user)`, and is one segment whatever it holds.
    let request = Request::get(path!("@PATH@"));
    let answer: Map<String, Value> = request.send(host)?.error_for_status()?.json()?;
    let names: Vec<String> = answer.keys().cloned().collect();
    Ok(Output { members: names.len(), names })
}

pinhole_guest::export! { "@OP@" => @OP@ }

#[cfg(test)]
mod tests {
    use pinhole_guest::recorded::Recorded;
    use pinhole_guest::{Error, Request, Response, path};
    use serde_json::json;

    use super::run;

    #[test]
    fn the_members_of_the_answer_are_named() {
        let answer = Response::new(200).with_json(&json!({"id": 1, "name": "one"}));
        let service = Recorded::new().on(Request::get(path!("@PATH@")), answer);
        let result = run(&service, "@OP@", "{}");
        assert_eq!(result.as_deref(), Ok(r#"{"members":2,"names":["id","name"]}"#));
        service.assert_all_sent();
    }

    #[test]
    fn a_refusal_of_the_service_is_an_error() {
        let service = Recorded::new().on(Request::get(path!("@PATH@")), Response::new(404));
        let result = run(&service, "@OP@", "{}");
        assert_eq!(result, Err(Error::Status { status: 404, said: None }));
    }
}
