//! Computes `@OP@`: what stands at the top of the data that one GraphQL query gives. A start for a module of your own.

use pinhole_guest::{Error, Host, Request, path};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The document, letter by letter that of the manifest's line.
const QUERY: &str = include_str!("query.graphql");

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
    let request = Request::graphql(path!("@PATH@"), QUERY, &json!({}));
    let data: Map<String, Value> = request.send(host)?.data()?;
    let names: Vec<String> = data.keys().cloned().collect();
    Ok(Output { members: names.len(), names })
}

pinhole_guest::export! { "@OP@" => @OP@ }

#[cfg(test)]
mod tests {
    use pinhole_guest::recorded::Recorded;
    use pinhole_guest::{Error, Request, Response, path};
    use serde_json::{Value, json};

    use super::{QUERY, run};

    fn answering(body: &Value) -> Recorded {
        let request = Request::graphql(path!("@PATH@"), QUERY, &json!({}));
        Recorded::new().on(request, Response::new(200).with_json(body))
    }

    #[test]
    fn the_members_of_the_data_are_named() {
        let service = answering(&json!({"data": {"team": {}, "user": {}}}));
        let result = run(&service, "@OP@", "{}");
        assert_eq!(result.as_deref(), Ok(r#"{"members":2,"names":["team","user"]}"#));
        service.assert_all_sent();
    }

    #[test]
    fn errors_of_the_query_are_an_error() {
        let service = answering(&json!({"errors": [{"message": "no such field"}]}));
        let result = run(&service, "@OP@", "{}");
        assert_eq!(result, Err(Error::GraphQl("no such field".to_owned())));
    }
}
