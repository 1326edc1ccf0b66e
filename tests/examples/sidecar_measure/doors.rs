//! The same read of the same service by bare `reqwest`, by the runtime in process and through a sidecar: same TLS, same pool of
//! one connection, the body read whole.

use std::sync::Arc;

use futures_util::FutureExt as _;
use pinhole_client::Call;
use pinhole_runtime::CallRequest;
use pinhole_runtime::store::SqliteStore;
use pinhole_tests::{KEY, Stage, op_name};

use crate::figures::{Way, table};
use crate::houses::{House, executor};

pub(crate) const ARGS: &str = r#"{"owner":"pinhole-demo","repo":"lantern"}"#;
const URL: &str = "https://api.github.com/repos/pinhole-demo/lantern";
pub(crate) const AT_ONCE: [usize; 2] = [1, 16];

pub(crate) async fn measure(stage: &Stage, calls: usize) -> anyhow::Result<()> {
    let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let store = |home: &tempfile::TempDir| SqliteStore::open_home(home.path()).map(Arc::new);
    let grant = stage.grant("github").seal();
    let bare = stage.bare_client();
    let inside = executor(stage, store(&one)?)?;
    let house = House::new(stage, store(&other)?)?;
    let posted = Call::new("github", "get_repo", std::str::from_utf8(&grant)?).with_args(ARGS);
    let (bare, inside, house, grant, posted) = (&bare, &inside, &house, &grant, &posted);
    let mut ways = Vec::new();
    for at_once in AT_ONCE {
        let call = move |_| {
            let asked = async move {
                let answer = bare.get(URL).bearer_auth(KEY).send().await?;
                anyhow::ensure!(answer.status() == 200 && !answer.bytes().await?.is_empty(), "no answer");
                Ok(())
            };
            asked.boxed_local()
        };
        ways.push(Way::new("bare `reqwest`", at_once, Box::new(call)));
    }
    for at_once in AT_ONCE {
        let call = move |_| {
            let run = async move {
                let (service, op) = op_name("github.get_repo");
                let outcome = inside.run(CallRequest::new(service, op, ARGS, grant.clone())).await;
                anyhow::ensure!(outcome.result().is_some(), "{}", outcome.to_json());
                Ok(())
            };
            run.boxed_local()
        };
        ways.push(Way::new("the runtime, in process", at_once, Box::new(call)));
    }
    for at_once in AT_ONCE {
        let call = move |_| house.run(posted).boxed_local();
        ways.push(Way::new("the sidecar, at its socket", at_once, Box::new(call)));
    }
    table("One read, a grant of any number of uses", ways, calls).await
}
