//! What the sidecar costs: calls a second and their times, against bare `reqwest` and the runtime in the same process, each
//! reading one repository of a stand-in on loopback.
//!
//! `cargo run --release -p pinhole-tests --example sidecar_measure [CALLS]`

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use pinhole_client::{Call, Client, Outcome};
use pinhole_runtime::CallRequest;
use pinhole_runtime::clock::SystemTimer;
use pinhole_runtime::store::SqliteStore;
use pinhole_server::Reach;
use pinhole_server::http::{HttpSettings, SocketFile};
use pinhole_server::sidecar::{At, QueueLimits, Sidecar, http_limits, serve};
use pinhole_tests::{KEY, Setup, op_name};
use tokio_util::sync::CancellationToken;

const ARGS: &str = r#"{"owner":"pinhole-demo","repo":"lantern"}"#;
const URL: &str = "https://api.github.com/repos/pinhole-demo/lantern";
const AT_ONCE: [usize; 2] = [1, 16];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let calls = std::env::args().nth(1).map_or(Ok(5_000), |text| text.parse())?;
    let home = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(&home.path().join("pinhole.db"))?);
    let mut stage = Setup { store: store.clone(), ..Setup::github() }.start().await;
    let grant = stage.grant("github").seal();
    let bare = stage.bare_client();
    for at_once in AT_ONCE {
        measure("bare reqwest", at_once, calls, || async {
            let answer = bare.get(URL).bearer_auth(KEY).send().await?;
            anyhow::ensure!(answer.status() == 200 && !answer.bytes().await?.is_empty(), "no answer");
            Ok(())
        })
        .await?;
    }
    stage.executor.timer = Box::new(SystemTimer);
    for at_once in AT_ONCE {
        measure("the runtime, in process", at_once, calls, || async {
            let (service, op) = op_name("github.get_repo");
            let outcome = stage.executor.run(CallRequest::new(service, op, ARGS, grant.clone())).await;
            anyhow::ensure!(outcome.result().is_some(), "{}", outcome.to_json());
            Ok(())
        })
        .await?;
    }
    let socket = home.path().join("sidecar.sock");
    let sidecar = Sidecar {
        executor: stage.executor,
        desk: store,
        timer: Arc::new(SystemTimer),
        reach: Reach::default(),
        queue: QueueLimits::default(),
        http: HttpSettings::default().with_limits(http_limits()),
    };
    let stop = CancellationToken::new();
    let served = tokio::spawn(serve(sidecar, At::File(SocketFile::listen(&socket)?), stop.clone()));
    let client = Client::unix(&socket);
    let call = Call::new("github", "get_repo", String::from_utf8(grant)?).with_args(ARGS);
    for at_once in AT_ONCE {
        measure("the sidecar, at its socket", at_once, calls, || async {
            match client.run(&call).await? {
                Outcome::Done(_) => Ok(()),
                Outcome::Refused(refusal) => Err((*refusal).into()),
            }
        })
        .await?;
    }
    stop.cancel();
    served.await??;
    Ok(())
}

/// Makes so many calls, so many at once, and prints what they took.
async fn measure<F: Future<Output = anyhow::Result<()>>>(
    name: &str,
    at_once: usize,
    calls: usize,
    call: impl Fn() -> F,
) -> anyhow::Result<()> {
    let one = || async {
        let begun = Instant::now();
        call().await.map(|()| begun.elapsed())
    };
    for _ in 0..100 {
        one().await?;
    }
    let begun = Instant::now();
    let running = futures_util::stream::iter(0..calls).map(|_| one()).buffer_unordered(at_once);
    let ended: Vec<anyhow::Result<Duration>> = running.collect().await;
    let taken = begun.elapsed();
    let mut times = ended.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    times.sort_unstable();
    let at = |per_mille: usize| times.get(times.len() * per_mille / 1000).copied().unwrap_or_default();
    let rate = f64::from(u32::try_from(times.len())?) / taken.as_secs_f64();
    println!("{name:<28} {at_once:>3} at once: {rate:>7.0} calls/s, p50 {:?}, p99 {:?}", at(500), at(990));
    Ok(())
}
